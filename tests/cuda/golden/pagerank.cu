// pagerank: every thread of the grid runs all of it.
#include "vgraph.cuh"
using namespace vg;
using vid = u32;
using eid = u32;

struct Args {
  alignas(8) Control* control;
  alignas(8) f64* rank;
  alignas(8) f64* incoming;
  alignas(8) f64* part;
  alignas(8) const vid* in_columns;
  alignas(8) const eid* in_rows;
  alignas(8) const eid* out_rows;
  alignas(8) i64 num_vertices;
  alignas(8) i64 num_arcs;
  alignas(8) f64 damping;
  alignas(8) f64 tolerance;
  alignas(8) i64 max_rounds;
  alignas(8) u64* trace;
  alignas(8) u64 trace_room;
  alignas(8) i64 workers;
};

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT / BLOCK)
vg_main(const __grid_constant__ Args a) {
  const auto control = a.control;
  const auto rank = a.rank;
  const auto incoming = a.incoming;
  const auto part = a.part;
  const auto in_columns = a.in_columns;
  const auto in_rows = a.in_rows;
  const auto out_rows = a.out_rows;
  const auto num_vertices = a.num_vertices;
  const auto num_arcs = a.num_arcs;
  const auto damping = a.damping;
  const auto tolerance = a.tolerance;
  const auto max_rounds = a.max_rounds;
  __shared__ Board<2> board;
  Team<2> team(control, (u64*)control + 9, &board);
  Log log(control, a.trace, a.trace_room);
  f64 dangling = 0.0;
  f64 change = 0.0;
  f64 base = 0.0;
  i64 arcs = 0ll;
  i64 arcs_1 = 0ll;
  i64 arcs_2 = 0ll;

  dangling = 0.0;
  change = Limits<f64>::most();
  base = 0.0;
  arcs = 0ll;

  {
    f64 dangling_part_1 = (-0.0);
    for (i64 place_2 = thread_number(); place_2 < round_up(num_vertices); place_2 += num_threads()) {
      vid v = (vid)place_2;
      if (place_2 < num_vertices) do {
        f64 v_rank = 0.0;
        incoming[v] = 0.0;
        f64 v_part = 0.0;
        v_rank = (1.0 / (f64)num_vertices);
        v_part = 0.0;
        f64 rank_1 = v_rank;
        i64 leaving_1 = num_arcs_of(out_rows, v);
        if ((leaving_1 > 0ll)) {
          v_part = ((damping * rank_1) / (f64)leaving_1);
        } else {
          dangling_part_1 = (dangling_part_1 + rank_1);
        }
        rank[v] = v_rank;
        part[v] = v_part;
      } while (false);
    }
    team.give<Sum>(0, dangling_part_1, (-0.0));
    if (team.meet<Slot<Sum, f64>>()) return;
    dangling = (dangling + team.total<Sum, f64>(0));
  }  // begin
  log.record(team.last(), 0, 0, num_vertices, arcs);
  i64 rounds_ = 0ll;
  while (((rounds_ < max_rounds) && !(change < tolerance))) {
    base = ((1.0 - damping) + (damping * dangling));
    dangling = 0.0;
    change = 0.0;
    arcs_2 = 0ll;

    {
      i64 arcs_2_part_3 = 0ll;
      f64 dst_incoming_next_7 = f64();
      eid begin_5_next_8 = eid();
      eid end_6_next_9 = eid();
      auto look_10 = [&](i64 i) { if (i < num_vertices) { dst_incoming_next_7 = incoming[i]; begin_5_next_8 = fixed(&in_rows[i]); end_6_next_9 = fixed(&in_rows[i + 1]); } };
      look_10(thread_number());
      for (i64 place_4 = thread_number(); place_4 < round_up(num_vertices); place_4 += num_threads()) {
        vid dst = (vid)place_4;
        f64 dst_incoming = dst_incoming_next_7; eid begin_5 = begin_5_next_8; eid end_6 = end_6_next_9; look_10(place_4 + num_threads());
        if (place_4 < num_vertices) do {
          vid of_11 = dst;
          auto value_13 = [&](eid edge, vid src) -> f64 { return part[src]; };
          auto add_14 = [&](f64 new_15) { dst_incoming = (dst_incoming + new_15); };
          sum_row(in_columns, begin_5, end_6, value_13, add_14);
          arcs_2_part_3 = add(arcs_2_part_3, (i64)(end_6 - begin_5));
          incoming[dst] = dst_incoming;
        } while (false);
      }
      team.give<Sum>(0, arcs_2_part_3, 0ll);
      if (team.meet<Slot<Sum, i64>>()) return;
      arcs_2 = add(arcs_2, team.total<Sum, i64>(0));
    }  // gather
    log.record(team.last(), 1, 1, num_vertices, arcs_2);
    base = (base / (f64)num_vertices);
    arcs_1 = 0ll;

    {
      f64 change_part_16 = (-0.0);
      f64 dangling_part_17 = (-0.0);
      for (i64 place_18 = thread_number(); place_18 < round_up(num_vertices); place_18 += num_threads()) {
        vid v_4 = (vid)place_18;
        if (place_18 < num_vertices) do {
          f64 own = base;
          f64 rank_1_1 = (own + incoming[v_4]);
          change_part_16 = (change_part_16 + absolute((rank_1_1 - rank[v_4])));
          rank[v_4] = rank_1_1;
          incoming[v_4] = 0.0;
          i64 leaving_1_1 = num_arcs_of(out_rows, v_4);
          if ((leaving_1_1 > 0ll)) {
            part[v_4] = ((damping * rank_1_1) / (f64)leaving_1_1);
          } else {
            dangling_part_17 = (dangling_part_17 + rank_1_1);
          }
        } while (false);
      }
      team.give<Sum>(0, change_part_16, (-0.0));
      team.give<Sum>(1, dangling_part_17, (-0.0));
      if (team.meet<Slot<Sum, f64>, Slot<Sum, f64>>()) return;
      change = (change + team.total<Sum, f64>(0));
      dangling = (dangling + team.total<Sum, f64>(1));
    }  // update
    log.record(team.last(), 2, 0, num_vertices, arcs_1);
    rounds_ = add(rounds_, 1ll);
  }
  bool converged = (change <= tolerance);
  if (team.first()) {
    *(bool*)((u64*)control + 8) = converged;
  }
}
