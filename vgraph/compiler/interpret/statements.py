"""Statements: one function per node class; generators yield where another thread may step in."""

from __future__ import annotations

import sys
from inspect import isgeneratorfunction
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.analysis.effects import is_exclusive
from vgraph.compiler.interpret import buckets, memory, parallel
from vgraph.compiler.interpret.bodies import finish, run_body
from vgraph.compiler.interpret.expressions import evaluate, hubs_of
from vgraph.compiler.interpret.machine import (
    DRIVER,
    MARKED,
    ONE,
    PIECE,
    SCRATCH,
    Env,
    Frontier,
    Machine,
    Table,
    TraceRecord,
)
from vgraph.compiler.interpret.memory import Jump, Left, Steps
from vgraph.compiler.ir.handlers import handlers
from vgraph.errors import InternalError


def _claim(m: Machine, env: Env, n: ir.Claim) -> Steps:
    index, array = evaluate(m, env, n.index), m.arrays[n.prop]
    if array[index] != evaluate(m, env, n.expected):
        return None
    array[index] = evaluate(m, env, n.value)
    m.touched.add(int(index))
    return (yield from run_body(m, env, n.body))


# --- control ------------------------------------------------------------------------------------------------


def _if(m: Machine, env: Env, n: ir.If) -> Steps:
    return (yield from run_body(m, env, n.then if evaluate(m, env, n.condition) else n.other))


def _while(m: Machine, env: Env, n: ir.While) -> Steps:
    while evaluate(m, env, n.condition):
        if (yield from run_body(m, env, n.body)) is Jump.BREAK:
            break
    return None


def _loop(m: Machine, env: Env, rounds: Any, body: ir.Body) -> Steps:
    """Run `body` once for each dictionary of loop variables in `rounds`."""
    names: set[str] = set()
    for bindings in rounds:
        names |= set(bindings)
        env.update(bindings)
        if (yield from run_body(m, env, body)) is Jump.BREAK:
            break
    for name in names:
        del env[name]
    return None


def _for(m: Machine, env: Env, n: ir.For) -> Steps:
    start, stop, step = (int(evaluate(m, env, e)) for e in (n.start, n.stop, n.step))
    rounds = range(start, stop, step) if step else ()
    return (yield from _loop(m, env, ({n.name: np.int64(i)} for i in rounds), n.body))


def _for_neighbors(m: Machine, env: Env, n: ir.ForNeighbors) -> Steps:
    of = int(evaluate(m, env, n.of))
    if n.planned:
        plan, k = m.plan, env[PIECE].begin
        other = plan["targets" if n.orientation is ir.Orientation.OUT else "sources"][k]
        number = m.eid.type(k if m.low else plan["arcs"][k])
        return (yield from _loop(m, env, [{n.vertex: m.vid.type(other), n.edge: number}], n.body))
    if n.segments > 1:
        edges = m.side(n.orientation).edges
        piece = env.get(PIECE)
        segment = m.segment if piece is None else piece.segment
        row = m.ranges[segment][of]
        arcs = [(u, number if m.low else edges[arc]) for u, number, arc in row]
    else:
        arcs = m.arcs(of, n.orientation)
    if n.beyond:
        hubs = m.hubs(n.orientation, n.beyond)
        return (
            yield from _loop(
                m, env, ({n.vertex: u, n.edge: e} for u, e in arcs if int(u) not in hubs), n.body
            )
        )
    piece = env.get(PIECE)
    at = n.of.name if isinstance(n.of, ir.Var) else None
    if piece is not None and (at, n.orientation) == (piece.vertex, piece.orientation):
        arcs = arcs[piece.begin : piece.end]
    return (yield from _loop(m, env, ({n.vertex: u, n.edge: e} for u, e in arcs), n.body))


def _for_common(m: Machine, env: Env, n: ir.ForCommon) -> Steps:
    left = m.neighbors(int(evaluate(m, env, n.left)), n.left_orientation)
    right = m.neighbors(int(evaluate(m, env, n.right)), n.right_orientation)
    common = np.intersect1d(left, right)
    if n.beyond:
        hubs = m.hubs(n.left_orientation, n.beyond) | m.hubs(n.right_orientation, n.beyond)
        common = common[[int(w) not in hubs for w in common]]
    return (yield from _loop(m, env, ({n.vertex: w} for w in common), n.body))


def _mark_hubs(m: Machine, env: Env, n: ir.MarkHubs) -> None:
    env[MARKED] = hubs_of(m, env, n)


