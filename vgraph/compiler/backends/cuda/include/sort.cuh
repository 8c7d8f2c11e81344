// Pairs of numbers in the order of the first, pairs with equal ones as they stood: digit by digit, from the lowest. Each
// block has a range of the pairs, which it goes through in strips; where its pairs with a digit belong follows from how many
// of each digit the blocks have. Pairs come from arrays, or are made of the arcs of a graph as they are read.
#pragma once

namespace vg {

constexpr u32 DIGITS = 256, DIGIT_BITS = 8;
constexpr u32 ITEMS = 8;  // pairs of a strip that a thread has
constexpr u32 STRIP = BLOCK * ITEMS;

// What a block shares.
struct Sorting {
  u32 pairs[2 * STRIP];  // of the strip, in the order of their digits; before that what else a source keeps
  u32 first[DIGITS + 1];  // where those with a digit begin in the strip
  u32 next[DIGITS];       // where the block's next pair with a digit belongs
  u16 seen[WARPS][DIGITS];
};

struct FromPairs {
  const u32* keys;
  const u32* values;
  VG_DEVICE void seek(u64) {}
  VG_DEVICE void open(u32*, u64, u64) {}
  // Pairs `first`, `first + step`, ... of a strip that ends at `stop`; a bit for each that there is.
  VG_DEVICE u32 load(u64 first, u32 step, u64 stop, u32* key, u32* value) const {
    u32 there = 0;
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
      u64 k = first + i * step;
      if (k >= stop) continue;
      key[i] = keys[k];
      value[i] = values[k];
      there |= 1u << i;
    }
    return there;
  }
};

// The arcs of a graph's rows, row by row in the order of `rank`, which is a vertex's place in it, as pairs of ranks: of those
// to later vertices the later and the earlier one. Row r begins at `line[r]` of all arcs in this order, and arc k of them
// stands at `k + moves[r]` in `columns`.
template <class Id>
struct FromArcs {
  const u64* line;
  const i64* moves;
  const Id* columns;
  const Id* rank;
  u32 n;
  u64 begin;
  u32 low, rows;  // the rows of which the strip has arcs
  u32* starts;

  // The next strip begins at arc k.
  VG_DEVICE void seek(u64 k) {
    u32 high = n;
    for (low = 0; high - low > 1;) {
      u32 middle = low + (high - low) / 2;
      if (line[middle] <= k) low = middle;
      else high = middle;
    }
    rows = 1;
  }
  VG_DEVICE void open(u32* room, u64 from, u64 to) {
    begin = from;
    starts = room;
    low += rows - 1;  // the last row of the strip before, which may go on
    rows = 0;
    bool more = true;
    while (more) {
      u32 j = rows + threadIdx.x;
      u64 start = low + j < n ? line[low + j] : to;
      bool here = start < to;
      if (here) starts[j] = start > from ? (u32)(start - from) : 0;
      u32 found = __syncthreads_count(here);
      rows += found;
      more = found == BLOCK;
    }
  }
  // What waits for memory is asked for all arcs of the thread, before the first is waited for.
  VG_DEVICE u32 load(u64 first, u32 step, u64 stop, u32* key, u32* value) const {
    u32 row[ITEMS], top = 1, there = 0;
    i64 place[ITEMS];
    while (2 * top < rows) top *= 2;
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) row[i] = 0;
    for (; top; top /= 2) {
#pragma unroll
      for (u32 i = 0; i < ITEMS; ++i) {
        u32 next = row[i] + top;
        if (next < rows && starts[next] <= (u32)(vg::min(first + i * step, stop - 1) - begin)) row[i] = next;
      }
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
      value[i] = low + row[i];
      place[i] = moves[value[i]];
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) key[i] = columns[(i64)vg::min(first + i * step, stop - 1) + place[i]];
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) key[i] = rank[key[i]];
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) there |= (first + i * step < stop && key[i] > value[i]) << i;
    return there;
  }
};

// Where those with a digit begin, from how many there are of each, in `first`; by the first warp.
VG_DEVICE void sum_digits(u32* first) {
  if (threadIdx.x >= 32) return;
  constexpr u32 EACH = DIGITS / 32;
  u32 sum = 0;
  for (u32 i = 0; i < EACH; ++i) sum += first[lane() * EACH + i];
  u32 before = sum;
  for (u32 distance = 1; distance < 32; distance *= 2) {
    u32 other = shuffle(before, lane() - distance & 31);
    if (lane() >= distance) before += other;
  }
  before -= sum;
  for (u32 i = 0; i < EACH; ++i) {
    u32 count = first[lane() * EACH + i];
    first[lane() * EACH + i] = before;
    before += count;
  }
  if (lane() == 31) first[DIGITS] = before;
}

