"""`compress-sets`: where every vertex is made to point at its root, and where that is put off."""

from __future__ import annotations

import pytest

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, CUDA, Abilities
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import Signature, build_program
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.trees import driver
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.compress_sets import compress_sets
from vgraph.compiler.types import Target


@vg.operator
def link(src, edge, dst):
    vg.union(src.group, dst.group)


@vg.operator
def link_far(src, edge, dst):
    if src.group != dst.group:
        vg.union(src.group, dst.group)


@vg.operator
def label(v):
    if v.group == v:
        v.seen = 1


def twice(first, second, between=None):
    """A program that unites by two operators, with a look between or without."""

    @vg.algorithm
    def program(graph):
        group = graph.disjoint_sets()
        graph.k = 0
        graph.edge_apply(first, label="first")
        graph.k = 1
        graph.edge_apply(second, label="second")
        return group

    @vg.algorithm
    def looks(graph):
        group = graph.disjoint_sets()
        seen = graph.vertex_property(vg.int64)
        graph.edge_apply(first, label="first")
        graph.vertex_apply(between)
        graph.edge_apply(second, label="second")
        return group, seen

    return looks if between else program


@pytest.mark.parametrize(
    ("parts", "abilities", "facts", "put_off"),
    [
        ((link, link), CUDA, Facts(), True),
        ((link_far, link), CUDA, Facts(), True),
        ((link, link_far), CUDA, Facts(), False),
        ((link, link, label), CUDA, Facts(), False),
        ((link, link), CUDA, Facts(large=True, deep=True), False),
        ((link, link), CPU, Facts(), False),
    ],
)
def test_between_two_operators(parts: tuple, abilities: Abilities, facts: Facts, put_off: bool) -> None:
    program = build_program(twice(*parts), Signature(Target(), {}, {}, {}, True, {}))
    context = Context(abilities=abilities, facts=facts)
    found = PassManager(context).run(program, PIPELINE[: PIPELINE.index(compress_sets) + 1])
    sure = [s for s in found.body if _walks_paths(s)]
    all_of_them = [s for s in driver(found.body) if _walks_paths(s)]
    assert (len(sure), len(all_of_them)) == (1 if put_off else 2, 2)


def _walks_paths(s: ir.Stmt) -> bool:
    return isinstance(s, ir.ParFor) and any(isinstance(n, ir.While) for n in s.body)