def _for_marked_hubs(m: Machine, env: Env, n: ir.ForMarkedHubs) -> Steps:
    found = sorted(hubs_of(m, env, n) & env[MARKED])
    return (yield from _loop(m, env, ({n.vertex: m.vid.type(w)} for w in found), n.body))


# --- applies ------------------------------------------------------------------------------------------------


def _begin(m: Machine, op: ir.Operator) -> None:
    """Start a round: remember the properties of vertices that the operator writes as they are now."""
    written = {n.prop for n in ir.walk(op) if isinstance(n, (ir.Store, ir.Reduce, ir.Claim, ir.Union))}
    written |= {name for n in ir.walk(op) if isinstance(n, ir.ReduceTuple) for name in n.props}
    m.snapshot = {p: m.arrays[p].copy() for p in written if m.properties[p].site is not ir.Site.NUMBERED}
    m.touched = set()


def _end(m: Machine, op: ir.Operator) -> None:
    for name in {n.prop for n in ir.walk(op) if isinstance(n, ir.Union)}:
        sets = m.arrays[name]
        for v in range(m.num_vertices):
            sets[v] = memory.root(sets, v)
    m.snapshot, m.own = {}, set()
    m.end_round()


def _own_names(op: ir.Operator, own: str) -> set[str]:
    """The names of the operator's own vertex."""
    copies = ir.fixed_copies(op)
    return {own, *(n for n, value in copies.items() if isinstance(value, ir.Var) and value.name == own)}


def _active(m: Machine, frontier: str | None) -> list[int]:
    return list(range(m.num_vertices)) if frontier is None else m.frontiers[frontier].vertices


def _edge_apply(m: Machine, env: Env, n: ir.EdgeApply) -> None:
    op = m.program.operator(n.op)
    src, edge, dst = op.args
    active = _active(m, n.frontier)
    arcs = [(m.vid.type(v), e, u) for v in active for u, e in m.arcs(v, n.leaving)]
    _begin(m, op)
    m.own = _own_names(op, dst)
    if is_exclusive(op):
        m.own |= _own_names(op, src)
    for v, e, u in m.ordered(arcs):
        finish(run_body(m, {**env, src: v, edge: e, dst: u}, op.body))
    touched = m.touched
    _end(m, op)
    if n.out is not None:
        m.frontiers[n.out] = Frontier.of(touched)
    if n.taking is not None:
        assert n.only is not None
        _vertex_apply(m, env, ir.VertexApply(n.only, n.out, n.out, n.label, untraced=True))
    if n.counting is not None:
        m.globals[n.counting] = np.int64(len(arcs))
    m.trace.append(TraceRecord(n.label, "", len(active), len(arcs)))


def _vertex_apply(m: Machine, env: Env, n: ir.VertexApply) -> None:
    op = m.program.operator(n.op)
    active = _active(m, n.frontier)
    emits = op.body[-1] if op.body and isinstance(op.body[-1], ir.Emit) else None
    _begin(m, op)
    m.own = _own_names(op, op.args[0])
    if is_exclusive(op):
        m.snapshot = {}
    chosen = []
    for v in m.ordered(active):
        local = {**env, op.args[0]: m.vid.type(v), SCRATCH: {}}
        try:
            finish(run_body(m, local, op.body[:-1] if emits else op.body, own_scope=False))
        except Left:
            continue
        if emits and evaluate(m, local, emits.value):
            chosen.append(v)
    _end(m, op)
    if n.out is not None:
        m.frontiers[n.out] = Frontier.of(chosen)
    if not n.untraced:
        m.trace.append(TraceRecord(n.label, "", len(active), 0))


# --- frontiers ----------------------------------------------------------------------------------------------


def _frontier_set(m: Machine, env: Env, n: ir.FrontierSet) -> None:
    vertices: list[int] | range = []
    if n.kind is ir.FrontierKind.ALL:
        vertices = range(m.num_vertices)
    elif n.vertex is not None:
        vertices = [int(evaluate(m, env, n.vertex))]
    layouts = m.layouts[n.out]
    wanted = ir.Layout.BITMAP if n.kind is ir.FrontierKind.ALL else ir.Layout.SPARSE
    m.frontiers[n.out] = Frontier.of(vertices, wanted if wanted in layouts or not layouts else layouts[0])
    if not m.low:
        m.frontiers[n.out] = Frontier.of(vertices)


def _frontier_copy(m: Machine, env: Env, n: ir.FrontierCopy) -> None:
    m.frontiers[n.out] = m.frontiers[n.source].copy()


def _frontier_where(m: Machine, env: Env, n: ir.FrontierWhere) -> None:
    m.frontiers[n.out] = Frontier.of(np.flatnonzero(m.arrays[n.prop]).tolist())