// How many pairs of the block's range have each digit.
template <class From>
VG_DEVICE void count_digits(From from, u64 begin, u64 end, u32 shift, u32* counts, Sorting& s) {
  for (u32 d = threadIdx.x; d < DIGITS; d += BLOCK) s.next[d] = 0;
  for (u64 strip = begin; strip < end; strip += STRIP) {
    u64 stop = vg::min(strip + STRIP, end);
    __syncthreads();
    from.open(s.pairs, strip, stop);
    __syncthreads();
    u32 key[ITEMS], value[ITEMS], there = from.load(strip + threadIdx.x, BLOCK, stop, key, value);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
      if (there >> i & 1) atomicAdd(&s.next[key[i] >> shift & DIGITS - 1], 1u);
    }
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < DIGITS; d += BLOCK) counts[(u64)d * gridDim.x + blockIdx.x] = s.next[d];
}

// From the counts of all blocks: where the block's first pair with each digit belongs. How many pairs there are.
VG_DEVICE u32 place_digits(const u32* counts, Sorting& s) {
  for (u32 d = threadIdx.x / 32; d < DIGITS; d += WARPS) {
    u32 all = 0, before = 0;
    for (u32 b = lane(); b < gridDim.x; b += 32) {
      u32 count = counts[(u64)d * gridDim.x + b];
      all += count;
      if (b < blockIdx.x) before += count;
    }
    all = warp_reduce<Sum>(all);
    before = warp_reduce<Sum>(before);
    if (lane() == 0) {
      s.first[d] = all;
      s.next[d] = before;
    }
  }
  __syncthreads();
  sum_digits(s.first);
  __syncthreads();
  for (u32 d = threadIdx.x; d < DIGITS; d += BLOCK) s.next[d] += s.first[d];
  u32 count = s.first[DIGITS];
  __syncthreads();
  return count;
}

// Pairs of the block's range go to where they belong by a digit.
template <class From>
VG_DEVICE void move_pairs(From from, u64 begin, u64 end, u32 shift, u32* keys, u32* values, Sorting& s) {
  u16* mine = s.seen[threadIdx.x / 32];
  for (u64 strip = begin; strip < end; strip += STRIP) {
    u64 stop = vg::min(strip + STRIP, end);
    from.open(s.pairs, strip, stop);
    for (u32 d = threadIdx.x; d < WARPS * DIGITS; d += BLOCK) s.seen[0][d] = 0;
    __syncthreads();
    u32 key[ITEMS], value[ITEMS], place[ITEMS];
    u32 there = from.load(strip + threadIdx.x / 32 * ITEMS * 32 + lane(), 32, stop, key, value);
    __syncthreads();
    // Of pairs with a digit: how many of the warp stand before this one.
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
      bool is = there >> i & 1;
      u32 d = is ? key[i] >> shift & DIGITS - 1 : 0, same = __ballot_sync(ALL, is);
      for (u32 bit = 0; bit < DIGIT_BITS; ++bit) {
        u32 ones = __ballot_sync(ALL, d >> bit & 1);
        same &= d >> bit & 1 ? ones : ~ones;
      }
      u32 before = mine[d];
      place[i] = before + __popc(same & lanes_below());
      __syncwarp();
      if (is && !(same & lanes_below())) mine[d] = (u16)(before + __popc(same));
      __syncwarp();
    }
    __syncthreads();
    for (u32 d = threadIdx.x; d < DIGITS; d += BLOCK) {
      u32 before = 0;
      for (u32 w = 0; w < WARPS; ++w) {
        u32 count = s.seen[w][d];
        s.seen[w][d] = (u16)before;
        before += count;
      }
      s.first[d] = before;
    }
    __syncthreads();
    sum_digits(s.first);
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
      if (!(there >> i & 1)) continue;
      u32 d = key[i] >> shift & DIGITS - 1, at = s.first[d] + mine[d] + place[i];
      s.pairs[at] = key[i];
      s.pairs[STRIP + at] = value[i];
    }
    __syncthreads();
    for (u32 j = threadIdx.x; j < s.first[DIGITS]; j += BLOCK) {
      u32 found = s.pairs[j], d = found >> shift & DIGITS - 1, at = s.next[d] + (j - s.first[d]);
      keys[at] = found;
      values[at] = s.pairs[STRIP + j];
    }
    __syncthreads();
    for (u32 d = threadIdx.x; d < DIGITS; d += BLOCK) s.next[d] += s.first[d + 1] - s.first[d];
  }
}

// One digit of `size` pairs. How many there are of them; `stop`: whether the run is to stop.
template <class From, class Team>
VG_DEVICE u32 sort_digit(Team& team, From from, u64 size, u32 shift, u32* keys, u32* values, u32* counts, Sorting& s, bool& stop) {
  u64 strips = (size + STRIP - 1) / STRIP, each = (strips + gridDim.x - 1) / gridDim.x * STRIP;
  u64 begin = vg::min(size, blockIdx.x * each), end = vg::min(size, begin + each);
  from.seek(begin);
  count_digits(from, begin, end, shift, counts, s);
  if ((stop = team.meet())) return 0;
  u32 count = place_digits(counts, s);
  move_pairs(from, begin, end, shift, keys, values, s);
  stop = team.meet();
  return count;
}

}  // namespace vg
