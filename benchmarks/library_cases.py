"""What `library.py` measures besides the cases of `cpu.py`: an entry for every algorithm that some peer has.

A new algorithm is an entry of `LIBRARY`, and a method in the files of `libraries/` that have it. Its arguments come
from the task, so that all sides get the same; its result is checked by `vg.verify`, or by a function given here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from cases import CASES, Case, Instance, WrongResultError, check_components
from tasks import CLIQUE, CONVERGED, RESIDUAL

import vgraph as vg

SAMPLE = 32  # vertices from which closenesses, eccentricity and diameter are checked
Arguments = Callable[[Instance], dict[str, Any]]


def check_hops(instance: Instance, result: Any) -> None:
    """Closeness, harmonic centrality or eccentricity of some vertices, and the diameter's bound by them."""
    from scipy.sparse.csgraph import dijkstra

    n = instance.data.num_vertices
    chosen = np.unique(np.r_[instance.data.source, np.random.default_rng(1).integers(0, n, SAMPLE)])
    if "end" in result.names:
        chosen = chosen[np.isfinite(instance.levels[chosen])]
        chosen = np.r_[result.end, chosen]
    hops = dijkstra(instance.matrix, indices=chosen, unweighted=True)
    reached = np.isfinite(hops)
    farthest, total = np.where(reached, hops, 0).max(axis=1), np.where(reached, hops, 0).sum(axis=1)
    others = reached.sum(axis=1) - 1
    if result.algorithm == "harmonic_centrality":
        near = np.divide(1.0, hops, out=np.zeros(hops.shape), where=hops > 0)
        right = np.allclose(result.centrality[chosen], near.sum(axis=1))
    elif "centrality" in result.names:
        mean = np.divide(others, total, out=np.zeros(chosen.size), where=total > 0)
        right = np.allclose(result.centrality[chosen], mean * others / (n - 1))
    elif "end" in result.names:
        right = (
            result.lower == farthest[0] and farthest.max() <= result.upper
        )  # equal, if that took few searches
    else:
        right = np.array_equal(result.eccentricity[chosen], farthest)
    if not right:
        raise WrongResultError(f"{result.algorithm}: not what searches from some vertices give")


def check_some(instance: Instance, result: Any) -> None:
    """Closeness of some vertices by SciPy."""
    from scipy.sparse.csgraph import dijkstra

    chosen = np.asarray(instance.task.few)
    hops = dijkstra(instance.matrix, indices=chosen, unweighted=True)
    total, others = np.where(np.isfinite(hops), hops, 0).sum(axis=1), np.isfinite(hops).sum(axis=1) - 1
    mean = np.divide(others, total, out=np.zeros(chosen.size), where=total > 0)
    if not np.allclose(result.centrality[chosen], mean * others / (instance.data.num_vertices - 1)):
        raise WrongResultError("closeness: not what searches from these vertices give")


def check_clustering(instance: Instance, result: Any) -> None:
    """All triangles together, by SciPy."""
    degree = np.diff(instance.data.row_offsets)
    corners = float((result.lcc * degree * (degree - 1)).sum()) / 2
    if not np.isclose(corners, 3 * instance.triangles):
        raise WrongResultError(f"local clustering: {corners} corners of {instance.triangles} triangles")


def of(
    name: str,
    arguments: Arguments | None = None,
    *,
    called: str = "",
    peers: str | None = None,
    check: Callable[[Instance, Any], None] | None = None,
    graph: Callable[[Instance], vg.Graph] = lambda instance: instance.graph,
    fresh: bool = False,
    note: str = "",
) -> Case:
    """The case of a library algorithm, and its name if there are several; `peers` is what it is called there."""

    def run(instance: Instance, threads: int) -> Any:
        given = {} if arguments is None else arguments(instance)
        algorithm = getattr(vg.algorithms, name)  # which an earlier vgraph need not have
        return vg.run(algorithm, graph(instance), **given, threads=threads)

    def verify(instance: Instance, result: Any) -> None:
        vg.verify(result, graph(instance))

    case = called or name
    return Case(case, peers or case, run, check or verify, fresh=fresh, note=note)


