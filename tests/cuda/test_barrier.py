"""The barrier of the grid by itself, under many interleavings."""

from __future__ import annotations

import emulator
import numpy as np
import pytest
from emulated_device import INCLUDE
from emulator import compile_text

ENDLESS = """
#include "vgraph.cuh"
using namespace vg;
struct Args { alignas(8) Control* control; };
extern "C" __global__ void vg_main(const __grid_constant__ Args a) {
  __shared__ Board<1> board;
  Team<1> team(a.control, (u64*)a.control + 16, &board);
  for (;;) { if (team.meet()) return; }
}
"""


@pytest.mark.skipif(emulator.unavailable() is not None, reason=str(emulator.unavailable()))
@pytest.mark.parametrize("grid", [1, 2, 4])
def test_all_blocks_leave_a_run_that_is_cancelled(grid):
    """Block 0 may ask to stop, at one barrier, while others still leave the barrier before it."""
    kernel = compile_text(ENDLESS, [INCLUDE], 32)
    for seed in range(60):
        control = np.zeros(64, np.uint64)
        control[1] = 1  # `cancel`
        kernel.launch(np.array([control.ctypes.data], np.uint64), grid, 32, seed)
        assert control[0] >> np.uint64(63) == 1
