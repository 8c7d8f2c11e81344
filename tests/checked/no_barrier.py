import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.trees import transform_body, with_fields


@vg.operator
def grow(v):
    v.size += v.out_degree


@vg.algorithm
def main(graph):
    size = graph.vertex_property(vg.int64)
    rounds = 0
    while size[3] < 4 and rounds < 5:
        graph.vertex_apply(grow)
        rounds += 1
    return rounds


def broken(program):
    """A pass that removes barriers."""
    body = transform_body(program.body, lambda n: () if isinstance(n, ir.Barrier) else None)
    return with_fields(program, {"body": body})
