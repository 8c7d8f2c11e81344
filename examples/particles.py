"""Particles that push each other away along a list of interactions, which is used for many steps: fluid elements.

A pair that is nearer than some distance is an edge; every step goes over the same edges. The list comes in any order,
so a better one is found while the first steps are taken: `relabel=vg.overlap("rcm")`.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

import vgraph as vg


@vg.operator
def push(src, edge, dst):
    """src pushes dst the more, the nearer it is."""
    dx = dst.x - src.x
    dy = dst.y - src.y
    near = max(1.0 - (dx * dx + dy * dy) / (reach * reach), 0.0)
    dst.force_x += near * dx
    dst.force_y += near * dy


@vg.operator
def drift(v, graph):
    """A step of time: velocities follow forces, places follow velocities; friction slows both down."""
    v.speed_x = 0.98 * v.speed_x + step * v.force_x
    v.speed_y = 0.98 * v.speed_y + step * v.force_y
    v.x += step * v.speed_x
    v.y += step * v.speed_y
    v.force_x = 0.0
    v.force_y = 0.0
    graph.energy += 0.5 * (v.speed_x * v.speed_x + v.speed_y * v.speed_y)


@vg.algorithm
def simulate(
    graph,
    start_x: vg.vertex_property(vg.float64),
    start_y: vg.vertex_property(vg.float64),
    reach: vg.float64,
    step: vg.float64,
    steps: vg.int64,
):
    """Places and speeds after so many steps, and the energy of motion."""
    x = graph.vertex_property(vg.float64)
    y = graph.vertex_property(vg.float64)
    speed_x = graph.vertex_property(vg.float64)
    speed_y = graph.vertex_property(vg.float64)
    force_x = graph.vertex_property(vg.float64)
    force_y = graph.vertex_property(vg.float64)
    x[:] = start_x
    y[:] = start_y
    graph.energy = 0.0
    for _ in range(steps):
        graph.energy = 0.0
        graph.edge_apply(push)
        graph.vertex_apply(drift)
    energy = graph.energy
    return x, y, speed_x, speed_y, energy


def interactions(places: np.ndarray, reach: float) -> vg.Graph:
    """A graph with an edge for each pair that may meet."""
    pairs = cKDTree(places).query_pairs(1.3 * reach, output_type="ndarray")
    return vg.Graph.from_edges(*pairs.T, num_vertices=len(places), directed=False)


def main() -> None:
    """Print what a cloud of particles does, and what became of the order of its list."""
    places, reach = np.random.default_rng(1).normal(0, 1, (5_000, 2)), 0.06
    graph = interactions(places, reach)
    given = {"start_x": places[:, 0], "start_y": places[:, 1], "reach": reach, "step": 0.05}
    for steps in (1, 20):
        order = vg.overlap("rcm")
        found = vg.run(simulate, graph, relabel=order, threads=1, steps=steps, **given)
        taken = "step" if steps == 1 else "steps"
        print(f"{steps:3} {taken} over {graph.num_edges} interactions: energy {found.energy:.3g}")
    print(f"total momentum {abs(found.speed_x.sum()) + abs(found.speed_y.sum()):.1e}, which stays 0")
    print(f"the order: {found.stats.order}; {found.stats.overlap or 'it was there when the run began'}")


if __name__ == "__main__":
    main()
