"""Many arcs put into rows by threads: short rows, merged ones, and one that NumPy sorts."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph import machine, rows


def test_a_first_build_has_all_threads() -> None:
    """Before anything ran, too: it once went by one thread until the runtime was there."""
    text = "import vgraph; from vgraph.graph import machine; print(machine.cuts(machine.np.array([0, 1 << 30])).size)"
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "VGRAPH_THREADS": "3"},
    )
    assert done.stdout == "4\n"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["none", "given", "numbers"])
@pytest.mark.parametrize("step", [1, 2])
def test_rows_are_sorted_and_parallel_arcs_stay_in_order(
    threads: int, kind: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "threads", lambda: threads)
    monkeypatch.setattr(machine, "LEAST", 100)
    rng = np.random.default_rng(step)
    lengths = np.array([0, 1, 24, 25, 48, 49, 700, 0, 66_000, 3, 0])
    n = lengths.size
    ends = np.empty((lengths.sum(), step), np.uint32)
    ends[:, 0] = rng.permutation(np.repeat(np.arange(n), lengths))
    others = rng.integers(0, 500, ends.shape).astype(np.uint32)
    values = rng.integers(0, 1 << 32, len(ends)).astype(np.uint32)
    offsets, columns, found = rows.into_rows(
        ends.ravel(),
        others.ravel(),
        n,
        values if kind == "given" else None,
        numbers=kind == "numbers",
        step=step,
    )
    order = np.lexsort((others[:, 0], ends[:, 0]))
    np.testing.assert_array_equal(offsets, np.append(0, np.cumsum(lengths)))
    np.testing.assert_array_equal(columns, others[order, 0])
    if kind == "none":
        assert found is None
    else:
        np.testing.assert_array_equal(found, values[order] if kind == "given" else order)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_turned_rows(dtype: type[np.generic], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "threads", lambda: 3)
    monkeypatch.setattr(machine, "LEAST", 10)
    rng = np.random.default_rng(0)
    sources = np.sort(rng.integers(0, 50, 900))
    columns = rng.integers(0, 50, 900).astype(dtype)
    offsets = np.append(0, np.cumsum(np.bincount(sources, minlength=50))).astype(dtype)
    order = np.argsort(columns, kind="stable")
    found = rows.turned(offsets, columns)
    assert [x.dtype for x in found] == [dtype] * 3
    np.testing.assert_array_equal(found[0], np.append(0, np.cumsum(np.bincount(columns, minlength=50))))
    np.testing.assert_array_equal(found[1], sources[order])
    np.testing.assert_array_equal(found[2], order)


@pytest.mark.parametrize("dtype", ["<i4", ">i4", ">u8", "<i2"])
def test_ids_of_any_byte_order_are_put_into_rows(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FROM", 1)
    ends = np.array([[3, 2], [0, 300], [3, 1]], dtype)
    graph = vg.Graph.from_edges(ends[:, 0], ends[:, 1])
    sources, targets, _ = graph.edges()
    assert graph.num_vertices == 301
    assert (sources.tolist(), targets.tolist()) == ([0, 3, 3], [300, 1, 2])
