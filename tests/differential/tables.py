"""A program that looks up elements of arrays with indices of every type, within and outside; and what NumPy says."""

# ruff: noqa: F821 (operators read parameters of their algorithm)
from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.function
def fare(a, b):
    """A price between two zones."""
    return cost[a, b]


@vg.operator
def pay(src, edge, dst):
    """Indices of both ends and of the edge."""
    dst.paid += fare(src.zone, dst.zone) + table[edge.line]
    if allowed[src.zone]:
        dst.least = min(dst.least, table[src.zone] + edge.line)


@vg.operator
def claim(src, edge, dst):
    """The test of a claim, and what is claimed."""
    if dst.mark == -1 and allowed[dst.zone]:
        dst.mark = 7


@vg.operator
def look(v):
    """Indices of all types; of vertices, which may be none; sizes, and a loop over an array."""
    v.wide = table[v.far] + cost[v.zone, -1]
    v.next = chosen[v.zone]
    v.after = table[v.next] + cost[v, v.next]
    for x in table:
        v.total += x * len(table) + cost.shape[1]


@vg.algorithm
def lookups(
    graph,
    far,
    zone: vg.vertex_property(vg.int32),
    table: vg.array(vg.int64),
    cost: vg.array(vg.float64, 2),
    allowed: vg.array(vg.bool_),
    chosen: vg.array(vg.vertex),
):
    """What is found by the zones of vertices, by `far`, and by the lines of edges."""
    paid = graph.vertex_property(vg.float64)
    least = graph.vertex_property(vg.int64, fill=vg.inf)
    mark = graph.vertex_property(vg.int32, fill=-1)
    wide = graph.vertex_property(vg.float64)
    next = graph.vertex_property(vg.vertex)
    after = graph.vertex_property(vg.float64)
    total = graph.vertex_property(vg.int64)
    graph.edge_apply(pay)
    graph.edge_apply(claim)
    graph.vertex_apply(look)
    first = 0
    for i in range(-len(table), len(table)):
        first += table[i]
    rows = cost.shape[0]
    return paid, least, mark, wide, next, after, total, first, rows


ENDS = np.random.default_rng(0).integers(0, 40, (2, 160))
LINE = np.random.default_rng(1).integers(-9, 9, 160).astype(np.int32)
ZONE = np.random.default_rng(2).integers(-8, 8, 40)
GRAPH = vg.Graph.from_edges(*ENDS, num_vertices=40, line=LINE)
ARRAYS: dict[str, Any] = {
    "table": np.arange(20)[::4],
    "cost": np.arange(12.0).reshape(3, 4).T / 8,
    "allowed": [True, False, True],
    "chosen": np.array([3, 0, 39], np.uint8),
}
EMPTY: dict[str, Any] = {"table": [], "cost": np.zeros((0, 3)), "allowed": (), "chosen": []}


def far_of(dtype: Any) -> np.ndarray:
    """Indices of a type, its extremes among them."""
    limits = np.iinfo(dtype)
    far = (np.arange(40) % 14 - 7).astype(dtype)
    far[:2] = limits.min, limits.max
    return far


def element(array: Any, *indices: Any) -> Any:
    """`array[indices]`, zero outside, by NumPy's own rules."""
    found = np.asarray(array)
    try:
        return found[tuple(map(int, indices))]
    except (IndexError, OverflowError):
        return found.dtype.type(0)


def check_lookups(dtype: Any, arrays: dict[str, Any], **how: Any) -> None:
    """Run it, and compare with NumPy's indices."""
    far = far_of(dtype)
    found = vg.run(lookups, GRAPH, far=far, zone=ZONE, **arrays, **how)
    table, cost, allowed = arrays["table"], arrays["cost"], arrays["allowed"]
    paid, least = np.zeros(40), np.full(40, np.iinfo(np.int64).max)
    for s, t, line in zip(*ENDS, LINE, strict=True):
        paid[t] += element(cost, ZONE[s], ZONE[t]) + element(table, line)
        if element(allowed, ZONE[s]):
            least[t] = min(least[t], element(table, ZONE[s]) + line)
    assert found.paid.tolist() == paid.tolist()
    assert found.least.tolist() == least.tolist()
    entered = np.isin(np.arange(40), ENDS[1])
    assert found.mark.tolist() == [7 if entered[v] and element(allowed, ZONE[v]) else -1 for v in range(40)]
    assert found.wide.tolist() == [
        float(element(table, far[v]) + element(cost, ZONE[v], -1)) for v in range(40)
    ]
    ids = np.asarray(arrays["chosen"]).astype(int) + 1
    after = [int(element(ids, ZONE[v])) - 1 for v in range(40)]
    assert found.next.tolist() == after
    at = [element(table, u) + element(cost, v, u) if u != -1 else 0 for v, u in enumerate(after)]
    assert found.after.tolist() == at
    assert (found.total == int(np.sum(table)) * len(table) + np.shape(cost)[1] * len(table)).all()
    assert (found.first, found.rows) == (2 * np.sum(table), len(cost))
