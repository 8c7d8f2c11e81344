"""NetworKit: C++ behind Python; its Dijkstra, triangle scores and betweenness are partly serial."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import networkit as nk
import numpy as np
from graphs import GraphData
from tasks import CONVERGED, DAMPING, ROUNDS, SOURCES, Task

from libraries import Call, Peer


class Library(Peer):
    """NetworKit, of which some algorithms refuse or misread a graph with weights: they get one without."""

    def __init__(self, task: Task, threads: int) -> None:
        super().__init__(task, threads)
        nk.setNumberOfThreads(threads)

    @cached_property
    def graph(self) -> Any:
        return _made(self.task.data, directed=False)

    @cached_property
    def bare(self) -> Any:
        graph = nk.graphtools.toUnweighted(self.graph)
        graph.indexEdges()
        return graph

    def bfs(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nk.distance.BFS(graph, source, storePaths=False).run()

    def path_counts(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nk.distance.BFS(graph, source, storePaths=True).run()

    def sssp(self) -> Call:
        graph, source = self.graph, self.task.data.source
        return lambda: nk.distance.Dijkstra(graph, source, storePaths=False).run()

    def sssp_target(self) -> Call:
        graph, source, target = self.graph, self.task.data.source, self.task.target
        return lambda: nk.distance.Dijkstra(graph, source, False, False, target).run()

    def a_star(self) -> Call:
        ends, bounds = (self.task.data.source, self.task.target), self.task.bounds.tolist()
        search = nk.distance.AStar(self.graph, bounds, *ends, True)
        return lambda: search.run().getPath()

    def all_pairs_hops(self) -> Call:
        graph, sources = self.bare, list(range(min(64, self.task.data.num_vertices)))
        return lambda: nk.distance.SPSP(graph, sources).run()

    def all_pairs_lengths(self) -> Call:
        graph, sources = self.graph, list(range(min(64, self.task.data.num_vertices)))
        return lambda: nk.distance.SPSP(graph, sources).run()

    def pagerank(self) -> Call:
        ranking = nk.centrality.PageRank(self.graph, damp=DAMPING, tol=0.0)
        ranking.maxIterations = ROUNDS
        return lambda: ranking.run()

    def cc(self) -> Call:
        graph = self.graph
        return lambda: nk.components.ParallelConnectedComponents(graph).run()

    def strongly_connected_components(self) -> Call:
        graph = _made(self.task.directed, directed=True)
        return lambda: nk.components.StronglyConnectedComponents(graph).run()

    def biconnected_components(self) -> Call:
        graph = self.bare
        return lambda: nk.components.BiconnectedComponents(graph).run()

    def triangles(self) -> Call:
        graph = self.bare
        return lambda: nk.sparsification.TriangleEdgeScore(graph).run()

    def betweenness(self) -> Call:
        graph, parallel = self.bare, self.threads > 1
        how = {"normalized": False, "parallel": parallel}
        return lambda: nk.centrality.EstimateBetweenness(graph, SOURCES, **how).run()

    def closeness(self) -> Call:
        graph, variant = self.bare, nk.centrality.ClosenessVariant.GENERALIZED
        return lambda: nk.centrality.Closeness(graph, True, variant).run()

    def harmonic_centrality(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.HarmonicCloseness(graph, normalized=False).run()

    def diameter(self) -> Call:
        graph = nk.components.ConnectedComponents.extractLargestConnectedComponent(self.bare, True)
        return lambda: nk.distance.Diameter(graph, algo=nk.distance.DiameterAlgo.EXACT).run()

    def degree_centrality(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.DegreeCentrality(graph, normalized=True).run()

    def eigenvector(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.EigenvectorCentrality(graph, tol=CONVERGED).run()

    def katz(self) -> Call:
        graph, alpha = self.bare, self.task.alpha
        return lambda: nk.centrality.KatzCentrality(graph, alpha, 1.0, tol=CONVERGED).run()

    def kcore(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.CoreDecomposition(graph).run()

    def local_clustering(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.LocalClusteringCoefficient(graph, True).run()

    def maximum_clique(self) -> Call:
        graph = self.bare
        return lambda: nk.clique.MaximalCliques(graph, maximumOnly=True).run()

    def square_clustering(self) -> Call:
        graph = self.bare
        return lambda: nk.centrality.LocalSquareClusteringCoefficient(graph).run()

    def assortativity(self) -> Call:
        graph = self.bare
        degree = [float(graph.degree(v)) for v in graph.iterNodes()]
        return lambda: nk.correlation.Assortativity(graph, degree).run()

    def maximal_independent_set(self) -> Call:
        graph = self.bare
        return lambda: nk.independentset.Luby().run(graph)

    def maximal_matching(self) -> Call:
        graph = self.bare
        return lambda: nk.matching.PathGrowingMatcher(graph).run()

    def weighted_matching(self) -> Call:
        graph = self.graph
        return lambda: nk.matching.SuitorMatcher(graph, False).run()

    def minimum_spanning_forest(self) -> Call:
        graph = self.graph
        return lambda: nk.graph.KruskalMSF(graph).run()

    def jaccard(self) -> Call:
        graph, pairs = self.bare, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: nk.linkprediction.JaccardIndex(graph).runOn(pairs)

    def adamic_adar(self) -> Call:
        graph, pairs = self.bare, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: nk.linkprediction.AdamicAdarIndex(graph).runOn(pairs)

    def cosine(self) -> Call:
        graph, pairs = self.bare, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: nk.linkprediction.NeighborhoodDistanceIndex(graph).runOn(pairs)

    def resource_allocation(self) -> Call:
        graph, pairs = self.bare, np.stack(self.task.pairs, axis=1).tolist()
        return lambda: nk.linkprediction.ResourceAllocationIndex(graph).runOn(pairs)

    def label_propagation(self) -> Call:
        graph = self.bare
        return lambda: nk.community.PLP(graph).run()

    def leiden(self) -> Call:
        graph = self.graph
        return lambda: nk.community.ParallelLeiden(graph).run()

    def louvain(self) -> Call:
        graph = self.graph
        return lambda: nk.community.PLM(graph).run()

    def modularity(self) -> Call:
        graph, partition = self.graph, nk.Partition(self.task.data.num_vertices)
        partition.setUpperBound(int(self.task.community.max()) + 1)
        for vertex, community in enumerate(self.task.community.tolist()):
            partition.addToSubset(community, vertex)
        return lambda: nk.community.Modularity().getQuality(partition, graph)


def _made(data: GraphData, *, directed: bool) -> Any:
    sources, targets, weight = data.edges()
    kept = slice(None) if directed else sources < targets
    ends = sources[kept].astype("uint64"), targets[kept].astype("uint64")  # narrower ids are read as 64-bit
    values = weight[kept].astype("float64")
    return nk.GraphFromCoo((values, ends), n=data.num_vertices, weighted=True, directed=directed)
