// Tiles: ranges of vertices. A block takes one, keeps its values in shared memory, and goes on alone until nothing changes
// in it; tiles that wait stand in a ring. No barrier of the grid stands between visits. An order in which updates are seen
// at once must be as good as any other.
//
// What makes the order of accesses right: whoever changes a vertex marks it, then looks whether its tile is in the ring; a
// block takes a tile out of the ring, then its marks, then its values, each behind a fence. Values go back before marks of
// what is left. Two blocks may visit a tile at the same time, each with values of its own: what one lowers, it passes on.
#pragma once

namespace vg {

constexpr i64 NO_KEY = 0x7fffffffffffffffll;
constexpr u32 SWEEPS = 3;  // over a tile, between two questions to all threads of the block whether anything changed

template <class Id>
struct Tiles {
  u32* marks;     // by vertex: whether it waits for a visit
  u32* ringed;    // by tile: whether it is in the ring
  i64* least;     // by tile: the lowest key of what waits there
  u32* ring;      // tiles, counted from 1; 0: not yet put, or taken
  u64* counters;  // taken from the ring, put into it, and tiles in it or visited
  Id size;        // vertices of a tile
  i64 count;

  // Memory as of `Buckets`. A tile has at most `most` vertices, and as many as have room, each with so many bytes.
  VG_DEVICE void open(u64 near, u64, u64 far, u64, u64 queued, u64 piled, u64* c, u32 most, u32 bytes, i64 num_vertices) {
    u32 fits = bytes ? pool_bytes() / bytes : most;
    size = (Id)vg::max(1u, vg::min(most, fits));
    count = (num_vertices + (i64)size - 1) / (i64)size;
    ring = (u32*)near;
    least = (i64*)far;
    marks = (u32*)queued;
    ringed = (u32*)piled;
    counters = c;
  }
  // A vertex of the tile was marked, and its key is `key`.
  VG_DEVICE void wait(i64 t, i64 key) {
    if (key < relaxed(&least[t])) atomicMin(&least[t], key);
    __threadfence();
    if (relaxed(&ringed[t]) || atomicExch(&ringed[t], 1u)) return;
    atomicAdd(&counters[2], 1ull);
    u32* place = &ring[atomicAdd(&counters[1], 1ull) % count];
    while (atomicCAS(place, 0u, (u32)t + 1)) pause();  // whoever counted what is there takes it
  }
  // Behind what changed v.
  VG_DEVICE void push(Id v, i64 key) {
    __threadfence();
    if (!atomicExch(&marks[v], 1u)) wait((i64)(v / size), key);
  }
  // The same where who visits a tile looks at all of its vertices, and a mark says for good that a vertex was pushed.
  VG_DEVICE void tell(Id v, i64 key) {
    if (!relaxed(&marks[v])) put_relaxed(&marks[v], 1u);
    wait((i64)(v / size), key);
  }
  // One thread of a block: a tile, and the lowest key that waits there; -1 if the run is to stop or nothing is left. Who
  // waits has a place in the ring already.
  VG_DEVICE i64 take(const u32* cancel, i64& key) {
    if (count == 0) return -1;
    u32* place = &ring[atomicAdd(&counters[0], 1ull) % count];
    u32 found = 0;
    while (!(relaxed(place) && (found = atomicExch(place, 0u)))) {
      if (relaxed(&counters[2]) == 0 || relaxed(cancel)) return -1;
      pause();
    }
    atomicExch(&ringed[found - 1], 0u);
    __threadfence();
    key = (i64)atomicExch((u64*)&least[found - 1], (u64)NO_KEY);
    __threadfence();
    return found - 1;
  }
};

// True if the run is to stop.
template <class Id, class Team>
VG_DEVICE bool clear(Team& team, Tiles<Id>& b, i64 num_vertices) {
  for (i64 v = thread_number(); v < num_vertices; v += num_threads()) b.marks[v] = 0;
  for (i64 t = thread_number(); t < b.count; t += num_threads()) {
    b.ringed[t] = 0;
    b.ring[t] = 0;
    b.least[t] = NO_KEY;
  }
  if (team.first()) {
    for (int k = 0; k < 3; ++k) b.counters[k] = 0;
  }
  return team.meet();
}

// A value in shared memory that other threads of the block may write.
template <class T>
VG_DEVICE T seen(const T* place) {
#ifdef __CUDA_ARCH__
  return *(const volatile T*)place;
#else
  return relaxed(place);
#endif
}

// How many vertices of a tile a thread has to itself.
VG_DEVICE constexpr u32 owned(u32 most) { return (most + BLOCK - 1) / BLOCK; }
constexpr u32 ROW = 4;  // arcs of a vertex of which a thread keeps the other ends, while its block visits the tile

// A thread's view of the tile that its block visits.
template <class Id>
struct TileVisit {
  Id first, size;
  u32* active;  // by vertex of the tile: whether it was pushed, where values do not tell
  bool more;    // whether this thread has changed something in it

