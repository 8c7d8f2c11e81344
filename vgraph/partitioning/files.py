"""Files of parts as METIS writes them: a line for each vertex, with the number of its part, from 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import GraphError, GraphFormatError, ParameterError
from vgraph.graph.arrays import as_array
from vgraph.tracebacks import public


@public
def write_parts(parts: ArrayLike, path: str | Path) -> None:
    """Write one number per line; METIS calls such a file `NAME.part.K`. Raises GraphError where it cannot."""
    numbers = as_array(parts, "parts")
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ParameterError(
            f"parts of shape {numbers.shape} and type {numbers.dtype} are no integers in a row"
        )
    try:
        Path(path).write_text("".join(f"{part}\n" for part in numbers.tolist()), encoding="ascii")
    except OSError as error:
        raise GraphError(f"the file {str(path)!r} cannot be written: {error.strerror}") from None


@public
def read_parts(path: str | Path, num_vertices: int) -> NDArray[np.int32]:
    """The parts in a file, int32[num_vertices]. Raises GraphFormatError with the line, GraphError for a file that
    cannot be read."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise GraphError(f"the file {str(path)!r} cannot be read: {error.strerror}") from None
    if len(lines) != num_vertices:
        raise GraphFormatError(
            path, None, f"it has {len(lines)} lines, and the graph has {num_vertices} vertices"
        )
    found = np.empty(num_vertices, np.int32)
    for number, line in enumerate(lines):
        text = line.strip()
        digits = text.lstrip("0") or "0"
        if not (text.isascii() and text.isdigit() and len(digits) <= 10 and int(digits) < 2**31 - 1):
            raise GraphFormatError(path, number + 1, f"{text[:40]!r} is no number of a part")
        found[number] = int(digits)
    return found
