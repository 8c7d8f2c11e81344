// What functions that somebody else compiled call beside CUDA's own mathematics: `foreign.py` translates LLVM's code.
#pragma once

#include "types.cuh"

namespace vg {

using u128 = unsigned __int128;
using i128 = __int128;

// x to an integer power, by squaring.
template <class T>
VG_DEVICE T whole_power(T x, i32 n) {
  u32 left = n < 0 ? 0u - (u32)n : (u32)n;
  T result = 1;
  while (true) {
    if (left & 1) result *= x;
    left >>= 1;
    if (left == 0) break;
    x *= x;
  }
  return n < 0 ? 1 / result : result;
}

// The upper word of `high:low` shifted left by `count`, modulo the width; the lower word of it shifted right.
template <class U>
VG_DEVICE U funnel_left(U high, U low, U count) {
  constexpr U width = 8 * sizeof(U);
  count %= width;
  return count == 0 ? high : (high << count) | (low >> (width - count));
}
template <class U>
VG_DEVICE U funnel_right(U high, U low, U count) {
  constexpr U width = 8 * sizeof(U);
  count %= width;
  return count == 0 ? low : (high << (width - count)) | (low >> count);
}

}  // namespace vg