def _frontier_mark(m: Machine, env: Env, n: ir.FrontierMark) -> None:
    m.arrays[n.prop][...] = False
    m.arrays[n.prop][m.frontiers[n.frontier].vertices] = True


def _frontier_combine(m: Machine, env: Env, n: ir.FrontierCombine) -> None:
    left, right = (set(m.frontiers[name].vertices) for name in (n.left, n.right))
    m.frontiers[n.out] = Frontier.of(
        left | right if n.op == "|" else left & right if n.op == "&" else left - right
    )


def _list_clear(m: Machine, env: Env, n: ir.ListClear) -> None:
    m.lists[n.list] = []


def _list_append(m: Machine, env: Env, n: ir.ListAppend) -> None:
    m.lists[n.list].append(m.frontiers[n.frontier].copy())


def _list_get(m: Machine, env: Env, n: ir.ListGet) -> None:
    found, index = m.lists[n.list], int(evaluate(m, env, n.index))
    inside = -len(found) <= index < len(found)
    m.frontiers[n.out] = found[index].copy() if inside else m._frontier(m.layouts[n.out])


# --- kernel level -------------------------------------------------------------------------------------------


def _single(m: Machine, env: Env, n: ir.Single) -> Steps:
    m.task = ONE
    yield from run_body(m, env, n.body)
    m.task = DRIVER
    m.end_round()
    return None


def _alone(m: Machine, env: Env, n: ir.Alone) -> Steps:
    """One thread does everything, in order."""
    threads, rng = m.threads, m.rng
    m.threads, m.rng = 1, None
    jump = yield from run_body(m, env, n.body)
    m.threads, m.rng = threads, rng
    return jump


def _push(m: Machine, env: Env, n: ir.FrontierPush) -> Steps:
    frontier, v = m.frontiers[n.frontier], int(evaluate(m, env, n.vertex))
    if frontier.layout is not n.layout:
        raise InternalError(f"push to {n.frontier} as {n.layout}, but it is {frontier.layout}")
    known = v in (frontier.flags if n.layout is ir.Layout.SPARSE else frontier.bits)
    if m.interleaved and not n.atomic:
        yield
    if not (n.dedupe and known):
        frontier.push(v)
    return None


def _fold(m: Machine, env: Env, n: ir.Fold) -> None:
    for copy in m.arrays[n.own]:
        m.arrays[n.prop][...] = arithmetic.BINARY["+"](m.arrays[n.prop], copy)
    m.arrays[n.own][...] = 0


def _frontier_clear(m: Machine, env: Env, n: ir.FrontierClear) -> None:
    m.frontiers[n.frontier] = Frontier(n.layout)


def _frontier_swap(m: Machine, env: Env, n: ir.FrontierSwap) -> None:
    f = m.frontiers
    f[n.left], f[n.right] = f[n.right], f[n.left]


def _exchange(m: Machine, env: Env, n: ir.Exchange) -> None:
    m.arrays[n.left], m.arrays[n.right] = m.arrays[n.right], m.arrays[n.left]


def _all_to_all(m: Machine, env: Env, n: ir.AllToAll) -> None:
    if m.exchange is not None:
        outs, gots = ([m.arrays[name] for name in names] for names in (n.outs, n.gots))
        m.exchange(outs, gots, n.ways, None if n.turn is None else int(evaluate(m, env, n.turn)))


def _take(m: Machine, env: Env, n: ir.Take) -> None:
    got, count = m.arrays[n.got], int(evaluate(m, env, n.count))
    got[:2] = m.share(n.got, count) if m.share is not None else (got[1], count)


def _frontier_convert(m: Machine, env: Env, n: ir.FrontierConvert) -> None:
    frontier = m.frontiers[n.frontier]
    if frontier.layout is not n.layout:
        m.frontiers[n.frontier] = Frontier.of(frontier.vertices, n.layout)


def _trace(m: Machine, env: Env, n: ir.Trace) -> None:
    active, edges = int(evaluate(m, env, n.active)), int(evaluate(m, env, n.edges))
    m.trace.append(TraceRecord(n.label, n.direction, active, edges))


def steps(table: Table) -> tuple[Table, Table]:
    """Of a table by statement those that are one step, and the generators of steps."""
    generators = {kind: run for kind, run in table.items() if isgeneratorfunction(run)}
    return {kind: run for kind, run in table.items() if kind not in generators}, generators


def _nothing(m: Machine, env: Env, n: ir.Barrier | ir.QueueUpdate) -> None:
    pass


SIMPLE, COMPOUND = steps(
    handlers(memory, buckets, parallel, sys.modules[__name__], parameters=("m", "env", "n"))
)
