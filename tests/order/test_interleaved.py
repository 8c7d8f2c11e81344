"""Ordered loops in kernel IR with threads interleaved at random: the fixpoint is the program's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_order import graph_of, labels, paths, widest

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.runtime.executor import signature_of
from vgraph.runtime.policy import number

LOOPS = {
    "paths": (paths, "relax", {"source": 0}),
    "widest": (widest, "widen", {"source": 0}),
    "labels": (labels, "lower", {}),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [None, 1, 7])
@pytest.mark.parametrize("name", LOOPS)
def test_delta_loops_with_threads_interleaved(name: str, width: float | None, seed: int) -> None:
    algorithm, label, given = LOOPS[name]
    graph = graph_of(12, seed, "int32", 20)
    schedule = vg.Schedule().at(label, order=vg.delta_stepping(width))
    arguments: dict[str, Any] = dict(given)
    program = build_program(algorithm, signature_of(graph, argument_types(algorithm, arguments)))
    kernel = PassManager(Context(schedule)).run(program, PIPELINE)
    assert any(isinstance(n, ir.BucketLoop) for n in walk(kernel))
    hidden = {p.name: number(p.name, graph) for p in kernel.params if p.name.startswith("policy.")}
    above = interpret(program, graph, arguments)
    below = interpret(kernel, graph, arguments | hidden, seed=seed, threads=3)
    for field, value in above.items():
        np.testing.assert_array_equal(below[field], value, err_msg=field)
