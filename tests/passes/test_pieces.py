"""Which vertex operators may run on pieces of a vertex's arcs, and what they become."""

from __future__ import annotations

import math

import pytest

from vgraph.compiler import ir
from vgraph.compiler.analysis.pieces import cut_operator, identity
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import BOOL, F64, I64, Type, Vector

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
vertex x: i64 local
vertex y: i64 local
vertex m: i64 local
vertex mark: i64 scratch
global @total: i64
frontier f
operator visit(v) {{
{}
}}
run {{
  f = vertex_apply(visit)
}}
return x
"""
SUM = """\
let a: i64 = y[v]
for (u, e) in out(v) {
  a += y[u]
}
"""


def cut(body: str) -> ir.Operator | Obstacle:
    return cut_operator(parse_program(PROGRAM.format(body)).operators[0])


def walked(*lines: str) -> str:
    """A loop over the arcs of the vertex."""
    return "\n".join(["for (u, e) in out(v) {", *lines, "}\n"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x[v] = 1:i64", "it walks no arcs of its vertex"),
        (
            walked("x[v] += m[u]")
            + walked("x[v] += y[u]").replace("(u, e)", "(u2, e2)").replace("[u]", "[u2]"),
            "it walks the arcs of its vertex more than once",
        ),
        (walked("scratch mark[u] = 1:i64"), "`mark` is scratch, which belongs to the whole visit"),
        (
            f"for i in range(0:i64, 2:i64, 1:i64) {{\n{walked('x[v] += m[u]')}}}",
            "the loop over its arcs stands inside another loop",
        ),
        (
            walked("x[v] += m[u]", "if (m[u] > 3:i64) {", "break", "}"),
            "it may leave the loop over its arcs early",
        ),
        (walked("x[v] = (x[v] - m[u])"), "`x` is stored for every arc"),
        (walked("if (y[u] > 0:i64) {", "x[v] = 1:i64", "}"), "`x` is stored for every arc"),
        (walked("if (y[u] > 0:i64) {", "} else {", "x[v] = 1:i64", "}"), "`x` is stored for every arc"),
        (
            walked("for i in range(0:i64, 2:i64, 1:i64) {", "x[v] = 1:i64", "}"),
            "`x` is stored for every arc",
        ),
    ],
)
def test_a_loop_that_needs_all_arcs_is_not_cut(body: str, reason: str) -> None:
    found = cut(body)
    assert isinstance(found, Obstacle)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("let a: i64 = 0:i64\n" + walked("a = y[u]"), "`a` is carried from arc to arc"),
        ("let a: i64 = 0:i64\n" + walked("a += y[u]", "m[u] max= a"), "`a` is carried from arc to arc"),
        ("let a: i64 = 0:i64\n" + walked("a += y[u]", "a max= y[u]"), "`a` is reduced in two ways"),
        (SUM + "x[v] max= a", "what `a` adds up is used for more than a reduction of the same kind"),
        (SUM + "x[v] = a", "what `a` adds up is used for more than a reduction of the same kind"),
        (SUM + "@total max= a", "what `a` adds up is used for more than a reduction of the same kind"),
        (
            "let t: vid = v\nt = v\n" + SUM + "x[t] += a",
            "what `a` adds up is used for more than a reduction of the same kind",
        ),
        (
            SUM + "if (a > 0:i64) {\nx[v] += 1:i64\n}",
            "what `a` adds up is used for more than a reduction of the same kind",
        ),
        (
            SUM + "let b: i64 = (a * 2:i64)\nx[v] += b",
            "what `a` adds up is used for more than a reduction of the same kind",
        ),
    ],
)
def test_a_sum_is_only_reduced_as_it_was_added_up(body: str, reason: str) -> None:
    found = cut(body)
    assert isinstance(found, Obstacle)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("body", "prop"),
    [
        ("y[v] = 3:i64\n" + walked("x[v] += y[v]"), "y"),
        ("m[v] = x[v]\n" + walked("x[v] += y[u]"), "x"),
        (walked("x[v] += y[u]", "m[u] max= x[v]"), "x"),
        ("let a: i64 = x[v]\n" + walked("a += y[u]") + "x[v] += a", "x"),
    ],
)
def test_what_one_piece_writes_no_other_reads(body: str, prop: str) -> None:
    found = cut(body)
    assert isinstance(found, Obstacle)
    assert found.reason == f"`{prop}` is read where another piece may write it"


@pytest.mark.parametrize(
    "body",
    [
        walked("x[v] += y[u]", "x[v] max= y[u]"),
        "x[v] max= y[v]\n" + walked("x[v] += y[u]"),
        "x[v] = 0:i64\n" + walked("x[v] += y[u]"),
    ],
)
def test_all_pieces_write_in_the_same_way(body: str) -> None:
    found = cut(body)
    assert isinstance(found, Obstacle)
    assert found.reason == "`x` is written in several ways, and for every arc"


CUT = """\
operator visit(v) {
  if piece.first() {
    y[v] = 3:i64
  }
  let a: i64 = select(piece.first(), 5:i64, 0:i64)
  let b: i64 = select(piece.first(), a, -inf:i64)
  let twice: i64 = 2:i64
  if (m[v] > 0:i64) {
    let v.x.sum0: i64 = 0:i64
    for (u, e) in out(v) {
      let near: i64 = 0:i64
      near = m[u]
      a += (near * twice)
      b max= m[u]
      v.x.sum0 += near
      v.x.sum0 += 1:i64
      claim y[u] from 0:i64 with 1:i64 {
        mark2[u] = 1:i64
      }
    }
    if piece.whole() {
      x[v] += v.x.sum0
    } else {
      x[v] += v.x.sum0
    }
    @total += a
  }
  if piece.whole() {
    low[v] max= b
  } else {
    low[v] max= b
  }
  if piece.first() {
    emit true
  }
}"""


def test_each_piece_adds_up_its_arcs_and_the_first_does_the_rest() -> None:
    text = """\
