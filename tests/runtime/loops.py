"""Long loops for `test_interrupted_loops.py`, each in its own process: `loops.py interrupt|starve LOOP THREADS`."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from typing import Any

import numpy as np

import vgraph as vg


@vg.operator
def forget(v):
    v.dist = vg.inf


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def searches(graph, sources):
    """One search after the other; the result is the last one's."""
    dist = graph.vertex_property(graph.weight.dtype, fill=vg.inf)
    for s in sources:
        graph.vertex_apply(forget)
        dist[s] = 0
        frontier = graph.frontier(s)
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
    return dist


SCHEDULES = {
    "delta": vg.Schedule().at("relax", order=vg.delta_stepping(20_000)),  # few buckets: a short trace
    "tiles": vg.Schedule().at("relax", tiles=1024, order=vg.delta_stepping(20_000)),
    "strict": vg.Schedule().at("relax", order=vg.STRICT),
    "gather": vg.Schedule().at("relax", phases=vg.GATHER_APPLY, pipeline=2),
    "scatter": vg.Schedule().at("relax", phases=vg.APPLY_SCATTER, pipeline=2),
}
MIB = 1 << 20


def star(leaves: int) -> vg.Graph:
    """Arcs from vertex 0 to all others: all are in the buckets at once."""
    weight = np.random.default_rng(1).permutation(leaves).astype(np.int32)
    hub = np.zeros(leaves, np.uint32)
    return vg.Graph.from_edges(hub, np.arange(1, leaves + 1), num_vertices=leaves + 1, weight=weight)


def right(found: Any, graph: vg.Graph) -> str:
    """Whether `found` has the distances from vertex 0 of a star."""
    _, _, more = graph.edges()
    return "right" if np.array_equal(found.dist, [0, *more["weight"]]) else "wrong"


def interrupt(graph: vg.Graph, options: dict[str, Any]) -> None:
    """Ctrl-C as soon as progress is seen, in a run that lasts for hours."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts with &
    under_way = threading.Event()

    def strike() -> None:
        under_way.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=strike, daemon=True).start()
    try:
        vg.run(searches, graph, sources=[0] * 10**6, progress=lambda _: under_way.set(), **options)
    except KeyboardInterrupt:
        print("interrupted")
    print(right(vg.run(searches, graph, sources=[0], **options), graph))


def starve(graph: vg.Graph, options: dict[str, Any]) -> None:
    """Runs with more and more address space, until one has enough. What is freed has to go back to the system."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    for step in range(1, 100):
        resource.setrlimit(resource.RLIMIT_AS, (used + step * MIB // 4, hard))
        try:
            found = vg.run(searches, graph, sources=[0], **options)
        except vg.DeviceError as fault:
            print(fault)
            continue
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        print(right(found, graph))
        return


def main(action: str, loop: str, threads: str) -> None:
    options = {"schedule": SCHEDULES[loop], "threads": int(threads)}
    graph = star(100_000 if action == "starve" else 2_000)
    warm = vg.Graph.from_edges([1], [0], num_vertices=graph.num_vertices, weight=np.array([1], np.int32))
    vg.run(searches, warm, sources=[0], **options)  # compiled, and the threads are there
    vg.run(searches, graph, sources=[1], **options)  # what is found out once a graph is known
    {"interrupt": interrupt, "starve": starve}[action](graph, options)


if __name__ == "__main__":
    main(*sys.argv[1:])
