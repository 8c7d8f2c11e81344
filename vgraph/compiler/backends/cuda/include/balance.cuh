// Load balance: how the arcs of vertices are shared among threads.
//
// A balancer calls `visit(lanes, place, v, begin, end, whole, first)` one or more times for each vertex of a range, each
// time with a piece of its arcs: all arcs are in exactly one piece. `lanes` are the threads that walk the piece together;
// all of them make the call. `whole`: the piece is all arcs of the vertex. `first`: true for one piece of each vertex.
#pragma once

namespace vg {

// The vertices of a parallel loop: all below `count`, those of a queue, or those of a bitmap.
template <class Id>
struct Range {
  const Id* queue;
  const u64* words;
  i64 count;

  VG_DEVICE Id operator[](i64 i) const { return queue ? queue[i] : (Id)i; }
  VG_DEVICE bool has(i64 i) const { return i < count && (!words || (words[i / 64] >> (i % 64) & 1)); }
};
template <class Id>
VG_DEVICE Range<Id> every(i64 num_vertices) { return {nullptr, nullptr, num_vertices}; }
template <class Id>
VG_DEVICE Range<Id> members(const Frontier<Id>& f) { return {f.queue, nullptr, f.count}; }
template <class Id>
VG_DEVICE Range<Id> set_bits(const Frontier<Id>& f, i64 num_vertices) { return {nullptr, f.words, num_vertices}; }

// --- who walks a piece together ------------------------------------------------------------------------------

struct Thread {
  static constexpr u32 size = 1;
  using First = Thread;
  VG_DEVICE u32 rank() const { return 0; }
  VG_DEVICE bool leads() const { return true; }
  VG_DEVICE void wait() const {}
  template <class T>
  VG_DEVICE T same(T value) const { return value; }
  template <class Op, class T>
  VG_DEVICE T reduce(T value) const { return value; }
};

// Whether 64-bit integers are added.
template <class Op, class T>
VG_DEVICE constexpr bool is_sum() { return false; }
template <>
VG_DEVICE constexpr bool is_sum<Sum, i64>() { return true; }
template <>
VG_DEVICE constexpr bool is_sum<Sum, u64>() { return true; }

// N neighboring lanes of a warp; if FIRST its first ones, while the others wait. With a mask that is no constant
// lanes are asked who has the same one wherever they meet (MATCH.ANY).
template <u32 N, bool FIRST = false>
struct Lanes {
  static constexpr u32 size = N;
  using First = Lanes<N, true>;
  VG_DEVICE u32 rank() const { return lane() % N; }
  VG_DEVICE u32 leader() const { return FIRST ? 0 : lane() - rank(); }
  VG_DEVICE bool leads() const { return rank() == 0; }
  VG_DEVICE void wait() const { __syncwarp(mask()); }
  VG_DEVICE u32 mask() const { return N == 32 ? ALL : ((1u << (N % 32)) - 1) << leader(); }
  // The first lane's value.
  template <class T>
  VG_DEVICE T same(T value) const { return shuffle(value, leader(), mask()); }
  template <class Op, class T>
  VG_DEVICE T reduce(T value) const {
    __syncwarp(mask());
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (N == 32 && is_sum<Op, T>()) {
      if (__all_sync(ALL, (u64)value < 1u << 26)) return (T)__reduce_add_sync(ALL, (u32)value);
    }
#endif
    for (u32 d = N / 2; d; d /= 2) value = Op::apply(value, shuffle_xor(value, d, mask()));
    return value;
  }
  template <class Op, class T, int M>
  VG_DEVICE Vec<T, M> reduce(Vec<T, M> value) const {
    for (int k = 0; k < M; ++k) value.x[k] = reduce<Op>(value.x[k]);
    return value;
  }
};
using Warp = Lanes<32>;

struct Block {
  static constexpr u32 size = BLOCK;
  VG_DEVICE u32 rank() const { return threadIdx.x; }
  VG_DEVICE u32 leader() const { return 0; }  // this and the mask are asked for where the block is one warp
  VG_DEVICE u32 mask() const { return ALL; }
  VG_DEVICE bool leads() const { return threadIdx.x == 0; }
  VG_DEVICE void wait() const { __syncthreads(); }
  template <class T>
  VG_DEVICE T same(T value) const {
    __shared__ T kept;
    __syncthreads();
    if (threadIdx.x == 0) kept = value;
    __syncthreads();
    return kept;
  }
  template <class Op, class T>
  VG_DEVICE T reduce(T value) const {
    __shared__ T of_warps[WARPS];
    __syncthreads();
    value = warp_reduce<Op>(value);
    if (lane() == 0) of_warps[warp()] = value;
    __syncthreads();
    T total = of_warps[0];
    for (u32 k = 1; k < WARPS; ++k) total = Op::apply(total, of_warps[k]);
    return total;
  }
  template <class Op, class T, int N>
  VG_DEVICE Vec<T, N> reduce(Vec<T, N> value) const {
    for (int k = 0; k < N; ++k) value.x[k] = reduce<Op>(value.x[k]);
    return value;
  }
};

// Shared memory in which a block lays out vertices: one for all balancers of a kernel.
struct Tile {
  u64 vertices[BLOCK];
  u64 begins[BLOCK];
  u32 ends[BLOCK];  // on the line of their arcs
  u32 of_warps[WARPS];
  u32 count;
};
VG_DEVICE Tile& tile() {
  __shared__ Tile kept;
  return kept;
}

// A search looks together every so many arcs of a lane whether one lane has found it: the end of the stretch from `at`.
template <class Group, class Offset>
VG_DEVICE Offset stretch(Group lanes, Offset at, Offset end) {
  constexpr u32 ARCS = 8;
  return lanes.size > 1 && end - at > ARCS * lanes.size ? at + ARCS * lanes.size : end;
}

// --- balancers -----------------------------------------------------------------------------------------------

// A visit, and what a warp does between visits, all of its lanes together.
template <class Visit, class Settle>
struct Settling {
  Visit visit;
  Settle settle;
  template <class... A>
  VG_DEVICE void operator()(A... a) const { visit(a...); }
};
template <class Visit, class Settle>
VG_DEVICE Settling<Visit, Settle> settling(Visit visit, Settle settle) { return {visit, settle}; }

template <class Visit>
VG_DEVICE void settle(const Visit&) { __syncwarp(); }
template <class Visit, class Settle>
VG_DEVICE void settle(const Settling<Visit, Settle>& visit) {
  __syncwarp();
  visit.settle();
}

// A warp per vertex.
template <class Id, class Offset, class Visit>
VG_DEVICE void by_warp(Range<Id> range, const Offset* rows, Visit visit) {
  for (i64 i = warp_number(); i < range.count; i += num_warps()) {
    if (!range.has(i)) continue;
    Id v = range[i];
    visit(Warp(), i, v, fixed(&rows[v]), fixed(&rows[v + 1]), true, true);
    settle(visit);
  }
}

// A block per vertex.
template <class Id, class Offset, class Visit>
VG_DEVICE void by_block(Range<Id> range, const Offset* rows, Visit visit) {
  for (i64 i = blockIdx.x; i < range.count; i += gridDim.x) {
    if (!range.has(i)) continue;
    Id v = range[i];
    visit(Block(), i, v, fixed(&rows[v]), fixed(&rows[v + 1]), true, true);
    settle(visit);
    __syncthreads();
  }
}

// Measured on an H200, PageRank on a Kronecker graph of scale 22 in the order of degrees: 0.76 ms a gather; without the
// quarter 0.80, with 8 instead of 16 0.78, with 64 instead of 128 0.79. Searches and shortest paths do not mind.
constexpr u32 FEW = 16;    // arcs that one thread walks alone
constexpr u32 SOME = 128;  // arcs that a quarter of a warp walks

// How many vertices a warp takes at a time: fewer where there is not one for every thread, so that all warps have some.
VG_DEVICE u32 warp_width(i64 count) {
  i64 width = (count + num_warps() - 1) / num_warps();
  return width >= 32 ? 32 : width < 1 ? 1 : (u32)width;
}

// What one thread walks alone: less where lanes would idle otherwise, then they help.
VG_DEVICE u32 few_arcs(u32 width) { return width == 32 ? FEW : 4; }

// The vertices of a warp's lanes, by degree: few arcs, their own thread; some, a quarter of the warp; more, all of it.
template <class Id, class Offset, class Visit>
VG_DEVICE void share_warp(u32 width, u32 few, bool mine, i64 i, Id v, Offset begin, Offset end, Visit visit) {
  Offset degree = end - begin;
  if (mine && degree <= few) visit(Thread(), i, v, begin, end, true, true);
  settle(visit);
  bool some = width >= 8 && degree <= SOME;
  for (u32 left = __ballot_sync(ALL, mine && degree > few && some); left;) {
    u32 rest = left;
    for (u32 k = 0; k < lane() / 8; ++k) rest &= rest - 1;
    u32 one = rest ? __ffs(rest) - 1 : 0;
    i64 place = shuffle(i, one);
    Id u = shuffle(v, one);
    Offset from = shuffle(begin, one), until = shuffle(end, one);
    if (rest) visit(Lanes<8>(), place, u, from, until, true, true);
    settle(visit);
    for (u32 k = 0; k < 4; ++k) left &= left - 1;
  }
  for (u32 left = __ballot_sync(ALL, mine && degree > few && !some); left; left &= left - 1) {
    u32 one = __ffs(left) - 1;
    visit(Warp(), shuffle(i, one), shuffle(v, one), shuffle(begin, one), shuffle(end, one), true, true);
    settle(visit);
  }
}

// Few arcs: a thread per vertex; more: a warp; more than the block has threads: all of the block, one after the other
// (thread, warp, block: Merrill, Garland and Grimshaw 2012).
template <class Id, class Offset, class Visit>
VG_DEVICE void by_bins(Range<Id> range, const Offset* rows, Visit visit) {
  Tile& shared = tile();
  // No more vertices than warps: each has one.
  bool sparse = range.count <= num_warps();
  u32 width = warp_width(range.count);
  i64 step = width * num_warps();
  for (i64 start = 0; start < range.count; start += step) {
    if (threadIdx.x == 0) shared.count = 0;
    __syncthreads();
    i64 i = start + width * warp_number() + lane();
    bool mine = lane() < width && range.has(i);
    Id v = mine ? range[i] : 0;
    Offset begin = mine ? fixed(&rows[v]) : 0, end = mine ? fixed(&rows[v + 1]) : 0;
    Offset degree = end - begin;
    if (mine && degree > BLOCK) shared.vertices[atomicAdd(&shared.count, 1u)] = (u64)i;
    share_warp(width, sparse ? 0 : few_arcs(width), mine && degree <= BLOCK, i, v, begin, end, visit);
    __syncthreads();
    u32 n = shared.count;
    for (u32 k = 0; k < n; ++k) {
      i64 place = (i64)shared.vertices[k];
      Id u = range[place];
      visit(Block(), place, u, fixed(&rows[u]), fixed(&rows[u + 1]), true, true);
      settle(visit);
      __syncthreads();
    }
  }
}

// Small rounds: four neighboring lanes a vertex, so that its arcs are under way together; a warp where there are many.
constexpr u32 OF_FEW = 4;

// A lane's vertex of those that a warp visits together. The first ones may be looked up before the barrier of the loop before.
template <class Id, class Offset>
struct Few {
  Id v;
  Offset begin, end;
  bool mine;
};
template <class Id, class Offset>
VG_DEVICE Few<Id, Offset> few_at(Range<Id> range, const Offset* rows, i64 base) {
  i64 i = base + lane() / OF_FEW;
  bool mine = range.has(i);
  Id v = mine ? range[i] : 0;
  return {v, mine ? fixed(&rows[v]) : 0, mine ? fixed(&rows[v + 1]) : 0, mine};
}
template <class Id, class Offset>
VG_DEVICE Few<Id, Offset> first_few(Range<Id> range, const Offset* rows) { return few_at(range, rows, 32 / OF_FEW * warp_number()); }

template <class Id, class Offset, class Visit>
VG_DEVICE void by_few(Range<Id> range, const Offset* rows, Visit visit, Few<Id, Offset> x) {
  const i64 step = 32 / OF_FEW * num_warps();
  for (i64 base = 32 / OF_FEW * warp_number(); base < range.count; base += step) {
    i64 i = base + lane() / OF_FEW;
    bool few = x.end - x.begin <= OF_FEW * FEW;
    if (x.mine && few) visit(Lanes<OF_FEW>(), i, x.v, x.begin, x.end, true, true);
    settle(visit);
    for (u32 left = __ballot_sync(ALL, x.mine && !few && lane() % OF_FEW == 0); left; left &= left - 1) {
      u32 one = __ffs(left) - 1;
      visit(Warp(), shuffle(i, one), shuffle(x.v, one), shuffle(x.begin, one), shuffle(x.end, one), true, true);
      settle(visit);
    }
    if (base + step < range.count) x = few_at(range, rows, base + step);
  }
}
template <class Id, class Offset, class Visit>
VG_DEVICE void by_few(Range<Id> range, const Offset* rows, Visit visit) { by_few(range, rows, visit, first_few(range, rows)); }

// Vertices of many arcs, set aside with their arcs laid on a line. The word counts entries (upper bits) and arcs (lower
// ones).
template <class Id>
struct Hubs {
  static constexpr int SHIFT = 36;
  u64* word;      // of this loop
  u64* tickets;   // two counters of this loop: which work is next
  u64* entries;   // place of the vertex, and where its arcs begin on the line

