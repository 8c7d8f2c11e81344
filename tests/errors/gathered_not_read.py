import vgraph as vg


@vg.operator
def climb(v):
    near = vg.local_list(vg.vertex, 8)
    top = v
    near.append(top)
    while top.chief != vg.none:
        top = top.chief
        if top.level > 3:
            near.append(top)
    top.level += 1
    v.chief = top


@vg.algorithm
def main(graph):
    chief = graph.vertex_property(vg.vertex)
    level = graph.vertex_property(vg.int64)
    graph.vertex_apply(climb)
    return level, chief
