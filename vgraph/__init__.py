"""vgraph: graph programs in Python, compiled.

Write what happens at a vertex or along an edge with `@operator`, the loop around it with `@algorithm`, and run it on a
`Graph` with `run`. The language is described in docs/language.md; examples/ has programs to start from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgraph.api import autotune, explain, prepare, run, tuned
from vgraph.errors import (
    AlgorithmError,
    CheckError,
    DeclarationError,
    DeviceError,
    Diagnostic,
    GraphError,
    GraphFormatError,
    ParameterError,
    PassError,
    ScheduleError,
    SourceError,
    VerificationError,
    VGraphError,
)
from vgraph.graph import Graph
from vgraph.language.decorators import algorithm, function, operator
from vgraph.language.names import *
from vgraph.schedule import AUTO, Schedule
from vgraph.schedule.names import *

if TYPE_CHECKING:
    from vgraph import algorithms, data, passes
    from vgraph.compiler.user_passes import schedule_pass
    from vgraph.graph.cuts import cut_hubs
    from vgraph.graph.prepared import Prepared
    from vgraph.io import from_ratings, read, read_ratings, write
    from vgraph.orders import overlap, reorder
    from vgraph.partitioning import edge_partition, partition
    from vgraph.runtime.devices.groups import cpu, devices
    from vgraph.sharing import (
        AFFINITY_STEALING,
        ASYM,
        ASYM_CONV,
        ASYM_SIZE,
        CHUNK_AFFINITY,
        GREEDY,
        HASS,
        MIN_MIN,
        NAIVE,
        ORACLE,
        QILIN,
        SAMPLE_WEIGHTED,
        SHARED_QUEUE,
        fixed_ratio,
    )
    from vgraph.verifiers import verify

__version__ = "0.1.0"

__all__ = [
    "AFFINITY_STEALING", "AGM_E", "AGM_N", "APPLY_SCATTER", "ASYM", "ASYM_CONV", "ASYM_SIZE", "ASYNC",
    "AUTO", "BASE", "BITMAP", "BLOCK", "BSP", "CHANGED", "CHUNK_AFFINITY", "COLORED", "COMBINE", "COMPUTED",
    "CSR", "DATA", "DELAYED", "DELTA", "DENSE", "DIAGONAL", "EDGE", "EDGE_LOCKED", "FREE", "FUSED",
    "GATHER_APPLY", "GREEDY", "HASS", "HYBRID", "LOCAL", "MARKED", "MIN_MIN", "NAIVE", "NODE_LOCKED",
    "ORACLE", "PULL", "PUSH", "QILIN", "RACED", "RAW", "SAMPLE_WEIGHTED", "SEQUENTIAL", "SGM",
    "SHARED_QUEUE", "SLICES", "SPARSE", "SPLIT", "STRICT", "TOPOLOGY", "TWC", "UNORDERED", "VERTEX", "WARP",
    "AlgorithmError", "CheckError", "DeclarationError", "DeviceError", "Diagnostic", "Graph", "GraphError",
    "GraphFormatError", "ParameterError", "PassError", "Prepared", "Schedule", "ScheduleError",
    "SourceError", "VGraphError", "VerificationError", "algorithm", "algorithms", "argmax", "argmin",
    "array", "autotune", "between", "blocked_diagonals", "bool_", "ceil", "clz", "cpu", "ctz", "cut_hubs", "data",
    "dealt_blocks", "delta_stepping", "devices", "directed", "dot", "edge_partition", "edge_property",
    "even_blocks", "exp", "explain", "fail", "fixed_ratio", "float16", "float32", "float64", "floor",
    "from_ratings", "function", "inf", "int32", "int64", "isinf", "isnan", "local",
    "local_list", "log", "nan", "none", "operator", "overlap",
    "partition", "passes", "popcount", "prepare", "random", "random_below", "random_choice", "random_normal",
    "read", "read_ratings", "reorder", "run", "schedule_pass", "sqrt", "sum", "tuned", "uint32", "uint64",
    "undirected", "union", "vector", "verify", "vertex", "vertex_property", "write",
]  # fmt: skip


_LATE = {
    "compiler.user_passes": "schedule_pass",
    "graph.cuts": "cut_hubs",
    "graph.prepared": "Prepared",
    "io": "from_ratings read read_ratings write",
    "orders": "overlap reorder",
    "partitioning": "edge_partition partition",
    "runtime.devices.groups": "cpu devices",
    "verifiers": "verify",
}


def __getattr__(name: str) -> Any:
    """What a program may never need is imported when first used."""
    import importlib

    if name in ("algorithms", "data", "passes", "sharing"):
        return importlib.import_module(f"vgraph.{name}")
    if name in __all__:
        room = next((room for room, names in _LATE.items() if name in names.split()), "sharing")
        return getattr(importlib.import_module(f"vgraph.{room}"), name)
    raise AttributeError(f"module 'vgraph' has no attribute {name!r}")
