// bfs: every thread of the grid runs all of it.
#include "vgraph.cuh"
using namespace vg;
using vid = u32;
using eid = u32;

struct Args {
  alignas(8) Control* control;
  alignas(8) i32* level;
  alignas(8) vid* parent;
  alignas(8) const vid* out_columns;
  alignas(8) const eid* out_rows;
  alignas(8) i64 num_vertices;
  alignas(8) i64 num_arcs;
  alignas(8) vid source;
  alignas(8) u64 frontier_queue;
  alignas(8) u64 frontier_words;
  alignas(8) u64 frontier_flags;
  alignas(8) u64 frontier_next_queue;
  alignas(8) u64 frontier_next_words;
  alignas(8) u64 frontier_next_flags;
  alignas(8) u64* trace;
  alignas(8) u64 trace_room;
  alignas(8) i64 workers;
};

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT / BLOCK)
vg_main(const __grid_constant__ Args a) {
  const auto control = a.control;
  const auto level = a.level;
  const auto parent = a.parent;
  const auto out_columns = a.out_columns;
  const auto out_rows = a.out_rows;
  const auto num_vertices = a.num_vertices;
  const auto num_arcs = a.num_arcs;
  const auto source = a.source;
  __shared__ Board<1> board;
  Team<1> team(control, (u64*)control + 16, &board);
  Log log(control, a.trace, a.trace_room);
  __shared__ Frontier<vid> frontier;
  __shared__ Frontier<vid> frontier_next;
  team.alone([&] {
    open(frontier, a.frontier_queue, a.frontier_words, a.frontier_flags, (u64*)control + 8);
    open(frontier_next, a.frontier_next_queue, a.frontier_next_words, a.frontier_next_flags, (u64*)control + 12);
  });
  i64 depth = 0ll;
  i64 arcs = 0ll;


  {
    for (i64 place_1 = thread_number(); place_1 < num_vertices; place_1 += num_threads()) {
      vid v = (vid)place_1;
      level[v] = (-1);
      parent[v] = (vid)-1;
    }
    if (team.meet()) return;
  }
  if (team.first()) {
    level[source] = 0;
  }
  if (team.meet()) return;
  if (team.first()) {
    parent[source] = source;
  }
  if (team.meet()) return;
  depth = 0ll;
  if (set_single(team, frontier, num_vertices, (vid)source, false)) return;
  while ((frontier.count > 0ll)) {
    depth = add(depth, 1ll);
    arcs = 0ll;

    {
      i64 arcs_part_2 = 0ll;
      for (i64 place_3 = thread_number(); place_3 < frontier.count; place_3 += num_threads()) {
        vid src = frontier.queue[place_3];
        arcs_part_2 = add(arcs_part_2, num_arcs_of(out_rows, src));
        vid of_4 = src;
        for (eid edge = fixed(&out_rows[of_4]), edge_end_6 = fixed(&out_rows[of_4 + 1]); edge < edge_end_6; ++edge) {
          vid dst = fixed(&out_columns[edge]);
          bool hit = false;
          bool claimed = false;
          claimed = claim<i32>(&level[dst], (-1), (i32)depth);
          if (claimed) {
            hit = true;
            parent[dst] = src;
          }
          if (hit) {
            frontier_next.append(dst);
          }
        }
      }
      team.give<Sum>(0, arcs_part_2, 0ll);
      if (team.meet<Slot<Sum, i64>>([&] { frontier_next.recount(); })) return;
      arcs = add(arcs, team.total<Sum, i64>(0));
    }  // visit
    log.record(team.last(), 0, 0, frontier.count, arcs);
    vg::swap(team, frontier, frontier_next);
    renew(team, frontier_next);
  }
}
