"""A child process of test_interrupted_sets.py: Ctrl-C at random moments of runs on sets, and what comes after."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

import numpy as np

import vgraph as vg


@vg.operator
def turn(src, edge, dst):
    dst.x += src.x


@vg.operator
def begin(v):
    v.x = 1


@vg.algorithm
def endless(graph):
    x = graph.vertex_property(vg.int64, 1)
    while graph.num_vertices > 0:
        graph.edge_apply(turn)
    return x


@vg.algorithm
def endless_searches(graph, sources: vg.array(vg.vertex)):
    x = graph.vertex_property(vg.int64)
    found = graph.vertex_property(vg.int64)
    for source in sources:
        graph.vertex_apply(begin)
        for _ in range(200):
            graph.edge_apply(turn)
        found[source] = 1
    return found


ends = np.random.default_rng(0).integers(0, 2000, (2, 8000))
graph = vg.Graph.from_edges(*ends, num_vertices=2000, multi_edges=False)
level = vg.run(vg.algorithms.bfs, graph, source=0, threads=1).level
moments = random.Random(int(sys.argv[1]))
one, two = vg.cpu(threads=1), vg.cpu(threads=2)
slowest = busiest = 0.0
many = np.arange(2000).repeat(1000)
vg.prepare(endless, graph, device=[one, one])  # compilers let no signal through
vg.prepare(endless, graph, device=[two, one])
vg.prepare(endless_searches, graph, sources=many, device=[one, one], share=vg.GREEDY)
vg.prepare(endless_searches, graph, sources=many, device=[two, one], share=vg.GREEDY)
for k in range(int(sys.argv[2])):
    devices = ([one, one], [two, one], [one] * 7)[k % 3]
    struck: list[float] = []
    ready = threading.Event()

    def strike(ready: threading.Event = ready, struck: list[float] = struck) -> None:
        ready.wait()
        time.sleep(moments.choice((0, 0.002, 0.01, 0.05)) * moments.random())
        struck.extend((time.monotonic(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        ready.set()
        if k % 2:
            vg.run(endless_searches, graph, sources=many, device=devices, share=vg.GREEDY)
        else:
            vg.run(endless, graph, device=devices)
        raise SystemExit("an endless run ended")
    except KeyboardInterrupt:
        slowest = max(slowest, time.monotonic() - struck[0])
        busiest = max(busiest, time.process_time() - struck[1])
    thread.join()
    found = vg.run(vg.algorithms.bfs, graph, source=0, device=devices).level
    assert (found == level).all()
print(busiest, slowest)