def by(
    name: str, call: Callable[[Instance, int], Any], check: Callable[[Instance, Any], bool], note: str
) -> Case:
    """The case of a function of the library, which runs several programs: they are compiled when it is checked."""

    def run(instance: Instance, threads: int) -> Any:
        return SimpleNamespace(value=call(instance, threads), stats=SimpleNamespace(compile_seconds=0.0))

    def right(instance: Instance, result: Any) -> None:
        if not check(instance, result.value):
            raise WrongResultError(f"{name}: not what SciPy finds")

    return Case(name, name, run, right, note=note)


def _first_block(weighted: bool) -> Case:
    def check(instance: Instance, block: Any) -> bool:
        from scipy.sparse.csgraph import dijkstra

        far, some = block.distances[:3], block.sources[:3]
        far = np.where((far < 0) | (far == _largest(far)), np.inf, far)
        return bool(np.allclose(far, dijkstra(instance.matrix, indices=some, unweighted=not weighted)))

    return by(
        "all_pairs_lengths" if weighted else "all_pairs_hops",
        lambda i, threads: next(
            vg.algorithms.all_pairs_shortest_paths(i.graph, weighted=weighted, threads=threads)
        ),
        check,
        "from the first 64 vertices",
    )


def _largest(values: Any) -> Any:
    return np.iinfo(values.dtype).max if values.dtype.kind == "i" else np.inf


def _k_paths(instance: Instance, threads: int) -> Any:
    ends = instance.data.source, instance.task.target
    return vg.algorithms.k_shortest_paths(instance.graph, *ends, 3, "weight", threads=threads)


def check_shortest(instance: Instance, paths: Any) -> bool:
    """The first of them by SciPy."""
    from scipy.sparse.csgraph import dijkstra

    far = dijkstra(instance.matrix, indices=instance.data.source)[instance.task.target]
    return bool(np.isinf(far) if not paths else np.isclose(paths[0].length, far))


def _source(instance: Instance) -> dict[str, Any]:
    return {"source": instance.data.source}


def _ends(instance: Instance) -> dict[str, Any]:
    return {"source": instance.data.source, "target": instance.task.target, "weight": "weight"}


def _few(instance: Instance) -> dict[str, Any]:
    return {"sources": instance.task.few, "normalized": False}


def _pairs(instance: Instance) -> dict[str, Any]:
    left, right = instance.task.pairs
    return {"left": left, "right": right}


