"""Orders of a graph's vertices, one in each file: `order(graph)` gives `old_of_new`, the vertices in their new order.

`vgraph.graph.relabel` has the table of their names, checks what they give, and keeps what is made in them.
"""

from __future__ import annotations

from vgraph.errors import GraphError, ParameterError, shown
from vgraph.graph import Graph
from vgraph.graph.relabel import By, Overlap
from vgraph.runtime.ordering import order_that_pays
from vgraph.tracebacks import public


@public
def overlap(by: By = "auto") -> Overlap:
    """An order for `run(relabel=...)` that is made beside the run, by a thread of its own, instead of before it.

    The run begins in the graph's own order and changes between two of its loops: all that it holds is put into the new
    order, and the results have the ids of the graph. Where rounds take longer then, it goes back. What ends sooner has
    lost nothing, and the next run on the graph finds what was made. `result.stats.overlap` tells all of that. The
    thread ends with the process.

    For a run of many rounds over the same arcs, on a CPU, that leaves a processor free: the thread stands back where
    the run has all of them. by: as in `reorder`. A program with queues by priority or values of edges is refused, for
    those cannot change; with "auto" it runs as it is. Raises ParameterError for what names no order.
    """
    if by is None or isinstance(by, Overlap):
        raise ParameterError(f'overlap({shown(by)}): name an order, such as vg.overlap("rcm")')
    return Overlap(by)


@public
def reorder(graph: Graph, by: By = "degree") -> Graph:
    """The same graph, on which programs run with its vertices in another order.

    All ids stay those of `graph`: of vertices, edges, parameters, results and errors. What is made is a second copy of
    the arcs, once, and kept with them; properties are copied with it. A program that could tell how vertices are
    numbered runs in their own order, and `result.stats.order` says which it was.

    by: the name of an order, or all vertices once in the order in which they shall lie.
    - "degree": most out-arcs first. "hub": vertices of more than the average first, else as they were (hub clustering,
      Balaji and Lucia 2018); what many arcs read lies close together.
    - "rcm": reverse Cuthill-McKee (1969). "bfs": as a search from a vertex of least degree meets them. "hilbert" and
      "morton": along these curves through the coordinates, vertex properties x, y and perhaps z. Neighbors lie close
      together where they are few, as on roads and meshes.
      "clusters": each range of ids is a cluster of near vertices, of whatever length.
    - "gorder": each vertex behind those with which it shares most neighbors (Wei, Yu, Lu and Lin 2016). "rabbit":
      communities of communities (Arai, Shiokawa, Yamamuro, Onizuka and Iwamura 2016). "partition": part by part.
      "spac": part by part of an edge partition; `vg.edge_partition(graph, k).order` is the same for any k and method.
    - "random": at random, with a fixed seed, for comparison.
    - "auto": the one that pays on such a graph, which may be its own.

    Raises GraphError for an unknown order, for what is no permutation, and where there are no coordinates.
    """
    if not isinstance(graph, Graph):
        raise GraphError(f"reorder: a {type(graph).__name__} is no vg.Graph")
    if not (isinstance(by, str) and by == "auto"):
        return graph.reordered(by)
    chosen = order_that_pays(graph)
    return graph if chosen is None else graph.reordered(chosen)
