"""Triad census: of which kinds the subgraphs of three vertices are (Holland and Leinhardt 1970)."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph.orient import oriented_with_senses

KINDS = (0, 1, 4, 0, 0, 3, 2, 4, 5, 0, 0, 2, 1, 0, 4, 4, 3, 5, 3, 4, 5, 4, 2, 5, 5, 5, 6)
"""Of triangles, by the senses of v to u, u to w and v to w, each from 1 to 3: t030T, t030C, t120D, and so on."""


@vg.operator
def tell(v, graph):
    """The pairs of arcs of v, whose other ends may be joined or not; and the triangles v -> u -> w, v -> w along the
    orientation."""
    arcs = vg.local(vg.int64, 4)  # by sense: none, from v, to v, both ways
    found = vg.local(vg.int64, 8)
    for a in v.out_edges:
        arcs[a.sense] += 1
        a.dst.beside = a.sense
    graph.t012 += arcs[1] + arcs[2]
    graph.t102 += arcs[3]
    for a in v.in_edges:
        arcs[a.sense % 2 * 2 + a.sense // 2] += 1
    graph.t021D += arcs[1] * (arcs[1] - 1) // 2
    graph.t021U += arcs[2] * (arcs[2] - 1) // 2
    graph.t021C += arcs[1] * arcs[2]
    graph.t111D += arcs[2] * arcs[3]
    graph.t111U += arcs[1] * arcs[3]
    graph.t201 += arcs[3] * (arcs[3] - 1) // 2
    for a in v.out_edges:
        for b in a.dst.out_edges:
            if b.dst.beside > 0:
                found[_kinds[9 * a.sense + 3 * b.sense + b.dst.beside - 13]] += 1
    graph.t030T += found[0]
    graph.t030C += found[1]
    graph.t120D += found[2]
    graph.t120U += found[3]
    graph.t120C += found[4]
    graph.t210 += found[5]
    graph.t300 += found[6]


@vg.algorithm
def triad_census(graph, _kinds: vg.array(vg.int32) = KINDS):
    """How many sets of three vertices have each of the 16 kinds of arcs between them, by their usual names.

    Results, ints: `t003`, `t012`, `t102`, `t021D`, `t021U`, `t021C`, `t111D`, `t111U`, `t030T`, `t030C`, `t201`,
    `t120D`, `t120U`, `t120C`, `t210` and `t300`. The digits are the pairs with arcs both ways, with one, and with none.
    The edges of an undirected graph lead both ways, so that `t003`, `t102`, `t201` and `t300` are its motifs.
    Self-loops and parallel arcs do not count. Triangles are listed, all else follows from degrees: O(arcs ** 1.5).
    """
    beside = graph.scratch(vg.int32)
    graph.t012 = graph.t102 = graph.t021D = graph.t021U = graph.t021C = graph.t111D = graph.t111U = 0
    graph.t030T = graph.t030C = graph.t201 = graph.t120D = graph.t120U = graph.t120C = graph.t210 = (
        graph.t300
    ) = 0
    graph.vertex_apply(tell)
    n = graph.num_vertices
    return (n, graph.t012, graph.t102, graph.t021D, graph.t021U, graph.t021C, graph.t111D, graph.t111U, graph.t030T,
            graph.t030C, graph.t201, graph.t120D, graph.t120U, graph.t120C, graph.t210, graph.t300)  # fmt: skip


@triad_census.finishes
def all_kinds(n: int, **found: int) -> dict[str, int]:
    """Without triangles where pairs of arcs at a vertex were counted; and those where two vertices have no others."""
    n, t = int(n), {name: int(count) for name, count in found.items()}
    t["t021D"] -= t["t030T"] + t["t120D"]
    t["t021U"] -= t["t030T"] + t["t120U"]
    t["t021C"] -= t["t030T"] + 3 * t["t030C"] + t["t120C"]
    t["t111D"] -= 2 * t["t120D"] + t["t120C"] + t["t210"]
    t["t111U"] -= 2 * t["t120U"] + t["t120C"] + t["t210"]
    t["t201"] -= t["t210"] + 3 * t["t300"]
    connected = list(t.items())[2:]
    t["t012"] = t["t012"] * (n - 2) - sum(int(name[2]) * count for name, count in connected)
    t["t102"] = t["t102"] * (n - 2) - sum(int(name[1]) * count for name, count in connected)
    return {"t003": n * (n - 1) * (n - 2) // 6 - sum(t.values()), **t}


triad_census.prepares(
    oriented_with_senses
)  # each edge once, by degree; in which directions the user's graph has it
