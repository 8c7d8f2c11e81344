import vgraph as vg


@vg.algorithm
def main(graph):
    return graph.num_vertices


def schedule():
    return vg.Schedule().at("relax", direction=vg.PUSH)
