import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.trees import transform_body, with_fields


@vg.operator
def spread(src, edge, dst):
    dst.count += src.out_degree
    dst.low = min(dst.low, src.id)


@vg.algorithm
def main(graph):
    count = graph.vertex_property(vg.int64)
    low = graph.vertex_property(vg.int64, fill=vg.inf)
    graph.edge_apply(spread)
    return count, low


def schedule():
    return vg.Schedule().at("spread", direction=vg.PUSH)


def broken(program):
    """A pass that believes that sums need no atomics."""

    def rule(n):
        return with_fields(n, {"atomic": False}) if isinstance(n, ir.Reduce) and n.op == "+" else None

    return with_fields(program, {"body": transform_body(program.body, rule)})