program p: algorithm, ids 32, offsets 32
vertex x: i64 local
vertex y: i64 local
vertex m: i64 local
vertex low: i64 local
vertex mark2: i64 local
global @total: i64
frontier f
operator visit(v) {
  y[v] = 3:i64
  let a: i64 = 5:i64
  let b: i64 = a
  let twice: i64 = 2:i64
  if (m[v] > 0:i64) {
    for (u, e) in out(v) {
      let near: i64 = 0:i64
      near = m[u]
      a += (near * twice)
      b max= m[u]
      x[v] += near
      x[v] += 1:i64
      claim y[u] from 0:i64 with 1:i64 {
        mark2[u] = 1:i64
      }
    }
    @total += a
  }
  low[v] max= b
  emit true
}
run {
  f = vertex_apply(visit)
}
return x
"""
    found = cut_operator(parse_program(text).operators[0])
    assert isinstance(found, ir.Operator), found
    assert print_node(found) == CUT


@pytest.mark.parametrize("value", ["(x[v] + m[u])", "(m[u] + x[v])"])
def test_adding_to_the_vertex_is_a_reduction(value: str) -> None:
    assert cut(walked(f"x[v] = {value}")) == cut(walked("x[v] += m[u]"))
    elsewhere = cut(walked(f"x[u] = {value}"))
    assert isinstance(elsewhere, Obstacle)
    assert elsewhere.reason == "`x` is stored for every arc"


@pytest.mark.parametrize(
    ("op", "t", "value"),
    [
        ("min", BOOL, True),
        ("max", BOOL, False),
        ("*", BOOL, True),
        ("&", BOOL, True),
        ("|", BOOL, False),
        ("+", BOOL, False),
        ("min", I64, math.inf),
        ("max", I64, -math.inf),
        ("max", F64, -math.inf),
        ("+", F64, 0),
        ("*", I64, 1),
        ("|", I64, 0),
        ("&", I64, -1),
    ],
)
def test_a_reduction_begins_with_what_changes_nothing(op: str, t: Type, value: float) -> None:
    found = identity(op, t)
    assert isinstance(found, ir.Const)
    assert (found.value, found.type) == (value, t)
    assert type(found.value) is bool or t != BOOL


def test_a_vector_begins_with_its_elements() -> None:
    t = Vector(F64, 4)
    assert identity("min", t) == ir.Cast(t, ir.Const(math.inf, F64))
