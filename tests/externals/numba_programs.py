"""Algorithms whose operators call functions of Numba's; for the tests of every device."""

from __future__ import annotations

import math

import numba
import numpy as np

import vgraph as vg

FACTOR = 3.0


@numba.njit
def squash(x, limit):
    if x > limit:
        return limit + math.log(1.0 + x - limit)
    return x * FACTOR


@numba.njit("float32(float32)")
def halve(x):
    return x / np.float32(2)


@numba.njit(["int64(int64)", "float64(float64)"])
def twice(x):
    return 2 * x


@numba.cfunc("float64(float64, int64)")
def power(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


@numba.njit
def is_odd(v):
    return v % 2 == 1


@numba.njit
def choose(flag, a, b):
    return a if flag else b


@numba.njit
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@numba.njit
def outer(x):
    return squash(x, 2.0) + 1.0


@numba.njit(fastmath=True)
def fast(x):
    return (x + 1.0) - x


@vg.operator
def use(v):
    v.a = squash(v.start, 2.5)
    v.b = halve(vg.float32(v.start))
    v.c = twice(v) + twice(1)
    v.d = power(v.start, 3)
    v.e = is_odd(v)
    v.f = choose(v.e, v.a, 7.0)
    v.g = collatz(v + 1)
    v.h = outer(v.start)
    v.i = twice(0.5) + v.start / 0.0


@vg.algorithm
def everything(graph):
    a = graph.vertex_property(vg.float64)
    b = graph.vertex_property(vg.float32)
    c = graph.vertex_property(vg.int64)
    d = graph.vertex_property(vg.float64)
    e = graph.vertex_property(vg.bool_)
    f = graph.vertex_property(vg.float64)
    g = graph.vertex_property(vg.int64)
    h = graph.vertex_property(vg.float64)
    i = graph.vertex_property(vg.float64)
    graph.vertex_apply(use)
    return a, b, c, d, e, f, g, h, i


@numba.njit
def combine(x, w):
    return x + w * w


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, combine(src.dist, edge.weight))


@vg.algorithm
def squared_paths(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


def small() -> vg.Graph:
    graph = vg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], num_vertices=6)
    return graph.with_vertex_property("start", np.array([0.0, 1.0, 2.5, 3.0, 10.0, -1.0]))


FIELDS = "abcdefghi"
