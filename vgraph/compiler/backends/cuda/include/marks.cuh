// Marked neighbors: the list with which many others are compared, as bits in the shared memory of those who walk them.
#pragma once

namespace vg {

// What a loop has of the pool: bits for each warp (a block has those of all its warps), all zero between visits, and
// `counters` arrays of counters of the vertices of lowest numbers.
struct Shelf {
  u32* bits;
  u32 words;  // of each warp
  u32* counts;
  u32 counted;  // vertices that have counters
};

VG_DEVICE Shelf open_shelf(u32 counters) {
  u32 all = pool_bytes() / 4, of_marks = counters ? all / 2 : all;
  Shelf shelf = {pool(), of_marks / WARPS, 0, 0};
  shelf.counts = shelf.bits + shelf.words * WARPS;
  if (counters) shelf.counted = (all - shelf.words * WARPS) / counters;
  for (u32 i = threadIdx.x; i < all; i += BLOCK) shelf.bits[i] = 0;
  __syncthreads();
  return shelf;
}

// `array[at] += value` through counter array `k`. A counter that has come half way round moves that half on.
template <class T, class Id>
VG_DEVICE void count(const Shelf& shelf, u32 k, T* array, Id at, u32 value) {
  constexpr u32 HALF = 1u << 31;
  if (at < shelf.counted) {
    u32* place = shelf.counts + k * shelf.counted + at;
    u32 old = atomicAdd(place, value);
    if (sizeof(T) > 4 && old < HALF && old + value >= HALF) {
      atomicSub(place, HALF);
      Atomic<Sum>::reduce(array + at, (T)HALF);
    }
  } else {
    Atomic<Sum>::reduce(array + at, (T)value);
  }
}

// What the counters of array `k` hold goes to where it belongs; behind it they hold nothing of use.
template <class T>
VG_DEVICE void empty_counts(const Shelf& shelf, u32 k, T* array) {
  __syncthreads();
  for (u32 i = threadIdx.x; i < shelf.counted; i += BLOCK) {
    u32 found = shelf.counts[k * shelf.counted + i];
    if (found) Atomic<Sum>::reduce(array + i, (T)found);
  }
}

// Arcs that a group goes through as one. Its lanes read ahead: each the other end of an arc, and where the list of that
// vertex begins and ends.
template <class Group, class Offset, class Id>
struct Arcs {
  static constexpr bool AHEAD = Group::size > 1 && Group::size <= 32;
  Group lanes;
  const Id* columns;
  const Offset* rows;  // of the lists
  Offset at, until;
  Id mine;
  Offset from, to;

  VG_DEVICE Arcs(Group g, const Id* c, const Offset* r, Offset begin, Offset end)
      : lanes(g), columns(c), rows(r), at(begin), until(end), mine(0), from(0), to(0) {
    read();
  }
  VG_DEVICE bool more() const { return at < until; }
  VG_DEVICE void next() {
    ++at;
    if (!AHEAD || ++turn == Group::size) read();
  }
  VG_DEVICE Id vertex() const { return AHEAD ? shared(mine) : mine; }
  VG_DEVICE Offset begin() const { return AHEAD ? shared(from) : from; }
  VG_DEVICE Offset end() const { return AHEAD ? shared(to) : to; }

 private:
  u32 turn;
  VG_DEVICE void read() {
    turn = 0;
    Offset own = AHEAD ? at + lanes.rank() : at;
    if (own >= until) return;
    mine = fixed(&columns[own]);
    from = fixed(&rows[mine]);
    to = fixed(&rows[mine + 1]);
  }
  template <class T>
  VG_DEVICE T shared(T value) const {
    if constexpr (AHEAD) return shuffle(value, lanes.leader() + turn, lanes.mask());
    else return value;
  }
};

// The neighbors of a vertex in a sorted list, for all who walk other lists together. Ids below `near` have a bit each;
// the bit of another one says that it may be there, and the list is asked.
template <class Group, class Offset, class Id>
struct Marks {
  static constexpr bool BITS = Group::size >= 32;  // fewer lanes look in the list itself
  const Id* columns;
  Offset begin, end;
  Id last;  // of them; 0 if there are none
  u32* bits;
  u32 near, far;

  VG_DEVICE Marks(Group lanes, const Shelf& shelf, const Offset* rows, const Id* c, Id v)
      : columns(c), begin(fixed(&rows[v])), end(fixed(&rows[v + 1])), last(begin == end ? 0 : fixed(&c[end - 1])) {
    if constexpr (BITS) {
      u32 words = Group::size == 32 ? shelf.words : shelf.words * WARPS;
      bits = shelf.bits + (Group::size == 32 ? shelf.words * warp() : 0);
      near = words / 4 * 3 * 32;
      far = words * 32 - near;
      for (Offset e = begin + lanes.rank(); e < end; e += Group::size) {
        u32 at = place(fixed(&columns[e]));
        atomicOr(bits + at / 32, 1u << (at % 32));
      }
      lanes.wait();
    }
  }

  VG_DEVICE void clear(Group lanes) {
    if constexpr (BITS) {
      lanes.wait();
      for (Offset e = begin + lanes.rank(); e < end; e += Group::size) bits[place(fixed(&columns[e])) / 32] = 0;
      lanes.wait();
    }
  }

  // Whether `w` is one of them. Lanes without bits ask in ascending order: `from` is where they have come to.
  VG_DEVICE bool has(Id w, Offset& from) const {
    if constexpr (BITS) {
      u32 at = place(w);
      if (!(bits[at / 32] >> (at % 32) & 1)) return false;
      if (w < near) return true;
      from = begin;
    }
    from = next_not_below(columns, from, end, w);
    return from != end && fixed(&columns[from]) == w;
  }

 private:
  VG_DEVICE u32 place(Id w) const {
    if (w < near) return (u32)w;
    return near + (u32)((u64)((u32)w * 0x9E3779B1u) * far >> 32);
  }
};

}  // namespace vg
