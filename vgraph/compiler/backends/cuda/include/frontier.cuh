// Sets of vertices: a queue of ids, or a bitmap. Each block has a copy of the descriptor in its shared memory.
#pragma once

namespace vg {

constexpr u32 COUNTERS = 4;

// Grows an array by one element per calling thread; threads of a warp that come together share one addition.
template <class T>
VG_DEVICE u64 next_place(T* counter) {
  u32 mask = __activemask();
  u32 leader = __ffs(mask) - 1;
  u64 base = 0;
  if (lane() == leader) base = atomicAdd(counter, (T)__popc(mask));
  return shuffle(base, leader, mask) + __popc(mask & lanes_below());
}

template <class Id>
struct Frontier {
  Id* queue;
  u64* words;      // bitmap, or null
  u32* flags;      // the epoch in which a vertex was last pushed, or null
  u64* counters;   // COUNTERS counters of the queue, which take turns
  i64 count;       // members, as of the last barrier
  u32 turn, epoch;
  bool bitmap;

  VG_DEVICE u64* counter() const { return counters + turn % COUNTERS; }
  VG_DEVICE bool contains(Id v) const { return words[v / 64] >> (v % 64) & 1; }

  // --- inside a parallel loop ---

  VG_DEVICE void append(Id v) { queue[next_place(counter())] = v; }
  VG_DEVICE bool is_new(Id v) {
    u32 now = epoch;
    return relaxed(&flags[v]) != now && atomicExch(&flags[v], now) != now;
  }
  // The same without a look first, for small rounds: most that come are new.
  VG_DEVICE bool is_first(Id v) {
    u32 now = epoch;
    return atomicExch(&flags[v], now) != now;
  }
  VG_DEVICE void append_new(Id v) {
    if (is_new(v)) append(v);
  }
  // Whether the bit was not set.
  VG_DEVICE bool set(Id v) {
    u64 bit = 1ull << (v % 64);
    u64* word = words + v / 64;
    return !(relaxed(word) & bit) && !(atomicOr(word, bit) & bit);
  }
  // The same where lanes often come with vertices of their own, side by side: one sets the bits of all.
  VG_DEVICE bool set_together(Id v) {
    if (v % 32 != lane()) return set(v);
    u32 together = __match_any_sync(__activemask(), (u64)(v / 32));
    u32 leader = __ffs(together) - 1, old = 0;
    u32* half = (u32*)words + v / 32;
    if (lane() == leader) old = atomicOr(half, together);
    return !(shuffle(old, leader, together) >> lane() & 1);
  }
  // The whole warp at vertices v, v + 1, ...: sets the bits of lanes that are in, alone on its half of a word.
  VG_DEVICE u32 set_lanes(Id v, bool in) {
    u32 bits = __ballot_sync(ALL, in);
    if (lane() == 0 && bits) ((u32*)words)[v / 32] |= bits;
    return in;
  }

  // --- one thread of each block, while the others wait; `first` in one block only ---

  // Empty; the counter of the next turn is zeroed for the time after.
  VG_DEVICE void renew(bool as_bitmap, bool first) {
    turn += 1;
    epoch += 1;
    count = 0;
    bitmap = as_bitmap;
    if (first) counters[(turn + 1) % COUNTERS] = 0;
  }
  // Behind the barrier that ends a loop with pushes to the queue.
  VG_DEVICE void recount() { count = (i64)relaxed(counter()); }
};

// --- pushes of a warp --------------------------------------------------------------------------------------

// Measured on an H200, shortest paths on a Kronecker graph of scale 22: 5.5 ms without, with 32, 64 and 128 4.3, 4.1, 4.0.
constexpr u32 BOX = 128;
constexpr u32 BOXES = 1 << 13;  // bytes for those of a block at most: where no pool is asked for, it has 48 KB in all
// What the warps of a block keep of their pushes to the K-th queue of a loop.
template <int K, class Id>
struct Boxes {
  static constexpr u32 FIT = BOXES / (WARPS * (u32)sizeof(Id));
  static constexpr u32 ROOM = FIT < BOX ? FIT : BOX;
  Id ids[WARPS][ROOM];
  u32 count[WARPS];  // may be more than there is room: what found none, went to the queue
  static VG_DEVICE Boxes& here() {
    __shared__ Boxes kept;
    return kept;
  }
};

// Pushes to a queue that go together: each addition to its counter has to wait for the one before, whoever makes it.
template <int K, class Id>
struct Outbox {
  Frontier<Id>& queue;

