"""Blocks of the matrix on sets with GPUs: emulated ones, and real ones with `pytest -m cuda`."""

from __future__ import annotations

import pytest
import test_gpu_sets
import test_mixed_sets
from test_dealt_blocks import graphs, same

import vgraph as vg

gpus, one_gpu = test_gpu_sets.gpus, test_mixed_sets.one_gpu


@pytest.mark.parametrize(("name", "parts"), [("ratings", 2), ("False", 4)])
def test_the_same_bits_on_gpus(gpus, name, parts):
    same(graphs()[name], parts, ["cuda:0", "cuda:1"])


def test_the_same_bits_on_a_gpu_beside_threads(one_gpu):
    same(graphs()["ratings"], 2, [vg.cpu(threads=2), "cuda:0"])
