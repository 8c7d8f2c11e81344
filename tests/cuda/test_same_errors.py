"""The same mistake is the same error on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from library_arguments import arguments_for, graph_for, library

import vgraph as vg
from vgraph.runtime.devices.cuda import use

DEVICES: list[dict[str, Any]] = [{"device": "cuda"}, {"device": "python"}, {"checked": True}]
WRONG = (-1, 6, 2**70, [6], [0, -1], [2**40], [1.0] * 5, [0] * 7, "x")
LOOKED_AT = ("bfs", "multi_source_bfs", "pagerank", "spmv")


class Unlaunched(EmulatedDevice):
    """Takes any code, as none is to run."""

    def load(self, code: bytes) -> Any:
        return code


def error(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, arguments: dict[str, Any], **device: Any
) -> str | None:
    try:
        with use(Unlaunched()):
            vg.run(algorithm, graph, **arguments, **device)
    except vg.VGraphError as found:
        return f"{type(found).__name__}: {found}"
    return None


@pytest.mark.parametrize("algorithm", library(LOOKED_AT))
def test_of_parameters(algorithm: vg.AlgorithmDef) -> None:
    ends = [0, 1, 2, 4], [1, 2, 3, 5]
    graph = graph_for(algorithm, vg.Graph.from_edges(*ends, num_vertices=6, weight=np.ones(4)))
    good = arguments_for(algorithm, graph)
    for name in algorithm.signature.parameters:
        for value in WRONG:
            arguments = {**good, name: value}
            on_cpu = error(algorithm, graph, arguments, device="cpu", threads=1)
            if on_cpu is not None and on_cpu.startswith("ParameterError"):
                found = [error(algorithm, graph, arguments, **device) for device in DEVICES]
                assert found == [on_cpu] * len(DEVICES)


def test_of_options() -> None:
    graph = vg.Graph.from_edges([0], [1])
    for device in ("cpu", "python"):
        with pytest.raises(vg.ParameterError, match="threads=0: an int from 1 to"):
            vg.run(vg.algorithms.bfs, graph, source=0, device=device, threads=0)


def test_numbers_of_numpy_of_any_width() -> None:
    graph = vg.Graph.from_edges([0], [1])
    want = vg.run(vg.algorithms.pagerank, graph, max_rounds=7).rank
    got = vg.run(vg.algorithms.pagerank, graph, max_rounds=np.uint8(7), device="python").rank
    np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("value", ["x", [1], vg.int32, True, 2**70], ids=str)
def test_a_depth_is_an_int(value: Any) -> None:
    with pytest.raises(vg.ParameterError, match=r"^max_depth="):
        vg.run(vg.algorithms.multi_source_bfs, vg.Graph.from_edges([0], [1]), max_depth=value)


@vg.algorithm
def doubled(graph, amount=None):
    twice = 2 * amount
    return twice  # noqa: RET504


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_ints_have_64_bits(device: str) -> None:
    with pytest.raises(vg.ParameterError, match=r"amount=.* is not a number that vg.int64 holds"):
        vg.run(doubled, vg.Graph.from_edges([0], [1]), amount=2**70, device=device)


@pytest.mark.parametrize("device", ["cpu", "python", "cuda"])
def test_labels_of_schedules(device: str) -> None:
    schedule = vg.Schedule().at("no_such_label", direction=vg.PULL)
    with pytest.raises(vg.ScheduleError, match="no_such_label"), use(Unlaunched()):
        vg.run(vg.algorithms.bfs, vg.Graph.from_edges([0], [1]), schedule=schedule, source=0, device=device)
