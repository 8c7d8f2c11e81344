"""Sorting on a GPU: pairs by the bits of their keys, and arcs of graphs as they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice

from vgraph.runtime.devices.cuda.sorting import sort_arcs, sort_pairs

STRIP = 512  # of an emulated block of 64 threads


@pytest.mark.parametrize(
    ("size", "bits"),
    [(0, 5), (1, 1), (STRIP - 1, 8), (STRIP, 9), (2 * STRIP + 1, 16), (7 * STRIP + 5, 17), (600, 32)],
)
def test_pairs_are_sorted_and_equal_ones_stay_as_they_were(gpu: Any, size: int, bits: int) -> None:
    rng = np.random.default_rng(size)
    keys = rng.integers(0, 1 << bits, size, dtype=np.uint64).astype(np.uint32)
    keys[::3] = keys[:1]  # many of one
    with gpu.current():
        given = gpu.upload(keys), gpu.upload(np.arange(size, dtype=np.uint32))
        found = [gpu.download(x) for x in sort_pairs(gpu, *given, bits)]
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found[0], keys[order])
    np.testing.assert_array_equal(found[1], order)


@pytest.mark.parametrize("n", [3, 300, 1400])
def test_arcs_are_pairs_of_ranks(gpu: Any, n: int) -> None:
    """One row of most arcs, which goes on over strips and blocks, many of a few, and some of none at the end."""
    rng = np.random.default_rng(n)
    ends = np.concatenate(
        [np.stack([np.zeros(n, np.int64), np.arange(n)]), rng.integers(0, n, (2, 2 * n))], axis=1
    )
    low, high = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    s, t = np.concatenate([low, high]), np.concatenate([high, low])
    s, t = np.array(sorted(zip(s, t, strict=True)), np.int64).T
    degrees = np.bincount(s, minlength=n + 4)  # the last ones have no arcs
    rows = np.concatenate([[0], np.cumsum(degrees)])
    order = np.argsort(-degrees, kind="stable")
    rank = np.empty(n + 4, np.uint32)
    rank[order] = np.arange(n + 4)
    line = np.concatenate([[0], np.cumsum(degrees[order])])
    moves = rows[order] - line[:-1]
    given = line.astype(np.uint64), moves, t.astype(np.uint32), rank
    with gpu.current():
        found = sort_arcs(gpu, *map(gpu.upload, given), (n + 3).bit_length())
        found = [gpu.download(x) for x in found]
    pairs = np.stack([rank[s], rank[t]])[:, rank[s] > rank[t]]
    np.testing.assert_array_equal(found, pairs[:, np.lexsort(pairs[::-1])])


@pytest.mark.parametrize("seed", range(3))
def test_in_whatever_order_threads_run(seed: int) -> None:
    device = EmulatedDevice(seed=seed, every_access=True, multiprocessors=3)
    keys = np.random.default_rng(seed).integers(0, 700, 1500).astype(np.uint32)
    found = sort_pairs(device, device.upload(keys), device.upload(keys[::-1].copy()), 10)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found, [keys[order], keys[::-1][order]])
