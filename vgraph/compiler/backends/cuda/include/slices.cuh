// Pulls with the values of their sources in shared memory: segments of sources, 16-bit offsets, slices of 32 rows.
// The layout is described in vgraph/graph/layouts/slices.py, that of parts in part_slices.py.
#pragma once

namespace vg {

// Measured on an H200, an iteration of PageRank in float32, R-MAT of scale 22 in the order of degrees: 0.197 ms with 64 and
// 16 in place of GRAB and LATE, 0.197 with 96 and 16, 0.191 with 128 and 32; TASK of 800 to 2500 alike.
constexpr u32 STEP = 4;       // chunks that a warp takes together, and offsets of a lane in a chunk
constexpr u64 TASK = 1500;    // loading a segment costs as much as walking so many chunks
constexpr u32 GRAB = 128;     // chunks of the first segment that a warp takes at a time, at most
constexpr u32 LATE = 32;      // the same towards the end

template <class Id>
struct Slices {
  i64 count, width;
  const i64* starts;
  const i64* chunks;
  const u16* offsets;
  const u32* masks;
  const u32* ranks;
  const Id* rows;

  // How many sources a segment has, and one of them.
  VG_DEVICE u32 size(i64 segment, i64 n) const { return (u32)(n - starts[segment] < width ? n - starts[segment] : width); }
  VG_DEVICE Id source(i64 segment, u32 i) const { return (Id)(starts[segment] + i); }

  // Slices that end before this chunk.
  VG_DEVICE u32 before(u32 chunk) const {
    return fixed(&ranks[chunk / 32]) + __popc(fixed(&masks[chunk / 32]) & ((1u << chunk % 32) - 1));
  }
  // Which of the four chunks from this one on end a slice.
  VG_DEVICE u32 ends(u32 chunk) const { return fixed(&masks[chunk / 32]) >> (chunk % 32) & 15; }

  // What it costs to walk all chunks before this one: the end of a slice as much as a chunk.
  VG_DEVICE u64 cost(u32 chunk) const { return (u64)chunk + before(chunk); }
  // Where segments begin on a line of costs of all but the first, each with room for its loading.
  VG_DEVICE u64 place(i64 segment) const {
    return cost((u32)chunks[segment]) - cost((u32)chunks[1]) + (u64)(segment - 1) * TASK;
  }
  // The chunk of a segment, a multiple of STEP, up to which walking it costs about so much; all lanes of a
  // warp together. Two shares that meet at a cost meet at a chunk.
  VG_DEVICE u32 chunk_at(i64 segment, u64 spent) const {
    u32 first = (u32)chunks[segment], last = (u32)chunks[segment + 1];
    if (spent == 0) return first;
    u64 until = cost(first) + spent;
    u32 low = first / 32, high = last / 32 + 1;  // the last word that begins at no more
    while (high - low > 1) {
      u32 step = (high - low + 31) / 32, word = low + step * lane();
      bool passed = word < high && 32 * (u64)word + fixed(&ranks[word]) <= until;
      u32 many = __popc(__ballot_sync(ALL, passed));
      low += many ? step * (many - 1) : 0;
      high = low + step < high ? low + step : high;
      if (!many) break;
    }
    u64 spare = until - (32 * (u64)low + fixed(&ranks[low]));
    u32 whole = 32 + __popc(fixed(&masks[low]));
    u32 found = 32 * low + (spare < whole ? (u32)spare * 32 / whole : 32) / STEP * STEP;
    return found < first ? first : found < last ? found : last;
  }
};

// The same with sources that are listed.
template <class Id>
struct PartSlices : Slices<Id> {
  const Id* members;

