"""igraph: C behind Python, serial."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import igraph as ig
import numpy as np
from tasks import CLIQUE, DAMPING

from libraries import Call, Peer


class Library(Peer):
    """python-igraph. PageRank stops when it has converged."""

    @cached_property
    def graph(self) -> Any:
        data = self.task.data
        sources, targets, weight = data.edges()
        once = sources < targets
        edges = np.stack((sources[once], targets[once]), axis=1)
        graph = ig.Graph(n=data.num_vertices, edges=edges, directed=False)
        graph.es["weight"] = weight[once].tolist()
        return graph

    @cached_property
    def arcs(self) -> Any:
        data = self.task.directed
        edges = np.stack(data.edges()[:2], axis=1)
        return ig.Graph(n=data.num_vertices, edges=edges, directed=True)

    def topological_order(self) -> Call:
        edges = np.stack(self.task.acyclic[:2], axis=1)
        graph = ig.Graph(n=self.task.data.num_vertices, edges=edges, directed=True)
        return lambda: graph.topological_sorting()

    def bipartite_matching(self) -> Call:
        n, (sources, targets, _) = self.task.data.num_vertices, self.task.acyclic
        graph = ig.Graph(n=2 * n, edges=np.stack((sources, n + targets), axis=1))
        types = [False] * n + [True] * n
        return lambda: graph.maximum_bipartite_matching(types)

    def bfs(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: graph.distances(source=source)

    def sssp(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: graph.distances(source=source, weights="weight")

    def sssp_target(self) -> Call:
        graph, source, target = self.graph, self.task.data.source, self.task.target
        return lambda: graph.distances(source=source, target=target, weights="weight")

    def a_star(self) -> Call:
        graph, bounds = self.graph, self.task.bounds.tolist()
        ends = self.task.data.source, self.task.target
        return lambda: graph.get_shortest_path_astar(*ends, lambda _, u, v: bounds[u], weights="weight")

    def k_shortest_paths(self) -> Call:
        graph, ends = self.graph, (self.task.data.source, self.task.target)
        return lambda: graph.get_k_shortest_paths(*ends, k=3, weights="weight")

    def all_pairs_hops(self) -> Call:
        graph, sources = self.graph, range(min(64, self.task.data.num_vertices))
        return lambda: graph.distances(source=sources)

    def all_pairs_lengths(self) -> Call:
        graph, sources = self.graph, range(min(64, self.task.data.num_vertices))
        return lambda: graph.distances(source=sources, weights="weight")

    def bellman_ford(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: graph.distances(source=source, weights="weight", algorithm="bellman_ford")

    def pagerank(self) -> Call:
        graph = self.graph
        return lambda: graph.pagerank(damping=DAMPING)

    def cc(self) -> Call:
        graph = self.graph
        return lambda: graph.connected_components()

    def strongly_connected_components(self) -> Call:
        graph = self.arcs
        return lambda: graph.connected_components(mode="strong")

    def biconnected_components(self) -> Call:
        graph = self.graph
        return lambda: graph.biconnected_components()

    def triangles(self) -> Call:
        graph = self.graph
        return lambda: graph.list_triangles()

    def betweenness(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: graph.betweenness(sources=chosen)

    def edge_betweenness(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: graph.edge_betweenness(sources=chosen)

    def weighted_betweenness(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: graph.betweenness(sources=chosen, weights="weight")

    def weighted_closeness(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: graph.closeness(vertices=chosen, weights="weight")

    def closeness(self) -> Call:
        graph = self.graph
        return lambda: graph.closeness()

    def closeness_of_some(self) -> Call:
        graph, chosen = self.graph, self.task.few
        return lambda: graph.closeness(vertices=chosen)

    def harmonic_centrality(self) -> Call:
        graph = self.graph
        return lambda: graph.harmonic_centrality(normalized=False)

    def eccentricity(self) -> Call:
        graph = self.graph
        return lambda: graph.eccentricity()

    def diameter(self) -> Call:
        graph = self.graph
        return lambda: graph.diameter()

    def degree_centrality(self) -> Call:
        graph = self.graph
        return lambda: graph.degree()

    def eigenvector(self) -> Call:
        graph = self.graph
        return lambda: graph.eigenvector_centrality()

    def hits(self) -> Call:
        graph = self.arcs
        return lambda: (graph.hub_score(), graph.authority_score())

    def kcore(self) -> Call:
        graph = self.graph
        return lambda: graph.coreness()

    def local_clustering(self) -> Call:
        graph = self.graph
        return lambda: graph.transitivity_local_undirected(mode="zero")

    def clique_count(self) -> Call:
        graph = self.graph
        return lambda: len(graph.cliques(CLIQUE, CLIQUE))

    def motif_census(self) -> Call:
        graph = self.graph
        return lambda: graph.motifs_randesu(size=4)

    def maximum_clique(self) -> Call:
        graph = self.graph
        return lambda: graph.clique_number()

    def triad_census(self) -> Call:
        graph = self.arcs
        return lambda: graph.triad_census()

    def assortativity(self) -> Call:
        graph = self.graph
        return lambda: graph.assortativity_degree(directed=False)

    def coloring(self) -> Call:
        graph = self.graph
        return lambda: graph.vertex_coloring_greedy()

    def minimum_spanning_forest(self) -> Call:
        graph = self.graph
        return lambda: graph.spanning_tree(weights="weight", return_tree=False)

    def jaccard(self) -> Call:
        graph, pairs = self.graph, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: graph.similarity_jaccard(pairs=pairs)

    def sorensen(self) -> Call:
        graph, pairs = self.graph, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: graph.similarity_dice(pairs=pairs)

    def node2vec_walks(self) -> Call:
        graph = self.graph
        return lambda: [graph.random_walk(v, 81) for v in range(graph.vcount())]

    def label_propagation(self) -> Call:
        graph = self.graph
        return lambda: graph.community_label_propagation()

    def leiden(self) -> Call:
        graph = self.graph
        return lambda: graph.community_leiden(objective_function="modularity", weights="weight")

    def louvain(self) -> Call:
        graph = self.graph
        return lambda: graph.community_multilevel(weights="weight")

    def modularity(self) -> Call:
        graph, community = self.graph, self.task.community.tolist()
        return lambda: graph.modularity(community, weights="weight")
