"""`mark-common`: a list that many others are compared with is marked once, and looked up instead of merged.

before: `for (v, e) in in(u) { for w in common(out(u), out(v)) { S } }`
after:  `for (w, e) in out(u) { mark[w] = true }`
        `for (v, e) in in(u) { for (w, e) in out(v) { if mark[w] { S } } }`
        `for (w, e) in out(u) { mark[w] = false }`

So is a list that is asked for each vertex of a loop: `if adjacent.out(u, w) { S }` becomes `if mark[w] { S }`, but
where the list is many times as long as the loop, and not for questions that may be rare.

On a GPU groups of lanes that visit a vertex together mark a list in the memory that they share:
`for (v, e) in in(u) marks out { for w in common(out(u), out(v)) { S } }`. What that becomes stands in `marks.cuh`.
There `hubs n` stays on loops that ask for the marks, and is taken from others.

With `hubs n` on the loops over common neighbors only vertices beyond the hubs are marked so, and looked for in loops
`beyond n`; what lists share of the hubs is counted by bitmaps:
`for w in common(out(u), out(v)) hubs 64 { shared += 1 }` becomes `shared += markedhubs 64 out(v)` behind
`markhubs 64 out(u)`, and `for w in markedhubs 64 out(v) { S }` where S asks for w. Two lists that stand in no
loop over neighbors are compared in the same way, the first of them marked.

`mark` is a byte per vertex and thread. Counting triangles this way takes a tenth of the time of merging on power-law
graphs, because the lists of hubs are walked once, not once per neighbor. A guard `if w > u: break` with which S begins
ends the walk; without one it ends behind the last vertex marked. What S only adds up is added without a branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import compares_others, compares_own, compares_together, shared_loops
from vgraph.compiler.analysis.pieces import own_sums
from vgraph.compiler.facts import PARALLEL
from vgraph.compiler.ir.legality import NEW_LOCALS
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.ir.trees import (
    FreshNames,
    children,
    fresh_names,
    rename,
    transform,
    transform_body,
    walk,
    with_fields,
)
from vgraph.compiler.types import BOOL, I64, VID, Scalar

LONGEST: Final = 8
"""A list is marked for a loop of at least so small a part of its length. To mark and unmark a vertex took 2 to 3 ns, to
find one by bisection 30 to 100."""
AHEAD: Final = 3
"""The bitmaps of hubs are asked for so many neighbors ahead."""
FALSE, TRUE = ir.Const(False, BOOL), ir.Const(True, BOOL)


class _Marker:
    """Rewrites the loops of one parallel loop; `marked` is the list that its vertex has in common with others."""

    def __init__(self, program: ir.Program, fresh: FreshNames, own: set[str], single: bool) -> None:
        self.program, self.fresh, self.own, self.single = program, fresh, own, single
        self.mark: ir.Property | None = None
        self.only_added: set[str] = set()
        """Properties to which the present parallel loop only adds."""

    def property(self) -> ir.Property:
        if self.mark is None:
            self.mark = ir.Property(self.fresh("mark"), BOOL, ir.Site.THREAD, ir.Origin.LOCAL)
        return self.mark

    def loop(self, loop: ir.ParFor) -> ir.ParFor:
        """The parallel loop with the loops over neighbors inside it rewritten."""

        outermost = {id(n) for n in _outermost(loop, loop.vertex)}
        inside = [n for n in walk(loop) if isinstance(n, ir.Load | ir.Store | ir.Reduce | ir.CompareAndSwap)]
        other = {
            n.prop for n in inside if not (isinstance(n, ir.Reduce) and n.op == "+" and n.changed is None)
        }
        self.only_added = {n.prop for n in inside} - other

        def rule(n: ir.Node) -> tuple[ir.Stmt, ...] | None:
            if isinstance(n, ir.ForNeighbors) and id(n) in outermost:
                return self.marked(n, loop.vertex)
            return None

        return transform(loop, rule)

    def marked(self, loop: ir.ForNeighbors, vertex: str) -> tuple[ir.Stmt, ...]:
        """The loop between marking and unmarking."""
        (side,) = _sides(loop, vertex)
        hubs = next((n.hubs for n in walk(loop) if isinstance(n, ir.ForCommon) and _other(n, vertex)), 0)
        u, last = ir.Var(vertex, VID), self.fresh("last")
        degree = ir.Degree(u, side)
        end = ir.Neighbor(u, side, ir.Binary("-", degree, ir.Const(1, I64)))
        some = ir.Compare(">", degree, ir.Const(0, I64))

        visited, pays = _visited(loop), ir.Var(self.fresh("pays"), BOOL)
        compares = compares_own(loop, vertex)

        def rule(n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
            if isinstance(n, ir.ForCommon) and (other := _other(n, vertex)):
                return self.looked_up(n, *other, ir.Var(last, VID))
            if isinstance(n, ir.ForCommon):
                return with_fields(n, {"hubs": 0})  # the marks are taken
            if hubs or _asks(n, vertex, visited) != side:
                return None
            assert isinstance(n, ir.HasNeighbor)
            known: ir.Expr = ir.Load(self.property().name, n.other, BOOL)
            if compares:
                return known
            searched = ir.Logical("and", ir.Unary("not", pays), n)
            return ir.Logical("or", ir.Logical("and", pays, known), searched)

        inside = transform(loop, rule)
        on, off = (self.sweep(u, side, value, hubs) for value in (TRUE, FALSE))
        if compares:
            start = ir.Select(some, end, ir.Const(0, VID))
            whole = ir.Let(last, VID, start, span=loop.span), on, inside, off
            if not hubs:
                return whole
            ahead = with_fields(inside, {"prefetch": inside.prefetch or AHEAD})
            return ir.MarkHubs(u, side, hubs), *whole[:2], ahead, off
        visits = ir.Binary("*", ir.Degree(loop.of, loop.orientation), ir.Const(LONGEST, I64))
        test = ir.Let(pays.name, BOOL, ir.Compare("<=", degree, visits), span=loop.span)
        return test, ir.If(pays, (on,)), inside, ir.If(pays, (off,))

    def sweep(self, u: ir.Var, side: ir.Orientation, value: ir.Const, hubs: int) -> ir.Stmt:
        """Mark the neighbors of u, but for hubs, or unmark them."""
        w, e = self.fresh("w"), self.fresh("e")
        each = ir.Store(self.property().name, ir.Var(w, VID), value)
        return ir.ForNeighbors(w, e, u, side, (each,), beyond=hubs)

    def of_pair(self, loop: ir.ForCommon) -> tuple[ir.Stmt, ...]:
        """A loop over what two lists share, none of which a loop around has marked."""
        a, b = (ir.Var(self.fresh("end"), VID) for _ in range(2))
        ends = zip((a, b), (loop.left, loop.right), strict=True)
        lets = (ir.Let(x.name, VID, value, span=loop.span) for x, value in ends)
        marked = ir.MarkHubs(a, loop.left_orientation, loop.hubs, span=loop.span)
        rest = with_fields(loop, {"left": a, "right": b, "hubs": 0, "beyond": loop.hubs})
        return *lets, marked, *self.of_hubs(loop, b, loop.right_orientation), rest

    def of_hubs(self, loop: ir.ForCommon, of: ir.Expr, side: ir.Orientation) -> ir.Body:
        """What the loop does for the marked hubs among the neighbors of `of`: what it only adds up, at once."""
        guard, body = _split(loop)
        whole = guard is None and not any(
            isinstance(n, ir.Break | ir.Continue) for s in body for n in walk(s)
        )
        counted = [s for s in body if whole and _counts(s, loop.vertex)]
        rest = tuple(s for s in body if s not in counted)
        found: list[ir.Stmt] = []
        if counted:
            number = ir.Var(self.fresh("shared"), I64)
            found.append(ir.Let(number.name, I64, ir.MarkedHubs(of, side, loop.hubs), span=loop.span))
            for s in counted:
                assert isinstance(s, ir.Accumulate | ir.Reduce | ir.ReduceGlobal)
                times = ir.Binary("*", ir.Cast(s.value.type, number), s.value)
                found.append(with_fields(s, {"value": times}))
        late = tuple(s for s in rest if whole and self._late(s, loop.vertex))
        rest = tuple(s for s in rest if s not in late)
        for part in (late, rest if guard is None or not rest else (guard, *rest)):
            if part:
                each = ir.ForMarkedHubs(loop.vertex, of, side, loop.hubs, part, part is late, span=loop.span)
                found.append(self.apart(each))
        return tuple(found)

    def _late(self, s: ir.Stmt, vertex: str) -> bool:
        """Whether a statement adds a constant at `vertex`, where no other thread writes and nothing is read before the
        parallel loop has ended."""
        if not (isinstance(s, ir.Reduce) and isinstance(s.index, ir.Var) and s.index.name == vertex):
            return False
        return self._adds(s) and (s.prop in self.own or s.prop in self.only_added)

    def apart(self, loop: ir.ForMarkedHubs) -> ir.ForMarkedHubs:
        """A second copy of a body: its locals get other names."""
        names = {}
        for n in walk(loop):
            for field in fields_of(type(n)):
                if field.type in NEW_LOCALS and n.__dict__[field.name] is not None:
                    names[n.__dict__[field.name]] = self.fresh(n.__dict__[field.name])
        return rename(loop, names)

    def looked_up(
        self, loop: ir.ForCommon, of: ir.Expr, side: ir.Orientation, last: ir.Var
    ) -> tuple[ir.Stmt, ...]:
        """The loop over common neighbors as one over all neighbors of `of`, with a test of the mark."""
        w, previous = ir.Var(loop.vertex, VID), self.fresh("previous")
        shared = self.of_hubs(loop, of, side) if loop.hubs else ()
        guard, body = _split(loop)
        bound = guard or ir.If(ir.Compare(">", w, last), (ir.Break(),))
        known: ir.Expr = ir.Load(self.property().name, w, BOOL)
        fresh = ir.Compare("!=", w, ir.Var(previous, VID))  # parallel arcs: each common vertex once
        both = ir.Binary("&", known, fresh)  # not `and`: which it is cannot be predicted
        found, seen = self.summed(body, both), ir.Assign(previous, w)
        if found is not None:
            inner = (bound, *found, seen)
        else:  # the body may go on to the next neighbor at any place
            new = self.fresh("new")
            inner = (bound, ir.Let(new, BOOL, both), seen, ir.If(ir.Var(new, BOOL), body))
        e = self.fresh("e")
        walked = ir.ForNeighbors(loop.vertex, e, of, side, inner, beyond=loop.hubs, span=loop.span)
        return *shared, ir.Let(previous, VID, ir.Const(-1, VID), span=loop.span), walked

    def summed(self, body: ir.Body, known: ir.Expr) -> ir.Body | None:
        """The body without a branch, if it only adds constants in places that no other thread writes."""
        if not all(self._adds(s) for s in body):
            return None
        name = self.fresh("found")
        found: list[ir.Stmt] = [ir.Let(name, BOOL, known)]
        for s in body:
            assert isinstance(s, ir.Accumulate | ir.Reduce | ir.ReduceGlobal)
            t = s.value.type
            one = ir.Cast(t, ir.Var(name, BOOL))
            value = (
                one if isinstance(s.value, ir.Const) and s.value.value == 1 else ir.Binary("*", one, s.value)
            )
            found.append(with_fields(s, {"value": value}))
        return tuple(found)

    def _adds(self, s: ir.Stmt) -> bool:
        if not (isinstance(s, ir.Accumulate | ir.Reduce | ir.ReduceGlobal) and s.op == "+"):
            return False
        plain = (
            isinstance(s.value, ir.Const) and isinstance(s.value.type, Scalar) and not s.value.type.is_float
        )
        private = not isinstance(s, ir.Reduce) or (s.changed is None and (self.single or s.prop in self.own))
        return plain and private


def _counts(s: ir.Stmt, vertex: str) -> bool:
    """Whether a statement adds the same number each time, whichever vertex it is about."""
    if not isinstance(s, ir.Accumulate | ir.Reduce | ir.ReduceGlobal) or s.op != "+":
        return False
    plain = isinstance(s.value, ir.Const) and isinstance(s.value.type, Scalar) and not s.value.type.is_float
    here = isinstance(s, ir.Reduce) and (
        s.changed is not None or any(isinstance(n, ir.Var) and n.name == vertex for n in walk(s.index))
    )
    return plain and not here


def _by_hubs(n: ir.Node) -> bool:
    """Whether lists are compared by bitmaps of hubs somewhere in `n`."""
    return any(isinstance(x, ir.ForCommon) and x.hubs for x in walk(n))


def _other(n: ir.ForCommon, vertex: str) -> tuple[ir.Expr, ir.Orientation] | None:
    """The list that is compared with one of the loop's own vertex, if it is."""
    if isinstance(n.left, ir.Var) and n.left.name == vertex:
        return n.right, n.right_orientation
    if isinstance(n.right, ir.Var) and n.right.name == vertex:
        return n.left, n.left_orientation
    return None


