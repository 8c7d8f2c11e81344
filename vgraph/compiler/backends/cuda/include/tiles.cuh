// Tiles: ranges of vertices. A block takes one, keeps its values in shared memory, and goes on alone until nothing changes
// in it; tiles that wait stand in a ring. No barrier of the grid stands between visits. An order in which updates are seen
// at once must be as good as any other.
//
// What makes the order of accesses right: whoever changes a vertex marks it, then looks whether its tile is in the ring; a
// block takes a tile out of the ring, then its marks, then its values, each behind a fence. Values go back before marks of
// what is left. Two blocks may visit a tile at the same time, each with values of its own: what one lowers, it passes on.
#pragma once

namespace vg {

constexpr u32 DUE = 1, LATER = 2;  // a vertex is to be visited now; by a later visit of its tile
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
    u32 fits = pool_bytes() / bytes;
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
  // One thread of a block: a tile, and the lowest key that waits there; -1 if the run is to stop or nothing is left.
  VG_DEVICE i64 take(const u32* cancel, i64& key) {
    while (!relaxed(cancel)) {
      u64 head = relaxed(&counters[0]);
      if (head < relaxed(&counters[1])) {
        if (atomicCAS(&counters[0], head, head + 1) != head) continue;
        u32* place = &ring[head % count];
        u32 found = atomicExch(place, 0u);
        for (; !found; found = atomicExch(place, 0u)) pause();  // whoever counted it puts it there
        __threadfence();
        atomicExch(&ringed[found - 1], 0u);
        key = (i64)atomicExch((u64*)&least[found - 1], (u64)NO_KEY);
        __threadfence();
        return found - 1;
      }
      if (relaxed(&counters[2]) == 0) break;
      pause();
    }
    return -1;
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

// A thread's view of the tile that its block visits. `active`: by vertex of the tile, 0, DUE or LATER.
template <class Id>
struct TileVisit {
  Id first, size;
  i64 limit;  // keys up to it are due
  u32* active;
  i64* rest;  // the lowest key of what is not
  bool more;  // whether this thread has found something to visit

  VG_DEVICE bool has(Id v) const { return (Id)(v - first) < size; }
  // Where the value of v stands: in shared memory, if it is one of the tile's.
  template <class T>
  VG_DEVICE T* here(T* kept, T* all, Id v) const { return has(v) ? kept + (Id)(v - first) : all + v; }
  VG_DEVICE void push(Tiles<Id>& tiles, Id v, i64 key) {
    if (!has(v)) {
      tiles.push(v, key);
      return;
    }
    __threadfence_block();
    u32* mine = active + (Id)(v - first);
    if (key <= limit) {
      atomicExch(mine, DUE);
      more = true;
    } else {
      atomicCAS(mine, 0u, LATER);
      atomicMin(rest, key);
    }
  }
};

// Values of a tile in shared memory, and of all vertices.
template <class Op, class T>
struct Kept {
  T* kept;
  T* all;
  VG_DEVICE void load(u64 i, u64 v) const { kept[i] = relaxed(&all[v]); }
  VG_DEVICE void store(u64 i, u64 v) const { atomic_reduce<Op>(&all[v], kept[i]); }
};

// Visits until no tile waits. A visit goes on up to keys `ahead` above the lowest that waited.
template <class Id, class Key, class Visit, class... K>
VG_DEVICE void by_tiles(const u32* cancel, Tiles<Id>& tiles, TileVisit<Id>& tile, i64 num_vertices, i64 ahead, Key key, Visit visit, K... kept) {
  __shared__ i64 taken[3];  // the tile, the lowest key that waited, the lowest that is left
  tile.rest = &taken[2];
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      taken[0] = tiles.take(cancel, taken[1]);
      taken[2] = NO_KEY;
    }
    __syncthreads();
    i64 t = taken[0];
    if (t < 0) return;
    i64 first = t * (i64)tiles.size;
    tile.first = (Id)first;
    tile.size = (Id)vg::min((i64)tiles.size, num_vertices - first);
    tile.limit = taken[1] == NO_KEY ? NO_KEY : taken[1] + ahead;
    for (u32 i = threadIdx.x; i < tile.size; i += BLOCK) {
      Id v = tile.first + i;
      tile.active[i] = relaxed(&tiles.marks[v]) && atomicExch(&tiles.marks[v], 0u) ? DUE : 0;
    }
    __threadfence();
    for (u32 i = threadIdx.x; i < tile.size; i += BLOCK) {
      Id v = tile.first + i;
      (kept.load(i, v), ...);
      if (tile.active[i] == DUE && key(v) > tile.limit) {
        tile.active[i] = LATER;
        atomicMin(tile.rest, key(v));
      }
    }
    __syncthreads();
    do {
      tile.more = false;
      for (u32 k = 0; k < SWEEPS; ++k) {
        for (u32 i = threadIdx.x; i < tile.size; i += BLOCK) {
          if (relaxed(&tile.active[i]) != DUE) continue;
          atomicExch(&tile.active[i], 0u);
          __threadfence_block();
          visit(tile.first + i);
        }
      }
    } while (__syncthreads_or(tile.more && !relaxed(cancel)));
    for (u32 i = threadIdx.x; i < tile.size; i += BLOCK) (kept.store(i, tile.first + i), ...);
    __threadfence();
    for (u32 i = threadIdx.x; i < tile.size; i += BLOCK) {
      if (tile.active[i] == LATER) atomicExch(&tiles.marks[tile.first + i], 1u);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      if (taken[2] != NO_KEY) tiles.wait(t, taken[2]);
      atomicAdd(&tiles.counters[2], ~0ull);
    }
  }
}

}  // namespace vg
