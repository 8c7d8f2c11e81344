"""NetworkX: serial, plain Python with some SciPy; and the same calls with vgraph as its backend."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import networkx as nx
from graphs import GraphData
from tasks import CONVERGED, SOURCES

from libraries import Call, Peer

nx.config.warnings_to_ignore.add("cache")


class Library(Peer):
    """NetworkX itself. PageRank is SciPy's and stops when it has converged."""

    hears_alarms: ClassVar[bool] = True
    how: ClassVar[dict[str, Any]] = {}

    @cached_property
    def graph(self) -> Any:
        return _filled(nx.Graph(), self.task.data)

    @cached_property
    def arcs(self) -> Any:
        return _filled(nx.DiGraph(), self.task.directed)

    @cached_property
    def acyclic(self) -> Any:
        graph = nx.DiGraph()
        graph.add_nodes_from(range(self.task.data.num_vertices))
        graph.add_weighted_edges_from(zip(*(x.tolist() for x in self.task.acyclic), strict=True))
        return graph

    @cached_property
    def component(self) -> Any:
        """That of the source."""
        graph = self.graph
        return graph.subgraph(nx.node_connected_component(graph, self.task.data.source)).copy()

    def bfs(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nx.single_source_shortest_path_length(graph, source, **self.how)

    def sssp(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nx.single_source_dijkstra_path_length(graph, source, **self.how)

    def sssp_target(self) -> Call:
        graph, source, target = self.graph, self.task.data.source, self.task.target
        return lambda: nx.dijkstra_path_length(graph, source, target, **self.how)

    def a_star(self) -> Call:
        graph, bounds = self.graph, self.task.bounds.tolist()
        ends = self.task.data.source, self.task.target
        return lambda: nx.astar_path(graph, *ends, lambda u, v: bounds[u], **self.how)

    def k_shortest_paths(self) -> Call:
        graph, ends = self.graph, (self.task.data.source, self.task.target)
        return lambda: list(islice(nx.shortest_simple_paths(graph, *ends, "weight", **self.how), 3))

    def bellman_ford(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nx.single_source_bellman_ford_path_length(graph, source, **self.how)

    def multi_source_bfs(self) -> Call:
        graph, sources = self.graph, set(self.task.sources.tolist())
        return lambda: list(nx.bfs_layers(graph, sources, **self.how))

    def topological_order(self) -> Call:
        graph = self.acyclic
        return lambda: list(nx.topological_sort(graph, **self.how))

    def longest_path(self) -> Call:
        graph = self.acyclic
        return lambda: nx.dag_longest_path(graph, **self.how)

    def transitive_reduction(self) -> Call:
        graph = self.acyclic
        return lambda: nx.transitive_reduction(graph, **self.how)

    def pagerank(self) -> Call:
        graph = self.graph
        return lambda: nx.pagerank(graph, weight=None, **self.how)

    def cc(self) -> Call:
        graph = self.graph
        return lambda: list(nx.connected_components(graph, **self.how))

    def strongly_connected_components(self) -> Call:
        graph = self.arcs
        return lambda: list(nx.strongly_connected_components(graph, **self.how))

    def biconnected_components(self) -> Call:
        graph = self.graph
        return lambda: list(nx.biconnected_components(graph, **self.how))

    def triangles(self) -> Call:
        graph = self.graph
        return lambda: nx.triangles(graph, **self.how)

    def betweenness(self) -> Call:
        graph = self.graph
        return lambda: nx.betweenness_centrality(graph, k=SOURCES, seed=1, **self.how)

    def edge_betweenness(self) -> Call:
        graph = self.graph
        return lambda: nx.edge_betweenness_centrality(graph, k=SOURCES, seed=1, **self.how)

    def weighted_betweenness(self) -> Call:
        graph = self.graph
        return lambda: nx.betweenness_centrality(graph, k=SOURCES, seed=1, weight="weight", **self.how)

    def weighted_closeness(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: [nx.closeness_centrality(graph, u=v, distance="weight", **self.how) for v in chosen]

    def closeness(self) -> Call:
        graph = self.graph
        return lambda: nx.closeness_centrality(graph, **self.how)

    def closeness_of_some(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: [nx.closeness_centrality(graph, u, **self.how) for u in chosen]

    def harmonic_centrality(self) -> Call:
        graph = self.graph
        return lambda: nx.harmonic_centrality(graph, **self.how)

    def eccentricity(self) -> Call:
        graph = self.graph
        return lambda: nx.eccentricity(graph, **self.how)

    def diameter(self) -> Call:
        graph = self.component
        return lambda: nx.diameter(graph, usebounds=True)

    def degree_centrality(self) -> Call:
        graph = self.graph
        return lambda: nx.degree_centrality(graph, **self.how)

    def eigenvector(self) -> Call:
        graph = self.graph
        return lambda: nx.eigenvector_centrality(graph, max_iter=1000, tol=CONVERGED, **self.how)

    def katz(self) -> Call:
        graph, alpha = self.graph, self.task.alpha
        return lambda: nx.katz_centrality(graph, alpha, tol=CONVERGED, **self.how)

    def hits(self) -> Call:
        graph = self.arcs
        return lambda: nx.hits(graph, **self.how)

    def kcore(self) -> Call:
        graph = self.graph
        return lambda: nx.core_number(graph, **self.how)

    def k_truss(self) -> Call:
        graph = self.graph
        return lambda: nx.k_truss(graph, 4, **self.how)

    def local_clustering(self) -> Call:
        graph = self.graph
        return lambda: nx.clustering(graph, **self.how)

    def square_clustering(self) -> Call:
        graph = self.graph
        return lambda: nx.square_clustering(graph, **self.how)

    def maximum_clique(self) -> Call:
        graph = self.graph
        return lambda: nx.max_weight_clique(graph, None, **self.how)

    def triad_census(self) -> Call:
        graph = self.arcs
        return lambda: nx.triadic_census(graph, **self.how)

    def rich_club(self) -> Call:
        graph = self.graph
        return lambda: nx.rich_club_coefficient(graph, normalized=False, **self.how)

    def assortativity(self) -> Call:
        graph = self.graph
        return lambda: nx.degree_assortativity_coefficient(graph, **self.how)

    def coloring(self) -> Call:
        graph = self.graph
        return lambda: nx.greedy_color(graph, **self.how)

    def maximal_independent_set(self) -> Call:
        graph = self.graph
        return lambda: nx.maximal_independent_set(graph, seed=1, **self.how)

    def maximal_matching(self) -> Call:
        graph = self.graph
        return lambda: nx.maximal_matching(graph, **self.how)

    def weighted_matching(self) -> Call:
        graph = self.graph
        return lambda: nx.max_weight_matching(graph, **self.how)

    def minimum_spanning_forest(self) -> Call:
        graph = self.graph
        return lambda: list(nx.minimum_spanning_edges(graph, data=False, **self.how))

    def jaccard(self) -> Call:
        graph, pairs = self.graph, list(zip(*(ids.tolist() for ids in self.task.pairs), strict=True))
        return lambda: list(nx.jaccard_coefficient(graph, pairs, **self.how))

    def adamic_adar(self) -> Call:
        graph, pairs = self.graph, list(zip(*(ids.tolist() for ids in self.task.pairs), strict=True))
        return lambda: list(nx.adamic_adar_index(graph, pairs, **self.how))

    def resource_allocation(self) -> Call:
        graph, pairs = self.graph, list(zip(*(ids.tolist() for ids in self.task.pairs), strict=True))
        return lambda: list(nx.resource_allocation_index(graph, pairs, **self.how))

    def label_propagation(self) -> Call:
        graph = self.graph
        return lambda: list(nx.community.asyn_lpa_communities(graph, seed=1, **self.how))

    def louvain(self) -> Call:
        graph = self.graph
        return lambda: list(nx.community.louvain_communities(graph, seed=1, **self.how))

    def modularity(self) -> Call:
        graph, members = self.graph, {}
        for vertex, community in enumerate(self.task.community.tolist()):
            members.setdefault(community, set()).add(vertex)
        communities = list(members.values())
        return lambda: nx.community.modularity(graph, communities, **self.how)


class Cached(Library):
    """With `backend="vgraph"`, where NetworkX has kept the converted graph."""

    how: ClassVar[dict[str, Any]] = {"backend": "vgraph"}

    def diameter(self) -> Call:
        graph = self.component
        return lambda: nx.diameter(graph, **self.how)


class Converted(Cached):
    """The same, but each call converts the graph first."""

    def call(self, algorithm: str) -> Call | None:
        call = super().call(algorithm)

        def converted() -> Any:
            for made in ("graph", "arcs", "component"):
                if made in vars(self):
                    getattr(self, made).__networkx_cache__.clear()
            assert call is not None
            return call()

        return None if call is None else converted


def _filled(graph: Any, data: GraphData) -> Any:
    graph.add_nodes_from(range(data.num_vertices))
    graph.add_weighted_edges_from(zip(*(array.tolist() for array in data.edges()), strict=True))
    return graph
