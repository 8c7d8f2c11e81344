"""A mesh in eight parts, by several methods: what each part would have to send; a picture of the best."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

import vgraph as vg


@vg.operator
def send(v, graph):
    """v sends its value once to each other part around it."""
    for u in v.out_neighbors:
        if u.part != v.part:
            there = vg.vertex(u.part)
            if not there.told:
                vg.vertex(v.part).sent += 1
            there.told = True


@vg.algorithm
def messages(graph, part: vg.vertex_property(vg.int32)):
    """How many values each part sends; vertex p stands for part p."""
    sent = graph.vertex_property(vg.int64)
    told = graph.scratch(vg.bool_)
    graph.vertex_apply(send)
    return sent


def mesh(points: np.ndarray) -> vg.Graph:
    """Their Delaunay triangulation."""
    corners = Delaunay(points).simplices
    sources, targets = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]).T
    places = {"x": points[:, 0], "y": points[:, 1]}
    return vg.Graph.from_edges(sources, targets, directed=False, multi_edges=False, vertex_properties=places)


def main() -> None:
    """Print what each method cuts and the most that a part sends, and draw the parts of the multilevel one."""
    graph = mesh(np.random.default_rng(1).random((1500, 2)))
    for method in ("random", "rcm", "label_propagation", "vgraph"):
        found = vg.partition(graph, 8, method, threads=1)
        sent = vg.run(messages, graph, part=found.parts, threads=1).sent[:8]
        print(f"{method:17} cut {found.cut:4}, balance {float(found.balance):.3f}, at most {sent.max()} sent")
    found.plot("parts.png")


if __name__ == "__main__":
    main()
