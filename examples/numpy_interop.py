"""From NumPy and back: a landscape as a grid graph, and the basin that each cell's rain runs into."""

from __future__ import annotations

import numpy as np

import vgraph as vg


@vg.operator
def descend(v):
    """Point to the lowest neighbor, or to v itself in a hollow."""
    v.down = v
    lowest = v.height
    for u in v.out_neighbors:
        if u.height < lowest:
            lowest = u.height
            v.down = u


@vg.operator
def jump(v, graph):
    """Point to where the one that v points to points."""
    if v.down.down != v.down:
        v.down = v.down.down
        graph.moved += 1


@vg.algorithm
def basins(graph, height: vg.vertex_property(vg.float64)):
    """The bottom of each vertex's basin."""
    down = graph.vertex_property(vg.vertex)
    graph.vertex_apply(descend)
    graph.moved = 1
    while graph.moved > 0:
        graph.moved = 0
        graph.vertex_apply(jump)
    return down


def grid(rows: int, columns: int) -> vg.Graph:
    """An undirected grid; the vertex of row r and column c is r * columns + c."""
    cell = np.arange(rows * columns).reshape(rows, columns)
    sources = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
    targets = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
    return vg.Graph.from_edges(sources, targets, num_vertices=cell.size, directed=False)


def landscape(rows: int, columns: int) -> np.ndarray:
    """Smooth hills with a little noise, (rows, columns)."""
    y, x = np.mgrid[0:rows, 0:columns]
    return np.sin(x / 9) * np.cos(y / 7) + 1e-3 * np.random.default_rng(1).random((rows, columns))


def main() -> None:
    """Print the largest basins of a landscape of 120 x 160 cells."""
    height = landscape(120, 160)
    result = vg.run(basins, grid(*height.shape), height=height.ravel())
    bottoms, sizes = np.unique(result.down, return_counts=True)
    print(f"{len(bottoms)} basins")
    for k in sizes.argsort()[::-1][:5]:
        row, column = np.unravel_index(bottoms[k], height.shape)
        print(f"{sizes[k]:>6} cells run to row {row}, column {column}")


if __name__ == "__main__":
    main()