  VG_DEVICE bool has(Id v) const { return (Id)(v - first) < size; }
  // Behind what changed v, a vertex of the tile.
  VG_DEVICE void push(Id v) {
    __threadfence_block();
    *(volatile u32*)&active[(Id)(v - first)] = 1;
    more = true;
  }
  // The value of v is in shared memory if v is one of the tile's.
  template <class T>
  VG_DEVICE T value(const T* kept, const T* all, Id v) const { return has(v) ? seen(kept + (Id)(v - first)) : relaxed(all + v); }
  template <class Op, class T>
  VG_DEVICE bool reduce(T* kept, T* all, Id v, T value) const {
    if (!has(v)) return atomic_reduce<Op>(all + v, value);
    T* place = kept + (Id)(v - first);
    return Op::better(value, seen(place)) && atomic_reduce<Op>(place, value);
  }
};

// Values of a tile in shared memory, and of all vertices: of each vertex of a thread what it was, and what it was when the
// vertex was last visited.
template <class Op, class T, u32 OWN>
struct Kept {
  T* kept;
  T* all;
  T before[OWN], visited[OWN];
  VG_DEVICE Kept(T* kept, T* all) : kept(kept), all(all) {}
  VG_DEVICE void load(u32 j, u32 i, u64 v) { kept[i] = before[j] = visited[j] = relaxed(&all[v]); }
  VG_DEVICE bool changed(u32 j, u32 i) const { return bit_cast<Bits<T>>(seen(&kept[i])) != bit_cast<Bits<T>>(visited[j]); }
  VG_DEVICE void visit(u32 j, u32 i) { visited[j] = seen(&kept[i]); }
  VG_DEVICE void store(u32 j, u32 i, u64 v) const {
    if (bit_cast<Bits<T>>(kept[i]) != bit_cast<Bits<T>>(before[j])) atomic_reduce<Op>(&all[v], kept[i]);
  }
};

// Visits until no tile waits. A visit goes on up to keys `ahead` above the lowest that waited. A vertex is due if it was
// marked or, with `WATCH`, if its values have changed. What a visit does to other tiles, it
// may leave to `leave`, at the end.
template <class Row, u32 MOST, bool WATCH, class Id, class Key, class Open, class Visit, class Leave, class... K>
VG_DEVICE void by_tiles(const u32* cancel, Tiles<Id>& tiles, TileVisit<Id>& tile, i64 num_vertices, i64 ahead, Key key, Open open, Visit visit, Leave leave, K... kept) {
  constexpr u32 OWN = owned(MOST);
  __shared__ i64 taken[3];  // the tile, the lowest key that waited, the lowest that is left
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      taken[0] = tiles.take(cancel, taken[1]);
      taken[2] = NO_KEY;
    }
    __syncthreads();
    i64 t = taken[0];
    if (t < 0) return;
    i64 first = t * (i64)tiles.size, limit = taken[1] == NO_KEY ? NO_KEY : taken[1] + ahead;
    tile.first = (Id)first;
    tile.size = (Id)vg::min((i64)tiles.size, num_vertices - first);
    bool due[OWN], gone[OWN];
    Row rows[OWN];
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      due[j] = gone[j] = false;
      if (i >= tile.size) continue;
      open(tile.first + i, rows[j]);
      u32* mark = &tiles.marks[tile.first + i];
      due[j] = relaxed(mark) && atomicExch(mark, 0u);
      if (!WATCH) tile.active[i] = 0;
    }
    __threadfence();
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      if (i < tile.size) (kept.load(j, i, tile.first + i), ...);
    }
    __syncthreads();
    auto waits = [&](u32 j, u32 i) { return due[j] || (WATCH ? (kept.changed(j, i) || ... || false) : seen(&tile.active[i]) != 0); };
    do {
      tile.more = false;
#pragma unroll 1
      for (u32 k = 0; k < SWEEPS; ++k) {
#pragma unroll
        for (u32 j = 0; j < OWN; ++j) {
          u32 i = threadIdx.x + j * BLOCK;
          if (i >= tile.size || !waits(j, i) || key(tile.first + i) > limit) continue;
          due[j] = false;
          gone[j] = true;
          (kept.visit(j, i), ...);
          if (!WATCH) {
            *(volatile u32*)&tile.active[i] = 0;
            __threadfence_block();
          }
          visit(tile.first + i, rows[j]);
        }
      }
    } while (__syncthreads_or(tile.more && !relaxed(cancel)));
    i64 rest = NO_KEY;
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      if (i >= tile.size) continue;
      (kept.store(j, i, tile.first + i), ...);
      if (gone[j]) leave(tile.first + i, rows[j]);
      if (!waits(j, i)) continue;
      rest = vg::min(rest, key(tile.first + i));
      __threadfence();
      atomicExch(&tiles.marks[tile.first + i], 1u);
    }
    if (rest != NO_KEY) atomicMin(&taken[2], rest);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      if (taken[2] != NO_KEY) tiles.wait(t, taken[2]);
      atomicAdd(&tiles.counters[2], ~0ull);
    }
  }
}

