"""`simplify`: what is folded, forwarded and dropped, and what is left alone."""

from __future__ import annotations

import pytest

from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.passes.simplify import simplify

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
vertex x: i64 local
vertex flag: bool local
operator visit(v) {{
{}
}}
run {{
  vertex_apply(visit)
}}
return x
"""


def simplified(*lines: str) -> list[str]:
    """The body of an operator after the pass, line by line."""
    program = simplify.run(parse_program(PROGRAM.format("\n".join(lines))), Context())
    return [line.strip() for line in print_node(program.operators[0]).splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(1:i64 < 2:i64)", "true"),
        ("(2:i64 < 2:i64)", "false"),
        ("(2:i64 <= 2:i64)", "true"),
        ("(3:i64 <= 2:i64)", "false"),
        ("(2:i64 > 2:i64)", "false"),
        ("(3:i64 > 2:i64)", "true"),
        ("(2:i64 >= 2:i64)", "true"),
        ("(1:i64 >= 2:i64)", "false"),
        ("(2:i64 == 2:i64)", "true"),
        ("(2:i64 != 2:i64)", "false"),
        ("(none >= 3:vid)", "true"),
        ("(none < 3:vid)", "false"),
        ("(3:vid < none)", "true"),
        ("(none == none)", "true"),
        ("not(true)", "false"),
        ("not(false)", "true"),
        ("(true and flag[v])", "flag[v]"),
        ("(false and flag[v])", "false"),
        ("(true or flag[v])", "true"),
        ("(false or flag[v])", "flag[v]"),
        ("(flag[v] and true)", "(flag[v] and true)"),
        ("(x[v] < 2:i64)", "(x[v] < 2:i64)"),
        ("select(true, flag[v], (x[v] < 2:i64))", "flag[v]"),
        ("select(false, flag[v], (x[v] < 2:i64))", "(x[v] < 2:i64)"),
        ("cast<bool>(flag[v])", "flag[v]"),
        ("cast<bool>(x[v])", "cast<bool>(x[v])"),
        ("not((cast<i64>(1:i64) < 2:i64))", "false"),
    ],
)
def test_an_expression_of_constants_is_folded(old: str, new: str) -> None:
    assert simplified(f"flag[v] = {old}") == [f"flag[v] = {new}"]


@pytest.mark.parametrize(("known", "kept"), [("true", "1:i64"), ("false", "2:i64")])
def test_a_branch_on_a_constant_is_its_side(known: str, kept: str) -> None:
    both = (f"if {known} {{", "x[v] = 1:i64", "} else {", "x[v] = 2:i64", "}")
    assert simplified(*both) == [f"x[v] = {kept}"]


def test_a_loop_that_is_never_entered_is_dropped_and_an_endless_one_is_not() -> None:
    assert simplified("while false {", "x[v] = 1:i64", "}", "x[v] = 2:i64") == ["x[v] = 2:i64"]
    endless = ["while true {", "break", "}"]
    assert simplified(*endless) == endless


def test_copies_of_copies_are_forwarded_and_locals_that_are_set_again_are_not() -> None:
    assert simplified("let a: vid = v", "let b: vid = a", "x[b] = 1:i64") == ["x[v] = 1:i64"]
    set_again = ["let a: vid = v", "a = v", "x[a] = 1:i64"]
    assert simplified(*set_again) == set_again


def test_what_a_copy_makes_known_is_folded_too() -> None:
    assert simplified("let a: bool = true", "if a {", "x[v] = 1:i64", "}") == ["x[v] = 1:i64"]


def test_locals_that_nothing_reads_are_dropped_one_after_the_other() -> None:
    assert simplified("let a: i64 = x[v]", "let b: i64 = (a + 1:i64)", "x[v] = 1:i64") == ["x[v] = 1:i64"]
    added = ["let a: i64 = x[v]", "a += 1:i64", "x[v] = 1:i64"]
    assert simplified(*added) == added