def _own_side(n: ir.ForCommon, vertex: str) -> ir.Orientation:
    own_left = isinstance(n.left, ir.Var) and n.left.name == vertex
    return n.left_orientation if own_left else n.right_orientation


def _visited(loop: ir.ForNeighbors) -> set[str]:
    """The vertices that `loop` and the loops in it go through: each is one of the graph's, and no `none`."""
    return {n.vertex for n in walk(loop) if isinstance(n, ir.ForNeighbors | ir.ForCommon)}


def _asks(n: ir.Node, vertex: str, visited: set[str]) -> ir.Orientation | None:
    """The list of `vertex` of which `n` asks whether one of the `visited` is in it."""
    match n:
        case ir.HasNeighbor(vertex=ir.Var(name=of), orientation=side, other=ir.Var(name=other)):
            return side if of == vertex and other in visited else None
    return None


def _sides(loop: ir.ForNeighbors, vertex: str) -> set[ir.Orientation]:
    """Which lists of the parallel loop's vertex are compared with others inside `loop`, or asked for its vertices."""
    common = {
        _own_side(n, vertex)
        for n in walk(loop)
        if isinstance(n, ir.ForCommon) and _other(n, vertex) is not None
    }
    visited = _visited(loop)
    often = (n for s in loop.body for each in _often(s) for n in walk(each))
    asked = (_asks(n, vertex, visited) for n in often)
    return common | {side for side in asked if side is not None}


