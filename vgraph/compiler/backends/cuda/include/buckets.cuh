// Vertices queued by priority: those of the bucket under way, and a pile of all others (near and far: Davidson, Baxter,
// Garland and Owens 2014). Nothing is sorted: keys are computed when a bucket is taken from the pile.
#pragma once

namespace vg {

template <class Id>
struct Buckets {
  Frontier<Id> near;  // the bucket under way
  Frontier<Id> next;  // pushed to it meanwhile
  Frontier<Id> far;   // the pile
  Frontier<Id> rest;  // what stays of the pile while it is divided
  i64 limit;          // the largest key of the bucket under way
  i64 least;          // no key in the pile is smaller
  u32* queued;        // by vertex: the epoch in which it was last pushed to `next`
  u32* piled;         // whether it is in the pile
  u32 epoch;

  VG_DEVICE void open(u64 n, u64 x, u64 f, u64 r, u64 q, u64 p, u64* counters) {
    vg::open(near, n, 0, 0, counters);
    vg::open(next, x, 0, 0, counters + COUNTERS);
    vg::open(far, f, 0, 0, counters + 2 * COUNTERS);
    vg::open(rest, r, 0, 0, counters + 3 * COUNTERS);
    queued = (u32*)q;
    piled = (u32*)p;
    epoch = 1;
    empty();
  }
  VG_DEVICE void empty() {
    limit = Limits<i64>::least();
    least = Limits<i64>::most();
  }

  // Whether v is neither in `next` nor, of the other, in the pile; from now on it is.
  VG_DEVICE bool is_new(Id v) {
    u32 now = epoch;
    return relaxed(&queued[v]) != now && atomicExch(&queued[v], now) != now;
  }
  VG_DEVICE bool is_apart(Id v) { return !relaxed(&piled[v]) && !atomicExch(&piled[v], 1u); }
  // An entry for v, whose key is `key` by now; `lowest` is the smallest key that this thread piled up. Pushes go to
  // `same` and `later`: the queues `next` and `far`, or outboxes of theirs.
  template <class Same, class Later>
  VG_DEVICE void push(Id v, i64 key, i64& lowest, Same& same, Later& later) {
    if (key <= limit) {
      if (atomicExch(&queued[v], epoch) != epoch) same.append(v);
    } else {
      lowest = vg::min(lowest, key);
      if (!atomicExch(&piled[v], 1u)) later.append(v);
    }
  }
  VG_DEVICE void push(Id v, i64 key, i64& lowest) { push(v, key, lowest, next, far); }

  // --- one thread of each block, behind the barrier of a loop with pushes ---

  VG_DEVICE void recount(i64 lowest) {
    next.recount();
    far.recount();
    least = vg::min(least, lowest);
  }
};

// True if the run is to stop, as below.
template <class Id, class Team>
VG_DEVICE bool clear(Team& team, Buckets<Id>& b, i64 num_vertices) {
  for (i64 v = thread_number(); v < num_vertices; v += num_threads()) b.piled[v] = 0;
  team.alone([&] {
    b.near.renew(false, blockIdx.x == 0);
    b.next.renew(false, blockIdx.x == 0);
    b.far.renew(false, blockIdx.x == 0);
    b.rest.renew(false, blockIdx.x == 0);
    b.epoch += 1;
    b.empty();
  });
  return team.meet();
}

// Takes the lowest bucket as the one under way; `more` tells whether there is any. `exact`: the program may ask which one
// it is, and for other sizes.
template <bool exact, class Id, class Team, class Key>
VG_DEVICE bool advance(Team& team, Buckets<Id>& b, Key key, bool& more) {
  if (b.next.count > 0) {
    team.alone([&] {
      Frontier<Id> visited = b.near;
      b.near = b.next;
      b.next = visited;
      b.next.renew(false, blockIdx.x == 0);
      b.epoch += 1;
    });
    more = true;
    // What was counted behind the loop before, all blocks have counted before one of them goes on; an ordered loop asks
    // for nothing but this bucket.
    return exact ? team.meet() : false;
  }
  team.alone([&] { b.near.renew(false, blockIdx.x == 0); });
  i64 before = b.limit;
  while (b.far.count > 0) {
    i64 limit = b.least;
    team.alone([&] { b.rest.renew(false, blockIdx.x == 0); });
    i64 lowest = Limits<i64>::most();
    for (i64 first = (i64)blockIdx.x * BLOCK; first < b.far.count; first += num_threads()) {
      bool mine = first + threadIdx.x < b.far.count;
      Id v = mine ? b.far.queue[first + threadIdx.x] : 0;
      i64 k = mine ? key(v) : before;
      bool later = k > limit;
      if (later) lowest = vg::min(lowest, k);
      if (mine && !later) b.piled[v] = 0;
      append_all(b.rest, later, v);
      append_all(b.near, k > before && !later, v);  // else it was visited since
    }
    team.template give<Min>(0, lowest, Limits<i64>::most());
    bool stop = team.template meet<Slot<Min, i64>>(Nothing(), [&] {
      b.near.recount();
      b.rest.recount();
      b.limit = limit;
      b.least = team.template total<Min, i64>(0);
      Frontier<Id> pile = b.far;
      b.far = b.rest;
      b.rest = pile;
    });
    if (stop) return true;
    if (b.near.count > 0) break;
    // All blocks have counted this bucket before one of them adds to it.
    if (b.far.count > 0 && team.meet()) return true;
  }
  more = b.near.count > 0;
  return false;
}

}  // namespace vg
