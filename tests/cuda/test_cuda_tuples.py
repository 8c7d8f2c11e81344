"""Lexicographic minima and maxima of several places on a GPU: words of 64 and of 128 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from machine_code import cubin
from matrix import agree, cases, cells, program_of, seed_of
from schedule_matrix import KINDS, groups
from tuple_programs import PROGRAMS, tree

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.errors import DeviceError


@pytest.mark.parametrize("algorithm", PROGRAMS, ids=lambda a: a.name)
def test_a_sample(algorithm: vg.AlgorithmDef, gpu: Any) -> None:
    seed = seed_of(algorithm.name)
    emulated = isinstance(gpu, EmulatedDevice)
    for kind in KINDS[seed % 3 : seed % 3 + 2] if emulated else KINDS:
        group = max(
            groups(algorithm, cases(algorithm, kind, seed), 0, program_of), key=lambda g: len(g.cases)
        )
        asked = group.program, group.context
        schedules = [vg.Schedule(), *space.sample(*asked, 1 if emulated else 8, seed)]
        for case, schedule, interleaving in cells(algorithm, group.cases, schedules):
            agree(algorithm, case, schedule, gpu, interleaving)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("algorithm", PROGRAMS, ids=lambda a: a.name)
def test_all(algorithm: vg.AlgorithmDef, kind: Any, emulated: EmulatedDevice) -> None:
    for group in groups(algorithm, cases(algorithm, kind, 3), 0, program_of):
        schedules = [*space.schedules(group.program, group.context)]
        for case, schedule, interleaving in cells(algorithm, group.cases, schedules):
            agree(algorithm, case, schedule, emulated, interleaving)


@pytest.mark.skipif(nvrtc.find() is None, reason="NVRTC is not installed: pip install 'vgraph[dev]'")
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_128_bits_need_compute_capability_9(dtype: str) -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0], weight=np.ones(3, dtype))
    text = vg.explain(tree, graph, source=0, device="cuda", passes=False).cuda
    assert cubin(text, "sm_90")[:4] == b"\x7fELF"
    if dtype == "float64":
        with pytest.raises(DeviceError, match=r"capability 9\.0, and this is sm_80"):
            nvrtc.compile(text, "sm_80")
    else:
        assert cubin(text, "sm_80")[:4] == b"\x7fELF"


def test_parents_of_shortest_paths(gpu: Any) -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 1], weight=[2, 2, 0, 0, 0])
    found = vg.run(vg.algorithms.sssp, graph, source=0, device="cuda")
    assert found.parent.tolist() == [0, 0, 0, 1]
    vg.verify(found)
