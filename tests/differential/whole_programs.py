"""Programs of whole properties, and what NumPy says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg

TABLE = np.array([[1, 2], [30, 40]])


@vg.function
def bent(x, limit):
    """A helper with a branch."""
    if x > limit:
        return limit
    return x + 1


@vg.function
def name_of(u):
    """What stands at another vertex."""
    return u.name


@vg.algorithm
def kinds(
    graph,
    given: vg.vertex_property(vg.float64),
    source: vg.vertex,
    table: vg.array(vg.int64, 2),
    scale: float = 0.5,
    weighted=None,
):
    """Every type and every operation."""
    small = graph.vertex_property(vg.uint32, fill=250)
    whole = graph.vertex_property(vg.int32, fill=3)
    single = graph.vertex_property(vg.float32, fill=0.1)
    flag = graph.vertex_property(vg.bool_)
    row = graph.vertex_property(vg.vector(vg.float32, 3), fill=0.25)
    parent = graph.vertex_property(vg.vertex)
    small += 10
    whole[:] = whole * 2 - graph.height
    longer = whole * vg.int64(10) ** 9
    doubled = single * 2 + given * scale
    flag = (whole > 0) & (given >= 0.5) | (given == given[source])
    either = not flag or whole % 2 == 0
    picked = graph.where(flag, whole, -1)
    capped = min(max(given, 0.25), scale)
    between = 0 < whole <= 4
    helped = bent(whole, 2)
    chosen = given if weighted is None else whole
    row = row * 2 + single
    first = graph.sum(row)
    parent[:] = source
    near = graph.where(parent == source, vg.sqrt(abs(given - 1)), vg.inf)
    counts = graph.sum(small)
    total = graph.sum(single)
    falls = graph.sum(whole)
    flags = graph.sum(flag)
    low = graph.min(whole)
    high = graph.max(given * 2 if weighted is None else given)
    some = graph.any(whole > 5)
    every = graph.all(given < 1)
    number = graph.count(flag)
    one = vg.sum(first)
    looked = table[whole % 2, 1] + table[0, 0]
    return (
        small, whole, longer, doubled, flag, either, picked, capped, between, helped, chosen, row, parent, near,
        counts, total, falls, flags, low, high, some, every, number, one, looked,
    )  # fmt: skip


def expected_kinds(graph: vg.Graph, given: Any, source: int, scale: float) -> dict[str, Any]:
    """The results of `kinds`."""
    n = graph.num_vertices
    whole = (6 - graph.vertex_properties["height"]).astype(np.int32)
    single = np.full(n, 0.1, np.float32)
    flag = (whole > 0) & (given >= 0.5) | (given == given[source])
    row = np.full((n, 3), 0.5, np.float32) + single[:, None]
    small = np.full(n, 260, np.uint32)
    return {
        "small": small, "whole": whole, "longer": whole * np.int64(10**9), "doubled": single * 2 + given * scale,
        "flag": flag, "either": ~flag | (whole % 2 == 0), "picked": np.where(flag, whole, np.int32(-1)),
        "capped": np.minimum(np.maximum(given, 0.25), scale), "between": (whole > 0) & (whole <= 4),
        "helped": np.where(whole > 2, np.int32(2), whole + np.int32(1)), "chosen": given, "row": row,
        "parent": np.full(n, source, np.int32), "near": np.sqrt(abs(given - 1)),
        "counts": np.uint64(small.sum()), "total": single.astype(np.float64).sum(), "falls": np.int64(whole.sum()),
        "flags": flag.sum(), "low": whole.min(), "high": (given * 2).max(), "some": (whole > 5).any(),
        "every": (given < 1).all(), "looked": TABLE[whole % 2, 1] + TABLE[0, 0],
        "number": flag.sum(), "one": row.astype(np.float64).sum(),
    }  # fmt: skip


@vg.operator
def rename(v):
    """Numbers and a ring."""
    v.name = v.id * 3 % 7
    v.next = vg.vertex(v.id + 1)


@vg.operator
def pass_on(src, edge, dst):
    """The names of in-neighbors."""
    dst.came += src.name


@vg.algorithm
def orders(graph, rounds=3, source: vg.vertex = 1):
    """Statements that depend on each other through numbers, single vertices, other vertices and globals."""
    name = graph.vertex_property(vg.int64)
    next = graph.vertex_property(vg.vertex)
    came = graph.vertex_property(vg.int64)
    graph.vertex_apply(rename)
    a = name + 1
    total = graph.sum(a)
    b = a * total
    first = b[0]
    b -= b[0]
    graph.scale = 2
    c = b + graph.scale
    graph.scale = 3
    d = b * graph.scale
    e = c - d[graph.num_vertices - 1]
    g = a + 1
    h = g - graph.sum(g)
    at_source = g[source]
    g = g * 2
    factor = 5
    i = g * factor
    old = factor
    factor = 7
    i += h * factor
    old += at_source
    name = name + 100
    f = name_of(next)
    f += name
    name[:] = f - name_of(next)
    step = 0
    while step < rounds and graph.any(a < 1000):
        step += 1
        came = 0
        graph.edge_apply(pass_on)
        a += came * step
        before = total
        total = graph.sum(a) - before
        graph.scale = graph.max(a)
        name = name + step
        if total % 2 == 0:
            name = name - graph.where(a % 2 == 0, total, 1)
        least = graph.min(name)
        name -= least
        a = a % 10007
    graph.scale = graph.scale + graph.count(a > name) * graph.count(a <= name)
    a[0] = -5
    last = graph.min(a) * 2 + a[0]
    return a, b, c, d, e, f, g, h, i, old, name, came, total, first, last, graph.scale


def expected_orders(graph: vg.Graph, rounds: int = 3) -> dict[str, Any]:
    """The results of `orders`."""
    n = graph.num_vertices
    s, t, _ = graph.edges()
    if not graph.directed:
        s, t = np.r_[s, t[s != t]], np.r_[t, s[s != t]]
    name = np.arange(n) * 3 % 7
    nothing = np.append(np.zeros(n - 1, np.int64), 1)  # where the ring is open

    def of_next() -> Any:
        return np.where(nothing, 0, np.roll(name, -1))

    a = name + 1
    total = a.sum()
    b = a * total
    first = b[0]
    b = b - b[0]
    c, d = b + 2, b * 3
    e = c - d[n - 1]
    name = name + 100
    g = a + 1
    h = g - g.sum()
    old = 5 + g[1]
    g = g * 2
    i = g * 5 + h * 7
    f = of_next() + name
    name = f - of_next()
    scale, came = 3, np.zeros(n, np.int64)
    for step in range(1, rounds + 1):
        if not (a < 1000).any():
            break
        came = np.bincount(t, name[s], n).astype(np.int64)
        a = a + came * step
        total = a.sum() - total
        scale = a.max()
        name = name + step
        if total % 2 == 0:
            name = name - np.where(a % 2 == 0, total, 1)
        name = name - name.min()
        a = a % 10007
    scale = scale + (a > name).sum() * (a <= name).sum()
    a = np.r_[-5, a[1:]]
    last = a.min() * 2 + a[0]
    return {
        "a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h, "i": i, "old": old, "name": name,
        "came": came, "total": total, "first": first, "last": last, "scale": scale,
    }  # fmt: skip


def graph_of(n: int, directed: bool = True) -> vg.Graph:
    """A graph with a vertex property."""
    rng = np.random.default_rng(n)
    edges = rng.integers(0, n, (2, 3 * n))
    graph = vg.Graph.from_edges(*edges, num_vertices=n, directed=directed)
    return graph.with_vertex_property("height", rng.integers(0, 9, n).astype(np.int32))


def same(found: Any, wanted: dict[str, Any]) -> None:
    """All results, with their types; sums of floats to the last digits."""
    for name, value in wanted.items():
        got = getattr(found, name)
        assert np.asarray(got).dtype == np.asarray(value).dtype, name
        np.testing.assert_allclose(got, value, rtol=1e-12, err_msg=name)
