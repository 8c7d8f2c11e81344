"""What a new process does for the part `startup` of `gpu.py`: imports, then two runs; prints its times as JSON.

python benchmarks/cuda_child.py ALGORITHM SCALE
"""

from __future__ import annotations

import json
import sys
import time

start = time.perf_counter()
import vgraph as vg  # noqa: E402

imported = time.perf_counter()
import cupy  # noqa: E402

with_cupy = time.perf_counter()
cupy.empty(1)  # the driver opens the GPU
opened = time.perf_counter()

import cuda_graphs  # noqa: E402
import numpy as np  # noqa: E402

arrays = cuda_graphs.csr(np, *cuda_graphs.rmat(np, int(sys.argv[2])), cuda_graphs.LIGHT)
graph = vg.Graph.from_csr(arrays[0], arrays[1], directed=False, weight=arrays[2])
given = {"source": int(np.argmax(graph.out_degree))} if sys.argv[1] in ("bfs", "sssp") else {}
algorithm = getattr(vg.algorithms, sys.argv[1])
begin = time.perf_counter()
first = vg.run(algorithm, graph, device="cuda", **given).stats
middle = time.perf_counter()
again = vg.run(algorithm, graph, device="cuda", **given).stats
end = time.perf_counter()
seconds = {
    "import_vgraph": imported - start,
    "import_cupy": with_cupy - imported,
    "open_gpu": opened - with_cupy,
    "first_run": middle - begin,
    "compile": first.compile_seconds,
    "transfer": first.transfer_seconds,
    "prepare": first.prepare_seconds,
    "run": first.run_seconds,
    "kernel": first.kernel_seconds,
    "second_run": end - middle,
    "second_kernel": again.kernel_seconds,
}
print(json.dumps({**{f"{name}_ms": 1e3 * value for name, value in seconds.items()}, "cached": first.cached}))
