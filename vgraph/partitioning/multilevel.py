"""vgraph's own partitioner: coarsen, divide the coarsest graph by recursive bisection, refine on the way back.

After Karypis and Kumar 1998; refinement is Jet (Gilbert et al. 2023). The steps are programs of the language
(`programs/`); between them levels are contracted and projected where they lie (`places.py`).
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.language.decorators import AlgorithmDef
from vgraph.partitioning.contraction import NONE, Room, contracted, contracted_by_keys, owners
from vgraph.partitioning.places import Host, like, place_for
from vgraph.partitioning.problem import Problem
from vgraph.partitioning.programs.bisection import bisection
from vgraph.partitioning.programs.matching import matching
from vgraph.partitioning.programs.refinement import refinement
from vgraph.partitioning.result import LevelStats
from vgraph.partitioning.simple import blocks
from vgraph.runtime.executor import run_loaded
from vgraph.runtime.prepare import prepare, runner_for

COARSEST: Final = 400
PER_PART: Final = 30
"""Coarsening ends at so many vertices, in all or for each part (METIS's number). With 400 instead of 200 cuts into 2, 4
and 8 parts of six meshes and road networks were 1 % smaller (3 to 6 seeds), in 6 % less processor time."""
ROUNDS: Final = 4
"""Proposals of a matching: with 6 it takes longer, and cuts are 0.5 % worse."""
TRIES: Final = 60
LEAST_TRIES: Final = 4
WORK: Final = 20_000
"""Bisections are tried so often that they walk about so many arcs, or an eighth of the graph's: what is cheap beside
the rest, and gains most where the coarsest graph is small beside it, as that of a road network."""
PASSES: Final = 2
IDLE_MOVES: Final = 20
"""Passes of a try, and moves of a pass without a better state; 40 take 2 to 4 % longer for cuts 0.5 % smaller."""
GROWTH: Final = 2.0
"""A level is refined if it has so many times the arcs of the last one: on skewed graphs some hardly differ."""
CLASSES: Final = 34
"""Of losses, by powers of two, where there are enough vertices to keep their table."""
ROOM: Final = 0.9
"""To which share of the slack a part that was too heavy is brought down, so that it does not come back at once."""
PATIENCE: Final = 5
"""Turns of little use after which a refinement ends. With 6 a partition takes 1.02 times as long for the same cuts,
with Jet's 12 1.5 times for cuts 1.5 % less; with 4 cuts are 1 % more."""


@dataclass
class Level:
    """A graph, and which vertex of the next coarser one each of its vertices went into. Arrays are those of a place."""

    graph: Graph
    to_coarser: Any = None
    seconds: float = 0.0


@dataclass(frozen=True)
class State:
    """Parts of a level: which vertices may be at their borders, the cut, the heaviest, and the turns it took."""

    parts: Any
    border: Any
    cut: int
    heaviest: int = 0
    turns: int = 0


def multilevel(problem: Problem) -> tuple[NDArray[np.int32], tuple[LevelStats, ...]]:
    """The parts, and what was done on each level."""
    n, k = problem.graph.num_vertices, problem.k
    if n <= k:
        return np.arange(n, dtype=np.int32), ()
    with place_for(problem.device, problem.threads) as place:
        levels = coarsened(problem, place)
        coarsest = levels[-1].graph
        parts = place.put(divided(problem, place.back(coarsest)))
        state, stats = uncoarsened(problem, place, levels, state_of(place, coarsest, parts))
        return repaired(problem, place.get(state.parts), state.heaviest), stats


def label_propagation(problem: Problem) -> tuple[NDArray[np.int32], tuple[LevelStats, ...]]:
    """The refinement alone, from blocks: fast, and as good as the order of the vertices."""
    n = problem.graph.num_vertices
    if n <= problem.k:
        return np.arange(n, dtype=np.int32), ()
    with place_for(problem.device, problem.threads) as place:
        graph = place.moved(problem.graph, unweighted=problem.unweighted)
        begin = state_of(place, graph, place.put(blocks(problem)))
        state, stats = uncoarsened(problem, place, [Level(graph)], begin)
        return repaired(problem, place.get(state.parts), state.heaviest), stats


def uncoarsened(
    problem: Problem, place: Host, levels: list[Level], state: State
) -> tuple[State, tuple[LevelStats, ...]]:
    """The state of the finest level, from that of the coarsest, and what was done on each."""
    stats, refined_arcs = [], levels[-1].graph.num_arcs  # which bisection has refined
    for level in reversed(levels):
        started = time.perf_counter()
        if level.to_coarser is not None:
            parts, border = (place.spread(x, level.to_coarser) for x in (state.parts, state.border))
            state = State(parts, border, state.cut, state.heaviest)
        finest = level is levels[0]
        if finest or level.graph.num_arcs > GROWTH * refined_arcs:
            state, refined_arcs = refined(problem, place, level.graph, state, finest), level.graph.num_arcs
        stats.append(_stats(level, state, time.perf_counter() - started))
    return state, tuple(reversed(stats))


def state_of(place: Host, graph: Graph, parts: Any) -> State:
    """Any vertex may be at a border."""
    xp, columns = place.xp, graph.out.columns
    across = parts[owners(xp, graph.out.row_offsets, columns.size)] != parts[columns]
    cut = int(graph.edge_properties["weight"][across].sum(dtype=np.int64)) // 2
    return State(parts, xp.ones(parts.size, np.bool_), cut)


def _stats(level: Level, state: State, seconds: float) -> LevelStats:
    size = level.graph.num_vertices, level.graph.num_arcs
    return LevelStats(*size, state.heaviest, state.cut, state.turns, level.seconds, seconds)


def repaired(problem: Problem, parts: NDArray[np.int32], heaviest: int) -> NDArray[np.int32]:
    """The parts, if `heaviest` is not above the limit; else packed anew, heavy vertices first into the lightest part.

    What is lighter than the slack stays where it is while there is room; by the limit's definition all fit.
    """
    if heaviest <= problem.limit:
        return parts
    loads, k, limit = problem.loads.tolist(), problem.k, problem.limit
    slack = limit - int(problem.loads.sum(dtype=np.int64)) / k
    order = np.argsort(-problem.loads, kind="stable").tolist()
    heap, weight, packed = [(0, p) for p in range(k)], [0] * k, parts.copy()
    for v in order:
        p = int(parts[v])
        if loads[v] > slack or weight[p] + loads[v] > limit:
            while heap[0][0] != weight[heap[0][1]]:  # it got more in the meantime
                heapq.heapreplace(heap, (weight[heap[0][1]], heap[0][1]))
            p = heap[0][1]
        weight[p] += loads[v]
        packed[v] = p
    assert max(weight) <= limit
    return packed


def coarsened(problem: Problem, place: Host) -> list[Level]:
    """The levels, the finest first."""
    levels = [Level(place.moved(problem.graph, unweighted=problem.unweighted))]
    smallest = max(COARSEST, PER_PART * problem.k)
    heaviest = max(1, int(1.5 * int(problem.loads.sum(dtype=np.int64)) / smallest))
    rooms: list[Room] = []
    while (n := levels[-1].graph.num_vertices) > smallest:
        started = time.perf_counter()
        level = levels[-1]
        mate = paired(problem, place, level.graph, heaviest, len(levels))
        if n - int((mate != NONE).sum()) / 2 > 0.95 * n:
            break
        if place.on_gpu:
            coarser, level.to_coarser = contracted_by_keys(level.graph, mate, place.xp)
            like(problem.graph, coarser)
        else:
            coarser, level.to_coarser = contracted(level.graph, mate, place.threads, rooms)
        levels.append(Level(coarser, seconds=time.perf_counter() - started))
    return levels


def paired(problem: Problem, place: Host, graph: Graph, heaviest: int, salt: int) -> Any:
    """The mate of each vertex, or NONE."""
    salt = (problem.seed * 1000003 + salt * 7919) % 2**31
    found = _run(problem, place, matching, graph, heaviest=heaviest, salt=salt, rounds=ROUNDS)
    mate = found.mate.astype(np.uint32)
    if 10 * found.singles > graph.num_vertices:
        _pair_singles(place.xp, mate, found.wish, graph.vertex_properties["load"], heaviest)
    return mate


def _pair_singles(xp: Any, mate: Any, wish: Any, weight: Any, heaviest: int) -> None:
    """Pair vertices without a mate that hang on the same neighbor, as leaves of a hub do (two-hop matching)."""
    single = xp.flatnonzero(mate == NONE)
    single = single[2 * weight[single].astype(np.int64) <= heaviest]
    # As numbers of hub and vertex they are sorted in a tenth of the time that a stable order by hubs takes.
    both = xp.sort((wish[single].astype(xp.uint64) << 32) | single.astype(xp.uint64))
    single, hub = (both & NONE).astype(single.dtype), both >> 32
    new = xp.ones(single.size, np.bool_)
    new[1:] = hub[1:] != hub[:-1]
    rank = xp.arange(single.size) - xp.flatnonzero(new)[xp.cumsum(new) - 1]
    first = xp.flatnonzero((rank[:-1] % 2 == 0) & ~new[1:])
    a, b = single[first], single[first + 1]
    mate[a], mate[b] = b, a


def divided(problem: Problem, graph: Graph) -> NDArray[np.int32]:
    """The parts of the coarsest graph, by recursive bisection: all regions of a depth at once, each by many tries."""
    n, k = graph.num_vertices, problem.k
    load = graph.vertex_properties["load"].astype(np.int64)
    # A region is a run of parts: region r is parts first[r] to first[r] + count[r] - 1.
    region = np.zeros(n, np.int32)
    first, count = np.array([0]), np.array([k])
    depth = 0
    while (count > 1).any():
        open_ = np.flatnonzero(count > 1)
        rank = np.full(count.size, -1, np.int32)
        rank[open_] = np.arange(open_.size)
        at = rank[region]
        order = np.argsort(at, kind="stable")
        order = order[np.searchsorted(at[order], 0) :]
        sizes = np.bincount(at[order], minlength=open_.size)
        starts = np.r_[0, np.cumsum(sizes)]
        whole = np.bincount(at[order], load[order], open_.size)
        parts = count[open_]
        left = parts // 2
        # What is allowed is spread over the depths to come.
        spare = np.maximum(problem.limit * parts / np.maximum(whole, 1), 1.0) ** (1 / np.ceil(np.log2(parts)))
        aim = whole * left / parts
        high = np.ceil(aim * spare)
        low = np.floor(whole - (whole - aim) * spare)
        affordable = max(WORK, problem.graph.num_arcs // 8) // max(1, graph.num_arcs)
        tries = int(max(1, min(TRIES, max(LEAST_TRIES, affordable), n // open_.size)))
        found = _run(
            problem,
            Host(1),
            bisection,
            graph,
            agents=np.arange(open_.size * tries),
            region=at,
            order=order,
            starts=starts,
            low=low.astype(np.int64),
            high=high.astype(np.int64),
            aim=aim.astype(np.int64),
            tries=tries,
            most_passes=PASSES,
            patience=IDLE_MOVES,
            seed=problem.seed + depth,
        )
        figures = (x[: open_.size * tries].reshape(-1, tries) for x in (found.excess, found.score))
        excess, score = figures
        best = np.lexsort((score, excess), axis=1)[:, 0]
        second = (found.sides >> best[np.maximum(at, 0)]) & 1
        # The second half of a region is a new one.
        fresh = np.arange(open_.size) + count.size
        moves = (at >= 0) & (second == 1)
        region[moves] = fresh[at[moves]]
        first = np.r_[first, first[open_] + left]
        count = np.r_[count, parts - left]
        count[open_] = left
        depth += 1
    return first[region].astype(np.int32)


def refined(problem: Problem, place: Host, graph: Graph, state: State, finest: bool) -> State:
    """Better parts."""
    k, n = problem.k, graph.num_vertices
    classes = max(1, min(CLASSES, n // k))
    weights = place.get(place.xp.bincount(state.parts, graph.vertex_properties["load"], k)).astype(np.int64)
    mean = int(weights.sum()) // k
    found = _run(
        problem,
        place,
        refinement,
        graph,
        start=state.parts,
        border=state.border,
        weights=weights,
        first=np.arange(k),
        table=np.arange(k * classes),
        doubled=2 * state.cut,
        k=k,
        limit=problem.limit,
        mean=mean,
        target=mean + int(ROOM * (problem.limit - mean)),
        classes=classes,
        boldness=0.25 if finest else 0.75,
        patience=PATIENCE,
        seed=problem.seed,
    )
    return State(found.best, found.border_now, int(found.cut) // 2, int(found.heaviest), int(found.turns))


def _run(problem: Problem, place: Host, algorithm: AlgorithmDef, graph: Graph, **arguments: Any) -> Any:
    """The results of a program on a graph of some level, at `place`. All levels have one job, that for the finest: only
    its graph, its arguments and its seed change."""
    seed = arguments.pop("seed", 0)
    if algorithm not in problem.ready:
        asked: dict[str, Any] = {"device": problem.device or "cpu", "threads": problem.threads}
        job = prepare(algorithm, graph, arguments, output=place.output, **asked)
        runner = runner_for(job)
        problem.ready[algorithm] = job, runner, runner.build(replace(job, graph=problem.graph))
    job, runner, loaded = problem.ready[algorithm]
    job = replace(job, graph=graph, arguments={**job.arguments, **arguments}, seed=seed)
    return SimpleNamespace(**run_loaded(job, runner, loaded))
