// Philox4x32-10: the first 64 bits that belong to a counter of 128. See vgraph/compiler/philox.py.
#pragma once

namespace vg {

VG_DEVICE u64 philox(u64 key, u64 low, u64 high) {
  u32 a = (u32)low, b = (u32)(low >> 32), c = (u32)high, d = (u32)(high >> 32), k = (u32)key, m = (u32)(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    u64 first = 0xd2511f53ull * a, second = 0xcd9e8d57ull * c;
    a = (u32)(second >> 32) ^ b ^ k;
    c = (u32)(first >> 32) ^ d ^ m;
    b = (u32)second;
    d = (u32)first;
    k += 0x9e3779b9u;
    m += 0xbb67ae85u;
  }
  return a | (u64)b << 32;
}

}  // namespace vg
