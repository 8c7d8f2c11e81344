"""Rows of numbers to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError

ROWS = 1 << 16


def check_scalar(name: str, values: NDArray[Any]) -> None:
    """Refuse a property whose values are vectors."""
    if values.ndim != 1:
        raise GraphError(f"property {name!r} holds vectors; this format holds numbers. Write a .npz file")


def write_rows(
    file: IO[bytes], columns: Sequence[NDArray[Any]], *, prefix: str = "", separator: str = " "
) -> None:
    """Write one line per row; floats as the shortest text that reads back as the same number."""
    formats = ["%r" if column.dtype.kind == "f" else "%d" for column in columns]
    line = prefix + separator.join(formats) + "\n"
    for start in range(0, columns[0].size, ROWS):
        parts = [column[start : start + ROWS] for column in columns]
        count = parts[0].size
        flat: list[Any] = [None] * (count * len(parts))
        for index, part in enumerate(parts):
            wide = part.astype(np.float64) if part.dtype.kind == "f" else part
            flat[index :: len(parts)] = wide.tolist()
        file.write((line * count % tuple(flat)).encode())
