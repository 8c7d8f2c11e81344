"""The IR of whole programs, against `golden/`; all of it is verified, and printed text parses to the same program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import language_programs as programs
import numpy as np
import pytest

from vgraph.compiler import ir
from vgraph.compiler.frontend import Signature, argument_types, build_program
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.verify import verify
from vgraph.compiler.types import F64, I32, I64, Target
from vgraph.language.decorators import AlgorithmDef

GOLDEN = Path(__file__).parent / "golden"
CASES: dict[str, dict[str, Any]] = {
    "all_reductions": {},
    "claims": {"source": 0},
    "local_variables": {},
    "helpers": {},
    "vectors": {},
    "vertex_values": {"sources": [1, 2]},
    "constants": {},
    "frontiers": {"source": 0},
}


def build(definition: AlgorithmDef, directed: bool = True, **values: Any) -> ir.Program:
    """The verified program for a graph with an int32 weight and a float64 height."""
    arguments = argument_types(definition, values)
    signature = Signature(Target(), {"height": F64}, {"weight": I32}, {"weight": I64}, directed, arguments)
    program = build_program(definition, signature)
    verify(program, spans=True)
    return program


@pytest.mark.parametrize("name", CASES)
def test_program(name: str, golden: Callable[[Path, str], None]) -> None:
    program = build(getattr(programs, name), **CASES[name])
    text = print_program(program)
    assert parse_program(text) == program
    golden(GOLDEN / f"{name}.ir", text)


def test_static_parameters_choose_branches() -> None:
    without = print_program(build(programs.constants))
    with_array = print_program(build(programs.constants, preference=np.zeros(3)))
    assert "plain" in without
    assert "preference" not in without
    assert "vertex preference: f64 param" in with_array
    assert "weighted" in with_array


def test_a_dtype_parameter_is_static() -> None:
    import vgraph as vg

    assert "vertex rank: f32 local" in print_program(build(programs.constants))
    with pytest.raises(vg.Diagnostic, match="`n` has no value"):  # its branch was not taken
        build(programs.constants, dtype=vg.float64)


def test_undirected_edges_are_a_parameter_of_the_program() -> None:
    import vgraph as vg

    @vg.algorithm
    def edges(graph):
        m = graph.num_edges
        return m  # noqa: RET504

    assert print_program(build(edges, directed=True)).count("num_arcs") == 1
    assert [p.name for p in build(edges, directed=False).params] == ["graph.num_edges"]


def test_spans_are_in_the_users_file() -> None:
    program = build(programs.claims, source=0)
    operator = program.operator("visit")
    assert operator.span is not None
    lines = Path(programs.__file__).read_text(encoding="utf-8").splitlines()
    text = lines[operator.span.line - 1]
    assert text[operator.span.column : operator.span.end_column] == "visit"
    claim = operator.body[0].span
    assert claim is not None
    assert lines[claim.line - 1].strip().startswith("if src.open and")
