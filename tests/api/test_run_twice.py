"""Equal calls of `vg.run` give equal schedules, and compile once, whatever runs before left with the graph."""

from __future__ import annotations

import numpy as np
import pytest
from library_arguments import NAMES, arguments_for, graph_for

import vgraph as vg
from vgraph import compiler
from vgraph.config import scope
from vgraph.runtime import policy
from vgraph.runtime.devices import compiled


@pytest.fixture
def quick():
    """Machine code that is not optimised: it is used twice."""
    compiled._loaded.clear()
    with scope(no_cache=True, opt=0):
        yield
    compiled._loaded.clear()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", NAMES)
def test_an_equal_call_compiles_nothing(name, monkeypatch):
    algorithm = getattr(vg.algorithms, name)
    rng = np.random.default_rng(3)
    ends, weight = rng.integers(0, 24, (2, 90)), rng.integers(1, 9, 90).astype(np.int32)
    graph = graph_for(algorithm, vg.Graph.from_edges(*ends, num_vertices=24, weight=weight))

    def facts():
        with monkeypatch.context() as patch:
            patch.setattr(policy, "LARGE", 1)  # as of a large graph, of which there are more
            return policy.facts_of(graph)

    def run(threads):
        return vg.run(algorithm, graph, threads=threads, **arguments_for(algorithm, graph)).schedule

    known = facts()
    first = [run(1), run(2)]
    monkeypatch.setattr(compiler, "build", lambda *_, **__: pytest.fail("compiled again"))
    assert [run(1), run(2)] == first
    assert graph.in_ is not None  # nor after the user has asked for the transpose
    assert [run(1), run(2)] == first
    assert facts() == known
