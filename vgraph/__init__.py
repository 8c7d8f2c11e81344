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
from vgraph.language.names import (
    argmax,
    argmin,
    array,
    between,
    bool_,
    ceil,
    clz,
    ctz,
    dot,
    edge_property,
    exp,
    fail,
    float32,
    float64,
    floor,
    inf,
    int32,
    int64,
    isinf,
    isnan,
    local,
    log,
    nan,
    none,
    popcount,
    random,
    random_below,
    random_choice,
    random_normal,
    sqrt,
    sum,
    uint32,
    uint64,
    union,
    vector,
    vertex,
    vertex_property,
)
from vgraph.schedule import (
    APPLY_SCATTER,
    ASYNC,
    AUTO,
    BITMAP,
    BLOCK,
    BSP,
    COMPUTED,
    CSR,
    DATA,
    DELTA,
    EDGE,
    FUSED,
    GATHER_APPLY,
    PULL,
    PUSH,
    RAW,
    SPARSE,
    SPLIT,
    STRICT,
    TOPOLOGY,
    TWC,
    UNORDERED,
    VERTEX,
    WARP,
    Schedule,
    delta_stepping,
)

if TYPE_CHECKING:
    from vgraph import algorithms, data, passes
    from vgraph.compiler.user_passes import schedule_pass
    from vgraph.graph.prepared import Prepared
    from vgraph.io import read, write
    from vgraph.partitioning import partition
    from vgraph.verifiers import verify

__version__ = "0.1.0"

__all__ = [
    "APPLY_SCATTER",
    "ASYNC",
    "AUTO",
    "BITMAP",
    "BLOCK",
    "BSP",
    "COMPUTED",
    "CSR",
    "DATA",
    "DELTA",
    "EDGE",
    "FUSED",
    "GATHER_APPLY",
    "PULL",
    "PUSH",
    "RAW",
    "SPARSE",
    "SPLIT",
    "STRICT",
    "TOPOLOGY",
    "TWC",
    "UNORDERED",
    "VERTEX",
    "WARP",
    "AlgorithmError",
    "CheckError",
    "DeclarationError",
    "DeviceError",
    "Diagnostic",
    "Graph",
    "GraphError",
    "GraphFormatError",
    "ParameterError",
    "PassError",
    "Prepared",
    "Schedule",
    "ScheduleError",
    "SourceError",
    "VGraphError",
    "VerificationError",
    "algorithm",
    "algorithms",
    "argmax",
    "argmin",
    "array",
    "autotune",
    "between",
    "bool_",
    "ceil",
    "clz",
    "ctz",
    "data",
    "delta_stepping",
    "dot",
    "edge_property",
    "exp",
    "explain",
    "fail",
    "float32",
    "float64",
    "floor",
    "function",
    "inf",
    "int32",
    "int64",
    "isinf",
    "isnan",
    "local",
    "log",
    "nan",
    "none",
    "operator",
    "partition",
    "passes",
    "popcount",
    "prepare",
    "random",
    "random_below",
    "random_choice",
    "random_normal",
    "read",
    "run",
    "schedule_pass",
    "sqrt",
    "sum",
    "tuned",
    "uint32",
    "uint64",
    "union",
    "vector",
    "verify",
    "vertex",
    "vertex_property",
    "write",
]


_LATE = {
    "Prepared": "vgraph.graph.prepared",
    "partition": "vgraph.partitioning",
    "read": "vgraph.io",
    "schedule_pass": "vgraph.compiler.user_passes",
    "verify": "vgraph.verifiers",
    "write": "vgraph.io",
}


def __getattr__(name: str) -> Any:
    """What a program may never need is imported when first used."""
    import importlib

    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in ("algorithms", "data", "passes"):
        return importlib.import_module(f"vgraph.{name}")
    raise AttributeError(f"module 'vgraph' has no attribute {name!r}")
