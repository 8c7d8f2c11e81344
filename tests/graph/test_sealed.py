"""Graphs that nobody can change, and calls that cannot make one."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vgraph as vg
from vgraph.errors import GraphError
from vgraph.graph import Graph, arrays, build
from vgraph.graph.arrays import memory_of
from vgraph.graph.build import EdgeList
from vgraph.graph.extend import with_edges
from vgraph.graph.layouts import on_host
from vgraph.graph.orient import oriented
from vgraph.graph.weights import weighing


def example() -> Graph:
    return Graph.from_edges(
        [0, 1, 2, 0],
        [1, 2, 0, 2],
        weight=[1.5, 2, 3, 4],
        vector=[[1, 2]] * 4,
        vertex_properties={"x": [1, 2, 3], "flag": [True, False, True]},
    )


def arrays_of(graph: Graph) -> Iterator[NDArray[Any]]:
    """Every array that a graph shows."""
    for side in (graph.out, graph.in_):
        yield from (side.row_offsets, side.column_indices)
        if side.edge_ids is not None:
            yield side.edge_ids
    yield from graph.edge_properties.values()
    yield from graph.vertex_properties.values()
    yield from (graph.in_property(name) for name in graph.edge_properties)
    yield from (graph.out_degree, graph.in_degree)
    made = graph.relabelled()
    yield from (made.old_of_new, made.new_of_old)


@pytest.mark.parametrize(
    "make",
    [
        example,
        lambda: pickle.loads(pickle.dumps(example())),
        lambda: copy.deepcopy(example()),
        lambda: example().relabelled().graph,
        lambda: example().with_edge_property("y", [1, 2, 3, 4]).with_vertex_property("z", [0, 0, 0]),
        lambda: Graph.from_csr([0, 1, 2], [1, 0], directed=False, weight=[5, 5]),
        lambda: Graph.from_csr([0, 2, 2], [1, 0], weight=[5, 6]),
        lambda: Graph.from_edges([], [], weight=[], vector=np.zeros((0, 2))),
        lambda: Graph.from_edges([1], [0], id_bits=64, directed=False, multi_edges="sum", weight=[1]),
    ],
)
def test_nobody_can_write_to_a_graph(make: Callable[[], Graph]) -> None:
    for array in arrays_of(make()):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
            array.flags.writeable = True
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
            array.setflags(write=True)
        assert not isinstance(array.base, np.ndarray)  # which could be made writable itself


def test_arrays_with_steps() -> None:
    """Of every second element, or from the end: what the graph holds lies one behind the other."""
    offsets, columns = np.array([2, 9, 1, 9, 0])[::-2], np.array([9, 1, 9, 0], np.uint32)[1::2]
    weight, x = np.array([6, 5], np.int32)[::-1], np.array([[1, 2], [3, 4]])[:, ::-1]
    graph = Graph.from_csr(offsets, columns, weight=weight, vertex_properties={"x": x})
    assert graph.out.column_indices.tolist() == [1, 0]
    assert graph.edge_properties["weight"].tolist() == [5, 6]
    assert graph.vertex_properties["x"].tolist() == [[2, 1], [4, 3]]
    assert all(array.flags.c_contiguous for array in arrays_of(graph))


def test_what_is_sealed_stays_the_same_memory() -> None:
    graph = example()
    more = graph.with_vertex_property("y", [1, 2, 3])
    assert memory_of(more.edge_properties["weight"]) is memory_of(graph.edge_properties["weight"])
    undirected = Graph.from_edges([0], [1], directed=False, w=[1])
    assert memory_of(undirected.in_property("w")) is memory_of(undirected.edge_properties["w"])
    costs = graph.with_edge_property("cost", [1, 2, 3, 4])
    assert weighing(costs, "cost") is weighing(costs, "cost")
    assert weighing(costs.with_edge_property("cost", [1, 2, 3, 5]), "cost") is not weighing(costs, "cost")


REINTERPRETED: list[Callable[[NDArray[Any]], None]] = [
    lambda array: setattr(array, "dtype", np.uint8),
    lambda array: setattr(array, "shape", (1, *array.shape)),
    lambda array: setattr(array, "strides", (0,) * array.ndim),
]


@pytest.mark.parametrize("change", REINTERPRETED, ids=["dtype", "shape", "strides"])
@pytest.mark.filterwarnings("ignore:Setting the:DeprecationWarning")
def test_nobody_can_reinterpret_a_graph(change: Callable[[NDArray[Any]], None]) -> None:
    """What is done to an array object that was handed out stays with that object."""
    graph = example()
    on_host(graph, "segments.2")
    before = [(a.tolist(), a.dtype, a.shape) for a in arrays_of(graph)]
    for array in [*arrays_of(graph), *graph.edges()[:2], *graph.edges()[2].values()]:
        change(array)
    for array in graph.__reduce__()[1][:2]:
        change(array)
    assert [(a.tolist(), a.dtype, a.shape) for a in arrays_of(graph)] == before
    reached = vg.run(vg.algorithms.sssp, graph, source=0, threads=1)
    assert reached.dist.tolist() == [0, 1.5, 3.5]
    pulled = vg.Schedule().at("relax", direction=vg.PULL)
    assert vg.run(vg.algorithms.sssp, graph, source=0, schedule=pulled).dist.tolist() == [0, 1.5, 3.5]
    assert vg.run(vg.algorithms.bfs, graph, source=0, relabel="degree").level.tolist() == [0, 1, 1]


def test_nobody_can_write_to_what_is_kept_with_a_graph() -> None:
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], directed=False)
    segments = on_host(graph, "segments.2").arrays
    kept = [oriented(graph).rank, with_edges(graph).rank, segments["bounds"], segments["column_indices"]]
    for array in kept:
        assert array is not None
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
            array.flags.writeable = True


@pytest.mark.filterwarnings("ignore:Setting the dtype:DeprecationWarning")  # since NumPy 2.5
def test_what_a_user_reinterpreted_can_be_given_to_a_graph() -> None:
    """As any other array: copied, as it looks."""
    graph = example()
    mine = graph.edge_properties["weight"]
    mine.dtype = np.int64
    assert graph.with_edge_property("bits", mine).edge_properties["bits"].dtype == np.int64
    assert graph.edge_properties["weight"].tolist() == [1.5, 4, 2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([0], [1], num_vertices="2"), "num_vertices must be an integer, got '2'"),
        (lambda: Graph.from_edges([0], [1], num_vertices=2.0), "num_vertices must be an integer"),
        (lambda: Graph.from_edges([0], [1], num_vertices=10**400), "vertices need"),
        (lambda: Graph.from_edges([[0], [1, 2]], [1]), "sources cannot be made an array"),
        (lambda: Graph.from_edges([0], [1], w=[[1], [2, 3]]), "property 'w' cannot be made an array"),
        (
            lambda: Graph.from_edges([0], [1], vertex_properties=[1, 2]),
            "are a dict of arrays by name, got list",
        ),
        (lambda: Graph.from_edges([0], [1], vertex_properties={5: [1, 2]}), "name 5 must be an identifier"),
        (
            lambda: Graph.from_edges([0], [1], **{"\ufb01": [1]}),
            "'\ufb01' would be read as 'fi' by Python: use that name",
        ),
        (lambda: example().with_vertex_property("\u2102", [1, 2, 3]), "would be read as 'C'"),
        (lambda: example().with_edge_property("", [1, 2, 3, 4]), "name '' must be an identifier"),
        (lambda: Graph.from_csr([0, 1], [[0], [1, 2]]), "column_indices cannot be made an array"),
        (lambda: Graph.from_scipy([[1]]), "expected a SciPy sparse matrix"),
        (lambda: Graph.from_networkx([1]), "expected a NetworkX graph, got list"),
        (lambda: Graph.from_pandas([1]), "expected a pandas data frame, got list"),
    ],
)
def test_calls_that_make_no_graph(call: Callable[[], Graph], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        call()


def test_frames_that_make_no_graph() -> None:
    import pandas as pd

    frame = pd.DataFrame([[0, 1, 5, 6]], columns=["source", "target", "w", "w"])
    with pytest.raises(GraphError, match="several columns 'w'"):
        Graph.from_pandas(frame)
    with pytest.raises(GraphError, match="name 7 must be an identifier"):
        Graph.from_pandas(pd.DataFrame({"source": [0], "target": [1], 7: [5]}))
    for name, values in (("source", [5]), ("v_0", [5])):
        graph = Graph.from_edges([0], [1], v=[[1, 2]]).with_edge_property(name, values)
        with pytest.raises(GraphError, match=f"'{name}' would be a column that there is already"):
            graph.to_pandas()
    directed = pd.DataFrame({"source": [0], "target": [1], "directed": [7]})
    assert Graph.from_pandas(directed).edge_properties["directed"].tolist() == [7]


def test_an_edge_property_called_cls() -> None:
    assert Graph.from_edges([0], [1], cls=[5], self=[6]).edge_properties["cls"].tolist() == [5]
    assert Graph.from_csr([0, 1], [0], cls=[5]).edge_properties["cls"].tolist() == [5]


# --- memory -----------------------------------------------------------------------------------------------


def taken(make: Callable[[], Any]) -> int:
    """The bytes that a call needs at its peak."""
    make()  # what is imported on the way does not count
    tracemalloc.start()
    kept = make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return peak


@pytest.mark.covering(2)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("multi", [True, False, "sum"])
@pytest.mark.parametrize("properties", [{}, {"w": [1, 2, 3]}, {"w": [1, 2, 3], "x": [1.5, 2, 3]}])
def test_building_takes_few_bytes_a_vertex(directed: bool, multi: Any, properties: dict[str, Any]) -> None:
    n = 1 << 22
    options: dict[str, Any] = {"directed": directed, "multi_edges": multi, **properties}
    peak = taken(lambda: Graph.from_edges([0, 0, n - 1], [5, 5, 1], **options))
    assert peak < 8 * n < arrays.BYTES_PER_VERTEX * n
    graph = Graph.from_edges([0, 0, n - 1], [5, 5, 1], **options)
    assert (
        directed is False
        or taken(lambda: build.transpose(graph.out.row_offsets, graph.out.column_indices)) < 8 * n
    )


@pytest.mark.covering(2)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("multi", [True, "sum"])
@pytest.mark.parametrize("dtypes", [[], [np.int32], [np.float64], [np.int32, np.float64]])
def test_building_keeps_to_the_bytes_that_are_counted_for_an_edge(
    directed: bool, multi: Any, dtypes: list[Any]
) -> None:
    m, n = 1 << 20, 1 << 10
    ends = np.random.default_rng(0).integers(0, n, (2, m))

    def make() -> Graph:
        columns = {f"p{i}": np.ones(m, dtype) for i, dtype in enumerate(dtypes)}
        edges = EdgeList(build.pack(*ends), columns, n)
        return Graph.from_edge_list(edges, build.BuildOptions(directed, multi_edges=multi), {})

    allowed = build.bytes_per_edge([np.dtype(dtype) for dtype in dtypes], directed=directed)
    assert taken(make) < allowed * m


def test_the_memory_of_a_group_counts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [tmp_path / "max", tmp_path / "limit", tmp_path / "absent"]
    limits[0].write_text("max\n")
    limits[1].write_text("123456789\n")
    monkeypatch.setattr(arrays, "_GROUP_LIMITS", limits)
    assert min(arrays._memory_bounds()) == 123456789
    monkeypatch.setattr(arrays, "memory", lambda: 1600)
    assert arrays.max_vertices() == 100
    with pytest.raises(
        GraphError, match="101 vertices need 0 GB of memory, and this machine holds at most 100"
    ):
        Graph.from_edges([0], [100])