  VG_DEVICE explicit Outbox(Frontier<Id>& f) : queue(f) {
    if (lane() == 0) Boxes<K, Id>::here().count[warp()] = 0;
    __syncwarp();
  }
  VG_DEVICE void append(Id v) const {
    auto& box = Boxes<K, Id>::here();
    u64 at = next_place(&box.count[warp()]);
    if (at < box.ROOM) box.ids[warp()][at] = v;
    else queue.append(v);
  }
  // All lanes: the box goes to the queue if it holds `least` ids.
  VG_DEVICE void send(u32 least) const {
    auto& box = Boxes<K, Id>::here();
    __syncwarp();
    u32 count = shuffle(box.count[warp()], 0);  // seen before a lane goes on and appends
    if (count < least) return;
    if (count > box.ROOM) count = box.ROOM;
    u64 at = 0;
    if (lane() == 0) at = atomicAdd(queue.counter(), (u64)count);
    at = shuffle(at, 0);
    for (u32 k = lane(); k < count; k += 32) queue.queue[at + k] = box.ids[warp()][k];
    __syncwarp();
    if (lane() == 0) box.count[warp()] = 0;
    __syncwarp();
  }
};

// All threads of the block: those that are `in` append, with one addition for all.
template <class Id>
VG_DEVICE void append_all(Frontier<Id>& f, bool in, Id v) {
  __shared__ u32 of_warps[WARPS];
  __shared__ u64 base;
  u32 bits = __ballot_sync(ALL, in);
  if (lane() == 0) of_warps[warp()] = __popc(bits);
  __syncthreads();
  u32 before = __popc(bits & lanes_below()), all = 0;
  for (u32 k = 0; k < WARPS; ++k) {
    if (k < warp()) before += of_warps[k];
    all += of_warps[k];
  }
  if (threadIdx.x == 0 && all) base = atomicAdd(f.counter(), (u64)all);
  __syncthreads();
  if (in) f.queue[base + before] = v;
  __syncthreads();
}

template <class Id>
VG_DEVICE void open(Frontier<Id>& f, u64 queue, u64 words, u64 flags, u64* counters) {
  f = Frontier<Id>{(Id*)queue, (u64*)words, (u32*)flags, counters, 0, 0, 1, false};
}

// --- all threads of the grid together -----------------------------------------------------------------------

template <class Id, class Team>
VG_DEVICE void swap(Team& team, Frontier<Id>& a, Frontier<Id>& b) {
  team.alone([&] {
    Frontier<Id> kept = a;
    a = b;
    b = kept;
  });
}

VG_DEVICE u64 num_words(i64 num_vertices) { return (u64)(num_vertices + 63) / 64; }

template <class Id>
VG_DEVICE void fill_words(Frontier<Id>& f, i64 num_vertices, bool every) {
  i64 n = (i64)num_words(num_vertices);
  for (i64 i = thread_number(); i < n; i += num_threads()) {
    f.words[i] = !every ? 0 : i + 1 < n || num_vertices % 64 == 0 ? ~0ull : (1ull << (num_vertices % 64)) - 1;
  }
}

// An empty queue, for a place behind which there is a barrier anyway.
template <class Id, class Team>
VG_DEVICE void renew(Team& team, Frontier<Id>& f) {
  team.alone([&] { f.renew(false, blockIdx.x == 0); });
}

// The calls below give true if the run is to stop.

template <class Id, class Team>
VG_DEVICE bool clear_queue(Team& team, Frontier<Id>& f) {
  team.alone([&] { f.renew(false, blockIdx.x == 0); });
  return team.meet();
}

template <class Id, class Team>
VG_DEVICE bool clear_bitmap(Team& team, Frontier<Id>& f, i64 num_vertices) {
  fill_words(f, num_vertices, false);
  team.alone([&] { f.renew(true, blockIdx.x == 0); });
  return team.meet();
}

// The set of `v` alone.
template <class Id, class Team>
VG_DEVICE bool set_single(Team& team, Frontier<Id>& f, i64 num_vertices, Id v, bool as_bitmap) {
  if (as_bitmap) {
    fill_words(f, num_vertices, false);
    if (team.meet()) return true;
  }
  team.alone([&] {
    f.renew(as_bitmap, blockIdx.x == 0);
    f.count = 1;
    if (blockIdx.x == 0) {
      if (as_bitmap) {
        f.words[v / 64] |= 1ull << (v % 64);
      } else {
        f.queue[0] = v;
        *f.counter() = 1;
        if (f.flags) f.flags[v] = f.epoch;
      }
    }
  });
  return team.meet();
}

template <class Id, class Team>
VG_DEVICE bool set_all(Team& team, Frontier<Id>& f, i64 num_vertices, bool as_bitmap) {
  if (as_bitmap) {
    fill_words(f, num_vertices, true);
  } else {
    for (i64 v = thread_number(); v < num_vertices; v += num_threads()) f.queue[v] = (Id)v;
  }
  team.alone([&] {
    f.renew(as_bitmap, blockIdx.x == 0);
    f.count = num_vertices;
    if (blockIdx.x == 0) *f.counter() = (u64)num_vertices;
  });
  return team.meet();
}

template <class Id, class Team>
VG_DEVICE bool copy(Team& team, Frontier<Id>& to, Frontier<Id>& from, i64 num_vertices) {
  if (from.bitmap) {
    for (i64 i = thread_number(); i < (i64)num_words(num_vertices); i += num_threads()) to.words[i] = from.words[i];
  } else {
    for (i64 i = thread_number(); i < from.count; i += num_threads()) to.queue[i] = from.queue[i];
  }
  team.alone([&] {
    to.renew(from.bitmap, blockIdx.x == 0);
    to.count = from.count;
    if (blockIdx.x == 0) *to.counter() = (u64)from.count;
  });
  return team.meet();
}

// The bitmap of a queue.
template <class Id, class Team>
VG_DEVICE bool to_bitmap(Team& team, Frontier<Id>& f, i64 num_vertices) {
  if (f.bitmap) return false;
  fill_words(f, num_vertices, false);
  if (team.meet()) return true;
  for (i64 i = thread_number(); i < f.count; i += num_threads()) {
    Id v = f.queue[i];
    atomicOr(f.words + v / 64, 1ull << (v % 64));
  }
  team.alone([&] { f.bitmap = true; });
  return team.meet();
}

// Writes the members of a bitmap to the queue; places are found by warps, each for 32 half words at a time.
template <class Id, class Team>
VG_DEVICE void write_queue(Team& team, Frontier<Id>& f, i64 num_vertices) {
  auto halves = (const u32*)f.words;
  i64 n = 2 * (i64)num_words(num_vertices);
  for (i64 base = 32 * warp_number(); base < n; base += 32 * num_warps()) {
    i64 i = base + lane();
    u32 bits = i < n ? halves[i] : 0;
    u32 before = __popc(bits);
    u32 mine = before;
    for (u32 d = 1; d < 32; d *= 2) {
      u32 left = __shfl_up_sync(ALL, before, d);
      if (lane() >= d) before += left;
    }
    u32 all = shuffle(before, 31);
    u64 at = 0;
    if (lane() == 0 && all) at = atomicAdd(f.counter(), (u64)all);
    at = shuffle(at, 0) + before - mine;
    for (; bits; bits &= bits - 1) f.queue[at++] = (Id)(32 * i + __ffs(bits) - 1);
  }
}

// The queue of a bitmap, in no order.
template <class Id, class Team>
VG_DEVICE bool to_queue(Team& team, Frontier<Id>& f, i64 num_vertices) {
  if (!f.bitmap) return false;
  i64 kept = f.count;
  team.alone([&] { f.renew(false, blockIdx.x == 0); });
  write_queue(team, f, num_vertices);
  return team.meet([&] { f.count = kept; });
}

}  // namespace vg