LIBRARY = (
    *CASES,
    of(
        "multi_source_bfs",
        lambda i: {"sources": i.task.sources.tolist()},
        note="SciPy's is Dijkstra's algorithm; NetworkX gives layers",
    ),
    of("path_counts", _source, note="NetworKit keeps the predecessors too"),
    of("bellman_ford", _source, note="python-graphblas runs the program of sssp"),
    of(
        "sssp",
        lambda i: {"source": i.data.source, "targets": [i.task.target]},
        called="sssp_target",
        note="the distance of one vertex",
    ),
    of(
        "a_star",
        lambda i: {**_ends(i), "heuristic": i.task.bounds},
        note="bounds by 4 landmarks; igraph and NetworkX call a Python function for each",
    ),
    of(
        "longest_path",
        lambda i: {"weight": "weight"},
        graph=lambda i: i.acyclic,
        note="arcs lead to larger ids",
    ),
    of("topological_order", graph=lambda i: i.acyclic, note="arcs lead to larger ids"),
    of("transitive_reduction", graph=lambda i: i.acyclic, note="arcs lead to larger ids"),
    by("k_shortest_paths", _k_paths, check_shortest, "the first 3"),
    _first_block(False),
    _first_block(True),
    of("widest_path", _source),
    of("closeness", check=check_hops, note="igraph's are not scaled by the part that is reached"),
    of(
        "closeness",
        lambda i: {"vertices": i.task.few},
        called="closeness_of_some",
        check=check_some,
        note="of 4 vertices",
    ),
    of("harmonic_centrality", check=check_hops),
    of("edge_betweenness", _few, note="4 sources"),
    of("weighted_betweenness", _few, note="4 sources"),
    of(
        "weighted_closeness",
        lambda i: {"vertices": i.task.few, "wf_improved": False},
        note="of 4 vertices",
    ),
    of("eccentricity", check=check_hops, note="NetworkX refuses graphs that are not connected"),
    of(
        "diameter",
        _source,
        check=check_hops,
        note="of the largest component, igraph's of all pairs",
    ),
    of("label_components", peers="cc", check=check_components, note="beside the components of the others"),
    of("strongly_connected_components", graph=lambda i: i.arcs),
    of("biconnected_components"),
    of("degree_centrality", note="igraph gives degrees"),
    of("eigenvector", lambda i: {"tolerance": CONVERGED, "max_rounds": 1000}, note="igraph's is ARPACK's"),
    of("katz", lambda i: {"alpha": i.task.alpha, "tolerance": CONVERGED}, note="NetworKit ends by bounds"),
    of(
        "hits",
        graph=lambda i: i.arcs,
        note="NetworkX and igraph use ARPACK, igraph once for each of two scores",
    ),
    of("k_truss", fresh=True, note="NetworkX: the 4-truss alone"),
    of("local_clustering", check=check_clustering, fresh=True),
    of("square_clustering", fresh=True),
    of("triad_census", graph=lambda i: i.arcs, note="undirected files have edges both ways"),
    of("motif_census", fresh=True),
    of("clique_count", lambda i: {"size": CLIQUE}, fresh=True, note="of 4 vertices; igraph lists them"),
    of("maximum_clique", fresh=True),
    of("rich_club"),
    of("assortativity", note="by degree"),
    of("coloring", note="numbers of colors differ"),
    of("maximal_independent_set", note="sets differ"),
    of("maximal_matching", note="NetworKit's is of large weight, by growing paths"),
    of(
        "bipartite_matching",
        graph=lambda i: i.two_sides,
        note="of as many edges as can be, of a graph of two sides: arcs from copies of vertices to others",
    ),
    of("weighted_matching", note="as locally heaviest edges; NetworkX's is the heaviest of all"),
    of("minimum_spanning_forest"),
    of("jaccard", _pairs, fresh=True, note="100,000 pairs"),
    of("adamic_adar", _pairs, fresh=True, note="100,000 pairs"),
    of("sorensen", _pairs, fresh=True, note="100,000 pairs"),
    of("cosine", _pairs, fresh=True, note="100,000 pairs"),
    of("resource_allocation", _pairs, fresh=True, note="100,000 pairs"),
    of("most_similar", fresh=True, note="SciPy: common neighbors of all pairs alone"),
    of(
        "node2vec_walks",
        note="80 steps from each vertex, p = q = 1; igraph's are of the first order, one by one",
    ),
    of(
        "label_propagation",
        note="vgraph: 10 rounds, all at once, as LDBC has it; the others one after another until stable",
    ),
    of("leiden", note="igraph's ends after 2 iterations; partitions differ"),
    of("louvain", note="partitions differ; modularity within 2 percent"),
    of("modularity", lambda i: {"community": i.task.community}, note="64 ranges of ids"),
    of("spmm", lambda i: {"dense": i.task.dense}, note="16 columns"),
    of("spmv", lambda i: {"x": i.task.vector}),
    of(
        "conjugate_gradient",
        lambda i: {"b": i.task.vector, "tolerance": RESIDUAL},
        graph=lambda i: i.definite,
        note="the Laplacian and the identity",
    ),
)
"""Every case, a few lines each."""
