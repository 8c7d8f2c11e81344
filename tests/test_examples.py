"""Every example runs as it stands, is short, and gives what an independent computation gives."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import pytest

import vgraph as vg

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted(file.stem for file in EXAMPLES.glob("*.py"))


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Load an example as a module, working in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


def karate() -> vg.Graph:
    return vg.read(vg.data.path("karate"), directed=False)


def karate_nx() -> nx.Graph:
    return karate().to_networkx()


@pytest.mark.parametrize("name", NAMES)
def test_example_runs(example, name, capsys):
    module = example(name)
    assert inspect.getdoc(module)
    module.main()
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_program_is_short(name):
    """The operators and the algorithm together, without their doc strings and empty lines."""
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    program = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.decorator_list]
    lines = [
        line for f in program for statement in f.body[1:] for line in ast.unparse(statement).splitlines()
    ]
    assert 0 < len(lines) < 40


def test_sssp(example):
    graph = vg.read(vg.data.path("amsterdam"))
    dist = vg.run(example("sssp").sssp, graph, source=56678).dist
    from scipy.sparse.csgraph import dijkstra

    expected = dijkstra(graph.to_scipy("weight"), indices=56678)
    expected[np.isinf(expected)] = np.iinfo(np.int32).max
    np.testing.assert_array_equal(dist, expected)


def test_bfs(example):
    parent = vg.run(example("bfs").bfs, karate(), source=0).parent
    hops = nx.single_source_shortest_path_length(karate_nx(), 0)
    assert parent[0] == 0
    for v in range(1, 34):
        assert karate_nx().has_edge(v, int(parent[v]))
        assert hops[v] == hops[int(parent[v])] + 1


@pytest.mark.parametrize("size", [2, 4, 5])
def test_cliques(example, size):
    expected = np.zeros(34, np.int64)
    for clique in nx.enumerate_all_cliques(karate_nx()):
        if len(clique) == size:
            expected[clique] += 1
    for device in ({"device": "python"}, {"threads": 2}):
        found = vg.run(example("cliques").cliques, karate(), size=size, **device)
        np.testing.assert_array_equal(found.cliques, expected)


def test_pagerank(example):
    graph = vg.Graph.from_edges([0, 0, 1, 2, 3, 4], [1, 2, 2, 0, 2, 3], num_vertices=6)
    result = vg.run(example("pagerank").pagerank, graph, tolerance=1e-13)
    expected = nx.pagerank(graph.to_networkx(), tol=1e-14, max_iter=1000)
    np.testing.assert_allclose(result.rank, [expected[v] for v in range(6)], rtol=1e-9)
    assert 1 < result.rounds <= 200


def test_triangles(example):
    module = example("triangles")
    assert vg.run(module.triangles, karate()).triangles == 45 == sum(nx.triangles(karate_nx()).values()) // 3


def test_k_core(example):
    core = vg.run(example("k_core").k_core, karate()).core
    assert dict(enumerate(core.tolist())) == nx.core_number(karate_nx())


def test_betweenness(example):
    result = vg.run(example("betweenness").betweenness, karate(), sources=list(range(34)))
    expected = nx.betweenness_centrality(karate_nx(), normalized=False)
    np.testing.assert_allclose(
        result.centrality / 2, [expected[v] for v in range(34)], rtol=1e-12, atol=1e-12
    )


def test_numpy_interop(example):
    module = example("numpy_interop")
    height = module.landscape(12, 15)
    down = vg.run(module.basins, module.grid(12, 15), height=height.ravel()).down
    graph, low = nx.grid_2d_graph(12, 15), {}
    for cell in graph:
        way = cell
        while (best := min(graph[way], key=lambda c: height[c])) and height[best] < height[way]:
            way = best
        low[cell] = way[0] * 15 + way[1]
    assert down.tolist() == [low[r, c] for r in range(12) for c in range(15)]


def test_edge_support(example):
    module, g = example("edge_support"), nx.gnp_random_graph(40, 0.2, seed=5)
    edges = [(u, v) if i % 2 else (v, u) for i, (u, v) in enumerate(g.edges)]
    support = vg.run(
        module.edge_support, vg.Graph.from_edges(*zip(*edges, strict=True), directed=False)
    ).support
    assert support.tolist() == [len(list(nx.common_neighbors(g, u, v))) for u, v in edges]
    assert support.sum() == sum(nx.triangles(g).values()) > 0


@pytest.mark.parametrize("seed", range(4))
def test_max_flow(example, seed):
    rng = np.random.default_rng(seed)
    sources, targets, capacity = rng.integers(0, 25, (3, 120))
    graph = vg.Graph.from_edges(sources, targets, num_vertices=25, capacity=capacity)
    result = vg.run(example("max_flow").max_flow, graph, source=0, target=24)
    network = nx.DiGraph()
    network.add_nodes_from(range(25))
    for u, v, c in zip(sources, targets, capacity, strict=True):
        room = network.get_edge_data(u, v, {"capacity": 0})["capacity"]
        network.add_edge(u, v, capacity=room + c)
    value = result.excess[24]
    assert value == nx.maximum_flow_value(network, 0, 24) > 0
    assert ((result.flow >= 0) & (result.flow <= capacity)).all()
    kept = np.bincount(targets, result.flow, 25) - np.bincount(sources, result.flow, 25)
    assert kept[24] == value == -kept[0]
    assert not kept[1:24].any()


def test_partition(example):
    module = example("partition")
    graph = module.mesh(np.random.default_rng(2).random((60, 2)))
    found = vg.partition(graph, 4, "random")
    assert vg.run(module.messages, graph, part=found.parts, threads=1).sent[:4].sum() == found.volume


def test_funk_svd(example):
    rng = np.random.default_rng(2)
    u, i = np.nonzero(rng.random((9, 7)) < 0.6)
    graph = vg.from_ratings(u, i, rng.integers(1, 6, u.size))
    given = {"size": 2, "epochs": 5, "rate": 0.05, "regularization": 0.1, "damping": 2.0}
    schedule = vg.Schedule().at("learn", conflict=vg.SEQUENTIAL)
    result = vg.run(example("funk_svd").funk_svd, graph, schedule=schedule, **given)
    rating, features = graph.edges()[2]["rating"].astype(float), np.zeros((16, 2))
    off = rating - rating.mean()
    of_items = np.bincount(i, off, 7) / (np.bincount(i, minlength=7) + 2)
    of_users = np.bincount(u, off - of_items[i], 9) / (np.bincount(u, minlength=9) + 2)
    np.testing.assert_allclose(result.bias, np.r_[of_users, of_items])
    off -= of_items[i] + of_users[u]
    for f in range(2):
        p, q, trail = np.full(9, 0.1), np.full(7, 0.1), 0.01 * (1 - f)
        for _ in range(5):
            for x, y, r in zip(u, i, off, strict=True):
                error = r - (p[x] * q[y] + trail)
                p[x], q[y] = (
                    p[x] + 0.05 * (error * q[y] - 0.1 * p[x]),
                    q[y] + 0.05 * (error * p[x] - 0.1 * q[y]),
                )
        off -= p[u] * q[i]
        features[:, f] = np.r_[p, q]
    np.testing.assert_allclose(result.features, features, rtol=1e-9)


def test_smoothing(example):
    module = example("smoothing")
    meshes = [module.ring()]
    real = EXAMPLES.parents[1] / "shared" / "data" / "mesh" / "airfoil1.gi.xz"
    if real.is_file():
        meshes.append(module.read(str(real)))
        assert (meshes[1].num_vertices, meshes[1].num_edges) == (4253, 12289)
    for graph in meshes:
        inner = module.inner_vertices(graph)
        assert 0.8 * graph.num_vertices < inner.size < graph.num_vertices
        x, y = (graph.vertex_properties[axis] for axis in ("x", "y"))
        shaken = x + np.isin(np.arange(x.size), inner) * np.random.default_rng(2).normal(0, 0.1, x.size)
        found = vg.run(module.smooth, graph, start_x=shaken, start_y=y, inner=inner)
        border = np.setdiff1d(np.arange(x.size), inner)
        assert (found.x[border] == x[border]).all()
        mean = graph.to_scipy().astype(bool).astype(float)
        for axis in (found.x, found.y):
            middle = (mean @ axis) / graph.out_degree
            np.testing.assert_allclose(axis[inner], middle[inner], atol=1e-3)


def test_particles(example):
    module = example("particles")
    places, reach = np.random.default_rng(3).normal(0, 1, (60, 2)), 0.5
    graph = module.interactions(places, reach)
    given = {"start_x": places[:, 0], "start_y": places[:, 1], "reach": reach, "step": 0.1}
    for how in ({"device": "python"}, {"threads": 2, "relabel": vg.overlap("rcm")}):
        found = vg.run(module.simulate, graph, steps=2, **given, **how)
        at, speed = places.copy(), np.zeros_like(places)
        for _ in range(2):
            apart = at[:, None] - at[None, :]
            near = np.maximum(0, 1 - (apart**2).sum(axis=2) / reach**2)
            speed = 0.98 * speed + 0.1 * (near[:, :, None] * apart).sum(axis=1)
            at = at + 0.1 * speed
        np.testing.assert_allclose(np.stack((found.x, found.y), axis=1), at)
        np.testing.assert_allclose(found.energy, 0.5 * (speed**2).sum())
        assert abs(found.speed_x.sum()) < 1e-12
