"""How often one round reads and writes the labels of vertices and the buffer between two phases.

Counted on kernel IR, symbolically, and in the way of table 5.4 of the source (R. Kaleem on irregular programs for
heterogeneous systems), with every vertex active:

- Labels are vertex properties. Edge properties, the graph's own arrays and frontiers are not counted.
- *Regular*: at the vertex that a loop visits, at its place in a queue, or at the arc that is walked, which lie one
  behind the other. *Random*: at the far end of an arc.
- Per loop, a place counts once for reading and once for writing, however often the text names it: a compiler keeps
  it in a register. Both branches of an `if` together count as the larger of them.
- An update counts as one write: the old value that it combines with is not counted as a read.

A loop over vertices runs V times and its loops over arcs E times together; a loop over the queue f runs V(f) and E(f).

Our apply-scatter with the *raw* payload keeps one element per vertex, so it writes and reads V instead of E elements
of the buffer: fewer than the table says. The *computed* payload is the table's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from vgraph.compiler import ir
from vgraph.records import dataclass


@dataclass(frozen=True)
class Access:
    """One place that a loop reads or writes: of which property, and how often in a round (`V`, `E`, `V(f)`, `E(f)`)."""

    prop: str
    write: bool
    random: bool
    buffer: bool
    times: str


@dataclass(frozen=True)
class Counts:
    """The four columns of the table; each a sum such as `V + E`, or `0`."""

    regular_reads: str
    regular_writes: str
    random_reads: str
    random_writes: str

    @staticmethod
    def of(accesses: Iterable[Access]) -> Counts:
        """The sums over `accesses`."""
        rows: dict[tuple[bool, bool], Counter[str]] = {}
        for a in accesses:
            rows.setdefault((a.random, a.write), Counter())[a.times] += 1
        columns = ((False, False), (False, True), (True, False), (True, True))
        return Counts(*(_sum(rows.get(column, Counter())) for column in columns))


def _sum(terms: Counter[str]) -> str:
    ordered = sorted(terms.items(), key=lambda t: (t[0][1:], "VE".index(t[0][0])))
    return " + ".join(name if count == 1 else f"{count} {name}" for name, count in ordered) or "0"


def access_counts(program: ir.Program, label: str) -> tuple[Access, ...]:
    """All label and buffer accesses of one round of the apply `label`; `program` is at kernel level."""
    properties = {p.name: p for p in program.properties}
    found: list[Access] = []
    for n in ir.walk(program):
        if isinstance(n, ir.ParFor | ir.Pipeline) and n.label == label:
            found += _loop(n, properties)
    return tuple(found)


def _loop(loop: ir.ParFor | ir.Pipeline, properties: dict[str, ir.Property]) -> Iterator[Access]:
    of = f"({loop.domain.frontier})" if isinstance(loop.domain, ir.Members) else ""
    bodies = (loop.body,) if isinstance(loop, ir.ParFor) else (loop.producer, loop.consumer)
    for body in bodies:
        yield from _Body(loop, properties, of).accesses(body)


class _Body:
    """The places that one body names; `written` hides the reads that belong to updates."""

    def __init__(self, loop: ir.ParFor | ir.Pipeline, properties: dict[str, ir.Property], of: str) -> None:
        self.properties, self.of = properties, of
        self.own = {loop.vertex, loop.position}
        self.arcs: set[str] = set()

    def accesses(self, body: tuple[ir.Stmt, ...]) -> Iterator[Access]:
        for top in body:
            for n in ir.walk(top):
                if isinstance(n, ir.ForNeighbors):
                    self.arcs.add(n.edge)
        found = self.of_nodes(body)
        updated = {(a.prop, a.random) for a in found if a.write}
        for a in found:
            if a.write or (a.prop, a.random) not in updated:
                yield a

    def of_nodes(self, nodes: Iterable[ir.Node]) -> dict[Access, None]:
        """Each place once; of two branches, those of the one that names more."""
        found: dict[Access, None] = {}
        for n in nodes:
            match n:
                case ir.If(condition=condition, then=then, other=other):
                    found |= self.of_nodes([condition])
                    yes, no = self.of_nodes(then), self.of_nodes(other)
                    found |= yes if len(yes) >= len(no) else no
                    continue
                case ir.Load(prop=prop, index=index):
                    found |= self.access(prop, index, write=False)
                case ir.Store(prop=prop, index=index) | ir.Reduce(prop=prop, index=index):
                    found |= self.access(prop, index, write=True)
                case ir.CompareAndSwap(prop=prop, index=index):
                    found |= self.access(prop, index, write=True)
            found |= self.of_nodes(ir.children(n))
        return found

    def access(self, name: str, index: ir.Expr, *, write: bool) -> dict[Access, None]:
        prop = self.properties[name]
        buffer = (
            prop.site in (ir.Site.EDGE, ir.Site.EDGE_IN, ir.Site.QUEUE) and prop.origin is ir.Origin.LOCAL
        )
        if not (buffer or prop.site is ir.Site.VERTEX):
            return {}
        at = index.name if isinstance(index, ir.Var) else ""
        own, arc = at in self.own, at in self.arcs
        times = ("V" if own else "E") + self.of
        return {Access(name, write, not (own or arc), buffer, times): None}


def table(program: ir.Program, label: str, properties: Iterable[str] | None = None) -> Counts:
    """The row of the table for one apply, counting the labels `properties` (default: all) and the buffer."""
    wanted = None if properties is None else set(properties)
    found = access_counts(program, label)
    return Counts.of(a for a in found if wanted is None or a.buffer or a.prop in wanted)
