"""Sets of vertices as arrays: their ids, as users have them, and a bool for each vertex, as kernels do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.arrays import host_of

_SUFFIX = ".members"


def property_name(array: str) -> str:
    """What programs call the property that tells which vertices are in the array parameter `array`."""
    return f"{array}{_SUFFIX}"


def array_name(prop: str) -> str:
    """The inverse of `property_name`."""
    return prop.removesuffix(_SUFFIX)


def marked(ids: Any, num_vertices: int) -> NDArray[np.bool_]:
    """For each vertex whether it is among `ids`, integers below `num_vertices` in any order, any of them repeated."""
    found = np.zeros(num_vertices, np.bool_)
    found[host_of(ids).astype(np.int64, copy=False)] = True
    return found


def ids(marks: Any) -> Any:
    """The vertices that are marked, ascending, as an int64 array of NumPy; `marks` may be CuPy's."""
    return np.flatnonzero(host_of(marks))
