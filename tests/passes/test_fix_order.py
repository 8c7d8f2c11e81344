"""With `deterministic=True` a sum of floats is that of all parts, added in blocks, whoever visits which vertex."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from choices_programs import once

from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.passes import PIPELINE
from vgraph.graph import Graph

GRAPH = Graph.from_edges([0, 1, 2, 3, 9], [1, 2, 3, 4, 10], num_vertices=11, weight=np.zeros(5, np.int32))


def result(text: str, threads: int) -> tuple[float, float]:
    """The sum in one thread's order and in that of several, of a program that returns it."""
    program = parse_program(text)
    kernel = PassManager(Context(deterministic=True)).run(program, PIPELINE)
    want = interpret(program, GRAPH, {"source": 2})["sum"]
    return float(interpret(kernel, GRAPH, {"source": 2}, seed=threads, threads=threads)["sum"]), float(want)


def summed(op: str, value: str, frontier: str = "") -> str:
    text = once(f"@sum {op} {value}", args="v", frontier=frontier)
    text = text.replace("global @visits: i64", "global @sum: f64")
    apply = f"  vertex_apply(visit{frontier})\n"
    assert apply in text
    # Twice, and with what is in the global before: no part is added again.
    text = text.replace(apply, f"  @sum = 3.0:f64\n{apply}{apply.replace(')', ') as again', 1)}")
    return text.replace("return dist", "return sum = scalar @sum")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block", [1, 4, 1024])
@pytest.mark.parametrize("frontier", ["", ", frontier"])
@pytest.mark.parametrize(
    ("op", "value"),
    [
        ("+=", "cast<f64>((cast<i64>(v) * cast<i64>(v)))"),
        ("*=", "cast<f64>((cast<i64>(v) + 1:i64))"),
        ("+=", "cast<f64>(degree.out(v))"),
    ],
)
def test_all_parts_are_added_up(
    op: str, value: str, frontier: str, block: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("vgraph.compiler.passes.fix_order"), "BLOCK", block)
    found, want = result(summed(op, value, frontier), threads)
    assert found == want  # whole numbers, which floats hold exactly
