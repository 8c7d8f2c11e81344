"""Triad census: of which kinds the subgraphs of three vertices are (Holland and Leinhardt 1970)."""

from __future__ import annotations

import math
from typing import Any

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.orient import oriented_with_senses


@vg.operator
def meet(v, graph):
    """The arcs of v by kind, and the pairs of them: two arcs of v, whose other ends may be joined or not."""
    out = 0
    into = 0
    mutual = 0
    for e in v.out_edges:
        out += e.sense == 1
        into += e.sense == 2
        mutual += e.sense == 3
    graph.asymmetric += out + into
    graph.mutual += mutual
    for e in v.in_edges:
        out += e.sense == 2
        into += e.sense == 1
        mutual += e.sense == 3
    graph.out_out += out * (out - 1) // 2
    graph.in_in += into * (into - 1) // 2
    graph.in_out += into * out
    graph.mutual_in += mutual * into
    graph.mutual_out += mutual * out
    graph.mutual_mutual += mutual * (mutual - 1) // 2


@vg.operator
def close(v, graph):
    """The triangles v -> u -> w, v -> w along the orientation, by how many arcs there are and where they begin."""
    t030T = 0
    t030C = 0
    t120D = 0
    t120U = 0
    t120C = 0
    t210 = 0
    t300 = 0
    for a in v.out_edges:
        a.dst.beside = a.sense
    for a in v.out_edges:
        for b in a.dst.out_edges:
            c = b.dst.beside
            if c > 0:
                arcs = vg.popcount(a.sense) + vg.popcount(b.sense) + vg.popcount(c)
                from_v = (a.sense & 1) + (c & 1)
                from_u = (a.sense >> 1) + (b.sense & 1)
                from_w = (b.sense >> 1) + (c >> 1)
                if arcs == 6:
                    t300 += 1
                elif arcs == 5:
                    t210 += 1
                elif arcs == 3:
                    if from_v == 1 and from_u == 1:
                        t030C += 1
                    else:
                        t030T += 1
                elif from_v * from_u * from_w == 0:
                    t120U += 1
                else:
                    into_v = (a.sense >> 1) + (c >> 1)
                    into_u = (a.sense & 1) + (b.sense >> 1)
                    if into_v == 0 or into_u == 0 or into_v + into_u == 4:
                        t120D += 1
                    else:
                        t120C += 1
    graph.t030T += t030T
    graph.t030C += t030C
    graph.t120D += t120D
    graph.t120U += t120U
    graph.t120C += t120C
    graph.t210 += t210
    graph.t300 += t300


@vg.algorithm
def triad_census(graph):
    """How many sets of three vertices have each of the 16 kinds of arcs between them, by their usual names.

    Results, ints: `t003`, `t012`, `t102`, `t021D`, `t021U`, `t021C`, `t111D`, `t111U`, `t030T`, `t030C`, `t201`,
    `t120D`, `t120U`, `t120C`, `t210` and `t300`. The digits are the pairs with arcs both ways, with one, and with none.
    The edges of an undirected graph lead both ways, so that `t003`, `t102`, `t201` and `t300` are its motifs.
    Self-loops and parallel arcs do not count. Triangles are listed, all else follows from degrees: O(arcs ** 1.5).
    """
    beside = graph.scratch(vg.int32)
    graph.asymmetric = graph.mutual = graph.out_out = graph.in_in = graph.in_out = 0
    graph.mutual_in = graph.mutual_out = graph.mutual_mutual = graph.t030T = graph.t030C = 0
    graph.t120D = graph.t120U = graph.t120C = graph.t210 = graph.t300 = 0
    graph.vertex_apply(meet)
    graph.vertex_apply(close)
    vertices = graph.num_vertices
    return (
        vertices, graph.asymmetric, graph.mutual,
        graph.out_out, graph.in_in, graph.in_out, graph.mutual_in, graph.mutual_out, graph.mutual_mutual,
        graph.t030T, graph.t030C, graph.t120D, graph.t120U, graph.t120C, graph.t210, graph.t300,
    )  # fmt: skip


@triad_census.finishes
def all_kinds(
    vertices: Any, asymmetric: Any, mutual: Any,
    out_out: Any, in_in: Any, in_out: Any, mutual_in: Any, mutual_out: Any, mutual_mutual: Any,
    t030T: Any, t030C: Any, t120D: Any, t120U: Any, t120C: Any, t210: Any, t300: Any,
) -> dict[str, int]:  # fmt: skip
    """Triads that are no triangles, from pairs of arcs at a vertex; and those where two vertices have no others."""
    found = {
        "t012": int(asymmetric) * (int(vertices) - 2),
        "t102": int(mutual) * (int(vertices) - 2),
        "t021D": int(out_out - t030T - t120D),
        "t021U": int(in_in - t030T - t120U),
        "t021C": int(in_out - t030T - 3 * t030C - t120C),
        "t111D": int(mutual_in - 2 * t120D - t120C - t210),
        "t111U": int(mutual_out - 2 * t120U - t120C - t210),
        "t030T": int(t030T),
        "t030C": int(t030C),
        "t201": int(mutual_mutual - t210 - 3 * t300),
        "t120D": int(t120D),
        "t120U": int(t120U),
        "t120C": int(t120C),
        "t210": int(t210),
        "t300": int(t300),
    }
    connected = list(found.items())[2:]
    found["t012"] -= sum(int(name[2]) * count for name, count in connected)
    found["t102"] -= sum(int(name[1]) * count for name, count in connected)
    return {"t003": math.comb(int(vertices), 3) - sum(found.values()), **found}


@triad_census.prepares
def by_degree(graph: Graph) -> vg.Prepared:
    """Orient the edges by degree; `sense` tells in which directions the user's graph has them."""
    return oriented_with_senses(graph)
