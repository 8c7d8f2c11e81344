"""What a random surfer takes along from a vertex: evenly, or in proportion to the weights of arcs."""

from __future__ import annotations

import vgraph as vg

FLOOR = 2.0**-1000
FLOOR_32 = 2.0**-100
"""Rank by the least weight that leaves a vertex is a number that ranks' type holds."""


@vg.function
def hand_on(v, graph, rank):
    """What each arc, or each unit of weight, takes along of v's rank."""
    if weight is None:
        leaving = v.out_degree
    else:
        leaving = v.leaving
    if leaving > 0:
        v.part = damping * rank / leaving
    else:
        graph.dangling += rank


@vg.operator
def begin(v, graph):
    """All ranks alike, and nothing on its way; what adds up over all vertices."""
    if weight is not None:
        v.leaving = 0.0
        for e in v.out_edges:
            v.leaving += e.weight
    v.rank = 1 / graph.num_vertices
    v.part = 0
    hand_on(v, graph, v.rank)


@vg.function
def set_out(graph):
    """Surfers are everywhere alike, and what each arc takes along can be told."""
    graph.dangling = 0.0
    graph.change = vg.inf
    graph.base = 0.0
    graph.vertex_apply(begin)


@vg.function
def refuse_faint(graph, leaving):
    """Refuse weights of which too little leaves a vertex: what each arc takes along cannot be told."""
    floor = FLOOR_32 if dtype == vg.float32 else FLOOR
    if graph.any((leaving > 0) & (leaving < floor)):
        vg.fail(
            "the arcs of a vertex weigh too little beside others to tell what each takes along of its rank"
        )
