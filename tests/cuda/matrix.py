"""The matrix of algorithms, legal schedules, graphs, seeds and launch shapes for `device="cuda"`.

What there is to try comes from `vgraph.compiler.space`, asked with the abilities of the GPU; graphs and checks are
those of `tests/differential/schedule_matrix.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import schedule_matrix
from emulated_device import EmulatedDevice
from library_arguments import NAMES, graph_for
from schedule_matrix import SHAPES, Case, Kind, arguments_of, check, graph_of

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.ir.rewrite import Context

ALGORITHMS = [getattr(vg.algorithms, name) for name in NAMES]
LAUNCHES = ((1, 32), (2, 64), (3, 32), (2, 128))
"""Multiprocessors and threads of a block of emulated devices."""


def seed_of(*what: object) -> int:
    """A number that depends on what is tried, the same in every run."""
    return zlib.crc32(repr(what).encode()) % 100_000


def program_of(algorithm: vg.AlgorithmDef, case: Case, _: int = 0) -> tuple[ir.Program, Context]:
    """What the space of schedules is asked with."""
    return schedule_matrix.program_of(algorithm, case, 0, CUDA)


def shaped(device: Any, seed: int) -> None:
    """Give an emulated device the launch shape and the interleaving of a seed."""
    if isinstance(device, EmulatedDevice):
        device.multiprocessors, device.block = LAUNCHES[seed % len(LAUNCHES)]
        device.seed = seed


def agree(algorithm: vg.AlgorithmDef, case: Case, schedule: vg.Schedule, device: Any, seed: int) -> None:
    """Run one cell of the matrix on the installed GPU; its results must be right ones."""
    shaped(device, seed)
    shape = f"{device.multiprocessors} x {device.block}"
    where = (
        f"{algorithm.name}, {case.name}, {case.arguments}, {shape}, seed {seed}, {dict(schedule.labels)!r}"
    )
    try:
        found = vg.run(algorithm, case.graph, schedule=schedule, device="cuda", **case.arguments)
    except Exception as error:
        raise AssertionError(where) from error
    check(algorithm, case, found, where)


def cases(algorithm: vg.AlgorithmDef, kind: Kind, seed: int) -> list[Case]:
    """All graphs of a kind which the algorithm takes, and what the CPU gives there."""
    found = []
    for shape in SHAPES:
        graph = graph_for(algorithm, graph_of(shape, kind, seed))
        arguments = arguments_of(algorithm, graph, seed)
        try:
            expected = vg.run(algorithm, graph, device="cpu", threads=1, **arguments)
        except (vg.ParameterError, vg.GraphError, vg.AlgorithmError):
            continue  # no vertex to start at, or a graph that the algorithm refuses
        found.append(Case(f"{shape} graph, {kind}, seed {seed}", graph, arguments, expected))
    return found


def cells(
    algorithm: vg.AlgorithmDef, found: list[Case], schedules: list[vg.Schedule]
) -> Iterator[tuple[Case, vg.Schedule, int]]:
    """Each schedule on each graph; schedules take turns with launch shapes and interleavings."""
    for j, schedule in enumerate(schedules):
        seed = seed_of(algorithm.name, j)
        for case in found:
            yield case, schedule, seed
