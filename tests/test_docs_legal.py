"""The table of legal schedules in docs/algorithms.md is what the compiler says; `--update-golden` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from library_arguments import NAMES, UNDIRECTED, arguments_for, graph_for, prepared

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.frontend import build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.space import Verdict
from vgraph.runtime.policy import facts_of
from vgraph.schedule import AXES, kind_of

PAGE = Path(__file__).parents[1] / "docs" / "algorithms.md"
BEGIN, END = "<!-- legal schedules: made by tests/test_docs_legal.py -->\n", "<!-- end -->\n"
WEIGHT = np.array([1, 2], np.int32)
GRAPHS = [vg.Graph.from_edges([0, 1], [1, 2], directed=d, weight=WEIGHT) for d in (True, False)]


def values(verdicts: list[Verdict]) -> tuple[str, ...]:
    """The legal values, all widths and all limits as one."""
    return tuple(dict.fromkeys(kind_of(v.value) for v in verdicts if v.legal))


def rows(algorithm: vg.AlgorithmDef) -> Iterator[tuple[str, dict[str, tuple[str, ...]]]]:
    """For each label, on directed graphs if there are such, the legal values by axis."""
    seen = set()
    for graph in GRAPHS[algorithm.name in UNDIRECTED :]:
        given = arguments_for(algorithm, graph)
        taken, signature = prepared(algorithm, graph_for(algorithm, graph), given)
        context = Context(facts=facts_of(taken))
        program = space.ready(build_program(algorithm, signature), context)
        for name in space.labels(program):
            if name not in seen:
                label = space.Label(program, name, context)
                verdicts = {name: [label.verdict(name, v) for v in a.candidates] for name, a in AXES.items()}
                yield name, {axis: values(found) for axis, found in verdicts.items()}
                seen.add(name)


def table() -> str:
    """Labels of an algorithm that leave the same choices have one row."""
    found: dict[tuple[str, tuple[tuple[str, ...], ...]], list[str]] = {}
    for name in NAMES:
        for label, legal in rows(getattr(vg.algorithms, name)):
            found.setdefault((name, tuple(legal.values())), []).append(label)
    axes = tuple(AXES)
    most = [max((len(row[i]) for _, row in found), default=0) for i in range(len(axes))]
    free = [i for i in range(len(axes)) if most[i] > 1]
    lines = [["algorithm", "labels", *(axes[i] for i in free)], ["---"] * (2 + len(free))]
    before = ""
    for (name, row), labels in found.items():
        cells = [
            "●" if len(row[i]) == most[i] else ", ".join(row[i]) if len(row[i]) > 1 else "" for i in free
        ]
        lines.append(
            ["" if name == before else f"[`{name}`](#{name})", ", ".join(f"`{x}`" for x in labels), *cells]
        )
        before = name
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def test_the_table_of_legal_schedules(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    head, begun, rest = text.partition(BEGIN)
    written, ended, tail = rest.partition(END)
    assert begun
    assert ended
    if request.config.getoption("--update-golden"):
        PAGE.write_text(head + begun + "\n" + table() + "\n" + ended + tail, encoding="utf-8")
        return
    assert written == "\n" + table() + "\n", (
        "docs/algorithms.md differs: run pytest --update-golden to accept"
    )