def _often(n: ir.Node) -> Iterator[ir.Node]:
    """What is done in each turn of a loop with `n` in its body, or in loops over neighbors in it: what stands behind a
    test, as in `u.x > 5 and u in v.neighbors`, may be done so rarely that the mark would not be worth it."""
    below: Iterable[ir.Node] = children(n)
    match n:
        case ir.ForNeighbors() | ir.HasNeighbor():
            yield n
            return
        case ir.If(condition=ir.Compare(op="!=", left=ir.Var(type=t))) if t == VID:
            pass  # of parallel arcs one
        case ir.If(condition=first):
            below = (first, *(s for s in walk(n) if isinstance(s, ir.ForNeighbors)))
        case ir.Select(condition=first) | ir.Logical(left=first):
            below = (first,)
    for each in below:
        yield from _often(each)


def _outermost(n: ir.Node, vertex: str) -> Iterator[ir.ForNeighbors]:
    """The loops below `n` that compare one list of `vertex` with others and stand in no other such loop.

    There is one mark per vertex: within a loop that has marked a list no other list can be marked.
    """
    for below in children(n):
        if isinstance(below, ir.ForNeighbors) and len(_sides(below, vertex)) == 1:
            yield below
        else:
            yield from _outermost(below, vertex)


def _split(loop: ir.ForCommon) -> tuple[ir.If | None, ir.Body]:
    """The guard `if w > bound: break` with which the body begins, and the rest."""
    match loop.body[:1]:
        case (ir.If(ir.Compare(op=op, left=left, right=right), (ir.Break(),), ()) as guard,):
            at_left = isinstance(left, ir.Var) and left.name == loop.vertex and op in (">", ">=")
            at_right = isinstance(right, ir.Var) and right.name == loop.vertex and op in ("<", "<=")
            if at_left or at_right:
                return guard, loop.body[1:]
    return None, loop.body


