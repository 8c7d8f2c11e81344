import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.trees import rename, with_fields


@vg.operator
def step(v):
    v.next = v.value + 1
    for u in v.out_neighbors:
        v.next += u.value


@vg.operator
def move(v):
    v.value = v.next


@vg.algorithm
def main(graph):
    value = graph.vertex_property(vg.int64)
    next = graph.vertex_property(vg.int64)
    graph.vertex_apply(step)
    graph.vertex_apply(move)
    return value


def broken(program):
    """A pass that makes one loop of the two operators'."""
    first, second = (n for n in program.body if isinstance(n, ir.ParFor) and n.label)
    more = rename(second, {second.vertex: first.vertex}).body
    fused = {first: (with_fields(first, {"body": (*first.body, *more)}),), second: ()}
    return with_fields(program, {"body": tuple(s for n in program.body for s in fused.get(n, (n,)))})
