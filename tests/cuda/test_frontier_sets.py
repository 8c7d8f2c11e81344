"""Frontiers of arrays, properties and conditions, and of other frontiers, on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from matrix import shaped
from test_frontiers import check, expected, graph_of, returned, sets

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.runtime.executor import signature_of


def test_sets_on_a_gpu(gpu: Any) -> None:
    for n, directed in ((1, True), (70, False), (300, True)):
        graph, rng = graph_of(n, directed), np.random.default_rng(n)
        given = {"seeds": rng.integers(0, n, 3 + n // 20), "others": rng.integers(0, n, n // 3), "limit": 2}
        wanted = expected(graph, given["seeds"], given["others"], 2)
        program = build_program(sets, signature_of(graph, argument_types(sets, given)))
        context = Context(abilities=CUDA)
        for seed, schedule in enumerate(
            [vg.Schedule(), *space.sample(space.ready(program, context), context, n > 1, n)]
        ):
            shaped(gpu, seed)
            check(vg.run(sets, graph, schedule=schedule, device="cuda", **given), wanted)


def test_helpers_that_return_frontiers(gpu: Any) -> None:
    graph = graph_of(40, True)
    for how in range(4):
        arguments = {"center": 3, "radius": 2, "how": how}
        first = vg.run(returned, graph, device="python", **arguments)
        found = vg.run(returned, graph, device="cuda", **arguments)
        for name in first.names:
            assert np.array_equal(getattr(found, name), getattr(first, name)), (name, how)
