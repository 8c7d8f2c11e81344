"""Every algorithm of the library under legal schedules, on graphs of every shape, against the reference interpreter.

Nothing here names an axis of schedules: what there is to try comes from `vgraph.compiler.space`, and the
algorithms from the library. Integers and booleans agree exactly, floats to a relative 1e-9 (64 bits) or 1e-4 (32
bits), as sums are added in another order; results with several right answers have checks of their own in `CHECKS`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from library_arguments import arguments_for, graph_for, prepared

import vgraph as vg
from vgraph.cache import key_text
from vgraph.compiler import ir, space
from vgraph.compiler.abilities import CPU, Abilities
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import print_program
from vgraph.runtime.policy import facts_of

Arrays = dict[str, Any]
LARGE = 130
"""Vertices of the largest graphs: three chunks, so that threads meet."""
ARGUMENTS: dict[str, Arrays] = {
    "eigenvector": {"max_rounds": 200},
    "pagerank": {"max_rounds": 6, "tolerance": 0.0},
    "random_walks": {"walks": 100},
    "simrank": {"max_rounds": 1},
}
"""What an algorithm is called with beside its source: a number of rounds must not hang on the last bits of a sum, nor
the reference interpreter take long."""

PAIRS = {"simrank"}
"""Algorithms that visit all pairs of vertices: on the larger graphs the reference interpreter takes minutes."""
SOURCES: dict[str, tuple[str, int]] = {
    "betweenness": ("sources", 5),
    "edge_betweenness": ("sources", 5),
    "weighted_betweenness": ("sources", 5),
    "weighted_closeness": ("vertices", 5),
}
"""A parameter that takes vertices, and how many it is given: all of them, the default, take a minute."""


@dataclass(frozen=True)
class Kind:
    """What code depends on: graphs of one kind share it."""

    directed: bool
    weight: str
    id_bits: int | None = None


KINDS = (
    Kind(True, "int32"),
    Kind(False, "float64"),
    Kind(False, "int32"),
    Kind(True, "float32"),
    Kind(True, "int64", 64),
)

# --- graphs -----------------------------------------------------------------------------------------------------


def ends(shape: str, rng: np.random.Generator) -> tuple[int, Any, Any]:
    """The number of vertices of a graph, and the ends of its edges."""
    n = {"no vertices": 0, "one vertex": 1, "power law": LARGE, "star": 80}.get(shape, 20)
    every = rng.permutation(n)
    match shape:
        case "no vertices" | "one vertex" | "no edges":
            return n, every[:0], every[:0]
        case "path":
            return n, every[:-1], every[1:]
        case "star":  # arcs both ways: a hub that is read and a hub that is written
            hub = np.full(n - 1, every[0])
            return n, np.r_[hub, every[1:]], np.r_[every[1:], hub]
        case "loops":
            return n, np.r_[every, every[:-1]], np.r_[every, every[1:]]
        case "parallel":
            return n, np.repeat(every[:-1], 3), np.repeat(every[1:], 3)
        case "isolated":
            some = every[: n // 3]
            return n, rng.choice(some, 2 * n), rng.choice(some, 2 * n)
        case "power law":
            chance = 1 / np.arange(1, n + 1)
            chance /= chance.sum()
            return n, every[rng.choice(n, 3 * n, p=chance)], every[rng.choice(n, 3 * n, p=chance)]
        case _:
            return n, rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)


SHAPES = (
    "power law", "no vertices", "one vertex", "no edges", "path", "star", "loops", "parallel", "isolated", "random",
)  # fmt: skip


def graph_of(shape: str, kind: Kind, seed: int) -> vg.Graph:
    """A graph with weights from 0 on; floats are eighths, so that sums along paths are exact."""
    rng = np.random.default_rng([seed, zlib.crc32(shape.encode())])
    n, s, t = ends(shape, rng)
    weight = rng.integers(0, 50, s.size)
    dtype = np.dtype(kind.weight)
    weight = (weight / 8 if dtype.kind == "f" else weight).astype(dtype)
    return vg.Graph.from_edges(
        s, t, num_vertices=n, directed=kind.directed, id_bits=kind.id_bits, weight=weight
    )


# --- checks -----------------------------------------------------------------------------------------------------


def arcs_of(graph: vg.Graph) -> tuple[np.ndarray, np.ndarray]:
    s, t, _ = graph.edges()
    return (s, t) if graph.directed else (np.r_[s, t], np.r_[t, s])


def same(found: Any, expected: Any, where: str) -> None:
    """Equal, or within the tolerance of floats."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, where
    if found.dtype.kind == "f":
        rtol = 1e-4 if found.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12, err_msg=where)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=where)


def tree(graph: vg.Graph, source: int, found: Any, expected: Any, where: str) -> None:
    """BFS: the levels are the reference's, each parent is one level above over an arc that exists."""
    same(found.level, expected.level, where)
    level, parent = np.asarray(found.level), np.asarray(found.parent)
    assert parent[source] == source, where
    children = np.flatnonzero((level > 0) & (np.arange(level.size) != source))
    assert np.array_equal(level[parent[children]] + 1, level[children]), where
    assert (parent[level < 0] == -1).all(), where
    n = graph.num_vertices
    s, t = arcs_of(graph)
    assert np.isin(parent[children].astype(np.int64) * n + children, s.astype(np.int64) * n + t).all(), where


