"""The place of a reduction may be an expression, which stands twice in the text.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "interpret"}
"""

import vgraph as vg


@vg.operator
def add(v):
    t = 0
    vg.vertex(t % 13).x = vg.vertex(t % 13).x + 13


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.int64, fill=1)
    graph.vertex_apply(add)
    return x
