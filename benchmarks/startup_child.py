"""What a new process does for `startup.py`: import, one run on a tiny graph; prints its times as JSON."""

from __future__ import annotations

import sys
import time

start = time.perf_counter()
import vgraph as vg  # noqa: E402

imported = time.perf_counter()
graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False, weight=[1, 2, 3])
source = {"source": 0} if sys.argv[1] in ("bfs", "sssp") else {}
stats = vg.run(getattr(vg.algorithms, sys.argv[1]), graph, **source).stats
done = time.perf_counter()
times = {"import": imported - start, "run": done - imported, "compile": stats.compile_seconds}
print(str({**times, "cached": int(stats.cached)}).replace("'", '"'))
