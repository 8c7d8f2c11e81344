"""Locals that a loop carries as the best of several: a word within the loop, where nothing else reads them there."""

from __future__ import annotations

import pytest

from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.passes.pack_tuples import pack_tuples
from vgraph.schedule import Schedule

PROGRAM = """\
program p: algorithm, ids 32, offsets 32
vertex near: vid local
vertex cost: i32 local
operator find(v) {
  let best: i32 = 7:i32
  let who: vid = none
  for (u, e) in out(v) {
    if (cost[u] > 0:i32) {
      let new: i32 = (cost[u] + 1:i32)
      if (pack(new, u) < pack(best, who)) {
        best = new
        who = u
      }
    }
  }
  near[v] = who
}
run {
  vertex_apply(find)
}
return near
"""
WORD = "min= pack(new, u)"


def packed(text: str) -> str:
    return print_node(pack_tuples.run(parse_program(text), Context(Schedule())))


def test_a_loop_carries_a_word() -> None:
    text = packed(PROGRAM)
    assert WORD in text
    assert "best = field.0(best.who)" in text
    assert "who = field.1(best.who)" in text
    assert "if (pack" not in text


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("if (cost[u] > 0:i32) {", "if (cost[u] > best) {"),
        ("        best = new\n", "        best = cost[u]\n"),
        ("        who = u\n      }\n", "        who = u\n      } else {\n        who = v\n      }\n"),
        ("let new: i32 = (cost[u] + 1:i32)", "let new: i32 = (cost[u] + 1:i32)\nwho = v"),
    ],
)
def test_what_is_read_or_written_in_the_loop_is_no_word(line: str, instead: str) -> None:
    assert line in PROGRAM
    assert WORD not in packed(PROGRAM.replace(line, instead))
