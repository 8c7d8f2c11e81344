// Lists of frontiers: their ids one behind the other. Each block has a copy of the descriptor.
#pragma once

namespace vg {

template <class Id>
struct List {
  Id* ids;
  u64* starts;  // of each frontier, and of the one to come
  u64 room, frontiers;
  i64 length;
  u64 total;
  // Of a crew: the frontier before the last one that was looked at, whose bounds are known.
  i64 known;
  u64 before, until;

  VG_DEVICE void open(u64 i, u64 s, u64 r, u64 f) {
    ids = (Id*)i;
    starts = (u64*)s;
    room = r;
    frontiers = f;
    length = 0;
    total = 0;
    known = -1;
    if (blockIdx.x == 0) starts[0] = 0;
  }
};

template <class Id, class Team>
VG_DEVICE bool clear_list(Team& team, List<Id>& list) {
  team.alone([&] { list.length = 0; list.total = 0; list.known = -1; });
  return false;
}

// Appends a copy of the frontier. Where there is no room the run ends, and the host makes more. Without MEET nothing is
// to touch the queue or the list before a barrier.
template <bool MEET, class Id, class Team>
VG_DEVICE bool append(Team& team, List<Id>& list, u32 number, Frontier<Id>& f, i64 num_vertices) {
  if (f.bitmap) {
    // The queue is written out beside the bitmap, which stays.
    team.alone([&] {
      f.turn += 1;
      if (blockIdx.x == 0) f.counters[(f.turn + 1) % COUNTERS] = 0;
    });
    write_queue(team, f, num_vertices);
    if (team.meet()) return true;
  }
  if (list.total + f.count > list.room || list.length + 1 >= (i64)list.frontiers) {
    if (team.first()) {
      team.control->payload = number;
      team.control->needed = list.total + f.count;
      team.control->status = OVERFLOW;
    }
    return true;
  }
  for (i64 i = thread_from_last(); i < f.count; i += num_threads()) list.ids[list.total + i] = f.queue[i];
  team.alone([&] {
    list.length += 1;
    list.total += f.count;
    if (blockIdx.x == 0) list.starts[list.length] = list.total;
  });
  if constexpr (MEET) return team.meet();
  return false;
}

// The frontier at an index: from the end if negative, empty if out of range.
template <class Id>
VG_DEVICE i64 find(const List<Id>& list, i64 index, u64& begin) {
  if (index < 0) index += list.length;
  bool inside = index >= 0 && index < list.length;
  begin = inside ? list.starts[index] : 0;
  return inside ? (i64)(list.starts[index + 1] - begin) : 0;
}

// f = list[index], whose ids stay in the list: f is never changed otherwise.
template <class Id, class Team>
VG_DEVICE void view(Team& team, Frontier<Id>& f, List<Id>& list, i64 index) {
  team.alone([&] {
    u64 begin;
    f.count = find(list, index, begin);
    f.queue = list.ids + begin;
  });
}

// The same where a list is gone through from its end: nobody waits for where its frontiers begin. `soon`, of thread 0, is
// on its way in the meantime.
template <class Id, class Team>
VG_DEVICE void view_down(Team& team, Frontier<Id>& f, List<Id>& list, i64 index, u64& soon) {
  team.alone([&] {
    u64 begin = list.before;
    if (index >= 0 && index == list.known) {
      f.count = (i64)(list.until - begin);
    } else {
      f.count = find(list, index, begin);
      if (index < 0) index += list.length;
      soon = 0 < index && index < list.length ? list.starts[index - 1] : begin;
    }
    f.queue = list.ids + begin;
    list.known = index - 1;
    list.before = soon;
    list.until = begin;
    soon = 1 < index && index < list.length ? list.starts[index - 2] : 0;
  });
}

// The last threads ask for what will be read of the vertices of the frontier before that, all at a time.
template <class Id, class Offset, class... T>
VG_DEVICE void look_ahead(const List<Id>& list, const Offset* rows, const Id* columns, const T*... values) {
  u64 begin = list.before;
  i64 count = (i64)(list.until - begin);
  for (i64 i = thread_from_last(); i < count; i += num_threads()) {
    Id v = list.ids[begin + i];
    Offset row = early(&rows[v]), end = early(&rows[v + 1]);
    warm(values + v...);
    if (begin > (u64)i) warm(list.ids + (begin - i - 1));
    if (row < end) warm(columns + row);
  }
}

// f = list[index], as a copy.
template <class Id, class Team>
VG_DEVICE bool get(Team& team, Frontier<Id>& f, List<Id>& list, i64 index) {
  u64 begin;
  i64 count = find(list, index, begin);
  for (i64 i = thread_number(); i < count; i += num_threads()) f.queue[i] = list.ids[begin + i];
  team.alone([&] {
    f.renew(false, blockIdx.x == 0);
    f.count = count;
    if (blockIdx.x == 0) *f.counter() = (u64)count;
  });
  return team.meet();
}

}  // namespace vg
