"""The reference finds what the frontend knows of a text by its position: both must count alike, whatever the text."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import vgraph as vg
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.parser import parse
from vgraph.compiler.frontend.typed import Typed, position_of
from vgraph.language.decorators import Definition
from vgraph.reference.rewriting import Rewriting, tree_of

SAME = {
    s.Conditional: ast.IfExp,
    s.Call: ast.Call,
    s.Attribute: ast.Attribute,
    s.Assign: ast.Assign,
    s.AssignTuple: ast.Assign,
    s.Augment: ast.AugAssign,
    s.Return: ast.Return,
    s.Name: ast.Name,
}


def odd_text() -> Definition:
    """Indented, with letters of more than a byte, parentheses, and lines that go on."""

    # fmt: off
    @vg.operator
    def größer(v, graph):
        β = (v.x) if ((v.α)) else (((v.β))) + 1; γ = β  # noqa: E702, UP034
        v.α = (max)((β), (
            v.out_degree
            if v.x  # "é" beside a bracket (
            else (v.in_degree)
        ), 7) + ((β)
            + γ)
        v.β += (graph).x \
            + (v.x if v.x else v.y if (v.y) else (v.z))
        if not v.seen: v.seen = True  # noqa: E701
        elif (v.ö): v.note = ("ü" == v.name)  # noqa: E701
        for π in (v.out_neighbors):
            v.β = (vg.int64)(π.β) if (π) else (π).γ
        return ((v.α) == (β if γ else γ))
    # fmt: on

    return größer


def definitions() -> list[Definition]:
    found: list[Definition] = []
    for name in vg.algorithms.__all__:
        algorithm = getattr(vg.algorithms, name)
        values = vars(__import__(algorithm.__module__, fromlist=["x"])).values()
        found += [value for value in values if isinstance(value, Definition)]
    return list(dict.fromkeys(found))


def positions(definition: Definition) -> tuple[Counter[Any], Counter[Any]]:
    """Kinds of nodes and where they stand: in the frontend's syntax, and in Python's with the reference's counting."""
    text = parse(definition.source, defaults=True)
    mine = Counter((SAME[type(n)], position_of(n.span)) for n in s.walk(text) if type(n) in SAME)
    counting = Rewriting(Typed(definition), None)  # type: ignore[arg-type]
    nodes = [n for statement in tree_of(definition).body for n in ast.walk(statement)]
    theirs = Counter((type(n), counting.position(n)) for n in nodes if type(n) in SAME.values())
    return mine, theirs


def test_positions_in_the_library() -> None:
    for definition in definitions():
        mine, theirs = positions(definition)
        # What declares several properties, or assigns to several places, is as many statements here.
        assert theirs.keys() <= mine.keys(), definition.name
        assert {kind for kind, _ in mine.keys() - theirs.keys()} <= {ast.Assign}, definition.name


def test_positions_in_an_odd_text() -> None:
    mine, theirs = positions(odd_text())
    assert mine == theirs
    assert sum(mine.values()) > 40
