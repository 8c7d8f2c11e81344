// Pulls with the values of their sources in shared memory: segments of sources, 16-bit offsets, slices of 32 rows.
// The layout is described in vgraph/graph/layouts/slices.py.
#pragma once

namespace vg {

template <class Id>
struct Slices {
  i64 count, width;
  const i64* chunks;
  const u16* offsets;
  const u32* masks;
  const u32* ranks;
  const Id* rows;

  // Slices that end before this chunk.
  VG_DEVICE u64 before(u64 chunk) const {
    return fixed(&ranks[chunk / 32]) + __popc(fixed(&masks[chunk / 32]) & ((1u << chunk % 32) - 1));
  }
  // Which of the four chunks from this one on end a slice.
  VG_DEVICE u32 ends(u64 chunk) const { return fixed(&masks[chunk / 32]) >> (chunk % 32) & 15; }
};

struct Four {
  u32 low, high;  // offsets of 16 bits
};

// What is read once in a round, and should not displace what is read again.
VG_DEVICE Four streamed(const Four* place) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  Four four;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
               : "=r"(four.low), "=r"(four.high) : "l"(place), "l"(policy));
  return four;
#else
  return *place;
#endif
}
template <class Id>
VG_DEVICE Id streamed(const Id* place) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Id) == 4) {
    u64 policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    u32 found;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(found) : "l"(place), "l"(policy));
    return found;
  }
#endif
  return fixed(place);
}

constexpr u32 STEP = 4;       // chunks that a warp takes together, and offsets of a lane in a chunk
constexpr u64 TASK = 512;     // loading a segment costs as much as walking so many chunks
constexpr u64 GRAB = 64;      // chunks of the first segment that a warp takes at a time, at most
constexpr u64 LATE = 16;      // the same towards the end

// How arcs that are not there are told: by a value of the source that changes nothing; by their offset; by a bit of each
// source, which says also whether it takes part.
enum Absent { NEUTRAL, TESTED, ACTIVE };

// A warp walks the chunks from `from` to `until`, multiples of STEP.
template <Absent ABSENT, class T, class Id, class Begin, class Arc, class Flush>
VG_DEVICE void walk_chunks(const Slices<Id>& s, const T* values, const u32* bits, u64 from, u64 until, Begin begin, Arc arc, Flush flush) {
  if (from >= until) return;
  const Four* next = (const Four*)s.offsets + from * 32 + lane();
  const Id* rows = s.rows + lane();
  u64 slice = s.before(from);
  u32 ends = s.ends(from);
  Four now[STEP];
  Id row[STEP];
  for (u32 j = 0; j < STEP; ++j) now[j] = streamed(next + 32 * j);
  for (u32 j = 0; j < STEP; ++j) {
    row[j] = 0;
    if (ends >> j & 1) row[j] = streamed(rows + 32 * slice++);
  }
  begin();
  for (u64 chunk = from; chunk < until; chunk += STEP) {
    Four later[STEP];
    Id row_later[STEP];
    u32 ends_later = 0;
    if (chunk + STEP < until) {
      next += 32 * STEP;
      ends_later = s.ends(chunk + STEP);
      for (u32 j = 0; j < STEP; ++j) later[j] = streamed(next + 32 * j);
      for (u32 j = 0; j < STEP; ++j) {
        row_later[j] = 0;
        if (ends_later >> j & 1) row_later[j] = streamed(rows + 32 * slice++);
      }
    }
    for (u32 j = 0; j < STEP; ++j) {
      u32 offsets[4] = {now[j].low & 0xffff, now[j].low >> 16, now[j].high & 0xffff, now[j].high >> 16};
      for (u32 k = 0; k < 4; ++k) {
        u32 o = offsets[k];
        bool there = ABSENT == NEUTRAL || (ABSENT == TESTED ? o != s.width : bits[o / 32] >> (o % 32) & 1);
        if (there) arc(values[o], ((chunk + j) * 4 + k) * 32 + lane());
      }
      if (ends >> j & 1) {
        flush(row[j]);
        begin();
      }
    }
    if (chunk + STEP >= until && !(ends & 1u << (STEP - 1))) flush(fixed(rows + 32 * s.before(until - 1)));
    ends = ends_later;
    for (u32 j = 0; j < STEP; ++j) {
      now[j] = later[j];
      row[j] = row_later[j];
    }
  }
}

