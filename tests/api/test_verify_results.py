"""`vg.verify`: right results pass, and a result that was changed at one vertex is found out."""

from __future__ import annotations

import gc
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from library_arguments import NAMES, arguments_for, graph_for

import vgraph as vg
from vgraph.language.decorators import AlgorithmDef
from vgraph.verifiers import VERIFIERS

SHAPES = {"random": (40, 90), "sparse": (60, 40), "dense": (20, 150), "no edges": (5, 0), "empty": (0, 0)}


def graph_of(shape: str, directed: bool, dtype: str = "int32") -> vg.Graph:
    n, m = SHAPES[shape]
    rng = np.random.default_rng(n)
    ends = rng.integers(0, max(n, 1), (2, m))
    weight = rng.integers(1, 20, m).astype(dtype) / (
        1 if dtype.startswith("int") else np.dtype(dtype).type(7)
    )
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, weight=weight)


def made(name: str, graph: vg.Graph, **more: Any) -> tuple[vg.Graph, Any]:
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, graph)
    return graph, vg.run(algorithm, graph, **{**arguments_for(algorithm, graph), **more})


def test_every_algorithm_has_a_verifier() -> None:
    known = {name for name, value in vars(vg.algorithms).items() if isinstance(value, AlgorithmDef)}
    assert set(VERIFIERS) == known == set(vg.algorithms.__all__)


