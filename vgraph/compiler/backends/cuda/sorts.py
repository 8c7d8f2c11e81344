"""The kernel that sorts pairs of numbers, and arcs of a graph as it reads them (`sort.cuh`)."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.backends.cuda.layout import TURNS, ControlLayout

DIGITS: Final = 256
DIGIT_BITS: Final = 8
CONTROL_WORDS: Final = ControlLayout.RESULTS + TURNS
"""Of the kernel's `Control`: a barrier, and one slot that nothing is put into."""

TEXT: Final = """// Pairs are sorted: every thread of the grid runs all of it.
#include "vgraph.cuh"
#include "sort.cuh"
using namespace vg;

struct Args {
  Control* control;
  u64 size, bits;             // pairs, or arcs; bits of the keys
  const u32 *keys, *values;   // pairs, or none
  const u64* line;            // arcs: as of FromArcs
  const i64* moves;
  const u32 *columns, *rank;
  u64 n;
  u32 *to_keys[2], *to_values[2];  // digits in turn
  u32* counts;                // DIGITS for each block; then how many pairs there are
};

extern "C" __global__ void __launch_bounds__(BLOCK, 2) vg_main(const __grid_constant__ Args a) {
  __shared__ Board<1> board;
  __shared__ Sorting sorting;
  Team<1> team(a.control, (u64*)a.control + 8, &board);
  bool stop;
  u32 count = 0;
  for (u32 pass = 0; pass * DIGIT_BITS < a.bits; ++pass) {
    u32 shift = pass * DIGIT_BITS, *keys = a.to_keys[pass & 1], *values = a.to_values[pass & 1];
    if (pass == 0 && a.line) {
      FromArcs<u32> arcs{a.line, a.moves, a.columns, a.rank, (u32)a.n};
      count = sort_digit(team, arcs, a.size, shift, keys, values, a.counts, sorting, stop);
    } else {
      FromPairs pairs{pass ? a.to_keys[~pass & 1] : a.keys, pass ? a.to_values[~pass & 1] : a.values};
      count = sort_digit(team, pairs, pass ? count : a.size, shift, keys, values, a.counts, sorting, stop);
    }
    if (stop) return;
  }
  if (team.first()) a.counts[DIGITS * gridDim.x] = count;
}
"""
"""The order of the words of `Args` is that of `words`."""


def turns(bits: int) -> int:
    """In which of the two places those sorted by keys of so many bits stand in the end."""
    return (-(-bits // DIGIT_BITS) - 1) % 2


__all__ = ["CONTROL_WORDS", "DIGITS", "DIGIT_BITS", "TEXT", "turns"]
