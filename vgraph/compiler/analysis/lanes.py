"""Which loops over a vertex's arcs the lanes of a group can share, while everything around is done by the group as one.

`for (u, e) in in(v) { sum += rank[u] }` adds up in each lane and combines behind the loop. Unlike a piece
(`pieces.py`), a group has all arcs of its vertex, so what is done with the sum does not matter. `shared_operator`
decides on operators and brings them into a form for lanes; `shared_loops` finds the loops again in kernel IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NoReturn

from vgraph.compiler import ir
from vgraph.compiler.analysis.pieces import as_reduction
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.obstacle import Blocked, Obstacle
from vgraph.compiler.types import VID, Type, is_long

SHARED_BY: Final = {"warp": ir.Lanes.WARP, "block": ir.Lanes.BLOCK, "twc": ir.Lanes.BINS}
"""Which lanes share the arcs of a vertex, by balance."""
Loop = ir.ForNeighbors | ir.ForCommon
Sums = dict[str, tuple[str, Type | None]]
"""Locals that a loop's arcs combine: the operation, and the type if lanes but the first begin with the identity.
Without a type it is a flag: a bool that arcs set to true (`|`) or to false (`&`), and nothing else."""

_COMBINED: Final = (*ir.MONOTONE, *ir.ACCUMULATING)
_EFFECTS = (
    ir.Store, ir.Reduce, ir.ReduceGlobal, ir.Claim, ir.Union, ir.Emit, ir.CompareAndSwap, ir.FrontierPush,
    ir.BucketPush, ir.ScratchStore, ir.ScratchClear,
)  # fmt: skip


# --- loops in kernel IR ------------------------------------------------------------------------------------------


def own_arcs(node: ir.ForNeighbors, vertex: str, side: ir.Orientation | None = None) -> bool:
    """Whether this is a loop over the arcs of `vertex`, if given on this side."""
    return isinstance(node.of, ir.Var) and node.of.name == vertex and side in (None, node.orientation)


def loops_over_arcs(body: ir.Body) -> Iterator[ir.ForNeighbors]:
    """The loops over arcs in `body` that are in no other loop."""
    for stmt in body:
        if isinstance(stmt, ir.ForNeighbors):
            yield stmt
        elif isinstance(stmt, ir.If):
            yield from loops_over_arcs(stmt.then)
            yield from loops_over_arcs(stmt.other)


def side_of(loop: ir.ParFor | ir.BucketLoop) -> ir.Orientation | None:
    """The side by whose arcs vertices are given to groups: that of the cut, or of the first loop over arcs."""
    if loop.cut is not None:
        return loop.cut
    for node in loops_over_arcs(loop.body):
        if own_arcs(node, loop.vertex):
            return node.orientation
    return ir.Orientation.OUT if compares_others(loop, loop.vertex) else None


def shared_loops(loop: ir.ParFor | ir.BucketLoop) -> frozenset[int]:
    """Identities of the loops over its vertex's arcs that lanes can share; empty if one of them cannot be.

    Where vertices are cut, those of the other side are no loops over the piece. Where a list is marked, the group goes
    through the arcs as one, and its lanes share the loops below.
    """
    inside = [n for stmt in loop.body for n in ir.walk(stmt)]
    marking = [n for n in inside if isinstance(n, ir.ForNeighbors) and n.marks is not None]
    if marking:
        return frozenset(id(n) for m in marking for n in loops_below(m))
    own = [n for n in inside if isinstance(n, ir.ForNeighbors) and own_arcs(n, loop.vertex, loop.cut)]
    if compares_others(loop, loop.vertex):
        return frozenset(id(n) for n in loops_below(loop))
    outermost = {id(n) for n in loops_over_arcs(loop.body)}
    scratch = any(isinstance(n, ir.ScratchStore | ir.ScratchLoad | ir.ScratchClear) for n in inside)
    if not own or scratch or any(id(n) not in outermost or n.segments > 1 for n in own):
        return frozenset()
    if any(carried(n) is None or _writes_own(n, loop.vertex) for n in own):
        return frozenset()
    return frozenset(id(n) for n in own)


def loops_below(loop: ir.Node) -> Iterator[Loop]:
    """The loops over neighbors in the body of `loop` that are in no other loop below it."""

    def below(n: ir.Node) -> Iterator[Loop]:
        for each in ir.children(n):
            if isinstance(each, ir.ForNeighbors | ir.ForCommon):
                yield each
            elif not isinstance(each, ir.For | ir.While):
                yield from below(each)

    return below(loop)


def compares_own(loop: ir.ForNeighbors, vertex: str) -> bool:
    """Whether a list of `vertex` is compared with others inside `loop`."""
    return any(compared_with(n, vertex, side) for n in ir.walk(loop) for side in ir.Orientation)


def compares_others(visit: ir.ParFor | ir.BucketLoop | ir.Operator, vertex: str) -> bool:
    """Whether a visit walks no arcs of its own vertex, but compares the lists of others."""
    if any(isinstance(n, ir.ForNeighbors) and own_arcs(n, vertex) for n in ir.walk(visit)):
        return False
    return any(isinstance(n, ir.ForCommon) for n in loops_below(visit))


def compares_together(loop: ir.ForNeighbors | ir.ParFor | ir.BucketLoop | ir.Operator) -> bool:
    """Whether a group may go through the arcs of `loop`, or a visit, as one while its lanes share the loops below.

    Each of them only adds up, and nothing is read that one lane of the group alone writes.
    """
    inside = list(ir.walk(loop))
    written = {n.prop for n in inside if isinstance(n, ir.Store | ir.Reduce | ir.CompareAndSwap)}
    if any(isinstance(n, ir.ScratchLoad | ir.ScratchStore) for n in inside):
        return False
    if any(isinstance(n, ir.Load) and n.prop in written for n in inside):
        return False
    return all(carried(n) is not None for n in loops_below(loop))


def carried(loop: Loop) -> Sums | None:
    """What the loop adds up in locals declared before it; None if something else is carried from arc to arc."""
    try:
        return _sums(loop)
    except Blocked:
        return None


def compared_with(n: ir.Node, vertex: str, side: ir.Orientation) -> tuple[ir.Expr, ir.Orientation] | None:
    """The list that a loop over common neighbors compares with that of `vertex` on this side, if it does."""
    if not isinstance(n, ir.ForCommon):
        return None
    left, right = (n.left, n.left_orientation), (n.right, n.right_orientation)
    for own, other in ((left, right), (right, left)):
        if isinstance(own[0], ir.Var) and own[0].name == vertex and own[1] is side:
            return other
    return None


def ends_walk(loop: ir.ForCommon) -> ir.Expr | None:
    """The condition of a guard `if w > bound: break` with which the body begins: it stays true as w grows."""
    match loop.body[:1]:
        case (ir.If(ir.Compare(op, left, right) as condition, (ir.Break(),), ()),):
            ascending, bound = (left, right) if op in (">", ">=") else (right, left)
            fixed = not (isinstance(bound, ir.Var) and bound.name == loop.vertex)
            if op in (">", ">=", "<", "<=") and isinstance(bound, ir.Var | ir.Const) and fixed:
                return condition if isinstance(ascending, ir.Var) and ascending.name == loop.vertex else None
    return None


def leaves(body: ir.Body) -> bool:
    """Whether a `break` of the loop itself stands in its body."""
    return next(_breaks(body, ()), None) is not None


def _sums(loop: Loop) -> Sums:
    body = loop.body
    declared = {loop.vertex}
    if isinstance(loop, ir.ForCommon):
        body = body[1:] if ends_walk(loop) else body
    else:
        declared.add(loop.edge)
    inside = [n for stmt in body for n in ir.walk(stmt)]
    declared |= {n.name for n in inside if isinstance(n, ir.Let | ir.For)}
    declared |= {n.vertex for n in inside if isinstance(n, ir.ForNeighbors | ir.ForCommon)}
    declared |= {n.edge for n in inside if isinstance(n, ir.ForNeighbors)}
    found: Sums = {}
    own_reads: Counter[str] = Counter()  # in `x = x + e`
    for n in inside:
        change = _change(n)
        if change is not None and change[0] not in declared:
            name, op, t = change
            if op is None:
                raise Blocked(f"`{name}` is carried from arc to arc", n.span)
            if found.setdefault(name, (op, t)) != (op, t):
                raise Blocked(f"`{name}` is reduced in two ways", n.span)
            if isinstance(n, ir.Assign) and isinstance(n.value, ir.Binary):
                own_reads[name] += 1
    for n in inside:
        if isinstance(n, ir.Var) and n.name in found:
            own_reads[n.name] -= 1
            if own_reads[n.name] < 0:
                raise Blocked(f"`{n.name}` is carried from arc to arc", n.span)
    _check_breaks(body, inside, found)
    return found


def _change(n: ir.Node) -> tuple[str, str | None, Type | None] | None:
    """The local that a statement changes: its name, how it is combined, and the type of a sum."""
    match n:
        case ir.Accumulate(op=op, name=name, value=value):
            return name, op, value.type
        case ir.Assign(name=name, value=ir.Const(value=value)) if isinstance(value, bool):
            return name, "|" if value else "&", None
        case ir.Assign(name=name, value=ir.Binary(op, ir.Var(same), e)) if same == name and op in _COMBINED:
            return name, op, e.type
        case ir.Assign(name=name):
            return name, None, None
        case ir.Reduce(changed=str(name)):
            return name, "|", None
        case ir.CompareAndSwap(ok=name):
            return name, None, None
    return None


def _breaks(body: ir.Body, before: ir.Body) -> Iterator[tuple[ir.Break, ir.Body]]:
    """Every `break` of the loop itself, with what is certain to have been executed for the same arc."""
    for k, stmt in enumerate(body):
        done = (*before, *body[:k])
        if isinstance(stmt, ir.Break):
            yield stmt, done
        elif isinstance(stmt, ir.If):
            yield from _breaks(stmt.then, done)
            yield from _breaks(stmt.other, done)
        elif isinstance(stmt, ir.Claim):
            yield from _breaks(stmt.body, done)


def _check_breaks(body: ir.Body, inside: list[ir.Node], found: Sums) -> None:
    """A loop that is left early is a search: which arcs lie behind the `break` must not show in anything.

    So it does nothing but set flags, and all of them are set wherever it is left: further arcs could only set them
    again.
    """
    for at, done in _breaks(body, ()):
        for n in inside:
            if isinstance(n, _EFFECTS):
                raise Blocked("it may leave the loop over its arcs early, and has effects in it", at.span)
        sets = {n.name for n in done if isinstance(n, ir.Assign)}
        for name, (_, t) in found.items():
            if t is not None:
                raise Blocked(
                    f"it may leave the loop over its arcs early, which `{name.partition('.')[0]}` shows",
                    at.span,
                )
            if name not in sets:
                raise Blocked(f"it may leave the loop over its arcs before `{name}` is set", at.span)


def _writes_own(loop: ir.ForNeighbors, vertex: str) -> bool:
    """Whether its body writes plainly at the vertex itself, once per arc."""
    for n in ir.walk(loop):
        if isinstance(n, ir.Store | ir.Reduce | ir.CompareAndSwap):
            plain = isinstance(n, ir.Store) or not n.atomic
            if plain and isinstance(n.index, ir.Var) and n.index.name == vertex:
                return True
    return False


# --- operators ---------------------------------------------------------------------------------------------------


@ir.per_operator
def shared_operator(operator: ir.Operator) -> ir.Operator | Obstacle:
    """A vertex operator whose loops over its vertex's arcs lanes can share, or why there is none."""
    try:
        return _Sharing(operator).result()
    except Blocked as blocked:
        reason, span, _ = blocked.obstacle
        return Obstacle(reason, span or operator.span)


