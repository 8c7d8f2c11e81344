"""`vg.partition`: what every method promises, what is measured of parts, and what is refused."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.partitioning import METHODS, measured, read_parts, write_parts

LIBRARIES = {"metis": "pymetis", "kahip": "kahip"}


def methods():
    """All methods; those of libraries that are not installed are skipped."""
    for name in METHODS:
        library = LIBRARIES.get(name)
        absent = library is not None and importlib.util.find_spec(library) is None
        reason = f"{library} is not installed"
        yield pytest.param(name, marks=pytest.mark.skipif(absent, reason=reason))


def grid(side: int, **options) -> vg.Graph:
    """A square grid."""
    at = np.arange(side * side).reshape(side, side)
    sources = np.r_[at[:, :-1].ravel(), at[:-1].ravel()]
    targets = np.r_[at[:, 1:].ravel(), at[1:].ravel()]
    return vg.Graph.from_edges(sources, targets, directed=False, **options)


ODD = {
    "no vertices": vg.Graph.from_edges([], [], num_vertices=0),
    "no edges": vg.Graph.from_edges([], [], num_vertices=11, directed=False),
    "one vertex": vg.Graph.from_edges([0], [0]),
    "loops": vg.Graph.from_edges(range(9), range(9), directed=False),
    "parallel": vg.Graph.from_edges([0, 0, 0, 1, 2, 3, 3], [1, 1, 1, 2, 3, 2, 4], directed=False),
    "directed": vg.Graph.from_edges([0, 1, 2, 3, 3, 4], [1, 0, 3, 4, 3, 2]),
    "pieces": vg.Graph.from_edges([0, 2, 4, 6], [1, 3, 5, 7], num_vertices=12, directed=False),
    "star": vg.Graph.from_edges([0] * 40, range(1, 41), directed=False),
}


@pytest.mark.parametrize("method", list(methods()))
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_get_parts(method, name):
    graph = ODD[name]
    sources, targets, _ = graph.edges()
    for k in (1, 2, 5, 50):
        found = vg.partition(graph, k, method=method, threads=1)
        assert found.parts.dtype == np.int32
        assert found.parts.shape == (graph.num_vertices,)
        assert ((found.parts >= 0) & (found.parts < k)).all()
        assert found.cut == np.count_nonzero(found.parts[sources] != found.parts[targets])


@pytest.mark.parametrize("directed", [False, True])
def test_figures_are_those_of_a_recount(directed):
    rng = np.random.default_rng(5)
    sources, targets, weight = rng.integers(0, 30, 90), rng.integers(0, 30, 90), rng.integers(1, 9, 90)
    graph = vg.Graph.from_edges(sources, targets, directed=directed, num_vertices=31, weight=weight)
    load = rng.integers(1, 5, 31)
    found = vg.partition(graph, 4, method="hash", vertex_weight=load, edge_weight="weight")
    parts = found.parts
    assert found.cut == weight[parts[sources] != parts[targets]].sum()
    ends = zip(np.r_[sources, targets], np.r_[targets, sources], strict=True)
    told = {(a, parts[b]) for a, b in ends if parts[a] != parts[b]}
    assert found.volume == len(told)
    assert found.boundary.tolist() == sorted({a for a, _ in told})
    assert found.weights.tolist() == [load[parts == p].sum() for p in range(4)]
    assert found.balance == pytest.approx(max(found.weights) * 4 / load.sum())
    assert found.balance.vertices == pytest.approx(np.bincount(parts, minlength=4).max() * 4 / 31)
    assert found.balance.arcs == pytest.approx(
        np.bincount(parts, graph.out_degree, 4).max() * 4 / graph.num_arcs
    )


def test_blocks_are_even_and_in_order():
    found = vg.partition(grid(10), 4, method="blocks")
    assert found.parts.tolist() == [p for p in range(4) for _ in range(25)]
    assert found.balance == 1
    assert found.cut == 3 * 10 + 2  # two of the three borders are within a row


def test_skewed_graphs_are_balanced_in_arcs():
    hubs = np.repeat(np.arange(4), 300)
    graph = vg.Graph.from_edges(hubs, np.arange(4, 1204), directed=False)
    assert vg.partition(graph, 2, method="blocks").balance.arcs < 1.02
    unit = vg.partition(graph, 2, method="blocks", vertex_weight=np.ones(1204, int))
    assert unit.balance.vertices == 1
    assert unit.balance.arcs > 1.4


def test_what_whole_vertices_need_is_allowed():
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    assert vg.partition(graph, 3, method="blocks").limit == 2
    heavy = vg.partition(graph, 2, method="blocks", vertex_weight=[10, 1, 1, 1])
    assert heavy.limit == 10
    assert vg.partition(grid(20), 4, method="blocks").limit == 103


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 2.5}, "k=2.5"),
        ({"method": "best"}, "the methods are"),
        ({"method": ["blocks"]}, "the methods are"),
        ({"imbalance": 0.9}, "imbalance=0.9"),
        ({"seed": -1}, "seed=-1"),
        ({"vertex_weight": [0, 1, 1, 1]}, "the weight 0 is below 1"),
        ({"vertex_weight": [1.5, 1, 1, 1]}, "weights are integers"),
        ({"vertex_weight": [1, 1]}, "needs 4 numbers"),
        ({"vertex_weight": [2**52] * 4}, "not below 2"),
        ({"vertex_weight": "size"}, "no such vertex property"),
        ({"edge_weight": "length"}, "no such edge property"),
        ({"edge_weight": "minus"}, "the weight -1 is below 1"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, minus=[1, -1, 1])
    with pytest.raises(vg.ParameterError, match=message):
        vg.partition(graph, **{"k": 2, "method": "blocks", **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_weight": [1, 2, 3, 4, 5, 6]}, "an undirected edge has one value"),
        ({"vertex_weight": [[1], [1, 2]]}, "vertex_weight cannot be made an array"),
    ],
)
def test_weights_that_no_graph_has_are_refused(arguments, message):
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    with pytest.raises(vg.GraphError, match=message):
        vg.partition(graph, 2, **arguments)
    with pytest.raises(vg.GraphError, match=message):
        measured(graph, [0, 0, 1, 1], **arguments)


def test_wrong_parts_are_refused():
    with pytest.raises(vg.GraphError, match="parts cannot be made an array"):
        measured(grid(2), [[0], [1, 2]])
    with pytest.raises(vg.ParameterError, match="k='2'"):
        measured(grid(2), [0, 0, 1, 1], "2")
    with pytest.raises(vg.ParameterError, match=r"not a vg\.Graph"):
        measured(None, [0])


@pytest.mark.parametrize("method", list(methods()))
def test_any_imbalance_is_taken(method):
    found = vg.partition(grid(3), 2, method=method, imbalance=1e300)
    assert found.limit == 9
    assert set(found.parts.tolist()) <= {0, 1}


def test_blocks_of_weights_that_doubles_round():
    heavy = np.ones(9, int)
    heavy[-1] = 2**53 - 100
    for seed in range(20):
        found = vg.partition(grid(3), 5, "random", seed=seed, vertex_weight=heavy)
        assert found.parts.max() < 5


@pytest.mark.parametrize("given", ["vertex_weight", "edge_weight"])
def test_kahip_refuses_weights_beyond_32_bits(given):
    pytest.importorskip("kahip")
    weights = np.full(9 if given == "vertex_weight" else 24, 2**40)
    with pytest.raises(vg.ParameterError, match="below 2"):
        vg.partition(grid(3), 2, "kahip", **{given: weights})


def test_metis_is_not_asked_for_parts_that_stay_empty(capfd):
    pytest.importorskip("pymetis")
    for k in (25, 40):
        found = vg.partition(grid(5), k, method="metis")
        assert found.sizes.max() == found.limit == 1
    assert capfd.readouterr().out == ""


def test_files_of_parts(tmp_path):
    file = tmp_path / "grid.graph.part.3"
    parts = vg.partition(grid(5), 3, method="random").parts
    write_parts(parts, file)
    assert read_parts(file, 25).tolist() == parts.tolist()
    with pytest.raises(vg.GraphFormatError, match="has 25 lines, and the graph has 24"):
        read_parts(file, 24)
    file.write_text("0\n1\n-1\n")
    with pytest.raises(vg.GraphFormatError, match=":3: '-1'"):
        read_parts(file, 3)
    with pytest.raises(vg.GraphError, match="cannot be read: No such file"):
        read_parts(tmp_path / "none", 3)
    with pytest.raises(vg.GraphError, match="cannot be written: No such file"):
        write_parts(parts, tmp_path / "none" / "parts")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_missing_library_is_named(library, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, LIBRARIES[library], None)
    with pytest.raises(vg.VGraphError, match=rf"vgraph\[{library}\]"):
        vg.partition(grid(3), 2, method=library)


def test_a_picture(tmp_path):
    side = np.arange(36)
    graph = grid(6, vertex_properties={"x": side % 6, "y": side // 6})
    vg.partition(graph, 3, method="blocks").plot(tmp_path / "parts.png")
    assert (tmp_path / "parts.png").stat().st_size > 0


def test_a_partition_that_was_looked_at_can_be_copied() -> None:
    found = vg.partition(vg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), 2, method="blocks")
    again = pickle.loads(pickle.dumps(found.balance))
    assert (again, again.vertices, again.arcs) == (found.balance, found.balance.vertices, found.balance.arcs)
    assert pickle.loads(pickle.dumps(found)).parts.tolist() == found.parts.tolist()


def test_a_part_of_many_digits(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("9" * 5000 + "\n")
    with pytest.raises(vg.GraphFormatError, match="no number of a part"):
        read_parts(tmp_path / "parts", 1)


def test_nobody_changes_parts():
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    for made in (
        vg.partition(graph, 2, "blocks"),
        measured(graph, np.zeros(4, int)),
        vg.edge_partition(graph, 2),
    ):
        for found in (made, pickle.loads(pickle.dumps(made))):
            with pytest.raises(ValueError, match="read-only"):
                found.parts[0] = 1
            with pytest.raises(ValueError, match="WRITEABLE"):
                found.parts.flags.writeable = True
            assert found.parts.tolist() == made.parts.tolist()
    with pytest.raises(ValueError, match="read-only"):
        vg.edge_partition(graph, 2).order[0] = 1  # it is kept