@pytest.mark.covering
@pytest.mark.parametrize("dtype", ["int32", "float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_right_results_pass(name: str, directed: bool, dtype: str) -> None:
    for shape in SHAPES:
        graph = graph_of(shape, directed, dtype)
        if (
            not graph.num_vertices
            and {"source", "sources", "seeds"} & set(getattr(vg.algorithms, name).signature.parameters)
            and name not in ("betweenness", "edge_betweenness", "weighted_betweenness")
        ):
            continue  # there is no vertex to start at
        graph, result = made(name, graph)
        assert vg.verify(result) is None
        vg.verify(result, graph)


def changed(values: np.ndarray, at: int) -> np.ndarray:
    """Another plausible value at one element."""
    other = values.copy()
    if values.dtype.kind == "b":
        other[at] = not other[at]
    elif values.dtype.kind == "f":
        other[at] = 0.5 if np.isinf(other[at]) else other[at] * 1.01 + 0.01
    elif other[at] in (np.iinfo(values.dtype).max, np.iinfo(values.dtype).min):
        other[at] = 7
    else:
        other[at] += 1
    return other


@pytest.mark.covering
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_change_at_one_vertex_is_found(name: str, directed: bool) -> None:
    graph, result = made(name, graph_of("random", directed))
    for field in result.names:
        right = getattr(result, field)
        if np.ndim(right) != 1:
            continue  # test_verify_wrong.py has these
        for at in (0, right.size // 2, right.size - 1):
            result._values[field] = changed(right, at)
            with pytest.raises(vg.VerificationError, match=r"^(vertex|edge|pair|degree) \d+[:,] "):
                vg.verify(result, graph)
        result._values[field] = right
    vg.verify(result, graph)


def test_the_message_names_the_vertex() -> None:
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[1, 1, 1])
    result = vg.run(vg.algorithms.sssp, graph, source=0)
    result._values["dist"] = np.array([0, 1, 3, 4], result.dist.dtype)
    with pytest.raises(
        vg.VerificationError, match="vertex 2: at distance 3, but there is a shorter way through 1"
    ):
        vg.verify(result)
    result._values["dist"] = np.array([0, 1, 2, 2], result.dist.dtype)
    with pytest.raises(vg.VerificationError, match="vertex 3: at distance 2, but no path is so short"):
        vg.verify(result)


def test_distances_that_hold_each_other_up_are_found() -> None:
    """A cycle of weight 0 that nothing leads to."""
    graph = vg.Graph.from_edges([0, 1, 2], [0, 2, 1], weight=[0, 0, 0])
    result = vg.run(vg.algorithms.sssp, graph, source=0)
    result._values["dist"] = np.zeros(3, result.dist.dtype)
    with pytest.raises(vg.VerificationError, match="vertex 1"):
        vg.verify(result)


def test_ranks_of_few_rounds_pass_and_false_ones_do_not() -> None:
    graph = graph_of("random", True)
    for rounds in (0, 1, 3):
        vg.verify(vg.run(vg.algorithms.pagerank, graph, max_rounds=rounds))
    result = vg.run(vg.algorithms.pagerank, graph)
    result._values["rank"] = np.full(40, 1 / 40)
    with pytest.raises(vg.VerificationError, match="should be"):
        vg.verify(result)


def test_parameters_of_the_run_count() -> None:
    graph = graph_of("random", False)
    vg.verify(vg.run(vg.algorithms.multi_source_bfs, graph, sources=[3, 5], max_depth=1))
    for algorithm in (vg.algorithms.betweenness, vg.algorithms.weighted_betweenness):
        vg.verify(vg.run(algorithm, graph, sources=[3, 5], endpoints=True, normalized=False))
        vg.verify(vg.run(algorithm, graph, samples=7, seed=3, targets=[1, 4, 5], endpoints=True))
    vg.verify(vg.run(vg.algorithms.edge_betweenness, graph, sources=[3, 5, 5], normalized=False))
    vg.verify(vg.run(vg.algorithms.closeness, graph, wf_improved=False))
    vg.verify(vg.run(vg.algorithms.harmonic_centrality, graph, normalized=True))
    vg.verify(vg.run(vg.algorithms.spmv, graph, x=np.arange(40.0), transposed=vg.bool_))
    vg.verify(vg.run(vg.algorithms.pagerank, graph, personalization=np.arange(40.0), dtype=vg.float32))
    vg.verify(vg.run(vg.algorithms.path_counts, graph, source=2, dtype=vg.uint32))
    vg.verify(vg.run(vg.algorithms.katz, graph, alpha=0.01, normalized=False))


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("pagerank", {}),
        ("katz", {"betas": np.linspace(1, 2, 40), "alpha": 0.001}),
        ("katz", {"betas": np.linspace(1, 2, 40), "alpha": 0.001, "normalized": False}),
        ("eigenvector", {"start": np.linspace(1, 2, 40), "max_rounds": 1000}),
        ("hits", {"start": np.linspace(1, 2, 40)}),
        ("betweenness", {"targets": [1, 7, 30], "samples": 20}),
        ("weighted_betweenness", {"targets": [1, 7, 30], "samples": 20}),
    ],
)
def test_weights_starts_and_targets_count(name: str, more: dict[str, Any]) -> None:
    """Right with what the run was given, wrong without."""
    algorithm, graph = getattr(vg.algorithms, name), graph_of("random", False)
    if "betweenness" not in name:
        more = {**more, "weight": "weight"}
    result = vg.run(algorithm, graph, **more)
    vg.verify(result)
    right = result._values.copy()
    plain = vg.run(algorithm, graph, **{k: v for k, v in more.items() if k in ("alpha", "max_rounds")})
    for field in result.names:
        result._values[field] = plain._values[field]
        with pytest.raises(vg.VerificationError, match="vertex"):
            vg.verify(result)
        result._values[field] = right[field]


def test_what_cannot_be_verified_is_said() -> None:
    @vg.algorithm
    def nothing(graph):
        x = graph.vertex_property(vg.int32)
        x[0] = 1
        return x

    graph = graph_of("random", False)
    with pytest.raises(vg.ParameterError, match="no verifier"):
        vg.verify(vg.run(nothing, graph))
    result = vg.run(vg.algorithms.bfs, graph, source=0)
    level = result.level
    result._values["level"] = SimpleNamespace(__cuda_array_interface__={})
    with pytest.raises(vg.ParameterError, match="on the GPU"):
        vg.verify(result)
    result._values["level"] = level
    again = pickle.loads(pickle.dumps(result))
    with pytest.raises(vg.ParameterError, match="is gone"):
        vg.verify(again)
    del graph
    gc.collect()
    with pytest.raises(vg.ParameterError, match="is gone"):
        vg.verify(result)
