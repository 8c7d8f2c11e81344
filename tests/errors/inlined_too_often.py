import vgraph as vg


@vg.function
def h0(x):
    return x * x + 3


@vg.function
def h1(x):
    return h0(x) * h0(x + 1)


@vg.function
def h2(x):
    return h1(x) * h1(x + 1)


@vg.function
def h3(x):
    return h2(x) * h2(x + 1)


@vg.function
def h4(x):
    return h3(x) * h3(x + 1)


@vg.function
def h5(x):
    return h4(x) * h4(x + 1)


@vg.function
def h6(x):
    return h5(x) * h5(x + 1)


@vg.function
def h7(x):
    return h6(x) * h6(x + 1)


@vg.function
def h8(x):
    return h7(x) * h7(x + 1)


@vg.function
def h9(x):
    return h8(x) * h8(x + 1)


@vg.function
def h10(x):
    return h9(x) * h9(x + 1)


@vg.function
def h11(x):
    return h10(x) * h10(x + 1)


@vg.function
def h12(x):
    return h11(x) * h11(x + 1)


@vg.function
def h13(x):
    return h12(x) * h12(x + 1)


@vg.function
def h14(x):
    return h13(x) * h13(x + 1)


@vg.function
def h15(x):
    return h14(x) * h14(x + 1)


@vg.operator
def visit(v):
    v.dist = h15(v.both)


@vg.algorithm
def main(graph):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist
