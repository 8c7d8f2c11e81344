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
  bool calm;    // whether none of them can come round
};

// `most`: what a counter may have to hold.
VG_DEVICE Shelf open_shelf(u32 counters, u64 most) {
  u32 all = pool_bytes() / 4, of_marks = counters ? all / 4 * 3 : all;
  Shelf shelf = {pool(), of_marks / WARPS, 0, 0, most < 1ull << 32};
  shelf.counts = shelf.bits + shelf.words * WARPS;
  if (counters) shelf.counted = (all - shelf.words * WARPS) / counters;
  for (u32 i = threadIdx.x; i < all; i += BLOCK) shelf.bits[i] = 0;
  __syncthreads();
  return shelf;
}

// Ids of a head, which a lane reads at once.
constexpr u32 EIGHT = 8;
struct Eight {
  u32 x[4];
  VG_DEVICE u32 id(u32 k) const { return k % 2 ? x[k / 2] >> 16 : x[k / 2] & 0xffff; }
  // The same where `k` is not known when this is compiled: registers have no numbers.
  VG_DEVICE u32 any(u32 k) const {
    u64 four = k < 4 ? (u64)x[1] << 32 | x[0] : (u64)x[3] << 32 | x[2];
    return (u32)(four >> 16 * (k % 4)) & 0xffff;
  }
};

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

// The same at those of eight ids whose bits are set in `hits`.
template <class T>
VG_DEVICE void count(const Shelf& shelf, u32 k, T* array, const Eight& x, u32 hits, u32 value) {
  u32 others = hits;
  if (shelf.calm) {
    u32* counts = shelf.counts + k * shelf.counted;
    others = 0;
    for (u32 j = 0; j < EIGHT; ++j) {
      bool near = x.id(j) < shelf.counted;
      if (near && (hits & 1u << j)) atomicAdd(counts + x.id(j), value);
      if (!near) others |= hits & 1u << j;
    }
  }
  for (; others; others &= others - 1) count(shelf, k, array, x.any(__ffs(others) - 1), value);
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

VG_DEVICE u32 rotated(u32 word, u32 by) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(word, word, by);
#else
  return word >> (by % 32) | word << (-by % 32);
#endif
}

// The ids of lists that are below `width`: `graph/layouts/heads.py`.
template <class Offset>
struct Heads {
  const u32* starts;
  const u16* ids;
  const Offset* tails;
  u32 width;

  VG_DEVICE Eight eight(u32 at) const {
    Eight found;
    const u32* place = (const u32*)ids + 4 * (u64)at;
#ifdef __CUDA_ARCH__
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(found.x[0]), "=r"(found.x[1]), "=r"(found.x[2]), "=r"(found.x[3]) : "l"(place));
#else
    for (u32 k = 0; k < 4; ++k) found.x[k] = place[k];
#endif
    return found;
  }
};

// Whose lanes go through an arc where a group goes through several at a time: four. Measured on an H200, triangles of an
// R-MAT graph of scale 22, and how many there are: with 4 lanes 21.4 and 9.55 ms, 8 25.4 and 10.5, 16 29.0 and 14.9, 32
// 37.5 and 19.4.
template <class Group>
struct Quads { using Lanes = Group; };
template <>
struct Quads<Warp> { using Lanes = vg::Lanes<4>; };

// Arcs that a group goes through, each part of it another one, to the other end's head: that of the next arcs is on its
// way meanwhile.
template <class Group, class Part, class Offset, class Id>
struct HeadArcs {
  static constexpr u32 PARTS = Group::size / Part::size;
  static constexpr bool AHEAD = Group::size == 32;
  Offset at;
  // Of this part: whether it has an arc, the other end, where its head begins and ends, and what the lane reads first.
  bool there;
  Id vertex;
  u32 from, to;
  Eight first;

  VG_DEVICE HeadArcs(Group g, const Id* c, const Heads<Offset>& h, Offset begin, Offset end)
      : at(begin), lanes(g), columns(c), heads(h), ahead(begin), until(end), turn(0) {
    if (ahead < until) look();
    step();
  }
  VG_DEVICE bool more() const { return at < until; }
  VG_DEVICE void next() {
    at += PARTS;
    step();
  }
  VG_DEVICE u32 part() const { return PARTS == 1 ? 0 : lanes.rank() / Part::size; }
  VG_DEVICE Offset edge() const { return at + part(); }
  // What the parts have added up.
  template <class Op, class T>
  VG_DEVICE T together(T value) const {
    if constexpr (PARTS > 1) {
      for (u32 d = Part::size; d < Group::size; d *= 2) value = Op::apply(value, shuffle_xor(value, d));
    }
    return value;
  }

 private:
  Group lanes;
  const Id* columns;
  const Heads<Offset>& heads;
  Offset ahead, until;
  u32 turn;
  Id batch, vertex_next;
  u32 batch_from, batch_to, from_next, to_next;
  Eight first_next;

  VG_DEVICE void step() {
    there = at + part() < until;
    vertex = vertex_next;
    from = from_next;
    to = to_next;
    first = first_next;
    ahead += PARTS;
    if (ahead < until) look();
  }
  VG_DEVICE void look() {
    if (!AHEAD || turn % 32 == 0) {
      Offset own = AHEAD ? ahead + lanes.rank() : ahead;
      batch = own < until ? fixed(&columns[own]) : 0;
      batch_from = own < until ? fixed(&heads.starts[batch]) : 0;
      batch_to = own < until ? fixed(&heads.starts[batch + 1]) : 0;
    }
    u32 k = AHEAD ? turn % 32 + part() : 0;
    vertex_next = shared(batch, k);
    from_next = shared(batch_from, k);
    to_next = shared(batch_to, k);
    u32 own = from_next + Part().rank();
    if (own < to_next) first_next = heads.eight(own);
    turn += PARTS;
  }
  template <class T>
  VG_DEVICE T shared(T value, u32 k) const {
    if constexpr (AHEAD) return shuffle(value, k);
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
  u32 near, shared_by, far;  // what ids from `near` on share begins behind a bit that nobody sets

  // With `heads` their ids have a bit each, as far as there is room.
  // A list that is asked without marks.
  VG_DEVICE Marks(const Offset* rows, const Id* c, Id v)
      : columns(c), begin(fixed(&rows[v])), end(fixed(&rows[v + 1])), last(begin == end ? 0 : fixed(&c[end - 1])) {}
  VG_DEVICE Marks(Group lanes, const Shelf& shelf, const Offset* rows, const Id* c, Id v, u32 heads = 0)
      : Marks(rows, c, v) {
    if constexpr (BITS) {
      u32 words = Group::size == 32 ? shelf.words : shelf.words * WARPS;
      bits = shelf.bits + (Group::size == 32 ? shelf.words * warp() : 0);
      near = shared_by = heads ? words / 8 * 7 * 32 : words / 4 * 3 * 32;
      if (heads && near > heads) {
        near = heads;
        shared_by = heads + 1;
      }
      far = words * 32 - shared_by;
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

  // Whether the bit of `w` is set.
  VG_DEVICE u32 bit(Id w) const {
    if constexpr (!BITS) return 1;
    u32 at = place(w);
    return bits[at / 32] >> (at % 32) & 1;
  }

  // Whether `w`, whose bit is set, is one of them. Lanes without bits ask in ascending order: `from` is where they are.
  VG_DEVICE bool has(Id w, Offset& from) const {
    if constexpr (BITS) {
      if (w < near) return true;
      from = begin;
    }
    from = next_not_below(columns, from, end, w);
    return from != end && fixed(&columns[from]) == w;
  }

  // Which of eight ids of a head are among them, a bit each.
  VG_DEVICE u32 among(const Eight& x, u32 width) const {
    u32 found = 0;
    if (near == width) {  // each has a bit of its own, and so has the padding
      for (u32 k = 0; k < EIGHT; ++k) {
        u32 w = x.id(k);
        found |= rotated(bits[w / 32], w - k) & 1u << k;
      }
    } else {
#pragma unroll 1
      for (u32 k = 0; k < EIGHT; ++k) {
        Id w = (Id)x.any(k);
        Offset from;
        if (w != width && bit(w) && has(w, from)) found |= 1u << k;
      }
    }
    return found;
  }

 private:
  VG_DEVICE u32 place(Id w) const {
    if (w < near) return (u32)w;
    return shared_by + (u32)((u64)((u32)w * 0x9E3779B1u) * far >> 32);
  }
};

// As by_split, for visits that walk lists of very unequal lengths: warps draw tickets, for vertices from all over the
// range, since those of like numbers may have lists of like lengths, and then for pieces of hubs.
template <class Id, class Offset, class Team, class Visit>
VG_DEVICE bool by_marked(Team& team, u32& turn, Range<Id> range, const Offset* rows, u64* memory, i64 limit, Visit visit) {
  Hubs<Id> hubs(team, turn, memory);
  u64 most = limit < 1 ? 1 : (u64)limit;
  u32 width = warp_width(range.count);
  i64 shares = (range.count + width - 1) / width;
  for (i64 k = hubs.ticket(0); k < shares; k = hubs.ticket(0)) {
    i64 i = k + lane() * shares;
    bool mine = lane() < width && range.has(i);
    Id v = mine ? range[i] : 0;
    Offset begin = mine ? fixed(&rows[v]) : 0, end = mine ? fixed(&rows[v + 1]) : 0;
    u64 degree = end - begin;
    if (mine && degree == 0) visit(Thread(), i, v, begin, end, true, true);
    if (degree > most) hubs.set_aside(i, degree);
    for (u32 left = __ballot_sync(ALL, degree > 0 && degree <= most); left; left &= left - 1) {
      u32 one = __ffs(left) - 1;
      visit(Warp(), shuffle(i, one), shuffle(v, one), shuffle(begin, one), shuffle(end, one), true, true);
      __syncwarp();
    }
  }
  if (team.meet()) return true;
  by_pieces<true>(hubs, range, rows, most, visit);
  return false;
}

// What a lane looks at together of a list: each lane's first vertex, its next, and so on. All are read before the first
// is asked for.
constexpr u32 TOGETHER = 4;
template <class Marks, class Id>
struct Stretch {
  Id w[TOGETHER];
  u32 likely = 0;

  template <class Group, class Offset>
  VG_DEVICE Stretch(const Marks& marks, Group lanes, const Id* columns, Offset at, Offset end) {
    for (u32 k = 0; k < TOGETHER; ++k) {
      w[k] = (Id)-1;
      if (k * Group::size < end - at) w[k] = fixed(&columns[at + k * Group::size]);
    }
    for (u32 k = 0; k < TOGETHER; ++k) {
      if (w[k] <= marks.last) likely |= marks.bit(w[k]) << k;
    }
  }
  // Whether the list goes on behind the last vertex marked.
  VG_DEVICE bool ends(const Marks& marks) const { return w[TOGETHER - 1] > marks.last; }
};

}  // namespace vg
