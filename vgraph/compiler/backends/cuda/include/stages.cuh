// Several arcs of a lane at a time.
#pragma once

namespace vg {

// Arcs of a lane. Measured on an H200, shortest paths: on a Kronecker graph of scale 22 with 1, 2, 4 and 8 at a time 5.79,
// 5.45, 5.65 and 6.12 ms, on a road grid of 2048 x 2048 with 1, 2 and 4 34.8, 35.7 and 40.2: registers run out.
constexpr u32 AT_A_TIME = 2;
constexpr u32 LOOKS = 4;  // of a search

// The arcs `begin` to `end` of a piece, AT_A_TIME for each lane: the loads of one stage are under way together, where one
// arc after the other would wait for each of its own. `value(e, u)`: what the arc offers its neighbor; `look(u, x)`: whether
// that would change anything by now; `act(e, u, x)`: the rest, which tries it.
template <class T, class Group, class Offset, class Id, class Value, class Look, class Act>
VG_DEVICE void in_stages(Group lanes, Offset begin, Offset end, const Id* columns, Value value, Look look, Act act) {
  constexpr u32 N = AT_A_TIME;
  const Offset count = end - begin;
  for (Offset first = lanes.rank(); first < count; first += N * Group::size) {
    Id u[N];
    T x[N];
    bool some[N];
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      some[k] = first + k * Group::size < count;
      u[k] = some[k] ? fixed(&columns[begin + first + k * Group::size]) : 0;
    }
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      if (some[k]) x[k] = value((Offset)(begin + first + k * Group::size), u[k]);
    }
#pragma unroll
    for (u32 k = 0; k < N; ++k) some[k] = some[k] && look(u[k], x[k]);
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      if (some[k]) act((Offset)(begin + first + k * Group::size), u[k], x[k]);
    }
  }
}

// A search along a piece: this lane's first arc for which `test(e, u)` holds, or `end`. It is given up where `gone()`.
template <class Group, class Offset, class Id, class Test, class Gone>
VG_DEVICE Offset first_hit(Group lanes, Offset begin, Offset end, const Id* columns, Test test, Gone gone) {
  constexpr u32 N = LOOKS;
  const Offset count = end - begin;
  for (Offset first = lanes.rank(); first < count && !gone(); first += N * Group::size) {
    Id u[N];
    bool hit[N];
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      hit[k] = first + k * Group::size < count;
      u[k] = hit[k] ? fixed(&columns[begin + first + k * Group::size]) : 0;
    }
#pragma unroll
    for (u32 k = 0; k < N; ++k) hit[k] = hit[k] && test((Offset)(begin + first + k * Group::size), u[k]);
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      if (hit[k]) return begin + first + k * Group::size;
    }
  }
  return end;
}

}  // namespace vg
