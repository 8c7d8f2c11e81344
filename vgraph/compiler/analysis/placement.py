"""Operators on a part of a graph: which vertices they name, and whether the member that visits a vertex has those.

A member of a set of devices *owns* vertices, has the arcs of these in both directions, and keeps *ghosts*: a place for
each vertex that others own at the far end of such an arc. Vertices are numbered for each member by itself, owned ones
first; what a program computes with are the numbers of the whole graph, `set.number[v]`.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final, NoReturn

from vgraph.compiler import ir
from vgraph.compiler.facts import OF_A_PART
from vgraph.compiler.foreign.externals import PREFIX
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.types import EID, I64, VID, element_of
from vgraph.records import dataclass
from vgraph.source import Span

OWNED, NUMBER, PLACE, MINE = "set.owned", "set.number", "set.place", "set.mine"
"""How many vertices are owned; the number of a vertex in the graph, and the vertex that has a number here, or none;
whether a vertex is owned."""
GHOSTS, SHARED = "set.ghosts", "set.shared"
"""The ghosts, by their owners; the owned vertices that others have as ghosts, by those who have them."""
MEMBERS: Final = "set.members"
SIZES: Final = {"num_vertices": "set.num_vertices", "num_arcs": "set.num_arcs"}
"""Of the whole graph."""
EDGES: Final = "graph.num_edges"
"""The hidden parameter that says how many edges an undirected graph has: the whole one."""
DEGREES: Final = {side: f"set.degree.{side.value}" for side in ir.Orientation}
IN_DEGREE: Final = DEGREES[ir.Orientation.IN]
"""Parts of a directed graph have it if they have in-arcs."""
CLAIM: Final = "claim"
COUNTS: Final = "set.counts"
"""How many values a member has for each other so far."""
STARTS: Final = {GHOSTS: "set.ghosts.starts", SHARED: "set.shared.starts"}
"""Where what each member owns, or has as ghosts, begins in the list."""
COPIES, COPY_OF, COPY_AT = "set.copies", "set.copies.of", "set.copies.at"
"""Where the rows of all vertices begin: who else has a copy of it, and what number that has there."""
_BUFFER: Final = re.compile(r"\.(to|at)_(owners|ghosts|all|each|turns)(\.\d+)?$")


def buffer_of(name: str, end: str, way: str) -> str:
    """What a buffer of an exchange is called: `dist.to_owners`, and the one to which it goes `dist.at_owners`."""
    return f"{name}.{end}_{way}"


def taken_of(items: str) -> str:
    """What the iterations are called that a member took of a divided loop over `items`; `items_of` is the inverse."""
    return f"{items}.taken"


def items_of(buffer: str) -> str | None:
    """What a member takes iterations over into this buffer, from its name; None if it is none."""
    found = re.fullmatch(r"(.*)\.taken(\.\d+)?", buffer)
    return found and found[1]


def of_turns(what: str, key: str) -> str:
    """The array of what a member does in the turns of a plan: `set.spans.16`; `parts_of` is the inverse."""
    return f"set.{what}.{key.rpartition('.')[2]}"


def parts_of(array: str) -> tuple[str, int] | None:
    """What an array tells of turns, and the number of parts, from its name; None if it does not."""
    found = re.fullmatch(r"set\.(spans|gone|got)\.(\d+)", array)
    return found and (found[1], int(found[2]))


def bytes_text(ghost: int, pair: int) -> str:
    """What an exchange moves at most; `with_bytes` makes a number of it."""
    return f"at most {ghost} bytes for each ghost and {pair} from each member to each other"


def with_bytes(text: str, ghosts: int, members: int) -> str:
    """`text` with the bytes of exchanges among so many members with so many ghosts in all."""
    pattern = re.escape(bytes_text(0, 0)).replace("0", r"(\d+)")
    total = lambda m: f"at most {int(m[1]) * ghosts + int(m[2]) * members * (members - 1):,} bytes"  # noqa: E731
    return re.sub(pattern, total, text)


def way_of(buffer: str) -> tuple[str, str] | None:
    """End and way of a buffer of an exchange, from its name; None if it is none."""
    found = _BUFFER.search(buffer)
    return None if found is None else (found[1], found[2])


def inexact(n: ir.Call | ir.Binary) -> str | None:
    """What of a computation with floats is not the same to the last bit everywhere; None if all is."""
    match n:
        case ir.Binary(op="**") if element_of(n.type).is_float:
            return "a power"
        case ir.Call(function="exp" | "log" as name):
            return f"`{name}`"
        case ir.Call(function=name) if name.startswith(PREFIX):
            return "a function of others"
    return None


@dataclass
class Visit:
    """An operator as a member runs it, at vertices of its own, and what it does at `near` ones, which may be ghosts."""

    operator: ir.Operator
    reads: dict[str, Span | None] = field(default_factory=dict)
    """Properties read at near vertices."""
    writes: dict[str, str] = field(default_factory=dict)
    """Properties that near vertices get: how they are combined, or `claim`."""
    claims: dict[str, ir.Claim] = field(default_factory=dict)
    """By what is claimed, at near vertices or owned ones."""
    stored: set[str] = field(default_factory=set)
    """Properties that are set at owned vertices, or with a claim."""
    reduced: set[tuple[str, str]] = field(default_factory=set)
    """Properties reduced into at owned vertices, and how."""
    globals: dict[str, str] = field(default_factory=dict)
    """Globals that are reduced into, and how."""


def visit(
    program: ir.Program, operator: ir.Operator, own: str, *, whole: bool = False, cut: bool = False
) -> Visit:
    """The operator for a member that visits the arcs, or the neighbors, of its vertex `own`.

    `whole`: a member has a place for every vertex, by its number in the graph, and all arcs. `cut`: it has some of the
    arcs of a vertex, whoever owns that; both ends of an arc are near then. Raises NotOnASet for what needs more of the
    graph than the member has.
    """
    return _Localizer(program, operator, "" if cut and operator.is_edge else own, whole, cut).run()


class _Localizer:
    def __init__(self, program: ir.Program, operator: ir.Operator, own: str, whole: bool, cut: bool) -> None:
        self.program, self.own, self.operator, self.whole, self.cut = program, own, operator, whole, cut
        self.sites = {p.name: p.site for p in program.properties}
        loops = (n.vertex for n in ir.walk(operator) if isinstance(n, ir.ForNeighbors))
        self.vertices = {*loops, *(a for a in operator.args if a == own or operator.is_edge)}
        if operator.is_edge:
            self.vertices.discard(operator.args[1])
        self.found = Visit(operator)

    def refuse(self, n: ir.Node, reason: str) -> NoReturn:
        refuse(self.program, n.span or self.operator.span, reason)

    def run(self) -> Visit:
        for n in ir.walk(self.operator):
            self._check_arcs(n)
        found = self.found
        found.operator = self.operator if self.whole else ir.transform(self.operator, self._rule)
        for n in ir.walk(found.operator):
            self._note(n)
        for name, op in found.writes.items():
            if op in ir.ACCUMULATING and name in found.reads:
                at = found.reads[name]
                refuse(self.program, at, f"`{name}` is read at the other end, where it is being added up")
        return found

    def _check_arcs(self, n: ir.Node) -> None:
        match n:
            case ir.ForCommon() if not self.whole:
                self.refuse(
                    n, "it looks at the neighbors of two vertices, one of which may lie on another member"
                )
            case ir.HasNeighbor() if not self.whole:
                self.refuse(
                    n, "it looks for a vertex among neighbors, whose order is that of the whole graph"
                )
            case ir.ForNeighbors() | ir.Neighbor() if self.cut:
                self.refuse(n, "each member has some of the neighbors of a vertex")
            case ir.Union():
                self.refuse(n, "disjoint sets have roots on any member")
        if self.whole or (isinstance(n, ir.Expr) and n.type == EID):
            return
        indices = [n.__dict__[f.name] for f in fields_of(type(n)) if f.type == "Index"]
        if any(c.type == EID for c in ir.children(n) if isinstance(c, ir.Expr) and c not in indices):
            self.refuse(n, "the numbers of arcs are those of one device")

    # --- vertices by their numbers on the member, and in the graph

    def _rule(self, n: ir.Node) -> ir.Node | None:
        match n:
            case ir.Var(name=name) if name in self.vertices:
                return ir.Load(NUMBER, n, VID)
            case ir.GraphSize(what=what):
                return ir.Var(SIZES[what], I64)
        n = self._with_places(n)
        match n:
            case ir.Degree(vertex=at, orientation=side) if self.cut or not self._owned(at):
                return ir.Load(DEGREES[side], at, I64)
            case ir.Neighbor():
                return ir.Load(NUMBER, n, VID)
        return n

    def _with_places(self, n: ir.Node) -> ir.Node:
        """The node with vertices, where they say where something is, by their numbers here."""
        changes: dict[str, object] = {}
        for f in fields_of(type(n)):
            at = n.__dict__[f.name]
            if f.type not in ("Index", "VidExpr") or at is None or at.type != VID:
                continue
            match at:
                case ir.Load(prop=name, index=here) if name == NUMBER:
                    changes[f.name] = here
                case _:
                    self.refuse(n, "a vertex that was found in the data may lie on any member")
        return ir.with_fields(n, changes) if changes else n

    def _owned(self, at: ir.Expr) -> bool:
        return isinstance(at, ir.Var) and at.name == self.own

    # --- what is read and written where

    def _note(self, n: ir.Node) -> None:
        found = self.found
        match n:
            case ir.Load(prop=name, index=at) if at.type == VID and not name.startswith(OF_A_PART):
                if not self._owned(at):
                    found.reads.setdefault(name, n.span)
            case ir.Reduce(prop=name, index=at, op=op) if at.type == VID:
                self._write(n, name, at, op)
            case ir.Claim(prop=name, index=at):
                self._claim(n, name, at)
            case ir.Store(prop=name):
                found.stored.add(name)
            case ir.ReduceGlobal(name=name, op=op):
                found.globals[name] = op
            case _:
                self._refused(n)

    def _refused(self, n: ir.Node) -> None:
        match n:
            case ir.ForNeighbors(of=at) | ir.Neighbor(vertex=at):
                if not (self.whole or self._owned(at)):
                    self.refuse(n, "the neighbors of a neighbor may lie on another member")
            case ir.InFrontier(vertex=at) if not self._owned(at):
                self.refuse(n, "whether a neighbor is in a frontier is known where it is owned")

    def _write(self, n: ir.Node, name: str, at: ir.Expr, op: str) -> None:
        if self._owned(at):
            self.found.reduced.add((name, op))
        elif self.found.writes.setdefault(name, op) != op:
            self.refuse(n, f"`{name}` is combined in several ways")

    def _claim(self, n: ir.Claim, name: str, at: ir.Expr) -> None:
        if self._owned(at):
            self.found.stored.add(name)
            self.found.claims.setdefault(name, n)
            return
        self._write(n, name, at, CLAIM)
        known = self.found.claims.setdefault(name, n)
        if not isinstance(n.expected, ir.Const | ir.GlobalVar) or known.expected != n.expected:
            self.refuse(n, "what the owner of the vertex has to expect differs from arc to arc")
        for s in n.body:
            if not (isinstance(s, ir.Store) and s.index == at):
                self.refuse(s, "what goes with a claim is undone where the owner of the vertex has another")


def refuse(program: ir.Program, span: Span | None, reason: str) -> NoReturn:
    """Refuse to run the program on a set of devices."""
    from vgraph.refusals.sets import NotOnASet

    if span is None:
        span = next(n.span for n in ir.walk(program) if n.span is not None)
    assert span is not None
    raise NotOnASet(span, program.name, reason)