def _by_groups(n: ir.Node, short_lists: bool) -> ir.Node | None:
    """A loop whose vertices are visited by groups of lanes: each marks a list in the memory that its lanes share.

    Where lists are short it does so only if lanes could share nothing else.
    """
    if not isinstance(n, ir.ParFor | ir.BucketLoop) or n.hops > 1:
        return None
    if n.cut is None and n.lanes is ir.Lanes.THREAD:
        return None
    if short_lists and (n.cut is not None or shared_loops(n)):
        return None
    vertex = n.vertex
    comparing = [loop for loop in _outermost(n, vertex) if compares_own(loop, vertex)]
    if not all(map(compares_together, comparing)):
        return None
    sides = {id(loop): side for loop in comparing for side in _sides(loop, vertex)}
    return transform(n, lambda x: with_fields(x, {"marks": sides[id(x)]}) if id(x) in sides else None)


def _heads_of_marked(program: ir.Program) -> ir.Program:
    """Heads of lists are walked where one is marked that they are compared with."""
    marking = [n for n in walk(program) if isinstance(n, ir.ForNeighbors) and n.marks is not None]
    kept = {id(n) for loop in marking for n in walk(loop) if isinstance(n, ir.ForCommon)}

    def rule(n: ir.Node) -> ir.Node | None:
        return with_fields(n, {"hubs": 0}) if isinstance(n, ir.ForCommon) and id(n) not in kept else None

    return transform(program, rule)


