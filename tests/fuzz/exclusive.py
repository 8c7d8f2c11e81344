"""Random operators whose activations exclude each other: they write both ends of their edges, or what they gather.

Some may come in any order: what they do to a property commutes. The others do anything, and the schedule has to name
the order (`Writer.orders`), which the reference then takes, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.frontend.kinds import Weak

from . import expressions as e
from . import operators as o
from .scope import FLOATS, INTEGERS, Prop, Scope, is_number

if TYPE_CHECKING:
    from .programs import Writer

PLANS = (
    "sequential",
    "agm_e",
    "agm_n",
    "sgm",
    "diagonal",
    "colored",
    "blocked_diagonals",
    "blocked_diagonals(3x2)",
    "dealt_blocks(4)",
)
KINDS = ("+", "^", "min", "max")
"""What commutes with itself."""


def both_ends(w: Writer, number: int) -> list[str] | None:
    """Both ends are written, in any order or by a plan."""
    w.begin_operator("edge")
    w.operator(f"op{number}", ["src", "edge", "dst"])
    if w.chance(0.5):
        _commuting(w, Scope(["src", "dst"], edges=["edge"]), ("src", "dst"))
    else:
        w.orders[f"op{number}"] = "dealt_blocks(4)" if w.for_sets else w.r.choice(PLANS)
        s = Scope(["src", "dst"], edges=["edge"])
        o.guard(w, s)
        some = _writable(w)
        for at in ("src", "dst", *w.r.choices(("src", "dst"), k=w.r.randint(0, 2))):
            if w.chance(0.3):
                o.some(w, s, 1, 1)
            _anything(w, s, at, w.r.choice(some))
    if w.chance(0.3):
        w.line(1, "graph.claims += 1")
    f = f"f{number}"
    return [
        f"{f} = {w.r.choice(['graph.vertices', 'graph.frontier(source)', 'graph.frontier(several)'])}",
        "for i in range(rounds):",
        f"    {f} = graph.edge_apply(op{number}, {f}{', reverse=True' if w.chance(0.3) else ''})",
        f"    sizes = sizes * 3 + len({f})",
    ]


def gathered(w: Writer, number: int) -> list[str] | None:
    """A neighborhood is gathered, perhaps some of it or in steps, and written: in any order, or one after the other."""
    if w.for_sets:
        return None
    returns, ordered = w.chance(0.4), w.chance(0.5)
    w.begin_operator("vertex", returns)
    w.operator(f"op{number}", ["v"])
    some = _writable(w)
    written = w.r.sample(some, 1 if w.chance(0.5) else min(2, len(some)))
    hidden = {p.name for p in written}
    s = Scope(["v"]) if ordered else Scope(["v"], hidden={"v": hidden})
    room = w.r.choice(["800", "800", "3, more=800"])
    w.line(1, f"near = vg.local_list(vg.vertex, {room})")
    if w.chance(0.3):
        o.guard(w, s)
    side = w.r.choice(["out_neighbors", "in_neighbors", *([] if w.directed else ["neighbors"])])
    beside = Scope(["v", "u"], hidden={"u": hidden, **s.hidden})
    w.line(1, f"for u in v.{side}:")
    depth = 2
    if w.chance(0.4):
        w.line(2, f"if {e.boolean(w, beside, 1).text}:")
        depth = 3
    w.line(depth, "near.append(u)")
    if w.chance(0.3):  # a second ring
        w.line(1, "for u in near:")
        w.line(2, f"for t in u.{side}:")
        w.line(3, f"if len(near) < {w.r.randint(2, 9)} and t not in near:")
        w.line(4, "near.append(t)")
    w.line(1, "for u in near:")
    inner = Scope(["v", "u"], hidden={} if ordered else {"u": hidden, **s.hidden})
    if ordered:
        w.orders[f"op{number}"] = "sequential"
        for p in written:
            _anything(w, inner, "u", p, 2)
            if w.chance(0.5):
                _anything(w, inner, "v", p, 2)
    else:
        _commuting(w, inner, ("u", "v"), written, 2)
    if w.chance(0.3):
        w.line(1, "graph.claims += len(near)")
    f = f"f{number}"
    over = w.r.choice(["graph.vertices", "chosen", "graph.frontier(several)"])
    if not returns:
        return [f"graph.vertex_apply(op{number}, {over})"]
    w.line(1, f"return {e.boolean(w, s, 1).text}")
    return [f"{f} = graph.vertex_filter(op{number}, {over})", f"sizes = sizes * 3 + len({f})"]


def _writable(w: Writer) -> list[Prop]:
    """Numbers; of floats those that nobody adds up, which may hold anything."""
    return [p for p in w.properties if p.is_writable and is_number(p.type) and not p.summed]


def _commuting(
    w: Writer, s: Scope, ends: tuple[str, str], written: list[Prop] | None = None, depth: int = 1
) -> None:
    """Both ends get something; each property is changed in one way, by what nobody changes meanwhile."""
    free = _writable(w)
    some = [p for p in written or w.r.sample(free, min(2, len(free))) if p.type in INTEGERS]
    some = some or [next(p for p in w.properties if p.name == "x")]
    ways = {p.name: w.r.choice(KINDS) for p in some}
    hidden = set(ways)
    s = Scope(s.vertices, edges=s.edges, hidden={v: hidden | s.hidden.get(v, set()) for v in s.vertices})
    for at in (*ends, *w.r.choices(ends, k=w.r.randint(0, 1))):
        p = w.r.choice(some)
        place, op = f"{at}.{p.name}", ways[p.name]
        value = e.cast(e.integer(w, s, 1), p.type).text
        new = f"{op}({place}, {value})" if op in ("min", "max") else f"{place} {op} {value}"

        def write(d: int, place: str = place, new: str = new, op: str = op) -> None:
            if op != "+" or w.chance(0.5):
                w.line(d, f"{place} = {new}")
                return
            old = w.new()
            w.line(d, f"{old} = {place}")
            w.line(d, f"{place} = {new}")
            w.line(d, f"graph.claims += vg.int64({place} - {old}) & 1")

        o.guarded(w, s, depth, write)
    if not w.is_empty_operator() and ends == ("src", "dst"):  # else it may be none that excludes
        p = w.r.choice(some)
        zero = {"+": "+ 0", "^": "^ 0"}.get(ways[p.name])
        for at in ends:
            w.line(depth, f"{at}.{p.name} = {at}.{p.name}{f' {zero}' if zero else ''}")


def _anything(w: Writer, s: Scope, at: str, p: Prop, depth: int = 1) -> None:
    """A number becomes another one, perhaps under a condition."""
    place = f"{at}.{p.name}"

    def write(d: int) -> None:
        if w.chance(0.4) and p.type not in FLOATS:
            value = w.until(
                lambda: e.integer(w, s, 1), lambda v: not e._negative(v) and v.kind is not Weak.INF
            )
            w.line(d, f"{place} {w.r.choice(['+=', '-=', '*=', '^=', '|='])} {e.cast(value, p.type).text}")
        else:
            w.line(d, f"{place} = {e.stored(w, s, 2, p.type).text}")

    o.guarded(w, s, depth, write)
