"""Parallel loops: the domains that they walk, what is a task of its own, and how tasks run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.analysis.slices import arcs_of, key_of
from vgraph.compiler.interpret import buckets
from vgraph.compiler.interpret.bodies import finish, run_body
from vgraph.compiler.interpret.expressions import evaluate
from vgraph.compiler.interpret.machine import DRIVER, PIECE, SCRATCH, Env, Item, Machine, Piece, Rows
from vgraph.compiler.interpret.memory import Steps
from vgraph.compiler.interpret.pipeline import Channel
from vgraph.errors import InternalError
from vgraph.graph import layouts


def _vertices(m: Machine, n: ir.ParFor | ir.Pipeline, env: Env) -> Iterator[list[Item]]:
    yield [(v, v) for v in range(m.num_vertices)]


def _members(m: Machine, n: ir.ParFor | ir.Pipeline, env: Env) -> Iterator[list[Item]]:
    d = n.domain
    assert isinstance(d, ir.Members)
    frontier = m.frontiers[d.frontier]
    if frontier.layout is not d.layout:
        raise InternalError(f"a loop takes {d.frontier} as {d.layout}, but it is {frontier.layout}")
    yield [(v, v if d.words else place) for place, v in enumerate(frontier.vertices)]


def _segments(m: Machine, n: ir.ParFor, env: Env) -> Iterator[list[Item]]:
    for number, rows in enumerate(_cut(m, n)):
        m.segment = number
        yield [(v, v) for v in rows]


def _slices(m: Machine, n: ir.ParFor, env: Env) -> Iterator[list[Item]]:
    yield [(v, number) for number, rows in enumerate(_cut(m, n)) for v in rows]


def _planned(m: Machine, n: ir.ParFor, env: Env) -> Iterator[list[Item]]:
    assert isinstance(n.domain, ir.PlannedArcs)
    plan = layouts.on_host(m.graph, n.domain.key)
    m.plan, bounds = plan.arrays, plan.arrays["bounds"]
    begin, end = _bounds(m, env, n.domain)
    for first, last in itertools.pairwise(m.plan["phases"][begin : end and end + 1].tolist()):
        cells = bounds[first : last + 1].tolist() if plan.numbers["cells"] else range(first, last + 1)
        yield list(itertools.pairwise(cells))


def _listed(m: Machine, n: ir.ParFor, env: Env) -> Iterator[list[Item]]:
    assert isinstance(n.domain, ir.Listed)
    first, last = _bounds(m, env, n.domain)
    yield [(int(v), place) for place, v in enumerate(m.arrays[n.domain.array][first:last], first)]


def _bounds(m: Machine, env: Env, d: ir.PlannedArcs | ir.Listed) -> tuple[int, int | None]:
    """What of a list is visited: from one number to before another, or all."""
    if d.start is None or d.stop is None:
        return 0, None
    return int(evaluate(m, env, d.start)), int(evaluate(m, env, d.stop))


def _cut(m: Machine, n: ir.ParFor) -> list[Rows]:
    """By range of sources, the arcs from there of each vertex that has any."""
    arcs = arcs_of(n)
    if isinstance(n.domain, ir.PartedSegments):
        m.ranges = m.parted(key_of(n, m.program.target))
    elif isinstance(n.domain, ir.PartedSlices):
        m.ranges = m.by_parts(n.domain.parts)
    else:
        m.ranges = m.segments(arcs.segments, arcs.orientation)
    return m.ranges


DOMAINS: Final[dict[type[ir.Domain], Callable[[Machine, Any, Env], Iterator[list[Item]]]]] = {
    ir.Vertices: _vertices,
    ir.VertexWords: _vertices,
    ir.SparseMembers: _members,
    ir.BitmapMembers: _members,
    ir.Segments: _segments,
    ir.SlicedSegments: _segments,
    ir.PartedSegments: _segments,
    ir.Slices: _slices,
    ir.PartedSlices: _slices,
    ir.PlannedArcs: _planned,
    ir.Listed: _listed,
}
"""The items of each domain in the interpreter, a list for each stretch between barriers."""


def _par_for(m: Machine, env: Env, n: ir.ParFor) -> None:
    for domain in DOMAINS[type(n.domain)](m, n, env):
        _visits(m, env, n, domain)
        m.met()
    m.end_round()


def _visits(m: Machine, env: Env, n: ir.ParFor, domain: list[Item]) -> None:
    """All iterations of a parallel loop between two barriers."""
    if n.hops > 1:
        _run_tasks(m, (piece for v in _hops(m, n, domain) for piece in _pieces(m, env, n, [v])))
        return
    if n.cut is not None:
        _run_tasks(m, _pieces(m, env, n, [v for v, _ in domain]))
        return
    if isinstance(n.domain, ir.PlannedArcs):
        _run_tasks(m, m.ordered([_cell(m, env, n, *bounds) for bounds in domain]))
        return
    if isinstance(n.domain, ir.Slices):
        _run_tasks(m, _rows(m, env, n, domain))
        return
    chunks: dict[int, list[Item]] = {}
    for v, place in domain:
        chunks.setdefault(v // 64 if n.domain.words else place, []).append((v, place))
    _run_tasks(m, [_chunk(m, env, n, m.ordered(chunk)) for chunk in m.ordered(list(chunks.values()))])


def _hops(m: Machine, n: ir.ParFor, domain: list[Item]) -> Iterator[int]:
    """The vertices of a loop that goes on with what it finds; if a seed was given, with some of them."""
    yield from (v for v, _ in m.ordered(domain))
    (name,) = {x.frontier for x in ir.walk(n) if isinstance(x, ir.FrontierPush)}
    queue = m.frontiers[name]
    for _ in range(n.hops - 1):
        taken = [v for v in queue.queue if m.rng is None or m.rng.random() < 0.5]
        queue.queue = [v for v in queue.queue if v not in taken]
        queue.flags -= set(taken)
        yield from taken


def _pieces(m: Machine, env: Env, n: ir.ParFor | ir.BucketLoop, vertices: list[int]) -> list[Steps]:
    """A task for each piece of each vertex."""
    assert n.cut is not None
    limit = None if n.limit is None else int(evaluate(m, env, n.limit))
    tasks: list[Steps] = []
    for v in vertices:
        cuts = m.cuts(len(m.neighbors(v, n.cut)), limit)
        for k, (begin, end) in enumerate(cuts):
            piece = Piece(n.vertex, n.cut, begin, end, len(cuts) == 1, k == 0)
            tasks.append(run_body(m, {**env, n.vertex: m.vid.type(v), PIECE: piece, SCRATCH: {}}, n.body))
    return m.ordered(tasks)


def _rows(m: Machine, env: Env, n: ir.ParFor, domain: list[Item]) -> list[Steps]:
    """A task for each piece of the arcs of a vertex from one range of sources."""
    tasks: list[Steps] = []
    side, segments = arcs_of(n).orientation, _cut(m, n)
    for v, segment in domain:
        for begin, end in m.cuts(len(segments[segment][v]), None):
            piece = Piece(n.vertex, side, begin, end, False, False, segment)
            tasks.append(run_body(m, {**env, n.vertex: m.vid.type(v), PIECE: piece, SCRATCH: {}}, n.body))
    return m.ordered(tasks)


def _cell(m: Machine, env: Env, n: ir.ParFor, begin: int, end: int) -> Steps:
    """The planned arcs begin .. end, one after the other."""
    assert isinstance(n.domain, ir.PlannedArcs)
    near = m.plan["sources" if n.domain.orientation is ir.Orientation.OUT else "targets"]
    for k in range(begin, end):
        piece = Piece("", n.domain.orientation, k, k + 1, False, False)  # of no vertex's row
        local = {**env, n.vertex: m.vid.type(near[k]), PIECE: piece, SCRATCH: {}}
        yield from run_body(m, local, n.body)
    return None


def _run_tasks(m: Machine, tasks: Iterable[Steps]) -> None:
    """Run the tasks of a parallel loop: one after the other, or interleaved if a seed was given."""
    if m.threads == 1 or m.rng is None:
        for m.task, task in enumerate(tasks):
            finish(task)
        m.task = DRIVER
    else:
        _interleave(m, tasks)


def _bucket_loop(m: Machine, env: Env, n: ir.BucketLoop) -> None:
    _take_entries(m, n, env)
    while buckets.left_in_tiles(m, n):  # what the last tasks pushed, when no other was left to be taken
        _take_entries(m, n, env)
    m.end_round()


def _take_entries(m: Machine, n: ir.BucketLoop, env: Env) -> None:
    visits = buckets.visits(m, n, env)
    if n.cut is None:
        tasks = (_chunk(m, env, n, [(v, 0)]) for v in visits)
    else:
        tasks = (piece for v in visits for piece in _pieces(m, env, n, [v]))
    strict = any(b.strict for b in m.program.buckets if b.name == n.buckets)
    if m.threads == 1 or m.rng is None or strict:
        m.task = 0
        for task in tasks:
            finish(task)
        m.task = DRIVER
    else:
        _interleave(m, tasks)


def _chunk(m: Machine, env: Env, n: ir.ParFor | ir.BucketLoop, items: list[Item]) -> Steps:
    """The iterations that one thread runs in a row, vertices and their places, with one scratch memory."""
    scratch: dict[str, Any] = {}
    for v, place in items:
        if isinstance(n, ir.ParFor):
            m.take(v)
        local: Env = {**env, n.vertex: m.vid.type(v), SCRATCH: scratch}
        if isinstance(n, ir.ParFor) and n.position is not None:
            local[n.position] = np.int64(place)
        yield from run_body(m, local, n.body)
    return None


def _pipeline(m: Machine, env: Env, n: ir.Pipeline) -> None:
    (domain,) = DOMAINS[type(n.domain)](m, n, env)
    channel = Channel(m, env, n, domain)
    if m.threads == 1 or m.rng is None:
        finish(channel.alone())
    else:
        _interleave(m, [channel.thread(number) for number in range(m.threads)])
    channel.close()
    m.end_round()


def _interleave(m: Machine, tasks: Iterable[Steps]) -> None:
    """Run `threads` tasks at a time, taking a step of any of them in turn."""
    assert m.rng is not None
    m.interleaved = True
    waiting = enumerate(tasks)
    running: dict[int, tuple[int, Steps]] = {}
    while True:
        for thread in range(m.threads):
            if thread not in running and (task := next(waiting, None)) is not None:
                running[thread] = task
        if not running:
            break
        m.thread = int(m.rng.choice(list(running)))
        m.task, steps = running[m.thread]
        try:
            next(steps)
        except StopIteration:
            del running[m.thread]
    m.interleaved, m.thread, m.task = False, 0, DRIVER
