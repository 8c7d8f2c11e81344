// Arcs of a vertex, elements of array parameters, and scratch memory of the worker that visits it.
#pragma once

namespace vg {

template <class Offset, class Id>
VG_DEVICE i64 num_arcs_of(const Offset* rows, Id v) {
  return (i64)(fixed(&rows[v + 1]) - fixed(&rows[v]));
}

// How many of the arcs are this lane's, where lanes take them in turn.
template <class Lanes, class Offset>
VG_DEVICE i64 share_of(Lanes lanes, Offset begin, Offset end) {
  u64 arcs = end - begin;
  return arcs <= lanes.rank() ? 0 : (i64)((arcs - lanes.rank() - 1) / Lanes::size + 1);
}

// An element of an array, where indices below 0 count from the end; what is nowhere in it is `other`.
template <class T>
VG_DEVICE T lookup(const T* array, i64 length, i64 i, T other) {
  if (i < 0) i += length;
  return (u64)i < (u64)length ? fixed(&array[i]) : other;
}

template <class T>
VG_DEVICE T lookup(const T* array, i64 rows, i64 columns, i64 i, i64 j, T other) {
  if (i < 0) i += rows;
  if (j < 0) j += columns;
  return (u64)i < (u64)rows && (u64)j < (u64)columns ? fixed(&array[i * columns + j]) : other;
}

// The first place from `from` on where an ascending list does not lie below `v`: steps that double, then bisection.
template <class Offset, class Id>
VG_DEVICE Offset next_not_below(const Id* list, Offset from, Offset end, Id v) {
  Offset step = 1;
  if (from == end || fixed(&list[from]) >= v) return from;
  while (end - from > step && fixed(&list[from + step]) < v) {
    from += step;
    step *= 2;
  }
  Offset high = end - from > step ? from + step : end;  // list[from] < v; list[high] is not, or is behind the end
  while (high - from > 1) {
    Offset middle = from + (high - from) / 2;
    if (fixed(&list[middle]) < v) from = middle;
    else high = middle;
  }
  return high;
}

template <class Offset, class Id>
VG_DEVICE bool is_neighbor(const Offset* rows, const Id* columns, Id v, Id other) {
  Offset end = fixed(&rows[v + 1]), at = next_not_below(columns, fixed(&rows[v]), end, other);
  return at != end && fixed(&columns[at]) == other;
}

template <class T>
VG_DEVICE bool claim_alone(T* place, T expected, T value) {
  if (!(*place == expected)) return false;
  *place = value;
  return true;
}

template <class T>
VG_DEVICE void swap_arrays(T& left, T& right) {
  T kept = left;
  left = right;
  right = kept;
}

VG_DEVICE i64 round_up(i64 n) { return (n + 31) / 32 * 32; }

VG_DEVICE i64 workers_of(i64 workers) { return workers < num_warps() ? workers : num_warps(); }

// A write to scratch memory: what was zero is noted, so that it can be cleared behind the visit. What is written zero
// again may be noted twice; where there are as many notes as vertices, everything is cleared.
template <class T, class Id, class Index>
VG_DEVICE void note(T* scratch, Id* touched, u64& noted, i64 num_vertices, Index at, T value) {
  if (bit_cast<Bits<T>>(scratch[at]) == 0 && noted < (u64)num_vertices) touched[noted++] = (Id)at;
  scratch[at] = value;
}

template <class T, class Id>
VG_DEVICE void forget(T* scratch, Id* touched, u64& noted, i64 num_vertices) {
  bool all = noted == (u64)num_vertices;
  for (u64 k = 0; k < noted; ++k) scratch[all ? (Id)k : touched[k]] = T();
  noted = 0;
}

// --- what the host reads ------------------------------------------------------------------------------------

VG_DEVICE void fail(Control* control, u32 message) {
  control->payload = message;
  control->status = ABORTED;
}

// The trace of rounds, which one thread keeps. It counts for itself: nothing is read back from memory.
struct Log {
  Control* control;
  u64* rows;
  u64 room, last, count;

  VG_DEVICE Log(Control* c, u64* r, u64 n) : control(c), rows(r), room(n), last(now()), count(0) {}

  // A record, written by the thread that is `mine`: label, direction, vertices, arcs, nanoseconds.
  VG_DEVICE void record(bool mine, u64 label, u64 direction, i64 active, i64 arcs) {
    if (mine && count < room) rows[6 * count + 3] = (u64)arcs;
    record(mine, label, direction, active);
  }
  // The same where the arcs were added before: to memory that began as 0.
  VG_DEVICE void record(bool mine, u64 label, u64 direction, i64 active) {
    count += 1;
    if (!mine) return;
    u64 time = now();
    if (count <= room) {
      u64* row = rows + 6 * (count - 1);
      row[0] = label;
      row[1] = direction;
      row[2] = (u64)active;
      row[4] = time - last;
    }
    control->records = count;
    control->rounds = (u32)count;
    control->active = (u32)active;
    last = time;
  }
  // All lanes of a warp: arcs of the record to come.
  VG_DEVICE void add(i64 arcs) const {
    arcs = Warp().reduce<Sum>(arcs);
    if (lane() == 0 && arcs && count < room) atomicAdd(rows + 6 * count + 3, (u64)arcs);
  }
};

}  // namespace vg
