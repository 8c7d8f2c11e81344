"""The hypergraph model: vertices are edges, and each vertex of the graph is a net of its edges; km1 is C itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import VGraphError
from vgraph.partitioning.edges.problem import EdgeProblem


def hypergraph(problem: EdgeProblem) -> NDArray[np.int32]:
    """The parts, by Mt-KaHyPar's deterministic preset (Gottesbueren et al. 2021)."""
    try:
        import mtkahypar
    except ImportError as error:
        raise VGraphError("method='hypergraph' needs Mt-KaHyPar: pip install 'vgraph[mtkahypar]'") from error
    sources, targets = problem.ends
    edges = problem.graph.num_edges
    apart = np.flatnonzero(sources != targets)
    numbers = np.concatenate((np.arange(edges), apart))
    around = np.concatenate((sources, targets[apart]))
    ordered = numbers[np.argsort(around, kind="stable")]
    counts = np.bincount(around, minlength=problem.graph.num_vertices)
    nets = [net.tolist() for net in np.split(ordered, np.cumsum(counts)[:-1]) if net.size > 1]
    library = mtkahypar.initialize(problem.threads or 1, False)
    mtkahypar.set_seed(problem.seed)
    context = library.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(problem.k, problem.imbalance - 1, mtkahypar.Objective.KM1)
    context.logging = False
    made = library.create_hypergraph(context, edges, len(nets), nets)
    return np.asarray(made.partition(context).get_partition(), np.int32)
