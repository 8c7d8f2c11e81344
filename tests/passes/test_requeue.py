"""Priority queues: where it is said whose values may have changed, and what stands for a value in the buckets."""

from __future__ import annotations

import pytest

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.requeue_changed import requeue_changed

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
param source: vid
vertex degree: i32 local
vertex other: i32 local
edge weight: i32 graph
frontier f
priority q: degree
operator depart(src, edge, dst) {
  degree[dst] += -1:i32
}
operator count(src, edge, dst) {
  other[dst] += degree[src]
}
operator begin(v) {
  degree[v] = 3:i32
}
operator keep(v) {
  degree[v] = 3:i32
  emit (other[v] > 0:i32)
}
operator spread(v) {
  for (u, e) in out(v) {
    degree[u] min= 1:i32
  }
}
operator mixed(v) {
  for (u, e) in out(v) {
    other[u] min= 1:i32
  }
  degree[v] = 3:i32
}
operator around(v) {
  degree[v] min= 2:i32
  for (u, e) in out(v) {
    degree[u] min= 1:i32
  }
}
run {
  fill degree = 9:i32
  degree[source] = 1:i32
  refill q
  f = pop q
  STATEMENT
}
return degree
"""


def requeued(statement: str) -> list[str]:
    """What the pass makes of a statement that follows on the queue."""
    program = requeue_changed.run(parse_program(PROGRAM.replace("STATEMENT", statement)), Context())
    lines = [line.strip() for line in print_program(program).splitlines()]
    at = lines.index("run {")
    # What was written before there was a queue is in it from the start.
    assert lines[at + 1 : at + 5] == [
        "fill degree = 9:i32",
        "degree[source] = 1:i32",
        "refill q",
        "f = pop q",
    ]
    return lines[at + 5 : lines.index("return degree") - 1]


@pytest.mark.parametrize(
    ("statement", "after"),
    [
        ("edge_apply(depart, f)", ["changed = edge_apply(depart, f)", "requeue q changed"]),
        ("f = edge_apply(depart, f)", ["f = edge_apply(depart, f)", "requeue q f"]),
        ("edge_apply(count, f)", ["edge_apply(count, f)"]),
        ("vertex_apply(begin)", ["vertex_apply(begin)", "requeue q"]),
        ("vertex_apply(begin, f)", ["vertex_apply(begin, f)", "requeue q f"]),
        # The frontier visited is gone when the operator is done: who was visited is kept.
        ("f = vertex_apply(keep, f)", ["visited = copy f", "f = vertex_apply(keep, f)", "requeue q visited"]),
        # Others than those visited may have changed.
        ("vertex_apply(spread, f)", ["vertex_apply(spread, f)", "requeue q"]),
        ("vertex_apply(around, f)", ["vertex_apply(around, f)", "requeue q"]),
        # What it writes elsewhere is in no queue.
        ("vertex_apply(mixed, f)", ["vertex_apply(mixed, f)", "requeue q f"]),
        ("fill degree = 2:i32", ["fill degree = 2:i32", "requeue q"]),
        ("fill other = 2:i32", ["fill other = 2:i32"]),
        (
            "degree[source] = 2:i32",
            ["changed = single(source)", "degree[source] = 2:i32", "requeue q changed"],
        ),
        ("other[source] = 2:i32", ["other[source] = 2:i32"]),
    ],
)
def test_who_may_have_changed_is_put_anew(statement: str, after: list[str]) -> None:
    assert requeued(statement) == after


def test_a_program_without_queues_is_left_alone() -> None:
    text = PROGRAM.replace("priority q: degree\n", "").replace("  refill q\n  f = pop q\n  STATEMENT\n", "")
    program = parse_program(text)
    assert requeue_changed.run(program, Context()) is program


def test_only_the_property_of_the_queue_counts() -> None:
    text = PROGRAM.replace("priority q: degree", "priority q: other").replace(
        "STATEMENT", "edge_apply(depart, f)"
    )
    program = requeue_changed.run(parse_program(text), Context())
    assert not any(isinstance(n, ir.QueueUpdate) for n in walk(program))


def test_a_queue_may_be_filled_inside_a_branch() -> None:
    inside = PROGRAM.replace("  refill q\n", "  if (source == source) {\n    refill q\n  }\n")
    text = inside.replace("STATEMENT", "edge_apply(depart, f)")
    program = requeue_changed.run(parse_program(text), Context())
    assert any(isinstance(n, ir.QueueUpdate) for n in walk(program))


@pytest.mark.parametrize("kind", ["i32", "i64", "u32"])
def test_keys_of_buckets_are_64_bits_wide(kind: str) -> None:
    text = PROGRAM.replace("STATEMENT", "").replace("i32", kind).replace("-1:u32", "1:u32")
    kernel = PassManager(Context()).run(parse_program(text), PIPELINE)
    for read in (n for n in walk(kernel.buckets[0].key) if isinstance(n, ir.Cast | ir.Load)):
        assert isinstance(read, ir.Cast) == (kind != "i64")
        break
    else:
        raise AssertionError("the key reads the value")
