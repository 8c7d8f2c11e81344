"""Traversal, rewriting, fresh names and the pass manager."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from programs import MIXED, SSSP, SSSP_PUSH
from random_programs import Maker

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass, PassManager
from vgraph.compiler.ir.text import parse_program, print_node, print_program
from vgraph.compiler.ir.trees import (
    children,
    fresh_names,
    map_children,
    rename,
    substitute,
    transform,
    transform_body,
    walk,
    with_fields,
)
from vgraph.compiler.ir.verify import verify
from vgraph.compiler.types import I32, I64, VID
from vgraph.errors import InternalError


def test_walk_visits_parents_first_and_in_order():
    reduce = parse_program(SSSP).operators[0].body[0]
    assert [type(n).__name__ for n in walk(reduce)] == [
        "Reduce",
        "Var",
        "Binary",
        "Load",
        "Var",
        "Load",
        "Var",
    ]
    assert [print_node(n) for n in children(reduce)] == ["dst", "(dist[src] + weight[edge])"]


def test_walk_finds_every_node_of_random_programs():
    program = Maker(3).program()

    def count(node):
        return 1 + sum(count(child) for child in children(node))

    assert count(program) == sum(1 for _ in walk(program))


def test_nothing_changed_gives_the_same_object():
    program = parse_program(MIXED)
    assert transform(program, lambda n: None) is program
    assert map_children(program, lambda n: n) is program


def test_transform_is_bottom_up_and_keeps_spans_at_every_depth():
    program = parse_program(SSSP)

    def double(n):
        if isinstance(n, ir.Binary):
            return ir.Binary("min", n, ir.Const(7, I32))
        return None

    after = transform(program, double)
    value = after.operators[0].body[0].value
    assert print_node(value) == "min((dist[src] + weight[edge]), 7:i32)"
    old = program.operators[0].body[0].value.span
    assert value.span == value.right.span == old
    verify(after, spans=True)


def test_a_statement_may_become_several_or_none():
    body = parse_program(SSSP).body

    def rule(n):
        if isinstance(n, ir.Fill):
            return ()
        if isinstance(n, ir.EdgeApply):
            return (n, ir.FrontierCopy("frontier", "frontier"))
        return None

    text = "\n".join(map(print_node, transform_body(body, rule)))
    assert text == (
        "dist[source] = 0:i32\nfrontier = single(source)\nwhile (size(frontier) > 0:i64) {\n"
        "  frontier = edge_apply(relax, frontier)\n  frontier = copy frontier\n}"
    )


def test_substitute_replaces_reads_and_rename_every_mention():
    loop = parse_program(SSSP_PUSH).body[2].body[0].body[1]
    there = substitute(loop, {"src": ir.Var("other", VID)})
    assert print_node(there).startswith("for (dst, e) in out(other)")
    renamed = print_node(rename(loop, {"dst": "u", "changed": "c", "e": "arc"}))
    assert renamed == (
        "for (u, arc) in out(src) {\n  let c: bool = false\n  atomic dist[u] min= (d + weight[arc]) -> c\n"
        "  if c {\n    push next u sparse dedupe atomic\n  }\n}"
    )


def test_fresh_names_are_new_and_numbered():
    fresh = fresh_names(parse_program(MIXED))
    assert [fresh("k"), fresh("k"), fresh("new"), fresh("new")] == ["k.1", "k.2", "new", "new.1"]
    taken = {"f", "levels", "least", "visit", "src", "one level", "mixed"}
    assert not taken & {fresh(name) for name in taken}


def test_renamed_random_programs_still_print_and_parse():
    program = Maker(11).program()
    renamed = rename(program, {n.name: f"{n.name}.new" for n in walk(program) if isinstance(n, ir.Let)})
    assert parse_program(print_program(renamed)) == renamed


# --- passes ---------------------------------------------------------------------------------------------


def _same(program, context):
    context.notes.append("seen")
    return program


def _to_kernel(program, context):
    return with_fields(program, {"level": ir.Level.KERNEL, "operators": (), "body": ()})


def _lose_a_declaration(program, context):
    return with_fields(program, {"frontiers": ()})


def test_the_manager_runs_passes_in_order_and_shows_each():
    seen, context = [], Context()
    passes = [
        Pass("same", _same, ir.Level.ALGORITHM, ir.Level.ALGORITHM),
        Pass("to-kernel", _to_kernel, ir.Level.ALGORITHM, ir.Level.KERNEL),
    ]
    program = parse_program(SSSP)
    manager = PassManager(context)
    result = manager.run(program, passes, on_pass=lambda p, r: seen.append((p.name, r.level)))
    assert seen == [("same", ir.Level.ALGORITHM), ("to-kernel", ir.Level.KERNEL)]
    assert result.level is ir.Level.KERNEL
    assert context.notes == ["seen"]


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        (
            [Pass("lose", _lose_a_declaration, ir.Level.ALGORITHM, ir.Level.ALGORITHM)],
            "pass lose broke the program",
        ),
        (
            [Pass("late", _same, ir.Level.KERNEL, ir.Level.KERNEL)],
            "pass late takes kernel level, not algorithm",
        ),
        (
            [Pass("lazy", _same, ir.Level.ALGORITHM, ir.Level.KERNEL)],
            "pass lazy gave algorithm level, not kernel",
        ),
        ([Pass("eager", _to_kernel, ir.Level.ALGORITHM, ir.Level.ALGORITHM)], "pass eager broke the program"),
    ],
)
def test_the_manager_names_the_guilty_pass(passes, message):
    with pytest.raises(InternalError, match=message):
        PassManager().run(parse_program(SSSP), passes)


def test_the_guilty_pass_is_found_where_only_the_end_is_verified():
    lose = Pass("lose", _lose_a_declaration, ir.Level.ALGORITHM, ir.Level.ALGORITHM)
    same = Pass("same", _same, ir.Level.ALGORITHM, ir.Level.ALGORITHM)
    with pytest.raises(InternalError, match="pass lose broke the program"):
        PassManager().run(parse_program(SSSP), [same, lose, same], between=False)


def test_a_broken_input_is_nobodys_fault():
    with pytest.raises(InternalError, match="not valid before the first pass"):
        PassManager().run(_lose_a_declaration(parse_program(SSSP), None), [])


def test_nodes_are_frozen_and_their_span_is_given_by_name():
    one = ir.Const(1, I64)
    with pytest.raises(FrozenInstanceError, match="value"):
        one.value = 2
    with pytest.raises(FrozenInstanceError, match="type"):
        del one.type
    with pytest.raises(TypeError, match="positional"):
        ir.Const(1, I64, None)
    assert one == ir.Const(type=I64, value=1)
    assert one.span is None
    assert ir.Reduce("+", "x", one, one) == ir.Reduce("+", "x", one, one, atomic=False, changed=None)
