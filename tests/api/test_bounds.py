"""Bounds of parameters: `damping: vg.between(0, 1) = 0.85`, checked before anything runs."""

# ruff: noqa: F821

from __future__ import annotations

import math

import numpy as np
import pytest

import vgraph as vg

GRAPH = vg.Graph.from_edges([0, 1], [1, 2])


@vg.operator
def scale(v):
    v.x = v.x * damping + step


@vg.algorithm
def scaled(
    graph,
    damping: vg.between(0, 1) = 0.5,
    step: vg.between(-2, vg.inf, vg.int32) = 0,
    limit: vg.between(0, 10) = None,
):
    x = graph.vertex_property(vg.float64, fill=1)
    if limit is None:
        graph.vertex_apply(scale)
    return x


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_what_is_between_the_bounds_is_taken(device: str) -> None:
    given = ({}, 0.5), ({"damping": 0}, 0), ({"damping": np.float32(1)}, 1), ({"step": -2}, -1.5)
    for arguments, expected in (*given, ({"step": 2**31 - 1}, 2**31 - 0.5), ({"limit": 10}, 1)):
        assert vg.run(scaled, GRAPH, device=device, **arguments).x.tolist() == [expected] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"damping": 1.5},
            r"damping=1\.5 is not a number from 0 to 1; the algorithm is scaled\(graph, damping: ",
        ),
        ({"damping": -1e-300}, r"is not a number from 0 to 1"),
        ({"damping": math.nan}, r"damping=nan is not a number from 0 to 1"),
        ({"damping": True}, r"damping=True is not a number from 0 to 1"),
        ({"damping": None}, r"damping=None is not a number from 0 to 1"),
        ({"damping": [0.5]}, r"is not a number from 0 to 1"),
        ({"step": -3}, r"step=-3 is not a number of at least -2"),
        ({"step": 2**31}, r"step=2147483648 is not a number of at least -2 that vg\.int32 holds"),
        ({"step": 0.5}, r"step=0\.5 is not a number of at least -2 that vg\.int32 holds"),
        ({"limit": 11}, r"limit=11 is not a number from 0 to 10"),
    ],
)
def test_what_is_not_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(scaled, GRAPH, **arguments)


def test_the_type_is_that_of_a_bound_or_of_the_value() -> None:
    @vg.algorithm
    def halved(graph, given: vg.between(0.0, 10)):
        half = given / 2
        whole = given // 2
        return half, whole

    assert vg.run(halved, GRAPH, given=3).whole.dtype == np.float64

    @vg.algorithm
    def own(graph, given: vg.between(0, vg.inf)):
        whole = given // 2
        return whole  # noqa: RET504

    assert vg.run(own, GRAPH, given=3).whole.dtype == np.int64
    assert vg.run(own, GRAPH, given=3.0).whole.dtype == np.float64
    with pytest.raises(vg.ParameterError, match=r"own needs given=\.\.\.: a number of at least 0"):
        vg.run(own, GRAPH)
    assert vg.explain(own, GRAPH).algorithm == "own(graph, given: vg.between(0, vg.inf))"


def test_what_are_no_bounds() -> None:
    for wrong in ((1, 0), (math.nan, 1), ("0", 1), (False, 1), (0, 1, vg.vertex), (0, 1, float)):
        with pytest.raises(vg.DeclarationError, match=r"vg\.between"):
            vg.between(*wrong)


def test_bounds_are_shown() -> None:
    assert repr(vg.between(-vg.inf, 2.5, vg.float32)) == "vg.between(-vg.inf, 2.5, vg.float32)"
    assert scaled.describe().startswith(
        "scaled(graph, damping: vg.between(0, 1) = 0.5, step: vg.between(-2, "
    )
