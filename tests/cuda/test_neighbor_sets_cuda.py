"""Membership in neighbors, and sets of them, on a GPU."""

from __future__ import annotations

from typing import Any

import pytest
from matrix import shaped
from test_neighbor_sets import asked, check, expected, graph_of, mates_of, sets

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.runtime.executor import signature_of


@pytest.mark.parametrize("directed", [False, True])
def test_sets_on_a_gpu(gpu: Any, directed: bool) -> None:
    for n, id_bits in ((33, None), (70, 64)):
        graph, mates = graph_of(n, directed, id_bits), mates_of(n)
        wanted = expected(graph, mates)
        program = build_program(sets, signature_of(graph, argument_types(sets, {"mates": mates})))
        context = Context(abilities=CUDA)
        some = space.sample(space.ready(program, context), context, 2, n) if n == 33 else []
        for seed, schedule in enumerate([vg.Schedule(), *some]):
            shaped(gpu, seed)
            check(vg.run(sets, graph, schedule=schedule, device="cuda", mates=mates), wanted)


def test_membership_on_a_gpu(gpu: Any) -> None:
    graph = graph_of(70, True)
    for wanted in (0, 34, 35, 69):
        found = vg.run(asked, graph, wanted=wanted, device="cuda")
        assert found.has.tolist() == vg.run(asked, graph, wanted=wanted).has.tolist()
