"""Sums that their type does not hold are found wherever they are made; numbers that wrap by intention are no fault.

Every program runs on the default schedule and on others that are legal for it.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.refusals.checks import NaNAppears, ReductionOverflow
from vgraph.runtime.executor import signature_of

LARGEST = 2**31 - 1


def graph() -> vg.Graph:
    """A hub, a loop, parallel arcs, a vertex alone."""
    return vg.Graph.from_edges(
        [0, 0, 1, 2, 3, 3, 4],
        [1, 2, 2, 3, 2, 2, 4],
        num_vertices=6,
        weight=[1, 2, 3, 4, 5, 6, 7],
        vertex_properties={"big": np.full(6, LARGEST, np.int32), "vector": np.full((6, 2), 2**30, np.int32)},
    )


def run(algorithm: vg.AlgorithmDef, schedule: vg.Schedule | None = None, **given: Any) -> vg.Result:
    return vg.run(algorithm, graph(), checked=True, schedule=schedule, **given)


def schedules(algorithm: vg.AlgorithmDef) -> list[vg.Schedule]:
    """The default, and others, with own copies of sums where vertices are few."""
    given = argument_types(algorithm, {})
    program = build_program(algorithm, signature_of(graph(), given))
    found = [vg.Schedule()]
    for facts in (Facts(), Facts(large=True, hubs=True)):
        context = Context(facts=facts)
        found += space.sample(space.ready(program, context), context, 2, zlib.crc32(algorithm.name.encode()))
    return found


# --- faults -----------------------------------------------------------------------------------------------------


@vg.operator
def take_one(src, edge, dst):
    dst.x -= 1


@vg.algorithm
def below_zero(graph):
    x = graph.vertex_property(vg.uint32)
    graph.edge_apply(take_one)
    return x


@vg.operator
def take_own(v):
    v.x -= 1


@vg.algorithm
def below_zero_at_home(graph):
    x = graph.vertex_property(vg.uint64)
    graph.vertex_apply(take_own)
    return x


@vg.operator
def take_of_others(v):
    for u in v.out_neighbors:
        u.x -= 1


@vg.algorithm
def below_zero_at_others(graph):
    x = graph.vertex_property(vg.uint64)
    graph.vertex_apply(take_of_others)
    return x


@vg.operator
def count_down(v):
    t = vg.uint32(0)
    for u in v.out_neighbors:
        t -= 1
    v.x = t


@vg.algorithm
def below_zero_in_a_local(graph):
    x = graph.vertex_property(vg.uint32)
    graph.vertex_apply(count_down)
    return x


@vg.operator
def add_wide(src, edge, dst):
    dst.x += edge.weight * 4294967296


@vg.algorithm
def operand_too_wide(graph):
    x = graph.vertex_property(vg.int32, fill=7)
    graph.edge_apply(add_wide)
    return x


@vg.operator
def add_unsigned(src, edge, dst):
    dst.x += vg.uint32(4294967295)


@vg.algorithm
def operand_of_another_sign(graph):
    x = graph.vertex_property(vg.int32)
    graph.edge_apply(add_unsigned)
    return x


@vg.operator
def near(src, edge, dst):
    t = src.d + 1
    dst.d = min(dst.d, t)


@vg.algorithm
def path_in_a_local(graph):
    d = graph.vertex_property(vg.int32, fill=vg.inf)
    d[0] = 0
    graph.edge_apply(near)
    return d


@vg.function
def further(a):
    b = a + 1
    return b


@vg.operator
def near_by_helper(src, edge, dst):
    dst.d = min(dst.d, further(src.d))


@vg.algorithm
def path_in_a_helper(graph):
    d = graph.vertex_property(vg.int32, fill=vg.inf)
    d[0] = 0
    graph.edge_apply(near_by_helper)
    return d


@vg.operator
def double(v):
    t = v.big * 2
    t = t + 1
    v.x = t if v.id >= 0 else 0


@vg.algorithm
def product_in_a_local(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(double)
    return x


@vg.operator
def negate(v):
    v.x = -(v.x - 1)


@vg.algorithm
def negated(graph):
    x = graph.vertex_property(vg.int32, fill=-LARGEST)
    graph.vertex_apply(negate)
    return x


@vg.operator
def compare(v):
    if v.big + 1 > 0:
        v.x = 1


@vg.algorithm
def compared(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(compare)
    return x


@vg.operator
def square(v):
    v.x = vg.dot(v.vector, v.vector)


@vg.algorithm
def dot_product(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(square)
    return x


@vg.operator
def nothing(v):
    v.x = v.x


@vg.algorithm
def element_in_the_body(graph):
    x = graph.vertex_property(vg.uint32, fill=4294967295)
    x[0] += 1
    graph.vertex_apply(nothing)
    return x


@vg.algorithm
def global_in_the_body(graph, start=LARGEST):
    x = graph.vertex_property(vg.int32)
    graph.q = vg.int32(start)
    graph.q += 1
    graph.vertex_apply(nothing)
    return x, graph.q


@vg.algorithm
def result_in_the_body(graph, start=2**63 - 1):
    x = graph.vertex_property(vg.int32)
    total = start + 1
    graph.vertex_apply(nothing)
    return x, total


@vg.operator
def down(v, graph):
    graph.s -= v.big


@vg.algorithm
def global_below(graph):
    graph.s = -(2**62) - (2**62 - 5)
    graph.vertex_apply(down)
    return graph.s


FAULTS = {
    below_zero: "is beyond uint32, and becomes 42949672",
    below_zero_at_home: "-1 is beyond uint64",
    below_zero_at_others: "is beyond uint64",
    below_zero_in_a_local: "the sum `t` overflows",
    operand_too_wide: "is beyond int32, and becomes 7",
    operand_of_another_sign: "is beyond int32",
    path_in_a_local: "2147483648 is beyond int32, and becomes -2147483648",
    path_in_a_helper: "2147483648 is beyond int32, and becomes -2147483648",
    product_in_a_local: "4294967294 is beyond int32, and becomes -2",
    negated: "`-` overflows",
    compared: "`+` overflows",
    dot_product: "`vg.dot` overflows",
    element_in_the_body: "`x` of vertex 0 overflows",
    global_in_the_body: "the global `q` overflows",
    result_in_the_body: "9223372036854775808 is beyond int64",
    global_below: "the sum `s` overflows",
}


@pytest.mark.parametrize("algorithm", FAULTS, ids=lambda a: a.name)
def test_overflow_is_found(algorithm: vg.AlgorithmDef) -> None:
    for schedule in schedules(algorithm):
        with pytest.raises(ReductionOverflow) as caught:
            run(algorithm, schedule)
        assert FAULTS[algorithm] in str(caught.value)
    for options in ({"threads": 1}, {"deterministic": True}):
        with pytest.raises(ReductionOverflow):
            run(algorithm, **options)


@vg.operator
def sink(v, graph):
    graph.f += -vg.inf


@vg.algorithm
def nan_of_what_was_there(graph):
    graph.f = vg.float64(vg.inf)
    graph.vertex_apply(sink)
    return graph.f


@vg.operator
def both(v, graph):
    graph.f += vg.inf if v.id == 0 else -vg.inf


@vg.algorithm
def nan_of_the_sum(graph):
    graph.f = vg.float64(0)
    graph.vertex_apply(both)
    return graph.f


@vg.algorithm
def nan_of_the_result(graph, zero=0.0):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(nothing)
    none = zero / zero
    return x, none


@pytest.mark.parametrize(
    "algorithm", [nan_of_what_was_there, nan_of_the_sum, nan_of_the_result], ids=lambda a: a.name
)
def test_nan_is_found(algorithm: vg.AlgorithmDef) -> None:
    for schedule in schedules(algorithm):
        with pytest.raises(NaNAppears, match="becomes NaN"):
            run(algorithm, schedule)


# --- no faults --------------------------------------------------------------------------------------------------


@vg.operator
def hash_own(v):
    h = vg.uint32(v.id) * 2654435761 + 12345
    h ^= h >> 15
    v.x = h * 2246822519 - 3


@vg.algorithm
def hashes(graph):
    x = graph.vertex_property(vg.uint32)
    graph.vertex_apply(hash_own)
    return x


@vg.operator
def least_hash(src, edge, dst):
    dst.x = min(dst.x, vg.uint32(src.id) * 2654435761 - 77)


@vg.algorithm
def least_of_hashes(graph):
    x = graph.vertex_property(vg.uint32, fill=vg.inf)
    graph.edge_apply(least_hash)
    return x


@vg.operator
def low_bits(src, edge, dst):
    dst.x += vg.uint32(vg.uint64(src.id + 5) * 11400714819323198485) >> 8


@vg.algorithm
def bits_on_purpose(graph):
    x = graph.vertex_property(vg.uint32)
    graph.edge_apply(low_bits)
    return x


@vg.operator
def shift_by_difference(src, edge, dst):
    change = dst.small - src.small
    dst.x += change
    dst.x -= src.small
    dst.x += src.small


@vg.algorithm
def ups_and_downs(graph):
    """What is added is negative and positive by turns, and the whole never below 0."""
    small = graph.vertex_property(vg.uint32, fill=1)
    x = graph.vertex_property(vg.uint32)
    small[0] = 4
    x[1] = 3
    x[2] = 3
    graph.edge_apply(shift_by_difference)
    return x


@vg.operator
def guarded(src, edge, dst):
    t = src.d + 1
    if src.d < 1000:
        dst.d = min(dst.d, t)


@vg.algorithm
def guarded_path(graph):
    d = graph.vertex_property(vg.int32, fill=vg.inf)
    d[0] = 0
    graph.edge_apply(guarded)
    return d


@vg.operator
def and_back(v):
    t = v.big + 1
    v.x = t - 1
    v.y = (v.big + v.big) & 255


@vg.algorithm
def there_and_back(graph):
    x = graph.vertex_property(vg.int32)
    y = graph.vertex_property(vg.int32)
    graph.vertex_apply(and_back)
    return x, y


@vg.operator
def lower(src, edge, dst):
    dst.x += edge.change


@vg.algorithm
def negative_to_unsigned(graph):
    x = graph.vertex_property(vg.uint32, fill=100)
    graph.edge_apply(lower)
    return x


@vg.algorithm
def wrapped_on_purpose(graph, start=2**40 + 5):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(nothing)
    cut = vg.int32(start)
    return x, cut


FINE = [
    hashes,
    least_of_hashes,
    bits_on_purpose,
    ups_and_downs,
    guarded_path,
    there_and_back,
    wrapped_on_purpose,
]


@pytest.mark.parametrize("algorithm", FINE, ids=lambda a: a.name)
def test_no_false_alarm(algorithm: vg.AlgorithmDef) -> None:
    want = vg.run(algorithm, graph(), device="python")
    for schedule in schedules(algorithm):
        found = run(algorithm, schedule)
        for name in want.names:
            np.testing.assert_array_equal(getattr(found, name), getattr(want, name))


def test_negative_numbers_may_be_added_to_unsigned_ones() -> None:
    signed = graph().with_edge_property("change", np.array([-5, 3, -1, 2, -2, -7, 0], np.int32))
    found = vg.run(negative_to_unsigned, signed, checked=True)
    assert found.x.tolist() == [100, 95, 93, 102, 100, 100]
    low = signed.with_edge_property("change", np.full(7, -60, np.int32))
    with pytest.raises(ReductionOverflow, match="is beyond uint32"):
        vg.run(negative_to_unsigned, low, checked=True)