class _Sharing:
    """Rewrites one operator, or raises Blocked at the first statement that lanes cannot share.

    What the loops reduce into the vertex itself is added up in locals; what they read there and the operator writes,
    is read before them.
    """

    def __init__(self, operator: ir.Operator) -> None:
        self.v = operator.args[0]
        self.operator = operator = ir.transform(operator, self.as_reduction)
        self.nodes = list(ir.walk(operator))
        self.loops = [n for n in self.nodes if isinstance(n, ir.ForNeighbors) and own_arcs(n, self.v)]
        kinds = (ir.Store, ir.Reduce, ir.Claim)
        self.written = {n.prop for n in self.nodes if isinstance(n, kinds) and self.is_own(n.index)}
        self.count = 0

    def result(self) -> ir.Operator:
        for n in self.nodes:
            if isinstance(n, ir.ScratchLoad | ir.ScratchStore):
                self.block(f"`{n.prop}` is scratch, which one thread has for a visit", n)
        if compares_others(self.operator, self.v) and compares_together(self.operator):
            return ir.with_fields(self.operator, {"body": self.body(self.operator.body)})
        if not self.loops:
            self.block("it walks no arcs of its vertex", self.operator)
        outermost = {id(n) for n in loops_over_arcs(self.operator.body)}
        for loop in self.loops:
            if id(loop) not in outermost:
                self.block("the loop over its arcs stands inside another loop", loop)
        self.check_around()
        return ir.with_fields(self.operator, {"body": self.body(self.operator.body)})

    def block(self, reason: str, at: ir.Node) -> NoReturn:
        raise Blocked(reason, at.span)

    def as_reduction(self, n: ir.Node) -> ir.Node | None:
        """`x = min(x, e)` is a reduction, of a local as of a property."""
        if not (isinstance(n, ir.Assign) and isinstance(n.value, ir.Binary)):
            return as_reduction(n, self.v)
        op, sides = n.value.op, (n.value.left, n.value.right)
        for old, e in (sides, sides[::-1]):
            if isinstance(old, ir.Var) and old.name == n.name and op in (*ir.MONOTONE, *ir.ACCUMULATING):
                return ir.Accumulate(op, n.name, e, span=n.span)
        return None

    def is_own(self, e: ir.Expr) -> bool:
        return isinstance(e, ir.Var) and e.name == self.v

    def check_around(self) -> None:
        """Outside the loops nothing may be read that lanes change at other vertices: they are not waited for."""
        inside = {id(n): n for loop in self.loops for n in ir.walk(loop)}
        changed = {n.prop for n in inside.values() if isinstance(n, ir.Reduce | ir.Claim | ir.Union)
                   and not (isinstance(n, ir.Reduce) and self.is_own(n.index))}  # fmt: skip
        for n in self.nodes:
            if isinstance(n, ir.Load) and n.prop in changed and id(n) not in inside:
                self.block(f"`{n.prop}` is read beside the loop that changes it", n)

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self.statement(s))

    def statement(self, s: ir.Stmt) -> ir.Body:
        others = not self.loops and isinstance(s, ir.ForNeighbors | ir.ForCommon)
        if others or (isinstance(s, ir.ForNeighbors) and own_arcs(s, self.v)):
            assert isinstance(s, ir.ForNeighbors | ir.ForCommon)
            return self.shared(s)
        if isinstance(s, ir.If):
            return (ir.with_fields(s, {"then": self.body(s.then), "other": self.body(s.other)}),)
        return (s,)

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{self.v}.{hint}{self.count}"

    def shared(self, loop: Loop) -> ir.Body:
        """The loop, with what lanes need before and behind it."""
        sums: dict[tuple[str, str], ir.Let] = {}
        reads: dict[str, ir.Let] = {}
        reduced = {n.prop for n in ir.walk(loop) if isinstance(n, ir.Reduce) and self.is_own(n.index)}

        def rule(n: ir.Node) -> ir.Node | None:
            match n:
                case ir.Store(prop=prop):
                    self.block(f"`{prop}` is stored for every arc", n)
                case ir.Claim(prop=prop) if self.is_own(n.index):
                    self.block(f"`{prop}` is claimed for every arc", n)
                case ir.Reduce(prop=prop) if (
                    self.is_own(n.index) and is_long(n.value.type) and not self.loops
                ):
                    self.block(f"`{prop}`, too long for registers, is reduced in the loop", n)
                case ir.Load(prop=prop) if self.is_own(n.index) and prop in reduced:
                    self.block(f"`{prop}` is read at the vertex into which it is reduced", n)
                case ir.Load(prop=prop) if self.is_own(n.index) and prop in self.written and is_long(n.type):
                    self.block(
                        f"`{prop}`, too long for registers, is read in the loop and written beside it", n
                    )
                case ir.Load(prop=prop) if self.is_own(n.index) and prop in self.written:
                    let = reads.get(prop) or ir.Let(self.fresh(prop), n.type, n, span=loop.span)
                    reads[prop] = let
                    return ir.Var(let.name, n.type, span=n.span)
                case ir.Reduce(op=op, prop=prop, value=value) if self.is_own(n.index) and not is_long(
                    value.type
                ):
                    t = value.type
                    let = sums.get((op, prop)) or ir.Let(self.fresh(prop), t, identity(op, t), span=n.span)
                    sums[op, prop] = let
                    return ir.Accumulate(op, let.name, value, span=n.span)
            return None

        new = ir.transform(loop, rule)
        marks = isinstance(new, ir.ForNeighbors) and compares_own(new, self.v) and compares_together(new)
        if not marks:
            _sums(new)
        own = ir.Var(self.v, VID, span=loop.span)
        ends = [
            ir.Reduce(op, prop, own, ir.Var(let.name, let.type, span=let.span), span=let.span)
            for (op, prop), let in sums.items()
        ]
        return (*reads.values(), *sums.values(), new, *ends)


__all__ = ["Sums", "carried", "leaves", "own_arcs", "shared_loops", "shared_operator", "side_of"]