// Whether a value is better; then it takes the place of the other.
template <class Op, class T>
VG_DEVICE bool improve(T& best, T value) {
  if (!Op::better(value, best)) return false;
  best = value;
  return true;
}
// The same in memory that others lower, too; `told` is the value.
template <class Op, class T>
VG_DEVICE bool improve_far(T* place, T value, T& told) {
  told = value;
  return Op::better(value, relaxed(place)) && atomic_reduce<Op>(place, value);
}

// The same where a vertex is due when its one value has changed, and arcs lead both ways with equal values: then each vertex
// of a tile looks at its neighbors there, whether one of them makes its own value better, instead of being told. Nothing
// waits for an atomic, and no vertex for its turn. In shared memory stands what a vertex hands on, `nothing` if it is not due
// up to the limit.
template <class Op, class Row, u32 MOST, class Id, class T, class Key, class Open, class Pull, class Leave>
VG_DEVICE void by_pulled_tiles(const u32* cancel, Tiles<Id>& tiles, TileVisit<Id>& tile, i64 num_vertices, i64 ahead, T nothing, Key key, Open open, Pull pull, Leave leave, T* kept, T* all) {
  constexpr u32 OWN = owned(MOST), ASKED = 64;  // questions between two looks whether to stop
  __shared__ i64 taken[3];  // as above
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      taken[0] = tiles.take(cancel, taken[1]);
      taken[2] = NO_KEY;
    }
    __syncthreads();
    i64 t = taken[0];
    if (t < 0) return;
    i64 first = t * (i64)tiles.size, limit = taken[1] == NO_KEY ? NO_KEY : taken[1] + ahead;
    tile.first = (Id)first;
    tile.size = (Id)vg::min((i64)tiles.size, num_vertices - first);
    T before[OWN], value[OWN];
    u32 pushed = 0, fresh = 0;  // bits of the thread's vertices: ever; in this visit
    Row rows[OWN];
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      if (i >= tile.size) continue;
      open(tile.first + i, rows[j]);
      pushed |= (relaxed(&tiles.marks[tile.first + i]) != 0) << j;
      before[j] = relaxed(&all[tile.first + i]);
    }
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      value[j] = before[j];
      if (i < tile.size) kept[i] = pushed >> j & 1 && key(tile.first + i, value[j]) <= limit ? value[j] : nothing;
    }
    __syncthreads();
    bool more;
    u32 asked = 0;
    do {
      more = false;
#pragma unroll 1
      for (u32 k = 0; k < SWEEPS; ++k) {
#pragma unroll
        for (u32 j = 0; j < OWN; ++j) {
          u32 i = threadIdx.x + j * BLOCK;
          if (i >= tile.size) continue;
          T best = value[j];
          pull(tile.first + i, rows[j], best);
          if (!Op::better(best, value[j])) continue;
          value[j] = best;
          fresh |= 1u << j;
          if (key(tile.first + i, best) > limit) continue;
          *(volatile T*)&kept[i] = best;
          more = true;
        }
      }
    } while (__syncthreads_or(more && (++asked % ASKED || !relaxed(cancel))));
    i64 rest = NO_KEY;
#pragma unroll
    for (u32 j = 0; j < OWN; ++j) {
      u32 i = threadIdx.x + j * BLOCK;
      if (i >= tile.size) continue;
      Id v = tile.first + i;
      if (fresh >> j & 1) {
        atomic_reduce<Op>(&all[v], value[j]);
        if (!(pushed >> j & 1)) put_relaxed(&tiles.marks[v], 1u);
      }
      if (!((pushed | fresh) >> j & 1)) continue;
      i64 mine = key(v, value[j]);
      if (mine > limit) rest = vg::min(rest, mine);
      else leave(v, rows[j]);
    }
    if (rest != NO_KEY) atomicMin(&taken[2], rest);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      if (taken[2] != NO_KEY) tiles.wait(t, taken[2]);
      atomicAdd(&tiles.counters[2], ~0ull);
    }
  }
}

}  // namespace vg
