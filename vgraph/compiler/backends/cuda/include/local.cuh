// Queues in shared memory: a block takes its part of the active vertices and goes on alone with what it finds, hop by
// hop, before the barrier of the grid. What is left over goes to the queue of the grid. An order in which updates are
// seen at once must be as good as any other ("local work lists": Busato and Bombieri 2015, BFS-4K; bucket fusion on
// CPUs: Zhang et al. 2020).
#pragma once

namespace vg {

// A vertex and its arcs: they are looked up early, while other loads are under way.
template <class Id, class Offset>
struct Row {
  Id v;
  Offset begin, end;
};

template <class Id, class Offset>
VG_DEVICE Row<Id, Offset> row_of(const Offset* rows, Id v) { return {v, early(&rows[v]), early(&rows[v + 1])}; }

// Ask for what will be read by this block, but not yet.
template <class T>
VG_DEVICE void fetch(const T* place) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L1 [%0];" : : "l"(place));
#endif
}

template <class Id, class Offset, class... T>
VG_DEVICE void fetch_arcs(Row<Id, Offset> row, const T*... arrays) {
  if (row.begin == row.end) return;
  (fetch(arrays + row.begin), ...);
  (fetch(arrays + (row.end - 1)), ...);
}

// What the threads of a block share beside the entries.
struct LocalCounts {
  u32 found[3];  // entries of the hop under way and of the next; one is zeroed meanwhile
  u32 aside;     // vertices for later
};
VG_DEVICE LocalCounts& local_counts() {
  __shared__ LocalCounts counts;
  return counts;
}

// A thread's view of the block's queue: entries of two hops, and vertices set aside for later, all in the pool. An entry
// has what was written at the vertex, if visits read nothing else there.
template <class Id, class Offset, class Value>
struct LocalQueue {
  struct Entry {
    Row<Id, Offset> row;
    Value value;
  };
  static constexpr u32 MOST = 1024;
  LocalCounts& counts;
  Entry* entries;
  Id* aside;
  u32 room, hop;

  VG_DEVICE LocalQueue() : counts(local_counts()), entries((Entry*)pool()), hop(0) {
    u32 fits = pool_bytes() / (2 * sizeof(Entry) + sizeof(Id));
    room = fits < MOST ? fits : MOST;
    aside = (Id*)(entries + 2 * room);
  }

  // An entry for the next hop; false if there is no room.
  template <class... T>
  VG_DEVICE bool push(Entry entry, const T*... arrays) {
    u32 place = atomicAdd(&counts.found[(hop + 1) % 3], 1u);
    if (place >= room) return false;
    entries[(hop + 1) % 2 * room + place] = entry;
    fetch_arcs(entry.row, arrays...);
    return true;
  }
  VG_DEVICE bool put_aside(Id v) {
    u32 place = atomicAdd(&counts.aside, 1u);
    if (place >= room) return false;
    aside[place] = v;
    return true;
  }

  // --- all threads of the block together ---

  VG_DEVICE void clear() {
    __syncthreads();
    if (threadIdx.x < 3) counts.found[threadIdx.x] = 0;
    if (threadIdx.x == 0) counts.aside = 0;
    hop = 0;
    __syncthreads();
  }
  VG_DEVICE u32 size() const {
    u32 found = counts.found[hop % 3];
    return found < room ? found : room;
  }
  VG_DEVICE const Entry& operator[](u32 i) const { return entries[hop % 2 * room + i]; }
  // To what was pushed meanwhile; how much that is.
  VG_DEVICE u32 next_hop() {
    __syncthreads();
    hop += 1;
    if (threadIdx.x == 0) counts.found[(hop + 2) % 3] = 0;
    return size();
  }
  // Those of `n` vertices that are new to the queue of the grid are appended to it.
  template <class Vertex, class New>
  VG_DEVICE void pass_on(u32 n, Vertex vertex, New is_new, Frontier<Id>& to) {
    for (u32 start = 0; start < n; start += BLOCK) {
      u32 i = start + threadIdx.x;
      Id v = i < n ? vertex(i) : 0;
      append_all(to, i < n && is_new(v), v);
    }
  }
  VG_DEVICE void spill(Frontier<Id>& next) {
    pass_on(size(), [&](u32 i) { return (*this)[i].row.v; }, [&](Id v) { return next.is_new(v); }, next);
  }
  VG_DEVICE void spill(Buckets<Id>& b) {
    pass_on(size(), [&](u32 i) { return (*this)[i].row.v; }, [&](Id v) { return b.is_new(v); }, b.next);
    u32 n = counts.aside < room ? counts.aside : room;
    pass_on(n, [&](u32 i) { return aside[i]; }, [&](Id v) { return b.is_apart(v); }, b.far);
  }
};

