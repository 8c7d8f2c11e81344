// sssp: every thread of the grid runs all of it.
#include "vgraph.cuh"
using namespace vg;
using vid = u32;
using eid = u32;

struct Args {
  alignas(8) Control* control;
  alignas(8) i32* dist;
  alignas(8) i32* weight;
  alignas(8) const vid* out_columns;
  alignas(8) const eid* out_rows;
  alignas(8) i64 num_vertices;
  alignas(8) i64 num_arcs;
  alignas(8) vid source;
  alignas(8) f64 policy_delta_relax_weight;
  alignas(8) u64 frontier_queue;
  alignas(8) u64 frontier_words;
  alignas(8) u64 frontier_flags;
  alignas(8) u64 relax_work_2_near;
  alignas(8) u64 relax_work_2_next;
  alignas(8) u64 relax_work_2_far;
  alignas(8) u64 relax_work_2_rest;
  alignas(8) u64 relax_work_2_queued;
  alignas(8) u64 relax_work_2_piled;
  alignas(8) u64* trace;
  alignas(8) u64 trace_room;
  alignas(8) i64 workers;
};

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT / BLOCK)
vg_main(const __grid_constant__ Args a) {
  const auto control = a.control;
  const auto dist = a.dist;
  const auto weight = a.weight;
  const auto out_columns = a.out_columns;
  const auto out_rows = a.out_rows;
  const auto num_vertices = a.num_vertices;
  const auto num_arcs = a.num_arcs;
  const auto source = a.source;
  const auto policy_delta_relax_weight = a.policy_delta_relax_weight;
  __shared__ Board<3> board;
  Team<3> team(control, (u64*)control + 28, &board);
  Log log(control, a.trace, a.trace_room);
  __shared__ Frontier<vid> frontier;
  __shared__ Buckets<vid> relax_work_2;
  team.alone([&] {
    open(frontier, a.frontier_queue, a.frontier_words, a.frontier_flags, (u64*)control + 8);
    relax_work_2.open(a.relax_work_2_near, a.relax_work_2_next, a.relax_work_2_far, a.relax_work_2_rest, a.relax_work_2_queued, a.relax_work_2_piled, (u64*)control + 12);
  });
  i64 arcs = 0ll;
  i64 visited = 0ll;

  auto relax_work = [&](vid v_1) -> i64 { return vg::max(vg::min(to<i64>(((f64)relaxed(&dist[v_1]) * policy_delta_relax_weight)), 4611686018427387904ll), (-4611686018427387904ll)); };

  {
    for (i64 place_1 = thread_number(); place_1 < num_vertices; place_1 += num_threads()) {
      vid v_2 = (vid)place_1;
      dist[v_2] = Limits<i32>::most();
    }
    if (team.meet()) return;
  }
  if (team.first()) {
    dist[source] = 0;
  }
  if (team.meet()) return;
  if (set_single(team, frontier, num_vertices, (vid)source, false)) return;
  if (clear(team, relax_work_2, num_vertices)) return;

  {
    i64 relax_work_lowest_2 = Limits<i64>::most();
    for (i64 place_3 = thread_number(); place_3 < frontier.count; place_3 += num_threads()) {
      vid v = frontier.queue[place_3];
      {
        vid queued_4 = v;
        relax_work_2.push(queued_4, relax_work(queued_4), relax_work_lowest_2);
      }
    }
    team.give<Min>(0, relax_work_lowest_2, Limits<i64>::most());
    if (team.meet<Slot<Min, i64>>(Nothing(), [&] { relax_work_2.recount(team.total<Min, i64>(0)); })) return;
  }
  if (clear_queue(team, frontier)) return;
  bool more = false;
  if (advance<false>(team, relax_work_2, relax_work, more)) return;
  while (more) {
    arcs = 0ll;
    visited = 0ll;

    {
      i64 arcs_part_5 = 0ll;
      i64 visited_part_6 = 0ll;
      i64 relax_work_lowest_7 = Limits<i64>::most();
      for (i64 place_8 = thread_number(); place_8 < relax_work_2.near.count; place_8 += num_threads()) {
        vid src = relax_work_2.near.queue[place_8];
        visited_part_6 = add(visited_part_6, 1ll);
        arcs_part_5 = add(arcs_part_5, num_arcs_of(out_rows, src));
        i32 src_dist = relaxed(&dist[src]);
        vid of_9 = src;
        for (eid edge = fixed(&out_rows[of_9]), edge_end_11 = fixed(&out_rows[of_9 + 1]); edge < edge_end_11; ++edge) {
          vid dst = fixed(&out_columns[edge]);
          bool hit = false;
          if (atomic_reduce<Min>(&dist[dst], add(src_dist, fixed(&weight[edge])))) hit = true;
          if (hit) {
            {
              vid queued_12 = dst;
              relax_work_2.push(queued_12, relax_work(queued_12), relax_work_lowest_7);
            }
          }
        }
      }
      team.give<Sum>(0, arcs_part_5, 0ll);
      team.give<Sum>(1, visited_part_6, 0ll);
      team.give<Min>(2, relax_work_lowest_7, Limits<i64>::most());
      if (team.meet<Slot<Sum, i64>, Slot<Sum, i64>, Slot<Min, i64>>(Nothing(), [&] { relax_work_2.recount(team.total<Min, i64>(2)); })) return;
      arcs = add(arcs, team.total<Sum, i64>(0));
      visited = add(visited, team.total<Sum, i64>(1));
    }  // relax
    log.record(team.last(), 0, 0, visited, arcs);
    if (advance<false>(team, relax_work_2, relax_work, more)) return;
  }
}
