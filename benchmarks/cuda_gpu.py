"""The GPU itself: what it is, how fast it copies, what cuSPARSE needs, and kernels of other block sizes on it."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import harness
from cuda_graphs import Loaded

COPY_BYTES = 1 << 31


def arrays() -> Any:
    """CuPy, where the graphs are made."""
    import cupy

    return cupy


def environment(commit: str | None) -> dict[str, Any]:
    """Machine, GPU, versions and commit; `commit` is given where the files are no checkout."""
    import cupy

    from vgraph.compiler.backends.cuda import nvrtc

    found = harness.environment()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    found["gpu"] = {
        "name": properties["name"].decode(),
        "arch": f"sm_{properties['major']}{properties['minor']}",
        "multiprocessors": int(properties["multiProcessorCount"]),
        "memory_bytes": int(properties["totalGlobalMem"]),
        "driver": _driver(),
    }
    versions = {"cupy": cupy.__version__, "nvrtc": ".".join(map(str, nvrtc.version()))}
    found["versions"] |= versions
    if commit:
        found["versions"]["vgraph_commit"] = commit
    return found


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return output.splitlines()[0].strip()


def milliseconds(work: Callable[[], object], repeats: int = 7) -> list[float]:
    """Of each of `repeats` calls, by events, after one that warms up."""
    import cupy

    work()
    taken = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        taken.append(float(cupy.cuda.get_elapsed_time(begin, end)))
    return taken


def copy_rate() -> float:
    """Bytes per second, read and written both counted, of a copy on the device."""
    import cupy

    origin = cupy.arange(COPY_BYTES // 4, dtype=cupy.uint32)
    target = cupy.empty_like(origin)
    return 2 * COPY_BYTES / (1e-3 * statistics.median(milliseconds(lambda: cupy.copyto(target, origin))))


def spmv_ms(loaded: Loaded) -> dict[str, float]:
    """cuSPARSE's product of the graph's matrix and a vector, through CuPy, by type of the values."""
    import cupy
    from cupyx import cusparse
    from cupyx.scipy.sparse import csr_matrix

    rows = cupy.asarray(loaded.graph.out.row_offsets.astype("int32"))
    columns = cupy.asarray(loaded.graph.out.column_indices.astype("int32"))
    n = loaded.graph.num_vertices
    found = {}
    for dtype in ("float32", "float64"):
        matrix = csr_matrix((cupy.ones(columns.size, dtype), columns, rows), shape=(n, n))
        x, y = cupy.random.random(n, dtype=dtype), cupy.zeros(n, dtype)

        def product(a: Any = matrix, x: Any = x, y: Any = y) -> None:
            cusparse.spmv(a, x, y=y, alpha=1.0, beta=0.0)

        found[dtype] = statistics.median(milliseconds(product))
    return found


@contextmanager
def block_size(threads: int) -> Iterator[None]:
    """Inside, kernels are compiled for and launched with so many threads per block."""
    from vgraph.runtime.devices.cuda import use
    from vgraph.runtime.devices.cuda.cupy_device import CupyDevice

    class Sized(CupyDevice):
        @property
        def block(self) -> int:
            return threads

        @property
        def place(self) -> str:
            return f"{super().place} {threads}"

    with use(Sized(0)):
        yield


@contextmanager
def blocks_per_multiprocessor(count: float) -> Iterator[None]:
    """Inside, grids have so many blocks for each multiprocessor, or as many as fit, if that is less."""
    from vgraph.runtime import policy

    kept = policy.cuda_blocks

    def blocks(graph: Any, multiprocessors: int, most: int, block: int) -> int:
        return max(1, min(most, round(multiprocessors * count)))

    policy.cuda_blocks = blocks
    try:
        yield
    finally:
        policy.cuda_blocks = kept


def release() -> None:
    """Give unused memory of the GPU back."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