// `row.v` was changed: it is visited in the next hop, or in the next round. What `arrays` have of its arcs will be read.
template <class Id, class Offset, class Value, class... T>
VG_DEVICE void go_on(LocalQueue<Id, Offset, Value>& local, Row<Id, Offset> row, Value value, Frontier<Id>& next, const T*... arrays) {
  if (!local.push({row, value}, arrays...)) next.append_new(row.v);
}
template <class Id, class Offset, class Value, class... T>
VG_DEVICE void go_on(LocalQueue<Id, Offset, Value>& local, Row<Id, Offset> row, Value value, Buckets<Id>& b, i64 key, i64& lowest, const T*... arrays) {
  if (key <= b.limit) {
    if (!local.push({row, value}, arrays...) && b.is_new(row.v)) b.next.append(row.v);
  } else {
    lowest = vg::min(lowest, key);
    if (!local.put_aside(row.v) && b.is_apart(row.v)) b.far.append(row.v);
  }
}

// In a cascade an entry is a part of a vertex's arcs, and says whether it is the first: each arc is walked once. A vertex of
// more than PARTS parts is left to all blocks.
constexpr u32 PART = 64, PARTS = 64;

template <class Id, class Offset, class... T>
VG_DEVICE void take_on(LocalQueue<Id, Offset, bool>& local, Row<Id, Offset> row, Frontier<Id>& next, const T*... arrays) {
  u64 degree = row.end - row.begin;
  if (degree == 0) return;
  if (degree > PART * PARTS) {
    next.append(row.v);
    return;
  }
  u32 parts = ((u32)degree + PART - 1) / PART, slot = (local.hop + 1) % 3;
  u32 place = atomicAdd(&local.counts.found[slot], parts);
  bool fits = place + parts <= local.room;
  for (u32 k = 0; k < parts && place + k < local.room; ++k) {
    Row<Id, Offset> part{row.v, (Offset)(row.begin + k * PART), row.end};
    if (!fits) part.end = part.begin;  // nothing stands in what room there was
    else if (part.end - part.begin > PART) part.end = part.begin + PART;
    local.entries[(local.hop + 1) % 2 * local.room + place + k] = {part, fits && k == 0};
    fetch_arcs(part, arrays...);
  }
  if (!fits) next.append(row.v);
}

// As a balancer of a cascade, whose body takes each vertex once: all blocks share the range, then each goes on alone with
// what it took, LANES neighboring lanes a part, as long as these are no more than MOST. True if the run is to stop.
template <u32 LANES, u32 MOST, class Id, class Offset, class Team, class Visit>
VG_DEVICE bool by_cascade(Team& team, u32& turn, LocalQueue<Id, Offset, bool>& local, Range<Id> range, const Offset* rows, u64* memory, i64 limit, u32 hops, Frontier<Id>& next, Visit visit) {
  local.clear();
  if (by_split(team, turn, range, rows, memory, limit, visit)) return true;
  u32 few = vg::min(vg::max(local.room / 2, 1u), MOST);
  u32 found = local.next_hop();
  for (u32 k = 1; found > 0 && found <= few && k < hops; ++k) {
    for (u32 i = threadIdx.x / LANES; i < found; i += BLOCK / LANES) {
      auto [row, first] = local[i];
      visit(Lanes<LANES>(), 0, row.v, row.begin, row.end, false, first);
    }
    found = local.next_hop();
  }
  for (u32 start = 0; start < found; start += BLOCK) {
    u32 i = start + threadIdx.x;
    append_all(next, i < found && local[i].value, i < found ? local[i].row.v : 0);
  }
  return false;
}

template <class Id, class Value>
VG_DEVICE Value held(const Value* values, Id v) { return relaxed(&values[v]); }
template <class Id>
VG_DEVICE Nothing held(const Nothing*, Id) { return {}; }

// As a balancer: LANES neighboring lanes a vertex, `hops` hops. A block with more than fits half of its queue, at the
// beginning or by what it finds, has enough to do as it is and leaves the rest to all.
template <u32 LANES, class Id, class Offset, class Value, class Rest, class Visit>
VG_DEVICE void by_hops(LocalQueue<Id, Offset, Value>& local, Range<Id> range, const Offset* rows, const Value* values, u32 hops, Rest& rest, Visit visit) {
  i64 part = local.room > 1 ? local.room / 2 : 1;
  i64 from = range.count * blockIdx.x / gridDim.x, until = range.count * (blockIdx.x + 1) / gridDim.x;
  u32 most = until - from > part ? 1 : hops;
  for (i64 base = from; base < until; base += part) {
    local.clear();
    i64 n = until - base < part ? until - base : part;
    for (i64 i = threadIdx.x; i < n; i += BLOCK) {
      Id v = range[base + i];
      local.entries[i] = {row_of(rows, v), held(values, v)};
    }
    if (threadIdx.x == 0) local.counts.found[0] = (u32)n;
    __syncthreads();
    for (u32 found = (u32)n, k = 0; found > 0 && found <= part && k < most; ++k) {
      for (u32 i = threadIdx.x / LANES; i < found; i += BLOCK / LANES) {
        auto [row, value] = local[i];
        visit(Lanes<LANES>(), base, row.v, row.begin, row.end, true, true, value);
      }
      found = local.next_hop();
    }
    local.spill(rest);
  }
}

}  // namespace vg
