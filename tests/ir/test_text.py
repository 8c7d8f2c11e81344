"""Printing and parsing the IR are exact inverses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import MIXED, SSSP, SSSP_PULL, SSSP_PUSH
from random_programs import Maker

from vgraph.compiler import ir
from vgraph.compiler.ir.forms import FORMS, holes
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.ir.text import (
    RESERVED,
    parse_program,
    print_node,
    print_program,
)
from vgraph.compiler.ir.text_parser import IrSyntaxError, _lark
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import I64, VID, Target

BASES = {ir.Node, ir.Expr, ir.Stmt, ir.Apply, ir.Domain, ir.Members}


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_random_programs_survive_the_round_trip(seed):
    program = Maker(seed).program()
    text = print_program(program)
    again = parse_program(text)
    assert again == program
    assert print_program(again) == text


def test_random_programs_cover_every_node_class():
    seen = {type(n) for seed in range(120) for n in walk(Maker(seed).program())}
    classes = {c for c in vars(ir).values() if isinstance(c, type) and issubclass(c, ir.Node)}
    assert classes - seen == BASES


@pytest.mark.parametrize("text", [SSSP, SSSP_PUSH, SSSP_PULL, MIXED])
def test_programs_print_as_they_were_written(text):
    assert print_program(parse_program(text)) == text


@pytest.mark.parametrize("kind", FORMS, ids=lambda kind: kind.__name__)
def test_a_form_names_every_field(kind):
    own = {"type"} if issubclass(kind, ir.Expr) else set()
    assert sorted(hole.name for hole in holes(FORMS[kind])) == sorted(
        f.name for f in fields_of(kind) if f.name not in own
    )


def test_every_node_has_a_form_but_literals_results_and_programs():
    classes = {c for c in vars(ir).values() if isinstance(c, type) and issubclass(c, ir.Node)}
    assert classes - set(FORMS) == BASES | {ir.Const, ir.Result, ir.Program}


def test_every_keyword_is_reserved_or_harmless_as_a_name():
    words = {t.pattern.value for t in _lark().terminals if t.pattern.value.isidentifier()} | RESERVED
    for word in sorted(words):
        name = ir.Var(word, VID)
        params = (ir.Param(word, VID),)
        body = (ir.Assign(word, name), ir.Emit(ir.Compare("==", name, ir.Binary("min", name, name))))
        program = ir.Program(word, ir.Level.KERNEL, Target(), params, (), (), (), (), (), body, ())
        assert parse_program(print_program(program)) == program, word


def test_what_is_left_out_is_at_rest_and_what_is_written_has_its_order():
    (apply,) = (n for n in walk(parse_program(SSSP)) if isinstance(n, ir.EdgeApply))
    assert (apply.label, apply.out, apply.reverse) == ("relax", "frontier", False)
    v, four = ir.Var("v", VID), ir.Const(4, I64)
    arcs = ir.ForNeighbors("u", "e", v, ir.Orientation.IN, (), segments=4, prefetch=32, vectorize=True)
    assert print_node(arcs) == "for (u, e) in in(v) segments 4 prefetch 32 vectorize {\n}"
    head = ("v", ir.SparseMembers("f"), (), "relax", "i", ir.Orientation.OUT, four, ir.Lanes.BINS)
    text = "parfor v at i in sparse f cut out at 4:i64 by bins as relax {\n}"
    assert print_node(ir.ParFor(*head)) == text
    assert print_node(ir.ParFor("v", ir.Vertices(), ())) == "parfor v in vertices {\n}"


def test_comments_and_blank_lines_are_skipped():
    lines = SSSP.splitlines()
    spaced = "# a comment\n\n" + "\n\n".join(f"{line}  # why" for line in lines) + "\n\n"
    assert parse_program(spaced) == parse_program(SSSP)


def test_spans_point_into_the_text():
    program = parse_program(SSSP)
    reduce = program.operator("relax").body[0]
    assert reduce.span is not None
    assert (reduce.span.line, reduce.span.column) == (7, 2)
    assert reduce.span.source.line(7)[2 : reduce.span.end_column] == print_node(reduce)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("= 0:i32", "= = 0:i32", 11, "not expected here"),
        ("dist[src]", "dust[src]", 7, "no property is called dust"),
        ("single(source)", "single(sourc)", 12, "no local is called sourc"),
        ("0:i32", "0:i31", 11, "there is no number of type i31"),
        ("dist: i32", "dist: int", 3, "there is no type int"),
        (
            "relax, frontier)",
            "relax, frontier) schedule(direction=sideways)",
            14,
            "a schedule names each choice once",
        ),
        ("relax(src, edge, dst)", "relax(src, dst)", 6, "an operator takes"),
        ("algorithm", "planned", 1, "there is no level planned"),
        ("weight[edge])", "weight[edge]", 7, "not expected here"),
        ("fill dist = 2147483647:i32", "fill dist = sqrt(1:i32)", 10, "there is no sqrt(i32)"),
        ("2147483647:i32", "size(3:i64)", 10, "size takes the name of a declaration first"),
        ("2147483647:i32", "size.x(frontier)", 10, "size.x takes the name of a declaration first"),
        ("2147483647:i32", "contains(frontier)", 10, "contains takes the name of a declaration first"),
        ("2147483647:i32", "select.x(true, 1:i32)", 10, "there is no select.x(bool, i32)"),
        ("2147483647:i32", "degree.up(none)", 10, "there is no degree.up(vid)"),
        ("2147483647:i32", "degree(none, none)", 10, "there is no degree(vid, vid)"),
        ("2147483647:i32", "piece.size(none)", 10, "there is no piece.size(vid)"),
        ("return dist\n", "return", 17, "not expected here"),
        ("0:i32\n", "0:i32 $\n", 11, "this character is not expected"),
        ("return dist\n", 'return "di\\x"\n', 17, "not expected here"),
        ("return dist\n", 'return "di\tst"\n', 17, "not expected here"),
    ],
)
def test_faults_show_the_line_and_a_caret(old, new, line, reason):
    with pytest.raises(IrSyntaxError) as caught:
        parse_program(SSSP.replace(old, new, 1), "sssp.ir")
    assert caught.value.span.line == line
    message = str(caught.value)
    assert reason in message
    assert f"sssp.ir:{line}:" in message
    assert "^" in message.splitlines()[2]
