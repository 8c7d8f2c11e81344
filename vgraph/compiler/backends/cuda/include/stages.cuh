// Several arcs of a lane at a time.
#pragma once

namespace vg {

// Arcs of a lane. Measured on an H200, shortest paths on a Kronecker graph of scale 22, with 1, 2, 3 and 4 at a time: 4.42,
// 3.92, 3.91 and 3.94 ms; in the order of degrees 4.11, 3.61, 3.59 and 3.57. More take registers from other loops.
constexpr u32 AT_A_TIME = 2;

// The arcs `begin` to `end` of a piece, AT_A_TIME for each lane: the accesses of one stage are under way together, where
// one arc after the other would wait for each of its own. `value(e, u)`: what the arc offers its neighbor; `look(u, x)`:
// whether that would change anything by now; `attempt(u, x)`: whether it did; `act(e, u, x)`: what follows on that.
template <class T, class Group, class Offset, class Id, class Value, class Look, class Attempt, class Act>
VG_DEVICE void in_stages(Group lanes, Offset begin, Offset end, const Id* columns, Value value, Look look, Attempt attempt, Act act) {
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
    for (u32 k = 0; k < N; ++k) some[k] = some[k] && attempt(u[k], x[k]);
#pragma unroll
    for (u32 k = 0; k < N; ++k) {
      if (some[k]) act((Offset)(begin + first + k * Group::size), u[k], x[k]);
    }
  }
}

}  // namespace vg