def _looks_back(n: ir.Node) -> bool:
    """Whether lanes that compare lists in this loop look for parallel arcs."""
    if isinstance(n, ir.ForNeighbors):
        return n.marks is not None
    return (
        isinstance(n, ir.ParFor | ir.BucketLoop)
        and n.lanes is not ir.Lanes.THREAD
        and compares_others(n, n.vertex)
    )


def _run(program: ir.Program, context: Context) -> ir.Program:
    short_lists = context.facts.short_lists
    if context.abilities.warps:
        made = transform(program, lambda n: _by_groups(n, short_lists))
        made = _heads_of_marked(made)
        if not any(_looks_back(n) for n in walk(made)):
            return made
        return with_fields(made, {"params": (*made.params, ir.Param(PARALLEL, BOOL))})
    by_hubs = any(map(_by_hubs, program.body))
    if (short_lists and not by_hubs) or not context.abilities.copies:
        return program
    fresh = fresh_names(program)
    own = {p.name for p in program.properties if p.site is ir.Site.THREAD}
    marker = _Marker(program, fresh, own, context.threads == 1)

    def rule(n: ir.Node) -> ir.Node | None:
        # A piece marks part of a list, a group of lanes has no memory of its own.
        if isinstance(n, ir.ParFor) and n.cut is None and n.domain.once and n.lanes is ir.Lanes.THREAD:
            return marker.loop(n) if not short_lists or _by_hubs(n) else None
        return None

    def pairs(n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        return marker.of_pair(n) if isinstance(n, ir.ForCommon) and n.hubs else None

    def sums(n: ir.Node) -> ir.Node | None:
        if not isinstance(n, ir.ParFor | ir.BucketLoop):
            return None
        own = n.vertex
        return transform(n, lambda x: own_sums(x, own) if isinstance(x, ir.ForCommon) and x.hubs else None)

    body = transform_body(program.body, sums) if by_hubs else program.body
    body = tuple(transform(s, rule) for s in body)
    if by_hubs:
        body = transform_body(body, pairs)
    elif marker.mark is None:
        return program
    marks = () if marker.mark is None else (marker.mark,)
    return with_fields(program, {"body": body, "properties": (*program.properties, *marks)})


mark_common = Pass("mark-common", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)
