import vgraph as vg

device = "cuda"


@vg.operator
def double(v):
    v.rank = v.rank + v.rank


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(vg.int64, fill=1)
    graph.vertex_apply(double)
    return rank


def schedule():
    return vg.Schedule().at("double", unions=64)
