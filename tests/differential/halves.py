"""Properties stored as float16, and what operators do with them: programs, and what they give on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.operator
def begin(v):
    v.number = vg.random(v) * 3
    for i in range(len(v.vector)):
        v.vector[i] = v.number / (i + 3)
    v.vector[1] += 0.1
    v.copy = v.number
    v.same = v.vector
    v.total = vg.sum(v.vector)


@vg.operator
def mix(src, edge, dst, graph):
    error = vg.float32(edge.weight) - vg.dot(src.vector, dst.vector)
    before = src.vector
    src.vector += 0.01 * (error * dst.vector - 0.1 * src.vector)
    dst.vector = dst.vector + 0.01 * error * before
    dst.vector[edge.weight] = before[2] / 3
    dst.number *= 0.9
    edge.error = error
    graph.loss += error * error


@vg.operator
def gather(v):
    for e in v.out_edges:
        v.total += e.error * e.dst.number
        if e.dst.start > v.start and e.dst.vector == e.dst.vector:
            v.best = e.dst.number
    if v.far == vg.none:
        v.copy = v.far.number + 1 / 3


@vg.algorithm
def halves(graph, length, start: vg.vertex_property(vg.float16)):
    vector = graph.vertex_property(vg.vector(vg.float16, length))
    same = graph.vertex_property(vg.vector(vg.float16, length))
    number = graph.vertex_property(vg.float16)
    copy = graph.vertex_property(vg.float16, fill=-vg.inf)
    total = graph.vertex_property(vg.float16)
    best = graph.vertex_property(vg.float16, fill=70000)
    error = graph.edge_property(vg.float16, fill=0.1)
    far = graph.vertex_property(vg.vertex)
    graph.loss = 0.0
    graph.vertex_apply(begin)
    graph.edge_apply(mix)
    graph.vertex_apply(gather)
    number[0] = number[1] * 3 + start[2]
    number[3] += 1e-4
    number[4] = vg.float64(1.0004882821813226)
    twice = number * 2
    total[:] = total + start
    most = graph.max(total)
    return vector, same, number, copy, total, best, error, twice, most, start, graph.loss


GRAPH = vg.Graph.from_edges(
    *np.random.default_rng(1).integers(0, 12, (2, 30)),
    num_vertices=12,
    multi_edges=True,
    weight=np.random.default_rng(2).integers(0, 5, 30),
)
START = np.geomspace(1e-9, 6e4, 12)


def results(length: int, conflict: object, **how: Any) -> dict[str, Any]:
    schedule = vg.Schedule().at("mix", conflict=conflict)
    found = vg.run(halves, GRAPH, length=length, start=START, schedule=schedule, **how)
    return {name: getattr(found, name) for name in found.names}


def check_halves(length: int, conflict: object, *, near: float = 0.0, **how: Any) -> None:
    """As CPython has them; `near`: where sums of elements come in another order."""
    wanted = results(length, conflict, device="python")
    for name, value in results(length, conflict, **how).items():
        assert np.asarray(value).dtype == np.asarray(wanted[name]).dtype
        np.testing.assert_allclose(value, wanted[name], rtol=near, atol=near, err_msg=name)
    for name in ("vector", "same", "number", "copy", "total", "best", "error", "start"):
        assert wanted[name].dtype == np.float16
    assert wanted["twice"].dtype == np.float32
    assert np.isinf(wanted["best"]).any()
    assert wanted["number"][4] == 1  # from 1 + 2**-11 + 2**-30, and float32 in between