def solved(graph: vg.Graph, source: int, found: Any, expected: Any, where: str) -> None:
    """Conjugate gradients: the last digits grow, so that not even the rounds are the same; the solutions are close."""
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-5, atol=1e-6, err_msg=where)


CHECKS: dict[str, Callable[[vg.Graph, int, Any, Any, str], None]] = {
    "bfs": tree,
    "multi_source_bfs": tree,
    "conjugate_gradient": solved,
}


def check(algorithm: vg.AlgorithmDef, case: Case, found: Any, where: str) -> None:
    """`found` is one of the right results of `case`."""
    own = CHECKS.get(algorithm.name)
    if own is not None:
        own(case.graph, case.arguments.get("source", 0), found, case.expected, where)
        return
    for name in case.expected.names:
        same(getattr(found, name), getattr(case.expected, name), f"{where}: {name}")


# --- cases ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A graph, the algorithm's arguments, and what the reference interpreter gives."""

    name: str
    graph: vg.Graph
    arguments: Arrays
    expected: Any


def arguments_of(algorithm: vg.AlgorithmDef, graph: vg.Graph, seed: int) -> Arrays:
    """What `tests/library_arguments.py` gives, and `ARGUMENTS`; the first vertices where there are `SOURCES`."""
    given = arguments_for(algorithm, graph, seed) | ARGUMENTS.get(algorithm.name, {})
    if algorithm.name in SOURCES:
        name, count = SOURCES[algorithm.name]
        given[name] = np.arange(graph.num_vertices)[:count]
    return given


def cases(algorithm: vg.AlgorithmDef, kind: Kind, seed: int, shapes: Sequence[str] = SHAPES) -> list[Case]:
    """All graphs of a kind which the algorithm takes."""
    found = []
    for shape in shapes:
        if algorithm.name in PAIRS and shape in ("power law", "star"):
            continue
        graph = graph_for(algorithm, graph_of(shape, kind, seed))
        arguments = arguments_of(algorithm, graph, seed)
        try:
            expected = vg.run(algorithm, graph, device="python", **arguments)
        except (vg.ParameterError, vg.GraphError, vg.AlgorithmError):
            continue  # no vertex to start at, or a graph that the algorithm refuses
        found.append(Case(f"{shape} graph, {kind}, seed {seed}", graph, arguments, expected))
    return found


READY: dict[tuple[vg.AlgorithmDef, str], ir.Program] = {}
"""What `program_of` found: many graphs have the same program."""


def program_of(
    algorithm: vg.AlgorithmDef, case: Case, threads: int, abilities: Abilities = CPU
) -> tuple[ir.Program, Context]:
    """What the space of schedules is asked with, for so many threads of a device."""
    graph, signature = prepared(algorithm, case.graph, case.arguments)
    context = Context(
        threads=1 if threads == 1 else 0, facts=facts_of(graph, abilities.device), abilities=abilities
    )
    key = algorithm, key_text((signature, context))
    if key not in READY:
        READY[key] = space.ready(build_program(algorithm, signature), context)
    return READY[key], context


@dataclass(frozen=True)
class Group:
    """Cases that run the same program: what an algorithm prepares depends on the graph, and so does what is legal."""

    program: ir.Program
    context: Context
    cases: list[Case]


def groups(
    algorithm: vg.AlgorithmDef,
    found: list[Case],
    threads: int,
    ask: Callable[[vg.AlgorithmDef, Case, int], tuple[ir.Program, Context]] = program_of,
) -> list[Group]:
    """The cases by the program that so many threads run."""
    by_code: dict[tuple[str, Facts], Group] = {}
    for case in found:
        program, context = ask(algorithm, case, threads)
        key = (print_program(program), context.facts)
        by_code.setdefault(key, Group(program, context, [])).cases.append(case)
    return list(by_code.values())


def agree(algorithm: vg.AlgorithmDef, case: Case, schedule: vg.Schedule, threads: int) -> vg.Schedule:
    """Run one cell of the matrix; the schedule that was used."""
    where = f"{algorithm.name}, {case.name}, {case.arguments}, threads={threads}, {dict(schedule.labels)!r}"
    try:
        found = vg.run(algorithm, case.graph, schedule=schedule, threads=threads, **case.arguments)
    except Exception as error:
        raise AssertionError(where) from error
    check(algorithm, case, found, where)
    return found.schedule


def sampled(
    algorithm: vg.AlgorithmDef, found: list[Case], count: int, seed: int, before: set[str]
) -> Iterator[tuple[Case, vg.Schedule, int]]:
    """`count` schedules of each program for one, two and three threads in turn, each on every other graph.

    New ones come `before` others.
    """
    for i, threads in enumerate((1, 2, 3)):
        for group in groups(algorithm, found, threads):
            fresh, others = [], []
            for schedule in islice(
                space.samples(group.program, group.context, 8 * count, seed + threads), 2 * count
            ):
                (others if repr(dict(schedule.labels)) in before else fresh).append(schedule)
                if len(fresh) == count // 3:
                    break
            for j, schedule in enumerate([*fresh, *others][: count // 3]):
                before.add(repr(dict(schedule.labels)))
                for case in group.cases[(i + j) % 2 :: 2] or group.cases:
                    yield case, schedule, threads
