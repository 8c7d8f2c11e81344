import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.trees import transform_body, with_fields


@vg.operator
def grow(v):
    v.size = v.size + v.out_degree


@vg.algorithm
def main(graph):
    size = graph.vertex_property(vg.int64, fill=7)
    graph.vertex_apply(grow)
    return size


def broken(program):
    """A pass that takes the first loop, which fills the property, for dead."""

    def rule(n):
        fills = (
            isinstance(n, ir.ParFor) and len(n.body) == 1 and isinstance(n.body[0], ir.Store) and not n.label
        )
        return () if fills else None

    return with_fields(program, {"body": transform_body(program.body, rule)})