// Every arc once, with `load(u)`, the value of its source, in the block's memory. For each row of a slice: `begin()`,
// `arc(value of the source, place of the arc's own values)`, `end(destination)`. `SHARED`: where the lanes of a warp have
// rows of one destination, `together()` combines what they have, and the first of them ends.
// The segments but the first are shared out beforehand; then all blocks walk the first one, which in the order of degrees
// has most arcs, by grabs.
template <class T, Absent ABSENT, class Id, class Team, class Load, class Active, class Begin, class Arc, class Together, class End>
VG_DEVICE void by_slices(Team& team, u32& turn, Slices<Id> s, i64 n, T nothing, Load load, Active active,
                         Begin begin, Arc arc, Together together, End end) {
  u32* bits = (u32*)((T*)pool() + s.width + 1);
  bits = (u32*)(((u64)bits + 3) & ~3ull);
  T* values = (T*)pool();
  u64* word = team.control->hubs + turn % 2;
  if (team.first()) team.control->hubs[(turn + 1) % 2] = 0;
  ++turn;
  auto flush = [&](Id row) {
    {
      if (__all_sync(ALL, row == shuffle(row, 0))) {
        together();
        if (lane() == 0 && (i64)row < n) end(row);
        return;
      }
    }
    if ((i64)row < n) end(row);
    __syncwarp();
  };
  auto fetch = [&](i64 segment) {
    __syncthreads();
    i64 first = segment * s.width;
    u32 size = (u32)(n - first < s.width ? n - first : s.width);
#pragma unroll 8
    for (u32 i = threadIdx.x; i < size; i += BLOCK) values[i] = load((Id)(first + i));
    if (threadIdx.x == 0) values[s.width] = nothing;
    if constexpr (ABSENT == ACTIVE) {
      for (u32 i = threadIdx.x; i < s.width / 32 * 32 + 32; i += BLOCK) {
        u32 word = __ballot_sync(ALL, i < size && active((Id)(first + i)));
        if (lane() == 0) bits[i / 32] = word;
      }
    }
    __syncthreads();
  };
  auto walk = [&](u64 from, u64 until) { walk_chunks<ABSENT>(s, values, bits, from, until, begin, arc, flush); };
  // The line of all segments but the first, each with room for its loading.
  u64 start = (u64)s.chunks[1], length = (u64)s.chunks[s.count] - start + (u64)(s.count - 1) * TASK;
  u64 from = length * blockIdx.x / gridDim.x, until = length * (blockIdx.x + 1) / gridDim.x;
  for (i64 segment = 1; segment < s.count; ++segment) {
    u64 low = (u64)s.chunks[segment], high = (u64)s.chunks[segment + 1];
    u64 at = low - start + (u64)(segment - 1) * TASK;  // its place on the line
    u64 behind = at + TASK + (high - low);
    if (behind <= from) continue;
    if (at >= until) break;
    // The loading is of whoever has the first chunk; a share ends between steps.
    u64 first = from > at + TASK ? low + (from - at - TASK) / STEP * STEP : low;
    u64 last = until < behind ? until > at + TASK ? low + (until - at - TASK) / STEP * STEP : low : high;
    if (first >= last) continue;
    fetch(segment);
    u64 steps = (last - first) / STEP;
    walk(first + steps * warp() / WARPS * STEP, first + steps * (warp() + 1) / WARPS * STEP);
  }
  if (s.count == 0 || start == 0) return;
  fetch(0);
  u64 most = start / (4 * (u64)num_warps()) / STEP * STEP;
  most = most < STEP ? STEP : most < GRAB ? most : GRAB;
  u64 least = most < LATE ? most : LATE;
  u64 many = start * 3 / 5 / most;  // grabs of the first size
  auto grab = [&] {
    u64 taken = lane() == 0 ? atomicAdd(word, 1ull) : 0;
    return shuffle(taken, 0);
  };
  for (u64 turn = grab();; turn = grab()) {
    u64 begins = turn < many ? turn * most : many * most + (turn - many) * least;
    if (begins >= start) break;
    u64 ends = begins + (turn < many ? most : least);
    walk(begins, ends < start ? ends : start);
  }
}

}  // namespace vg
