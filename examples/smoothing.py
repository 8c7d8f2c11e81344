"""A mesh that was shaken goes back into shape: inner vertices go to the middle of their neighbors, again and again.

    python examples/smoothing.py [airfoil1.gi.xz]

The file is a mesh as NetworKit keeps it, with coordinates; without one, points in a ring are meshed.
"""

from __future__ import annotations

import lzma
import sys

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.spatial import Delaunay

import vgraph as vg


@vg.operator
def look(v):
    """The middle of v's neighbors."""
    nx = 0.0
    ny = 0.0
    for u in v.out_neighbors:
        nx += u.x
        ny += u.y
    v.mid_x = nx / v.out_degree
    v.mid_y = ny / v.out_degree


@vg.operator
def go(v, graph):
    """An inner vertex goes there."""
    graph.moved += abs(v.mid_x - v.x) + abs(v.mid_y - v.y)
    v.x = v.mid_x
    v.y = v.mid_y


@vg.algorithm
def smooth(graph, start_x: vg.vertex_property(vg.float64), start_y: vg.vertex_property(vg.float64), inner):
    """Places after that, until all that moved in a round is little; and how many rounds it took."""
    x = graph.vertex_property(vg.float64)
    y = graph.vertex_property(vg.float64)
    mid_x = graph.vertex_property(vg.float64)
    mid_y = graph.vertex_property(vg.float64)
    x[:] = start_x
    y[:] = start_y
    free = graph.frontier(inner)
    graph.moved = 1.0
    rounds = 0
    while graph.moved > 1e-4 and rounds < 5000:
        graph.moved = 0.0
        graph.vertex_apply(look, free)
        graph.vertex_apply(go, free)
        rounds += 1
    return x, y, rounds


def ring() -> vg.Graph:
    """Points between two circles, meshed."""
    radius, angle = np.meshgrid(np.linspace(1, 3, 12), np.arange(36) * (np.pi / 18))
    points = np.stack(((radius * np.cos(angle)).ravel(), (radius * np.sin(angle)).ravel()), axis=1)
    corners = Delaunay(points).simplices
    corners = corners[np.hypot(*points[corners].mean(axis=1).T) > 1]
    sources, targets = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]).T
    places = {"x": points[:, 0], "y": points[:, 1]}
    return vg.Graph.from_edges(sources, targets, directed=False, multi_edges=False, vertex_properties=places)


def read(path: str) -> vg.Graph:
    """A mesh of NetworKit's: `GI`, the number of vertices, where their rows begin, rows, and places."""
    with lzma.open(path) as file:
        data = file.read()
    n = int.from_bytes(data[2:6], "big")
    offsets = np.frombuffer(data, ">u4", n + 1, 10).astype(np.int64)
    columns = np.frombuffer(data, ">u4", int(offsets[-1]), 14 + 4 * n).astype(np.int64)
    places = np.frombuffer(data[-8 * n :], "<f4").astype(np.float64).reshape(n, 2)
    sources = np.repeat(np.arange(n), np.diff(offsets))
    known = {"x": places[:, 0], "y": places[:, 1]}
    return vg.Graph.from_edges(
        sources, columns, num_vertices=n, directed=False, multi_edges=False, vertex_properties=known
    )


def inner_vertices(graph: vg.Graph) -> np.ndarray:
    """Those of whose edges each is the side of two triangles: at the border there is one."""
    matrix = graph.to_scipy().astype(bool).astype(int)
    shared = (matrix @ matrix).multiply(matrix).tocoo()
    border = np.unique(shared.row[shared.data < 2])
    return np.setdiff1d(np.arange(graph.num_vertices), border)


def unevenness(graph: vg.Graph, x: np.ndarray, y: np.ndarray) -> float:
    """How far edges around a vertex differ in length: the mean of the longest over the shortest."""
    sources, targets, _ = graph.edges()
    ends = np.concatenate((sources, targets)).astype(int)
    length = np.tile(np.hypot(x[sources] - x[targets], y[sources] - y[targets]), 2)
    longest, shortest = np.zeros(x.size), np.full(x.size, np.inf)
    np.maximum.at(longest, ends, length)
    np.minimum.at(shortest, ends, length)
    return float(np.mean(longest / shortest))


def main(path: str | None = None) -> None:
    """Shake a mesh, smooth it, print how even its edges are, draw it before and after."""
    graph = ring() if path is None else read(path)
    inner = inner_vertices(graph)
    x, y = (graph.vertex_properties[axis].copy() for axis in ("x", "y"))
    sources, targets, _ = graph.edges()
    reach = 0.4 * np.median(np.hypot(x[sources] - x[targets], y[sources] - y[targets]))
    rng = np.random.default_rng(1)
    x[inner] += rng.normal(0, reach, inner.size)
    y[inner] += rng.normal(0, reach, inner.size)
    found = vg.run(smooth, graph, start_x=x, start_y=y, inner=inner, threads=1)
    before, after = unevenness(graph, x, y), unevenness(graph, found.x, found.y)
    print(f"{graph.num_vertices} vertices, {inner.size} of them inside, {found.rounds} rounds")
    print(f"longest over shortest edge of a vertex, mean: {before:.2f} before, {after:.2f} after")
    figure = Figure((10, 5), layout="constrained")
    places = {"shaken": (x, y), "smooth": (found.x, found.y)}
    for axes, (title, (px, py)) in zip(figure.subplots(1, 2), places.items(), strict=True):
        points = np.stack((px, py), axis=1)
        axes.add_collection(
            LineCollection(np.stack((points[sources], points[targets]), axis=1), linewidths=0.3)
        )
        axes.set_title(title)
        axes.autoscale()
        axes.set_aspect("equal")
        axes.set_axis_off()
    figure.savefig("smoothing.png", dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:2])
