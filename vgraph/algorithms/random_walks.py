"""Personalised PageRank by random walks (Fogaras et al. 2005; Avrachenkov et al. 2007, "end point" estimate)."""

from __future__ import annotations

import vgraph as vg
from vgraph.errors import ParameterError
from vgraph.graph import Graph


@vg.function
def drawn(walk, step):
    """64 bits that look random, for each step of each walk (Steele et al. 2014, SplitMix64 as a hash of a counter)."""
    a = vg.uint64(walk) * vg.uint64(0x9E3779B97F4A7C15) + vg.uint64(step) * vg.uint64(0xD1B54A32D192ED03)
    b = a + vg.uint64(seed) * vg.uint64(0x8CB92BA72F3D8DD7)
    c = (b ^ (b >> 30)) * vg.uint64(0xBF58476D1CE4E5B9)
    d = (c ^ (c >> 27)) * vg.uint64(0x94D049BB133111EB)
    return d ^ (d >> 31)


@vg.operator
def walk(v, graph):
    """Each vertex is the driver of some walks, none of which begins there."""
    for k in range(graph.share):
        number = v.id + k * graph.num_vertices
        if number < walks:
            here = source
            step = 0
            chance = drawn(number, step)
            while vg.float64(chance >> 11) < graph.onwards:
                step += 1
                chance = drawn(number, step)
                if here.out_degree > 0:
                    here = here.out_neighbors[vg.int64((chance >> 32) * vg.uint64(here.out_degree) >> 32)]
                else:
                    here = source
                step += 1
                chance = drawn(number, step)
            here.ended += 1


@vg.algorithm
def random_walks(graph, source: vg.vertex, walks: vg.between(1, vg.inf) = 100_000, damping=0.85, seed=0):
    """An estimate of the PageRank of a surfer who jumps to `source` alone: where `walks` walks from there end.

    A walk goes on with probability `damping`, to a random out-neighbor, or to `source` where there is none. Result:
    `rank` (float64), the same in every run with the same `seed`; the standard error of a rank p is sqrt(p / walks).
    Raises ParameterError for parameters out of range. O(vertices + walks / (1 - damping)).
    """
    rank = graph.vertex_property(vg.float64)
    ended = graph.vertex_property(vg.int64)
    graph.share = (walks + graph.num_vertices - 1) // graph.num_vertices
    graph.onwards = damping * 9007199254740992.0
    graph.vertex_apply(walk)
    rank[:] = ended / walks
    return rank


@random_walks.requires
def sensible(graph: Graph, damping: float) -> None:
    """Raise ParameterError for a damping with which walks do not end."""
    if not 0 <= damping < 1:
        raise ParameterError(f"random_walks: damping={damping} is not from 0 to below 1")