  template <class Team>
  VG_DEVICE Hubs(Team& team, u32& turn, u64* memory)
      : word(team.control->hubs + turn % 2), tickets(memory + 2 * (turn % 2)), entries(memory + 4) {
    ++turn;
    if (team.first()) {  // for the loop to come
      team.control->hubs[turn % 2] = 0;
      memory[2 * (turn % 2)] = memory[2 * (turn % 2) + 1] = 0;
    }
  }
  // A warp's next number of counter k.
  VG_DEVICE i64 ticket(int k) const {
    u64 mine = 0;
    __syncwarp();
    if (lane() == 0) mine = atomicAdd(tickets + k, 1ull);
    return (i64)shuffle(mine, 0);
  }
  VG_DEVICE void set_aside(i64 place, u64 arcs) {
    u64 at = atomicAdd(word, (1ull << SHIFT) | arcs);
    u64* entry = entries + 2 * (at >> SHIFT);
    entry[0] = (u64)place;
    entry[1] = at & ((1ull << SHIFT) - 1);
  }
};

// The arcs of all hubs in equal shares, one per warp, or in several of `limit` arcs; in those always, and by
// tickets, where arcs are of very unequal work.
template <bool TICKETS = false, class Id, class Offset, class Visit>
VG_DEVICE void by_pieces(const Hubs<Id>& hubs, Range<Id> range, const Offset* rows, u64 limit, Visit visit) {
  u64 all = relaxed(hubs.word);
  u64 entries = all >> Hubs<Id>::SHIFT, arcs = all & ((1ull << Hubs<Id>::SHIFT) - 1);
  u64 share = (arcs / num_warps() + 32) / 32 * 32;
  if (share < SOME) share = SOME;
  if (TICKETS || share > limit) share = limit;
  for (u64 k = TICKETS ? hubs.ticket(1) : warp_number(); k * share < arcs; k = TICKETS ? hubs.ticket(1) : k + num_warps()) {
    u64 at = k * share;
    u64 low = 0, high = entries;  // the last entry whose arcs do not begin behind `at`
    while (high - low > 1) {
      u64 middle = (low + high) / 2;
      if (hubs.entries[2 * middle + 1] <= at) low = middle;
      else high = middle;
    }
    u64 stop = at + share < arcs ? at + share : arcs;
    for (u64 from = at; from < stop; ++low) {
      i64 place = (i64)hubs.entries[2 * low];
      u64 start = hubs.entries[2 * low + 1];
      Id v = range[place];
      u64 begin = fixed(&rows[v]), end = fixed(&rows[v + 1]);
      u64 until = start + (end - begin) < stop ? end : begin + (stop - start);
      visit(Warp(), place, v, (Offset)(begin + (from - start)), (Offset)until, false, from == start);
      settle(visit);
      from = start + (until - begin);
    }
  }
}

// No more vertices than a block has threads: each block lays the arcs of all of them on a line, in steps of a warp, and
// every warp of the grid takes an equal share, so nobody waits for hubs to be set aside.
template <class Id, class Offset, class Visit>
VG_DEVICE void by_line(Range<Id> range, const Offset* rows, u64 limit, Visit visit) {
  Tile& shared = tile();
  __shared__ u64 totals[WARPS];
  const u64 step = limit < 32 ? limit : 32;
  Id own = threadIdx.x < range.count ? range[threadIdx.x] : 0;
  u64 steps = threadIdx.x < range.count ? (u64)(fixed(&rows[own + 1]) - fixed(&rows[own]) + step - 1) / step : 0;
  if (threadIdx.x < range.count && steps == 0) steps = 1;  // a visit without arcs
  u64 until = steps;
  for (u32 d = 1; d < 32; d *= 2) {
    u64 left = __shfl_up_sync(ALL, until, d);
    if (lane() >= d) until += left;
  }
  if (lane() == 31) totals[warp()] = until;
  __syncthreads();
  u64 total = 0;
  for (u32 k = 0; k < WARPS; ++k) {
    if (k < warp()) until += totals[k];
    total += totals[k];
  }
  shared.vertices[threadIdx.x] = own;
  shared.begins[threadIdx.x] = until - steps;
  __syncthreads();
  u64 share = (total + num_warps() - 1) / num_warps();
  if (share > limit / step) share = limit / step;
  for (u64 at = share * warp_number(); at < total; at += share * num_warps()) {
    u64 stop = at + share < total ? at + share : total;
    u32 low = 0, high = (u32)range.count;  // the last vertex that does not begin behind `at`
    while (high - low > 1) {
      u32 middle = (low + high) / 2;
      if (shared.begins[middle] <= at) low = middle;
      else high = middle;
    }
    for (; low < range.count && shared.begins[low] < stop; ++low) {
      u64 start = shared.begins[low], from = at > start ? at - start : 0;
      Id v = (Id)shared.vertices[low];
      u64 begin = fixed(&rows[v]), end = fixed(&rows[v + 1]);
      u64 last = begin + (stop - start) * step < end ? begin + (stop - start) * step : end;
      visit(Warp(), (i64)low, v, (Offset)(begin + from * step), (Offset)last, from == 0 && last == end, from == 0);
      settle(visit);
    }
  }
}

// As by_bins, but vertices of more than `limit` arcs are cut into pieces, which all warps of the grid share (node
// splitting: Vivek K. 2013, chapter 4); of fewer arcs where warps have few vertices, or one would be long under way while
// others wait. True if the run is to stop.
template <class Id, class Offset, class Team, class Visit>
VG_DEVICE bool by_split(Team& team, u32& turn, Range<Id> range, const Offset* rows, u64* memory, i64 limit, Visit visit) {
  u64 most = limit < 1 ? 1 : (u64)limit;
  if (!range.words && range.count <= BLOCK) {
    by_line(range, rows, most, visit);
    return false;
  }
  Hubs<Id> hubs(team, turn, memory);
  u32 width = warp_width(range.count);
  i64 step = width * num_warps();
  u64 alone = most < SOME * width ? most : SOME * width;
  for (i64 start = 0; start < range.count; start += step) {
    i64 i = start + width * warp_number() + lane();
    bool mine = lane() < width && range.has(i);
    Id v = mine ? range[i] : 0;
    Offset begin = mine ? fixed(&rows[v]) : 0, end = mine ? fixed(&rows[v + 1]) : 0;
    u64 degree = end - begin;
    bool hub = mine && degree > alone;
    if (hub) hubs.set_aside(i, degree);
    share_warp(width, few_arcs(width), mine && !hub, i, v, begin, end, visit);
  }
  if (team.meet()) return true;
  by_pieces(hubs, range, rows, most, visit);
  return false;
}

// Arcs of a search that one thread looks at. Measured on an H200, breadth-first search of a Kronecker graph of scale 22,
// with 1, 2, 4, 8, 16 and 32: 0.76, 0.63, 0.49, 0.41, 0.37 and 0.36 ms; in the order of degrees 0.34, 0.28, and 0.25 to
// 0.24 from 4 on. Several loads at a time, as in `in_stages`, do not help here: most searches are over soon.
constexpr u32 PROBES = 32;

// A search, which is over at its first hit: each thread looks at PROBES arcs of its own vertex, which is enough for most.
// Where `open(v)` still holds, a warp goes on; what has more than `limit` arcs all warps share. True if the run is to stop.
template <class Id, class Offset, class Team, class Open, class Visit>
VG_DEVICE bool by_search(Team& team, u32& turn, Range<Id> range, const Offset* rows, u64* memory, i64 limit, Open open, Visit visit) {
  Hubs<Id> hubs(team, turn, memory);
  u64 most = limit < 1 ? 1 : (u64)limit;
  i64 step = 32 * num_warps();
  for (i64 start = 32 * warp_number(); start < range.count; start += step) {
    i64 i = start + lane();
    bool mine = range.has(i);
    Id v = mine ? range[i] : 0;
    mine = mine && open(v);
    Offset begin = mine ? fixed(&rows[v]) : 0, end = mine ? fixed(&rows[v + 1]) : 0;
    Offset probed = end - begin > PROBES ? begin + PROBES : end;
    if (begin < end) visit(Thread(), i, v, begin, probed, true, true);
    settle(visit);
    bool more = probed < end && open(v);
    bool hub = more && end - probed > most;
    if (hub) hubs.set_aside(i, end - begin);
    for (u32 left = __ballot_sync(ALL, more && !hub); left; left &= left - 1) {
      u32 one = __ffs(left) - 1;
      visit(Warp(), shuffle(i, one), shuffle(v, one), shuffle(probed, one), shuffle(end, one), false, false);
      settle(visit);
    }
  }
  if (team.meet()) return true;
  by_pieces(hubs, range, rows, most, visit);
  return false;
}

// Equal shares: a block lays the arcs of its vertices out on a line, and its threads take one arc after the other,
// finding the vertex by binary search (Davidson, Baxter, Garland and Owens 2014). Hubs are cut and shared by the grid.
template <class Id, class Offset, class Team, class Visit>
VG_DEVICE bool by_arcs(Team& team, u32& turn, Range<Id> range, const Offset* rows, u64* memory, i64 limit, Visit visit) {
  Tile& shared = tile();
  Hubs<Id> hubs(team, turn, memory);
  i64 share = (range.count + gridDim.x - 1) / gridDim.x;
  i64 width = share < (i64)BLOCK ? share < 1 ? 1 : share : (i64)BLOCK;
  u64 most = (u64)limit;
  for (i64 base = blockIdx.x * width; base < range.count; base += gridDim.x * width) {
    i64 i = base + threadIdx.x;
    bool mine = threadIdx.x < width && range.has(i);
    Id v = mine ? range[i] : 0;
    Offset begin = mine ? fixed(&rows[v]) : 0, end = mine ? fixed(&rows[v + 1]) : 0;
    u64 degree = end - begin;
    if (mine && degree > most) {
      hubs.set_aside(i, degree);
      degree = 0;
    } else if (mine && degree == 0) {
      visit(Thread(), i, v, begin, end, true, true);
    }
    u32 until = (u32)degree;
    for (u32 d = 1; d < 32; d *= 2) {
      u32 left = __shfl_up_sync(ALL, until, d);
      if (lane() >= d) until += left;
    }
    if (lane() == 31) shared.of_warps[warp()] = until;
    __syncthreads();
    for (u32 k = 0; k < warp(); ++k) until += shared.of_warps[k];
    shared.vertices[threadIdx.x] = v;
    shared.begins[threadIdx.x] = begin;
    shared.ends[threadIdx.x] = until;
    __syncthreads();
    u32 total = shared.ends[BLOCK - 1];
    for (u32 k = threadIdx.x; k < total; k += BLOCK) {
      u32 low = 0, high = BLOCK - 1;  // the first vertex that ends behind k
      while (low < high) {
        u32 middle = (low + high) / 2;
        if (shared.ends[middle] <= k) low = middle + 1;
        else high = middle;
      }
      u32 start = low ? shared.ends[low - 1] : 0;
      Offset arc = (Offset)(shared.begins[low] + (k - start));
      visit(Thread(), base + low, (Id)shared.vertices[low], arc, (Offset)(arc + 1), shared.ends[low] - start == 1, k == start);
    }
    settle(visit);
    __syncthreads();
  }
  if (team.meet()) return true;
  by_pieces(hubs, range, rows, most, visit);
  return false;
}

}  // namespace vg
