"""Random programs `while frontier: frontier = graph.edge_apply(update, frontier)`, most of them monotone.

Every update moves one way and is bounded, so that each program ends. What it writes is a random expression of what it
reads; some fall when what is read rises, or depend on a condition: they have no fixpoint that all orders share.
"""

from __future__ import annotations

import random

LOW, HIGH = -30, 30
TEXT = '''"""Random monotone program, seed {seed}."""

import vgraph as vg


@vg.operator
def start(v):
    v.x = v.id * 7 % 11 - 3
    v.y = v.id * 5 % 13


@vg.operator
def update(src, edge, dst):
{body}


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64)
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(start)
    x[source] = 2
    frontier = {frontier}
    while frontier:
        frontier = graph.edge_apply(update, frontier{back})
    return x, y
'''


class Monotone:
    """Writes the body of one operator."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.subsets = self.r.random() < 0.3
        self.strict = self.r.random() < 0.6
        """Only what keeps the order is written; else anything may be."""
        self.lines: list[str] = []
        self.locals: list[str] = []

    def leaf(self) -> str:
        r = self.r
        return r.choice(["src.x", "src.x", "src.y", "edge.weight", str(r.randint(0, 9)), *self.locals])

    def expression(self, depth: int) -> str:
        r = self.r
        if depth == 0:
            return self.leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        keeps = [f"({a} | {b})", f"({a} & {b})", f"(({a} & 1023) << 1)", f"({a} >> 1)"]
        if not self.subsets:
            keeps = [f"({a} + {b})", f"({a} - {r.randint(1, 5)})", f"min({a}, {b})", f"max({a}, {b})"]
            keeps.append(f"({a} + edge.weight)")
        if self.strict or r.random() < 0.6:
            return r.choice(keeps)
        others = [f"({r.randint(1, 9)} - {a})", f"({a} * {b})", f"abs({a})", f"({a} ^ {b})", f"({a} | {b})"]
        others += [f"({a} + {b})", f"({a} if {b} < 4 else 5)", f"vg.int64(vg.uint32({a}))", f"({a} % 7)"]
        return r.choice(others)

    def write(self, name: str, way: str) -> str:
        value = self.expression(self.r.randint(1, 2))
        match way:
            case "min":
                return f"dst.{name} = min(dst.{name}, max({value}, {LOW}))"
            case "max":
                return f"dst.{name} = max(dst.{name}, min({value}, {HIGH}))"
        return f"dst.{name} {way}= {value}"

    def body(self) -> str:
        r = self.r
        ways = ["|", "&"] if self.subsets else ["min", "max"]
        way = r.choice(ways)
        if r.random() < 0.3:
            self.lines.append(f"t = vg.int64({self.expression(1)})")
            self.locals.append("t")
        for name in r.sample(["x", "y"], r.randint(1, 2)):
            own = way if r.random() < 0.9 else r.choice(ways)
            tested = r.random() < 0.25
            if tested:
                self.lines.append(r.choice(["if edge.weight > 2:", "if src.x < 4:", "if src.id != dst.id:"]))
            self.lines.append("    " * tested + self.write(name, own))
        return "\n".join("    " + line for line in self.lines)


def program_text(seed: int) -> str:
    """The module text of program `seed`."""
    frontier = ("graph.vertices", "graph.frontier(source)")[seed % 2]
    back = ", reverse=True" if seed % 5 in (1, 2) else ""
    return TEXT.format(seed=seed, body=Monotone(seed).body(), frontier=frontier, back=back)
