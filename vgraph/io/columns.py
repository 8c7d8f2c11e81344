"""Columns of numbers of unknown length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK_ROWS = 1 << 23  # large enough that the memory of a chunk returns to the system when it is freed


class Column:
    """Numbers that come in pieces, kept in chunks, each of which is freed when the whole is joined."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._chunks: list[NDArray[Any]] = []

    def append(self, values: NDArray[Any]) -> None:
        """Add `values`, which fit the dtype."""
        done = 0
        while done < values.size:
            at = self.size % CHUNK_ROWS
            if at == 0:
                self._chunks.append(np.empty(CHUNK_ROWS, self.dtype))
            count = min(CHUNK_ROWS - at, values.size - done)
            self._chunks[-1][at : at + count] = values[done : done + count]
            self.size += count
            done += count

    def widen(self, dtype: type[np.generic]) -> None:
        """Go over to another dtype."""
        self.dtype = np.dtype(dtype)
        for index, chunk in enumerate(self._chunks):
            wide = np.empty(CHUNK_ROWS, dtype)
            used = slice(min(CHUNK_ROWS, self.size - index * CHUNK_ROWS))  # the rest has never been touched
            wide[used] = chunk[used]
            self._chunks[index] = wide

    def finish(self) -> NDArray[Any]:
        """All values in one array that owns its memory; the column is empty afterwards."""
        size, self.size = self.size, 0
        if len(self._chunks) == 1:
            whole = self._chunks.pop()
            whole.resize(size, refcheck=False)
            return whole
        whole = np.empty(size, self.dtype)
        for start in range(0, size, CHUNK_ROWS):
            end = min(start + CHUNK_ROWS, size)
            whole[start:end] = self._chunks.pop(0)[: end - start]
        return whole


class NumberColumn(Column):
    """A column of numbers in the narrowest of int32, int64, uint64 and float64 that holds them."""

    def __init__(self) -> None:
        super().__init__(np.int32)
        self._decimals = False
        self._negative: int | None = None
        self._large: int | None = None
        """The first row below 0, and from 2**63 on."""

    @property
    def conflict(self) -> int | None:
        """The first row with an integer that no 64-bit type holds beside those before."""
        if self._decimals or self._negative is None or self._large is None:
            return None
        return max(self._negative, self._large)

    def append(self, values: NDArray[Any]) -> None:
        """Add `values`: int64, uint64, float64, or Python's ints between -2**63 and 2**64."""
        if values.dtype.kind == "f":
            self._decimals = True
        elif values.size:
            self._look(values)
        wanted = self._wanted(values)
        if wanted != self.dtype:
            self.widen(wanted)
        super().append(values)

    def _look(self, values: NDArray[Any]) -> None:
        if self._negative is None and values.min() < 0:
            self._negative = self.size + int(np.argmax(values < 0))
        if self._large is None and values.dtype != np.int64 and values.max() >= 1 << 63:
            self._large = self.size + int(np.argmax(values >= 1 << 63))

    def _wanted(self, values: NDArray[Any]) -> type[np.generic]:
        """What holds the column with `values`; integers that none holds wait for a decimal in float64."""
        if self.dtype.kind == "f" or self._decimals or self.conflict is not None:
            return np.float64
        if self._large is not None:
            return np.uint64
        if self.dtype == np.int32 and values.min(initial=0) >= -(1 << 31) and values.max(initial=0) < 1 << 31:
            return np.int32
        return np.int64


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """The values, one behind the other, in int32 if they are integers that fit."""
    if values.dtype.kind == "i" and values.min(initial=0) >= -(1 << 31) and values.max(initial=0) < 1 << 31:
        return np.ascontiguousarray(values, np.int32)
    return np.ascontiguousarray(values)