  VG_DEVICE u32 size(i64 segment, i64) const { return (u32)(this->starts[segment + 1] - this->starts[segment]); }
  VG_DEVICE Id source(i64 segment, u32 i) const { return fixed(&members[this->starts[segment] + i]); }
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

// How arcs that are not there are told: by a value of the source that changes nothing; by their offset; by a bit of each
// source, which says also whether it takes part.
enum Absent { NEUTRAL, TESTED, ACTIVE };

// A warp walks the chunks from `from` to `until`, multiples of STEP.
template <Absent ABSENT, class T, class Id, class Begin, class Arc, class Flush>
VG_DEVICE void walk_chunks(const Slices<Id>& s, const T* values, const u32* bits, u32 from, u32 until, Begin begin, Arc arc, Flush flush) {
  u32 absent = (u32)s.width;
  const Four* next = (const Four*)s.offsets + (u64)from * 32 + lane();
  const Id* rows = s.rows + lane();
  u32 slice = s.before(from);
  u32 ends = s.ends(from), ends_next = from + STEP < until ? s.ends(from + STEP) : 0;
  Four now[STEP];
  Id row[STEP];
  for (u32 j = 0; j < STEP; ++j) now[j] = streamed(next + 32 * j);
  for (u32 j = 0; j < STEP; ++j) {
    row[j] = 0;
    if (ends >> j & 1) row[j] = streamed(rows + 32 * (u64)slice++);
  }
  begin();
  for (u32 chunk = from; chunk < until; chunk += STEP) {
    Four later[STEP];
    Id row_later[STEP];
    u32 ends_last = chunk + 2 * STEP < until ? s.ends(chunk + 2 * STEP) : 0;
    if (chunk + STEP < until) {
      next += 32 * STEP;
      for (u32 j = 0; j < STEP; ++j) later[j] = streamed(next + 32 * j);
      for (u32 j = 0; j < STEP; ++j) {
        row_later[j] = 0;
        if (ends_next >> j & 1) row_later[j] = streamed(rows + 32 * (u64)slice++);
      }
    }
    auto one = [&](u32 j) {
      u32 offsets[4] = {now[j].low & 0xffff, now[j].low >> 16, now[j].high & 0xffff, now[j].high >> 16};
      for (u32 k = 0; k < 4; ++k) {
        u32 o = offsets[k];
        bool there = ABSENT == NEUTRAL || (ABSENT == TESTED ? o != absent : bits[o / 32] >> (o % 32) & 1);
        if (there) arc(values[o], ((u64)(chunk + j) * 4 + k) * 32 + lane());
      }
    };
    if (ends == 0) {  // no branch between the reads of 16 values
      for (u32 j = 0; j < STEP; ++j) one(j);
    } else {
      for (u32 j = 0; j < STEP; ++j) {
        one(j);
        if (ends >> j & 1) {
          flush(row[j]);
          begin();
        }
      }
    }
    if (chunk + STEP >= until && !(ends & 1u << (STEP - 1))) flush(fixed(rows + 32 * (u64)s.before(until - 1)));
    ends = ends_next;
    ends_next = ends_last;
    for (u32 j = 0; j < STEP; ++j) {
      now[j] = later[j];
      row[j] = row_later[j];
    }
  }
}

// What will be read soon, from the device's memory into the L2 cache.
VG_DEVICE void ahead(const void* place) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" : : "l"(place));
#endif
}

// The value of a source that is an element of an array, which nobody writes meanwhile.
template <class T>
struct Plain {
  const T* array;
  template <class Id>
  VG_DEVICE T operator()(Id u) const { return array[u]; }
};

struct Sixteen {
  u64 low, high;
};

// So many values, by all threads of the block.
template <class T, class Load>
VG_DEVICE void fetch(T* values, u32 size, Load load) {
  constexpr u32 MANY = 2;
  for (u32 i = threadIdx.x; i < size; i += MANY * BLOCK) {
    T batch[MANY];
    for (u32 k = 0; k < MANY; ++k) {
      if (i + k * BLOCK < size) batch[k] = load(i + k * BLOCK);
    }
    for (u32 k = 0; k < MANY; ++k) {
      if (i + k * BLOCK < size) values[i + k * BLOCK] = batch[k];
    }
  }
}
// The values of the sources of a segment.
template <class T, class Layout, class Load>
VG_DEVICE void fetch(T* values, const Layout& s, i64 segment, u32 size, Load load) {
  fetch(values, size, [&](u32 i) { return load(s.source(segment, i)); });
}
template <class T, class Id>
VG_DEVICE void fetch(T* values, const Slices<Id>& s, i64 segment, u32 size, Plain<T> plain) {
  auto place = plain.array + s.starts[segment];
  u32 whole = (u64)place % 16 == 0 ? size * (u32)sizeof(T) / 16 : 0, done = whole * 16 / (u32)sizeof(T);
  fetch((Sixteen*)values, whole, [&](u32 i) { return ((const Sixteen*)place)[i]; });
  fetch(values + done, size - done, [&](u32 i) { return place[done + i]; });
}

// Every arc once, with `load(u)`, the value of its source, in the block's memory. For each row of a slice: `begin()`,
// `arc(value of the source, place of the arc's own values)`, `end(destination)`. Where the lanes of a warp have rows of one
// destination, `together()` combines what they have, and the first of them ends.
// The segments but the first are shared out beforehand; then all blocks walk the first one, which in the order of degrees
// has most arcs, by grabs.
template <class T, Absent ABSENT, class Layout, class Team, class Load, class Active, class Begin, class Arc, class Together, class End>
VG_DEVICE void by_slices(Team& team, u32& turn, Layout s, i64 n, T nothing, Load load, Active active,
                         Begin begin, Arc arc, Together together, End end) {
  u32* bits = (u32*)((T*)pool() + s.width + 1);
  bits = (u32*)(((u64)bits + 3) & ~3ull);
  T* values = (T*)pool();
  u64* word = team.control->hubs + turn % 2;
  if (team.first()) team.control->hubs[(turn + 1) % 2] = 0;
  ++turn;
  auto flush = [&](auto row) {
    if (__all_sync(ALL, row == shuffle(row, 0))) {
      together();
      if (lane() == 0 && (i64)row < n) end(row);
      return;
    }
    if ((i64)row < n) end(row);
    __syncwarp();
  };
  auto load_segment = [&](i64 segment) {
    __syncthreads();
    u32 size = s.size(segment, n);
    fetch(values, s, segment, size, load);
    if (threadIdx.x == 0) values[s.width] = nothing;
    if constexpr (ABSENT == ACTIVE) {
      for (u32 i = threadIdx.x; i < s.width / 32 * 32 + 32; i += BLOCK) {
        u32 word = __ballot_sync(ALL, i < size && active(s.source(segment, i)));
        if (lane() == 0) bits[i / 32] = word;
      }
    }
    __syncthreads();
  };
  if (s.count == 0) return;
  u32 all = (u32)s.chunks[1];  // of the first segment
  u32 most = all / (4 * (u32)num_warps()) / STEP * STEP;
  most = most < STEP ? STEP : most < GRAB ? most : GRAB;
  u32 least = most < LATE ? most : LATE;
  u32 many = all / 5 * 3 / most;  // grabs of the first size
  // This block's share of the line, and the first segment in it; behind the others comes segment 0.
  u64 length = s.place(s.count), from = length * blockIdx.x / gridDim.x, until = length * (blockIdx.x + 1) / gridDim.x;
  i64 segment = 1;
  for (u32 passed = 32; passed == 32; segment += passed) {
    i64 one = segment + lane();
    passed = __popc(__ballot_sync(ALL, one < s.count && s.place(one + 1) <= from));
  }
  for (bool more = true; more; ++segment) {
    u32 chunk = 0, end = 0;
    more = segment < s.count && s.place(segment) + TASK < until;
    if (more) {
      u64 begins = s.place(segment) + TASK, ends = s.place(segment + 1);
      u64 low = from > begins ? from : begins, high = until < ends ? until : ends;
      if (low >= high) continue;
      u64 part = high - low, first = low - begins + part * warp() / WARPS, last = low - begins + part * (warp() + 1) / WARPS;
      chunk = s.chunk_at(segment, first);
      end = begins + last == ends ? (u32)s.chunks[segment + 1] : s.chunk_at(segment, last);
      ahead((const Four*)s.offsets + (u64)chunk * 32 + 16 * lane());
    }
    load_segment(more ? segment : 0);
    for (;;) {
      if (!more) {
        u32 grab = lane() == 0 ? (u32)atomicAdd(word, 1ull) : 0;
        grab = shuffle(grab, 0);
        chunk = grab < many ? grab * most : many * most + (grab - many) * least;
        end = chunk + (grab < many ? most : least);
        end = end < all ? end : all;
      }
      if (chunk < end) walk_chunks<ABSENT>(s, values, bits, chunk, end, begin, arc, flush);
      if (more || chunk >= end) break;
    }
  }
}

}  // namespace vg
