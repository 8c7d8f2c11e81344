// Disjoint sets: what a block knows of them, in a table in front of the property.
//
// An entry says that a vertex is in one set with another of a smaller id. That stays true while sets are united, so an entry
// may be old, and any may take its place: who finds none asks the property. All threads of a grid come to the same few roots
// again and again, which one multiprocessor after the other would ask the same line of the L2 cache for.
#pragma once

namespace vg {

template <class Id>
struct KnownSets {
  u64* entries;  // vertex and smaller id, 32 bits each
  u32 shift;     // of a hash of 32 bits; 32: there is no table

  VG_DEVICE u64* entry(Id v) const { return entries + (((u32)v * 0x9e3779b1u) >> shift); }
  VG_DEVICE Id known(Id v) const {
    if (shift == 32) return v;
    for (;;) {
      u64 seen = relaxed(entry(v));
      if ((Id)(seen >> 32) != v) return v;
      v = (Id)(u32)seen;
    }
  }
  VG_DEVICE void know(Id v, Id same) const {
    if (shift != 32 && same < v) put_relaxed(entry(v), (u64)v << 32 | (u64)same);
  }
};

// Table `k` of `count` that share the pool, of at most `most` entries, a power of two; all threads of the block together.
// Vertices whose ids take more than 32 bits have none.
template <class Id>
VG_DEVICE KnownSets<Id> open_sets(u32 k, u32 count, u32 most, i64 num_vertices) {
  u32 room = vg::min(most, pool_bytes() / (u32)sizeof(u64) / count);
  KnownSets<Id> sets{(u64*)pool() + (u64)k * room, 32};
  if (num_vertices >= 1ll << 32) return sets;
  while (sets.shift > 1 && 2ull << (32 - sets.shift) <= room) --sets.shift;
  for (u32 i = threadIdx.x; i < room; i += BLOCK) sets.entries[i] = ~0ull;
  __syncthreads();
  return sets;
}

}  // namespace vg
