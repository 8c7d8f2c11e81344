"""METIS and KaHIP behind the call of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError, VGraphError
from vgraph.partitioning.problem import Problem


def metis(problem: Problem) -> NDArray[np.int32]:
    """METIS by pymetis: recursive bisection up to 8 parts, else k-way (Karypis and Kumar 1998)."""
    try:
        import pymetis
    except ImportError as error:
        raise VGraphError("method='metis' needs pymetis: pip install 'vgraph[metis]'") from error
    graph, loads = problem.graph, problem.loads
    # METIS's own tolerance is in thousandths above even
    if problem.k >= graph.num_vertices:  # it would complain on stdout, and may put all into one part
        return np.arange(graph.num_vertices, dtype=np.int32)
    over = problem.limit * problem.k / max(1, int(loads.sum(dtype=np.int64)))
    options = pymetis.Options(ufactor=max(1, int((over - 1) * 1000)), seed=problem.seed)
    _, parts = pymetis.part_graph(
        problem.k,
        pymetis.CSRAdjacency(*_csr(graph, np.int64)),
        vweights=loads.astype(np.int64),
        eweights=graph.edge_properties["weight"].astype(np.int64),
        options=options,
    )
    return np.asarray(parts, np.int32)


def kahip(problem: Problem) -> NDArray[np.int32]:
    """KaHIP's configuration "eco" (Sanders and Schulz 2013)."""
    try:
        import kahip as library
    except ImportError as error:
        raise VGraphError("method='kahip' needs KaHIP: pip install 'vgraph[kahip]'") from error
    graph, loads = problem.graph, problem.loads
    over = problem.limit * problem.k / max(1, int(loads.sum(dtype=np.int64))) - 1
    offsets, columns = _csr(graph, np.int32)
    weights = graph.edge_properties["weight"]
    if loads.dtype != np.int32 or weights.dtype != np.int32:
        raise ParameterError("method='kahip': the sum of its weights is below 2**31; scale them down")
    given = (x.tolist() for x in (loads, offsets, weights, columns))
    _, parts = library.kaffpa(*given, problem.k, over, True, problem.seed, library.ECO)
    return np.asarray(parts, np.int32)


def _csr(graph: Any, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    return graph.out.row_offsets.astype(dtype), graph.out.column_indices.astype(dtype)
