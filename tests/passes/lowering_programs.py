"""Algorithm-level programs, one for each kind of operator."""

import re

SSSP = """\
program sssp: algorithm, ids 32, offsets 32
param source: vid
vertex dist: i32 local
edge weight: i32 graph
frontier frontier
operator relax(src, edge, dst) {
  dist[dst] min= (dist[src] + weight[edge])
}
run {
  fill dist = 2147483647:i32
  dist[source] = 0:i32
  frontier = single(source)
  while (size(frontier) > 0:i64) {
    frontier = edge_apply(relax, frontier)
  }
}
return dist
"""

# Rounds are counted, so they can be observed: only BSP gives the interpreter's answer.
LIMITED = """\
program limited: algorithm, ids 64, offsets 64
param source: vid
vertex dist: f64 local
edge weight: i32 graph
frontier frontier
operator relax(src, edge, dst) {
  dist[dst] min= (dist[src] + cast<f64>(weight[edge]))
}
run {
  fill dist = inf:f64
  dist[source] = 0.0:f64
  frontier = single(source)
  for i in range(0:i64, 2:i64, 1:i64) {
    frontier = edge_apply(relax, frontier)
  }
}
return dist
return reached = scalar size(frontier)
"""

BFS = """\
program bfs: algorithm, ids 32, offsets 32
param source: vid
vertex level: i32 local
vertex parent: vid local
global @depth: i32
frontier frontier
operator visit(src, edge, dst) {
  claim level[dst] from -1:i32 with @depth {
    parent[dst] = src
  }
}
run {
  fill level = -1:i32
  fill parent = none
  level[source] = 0:i32
  frontier = single(source)
  @depth = 0:i32
  while (size(frontier) > 0:i64) {
    @depth = (@depth + 1:i32)
    frontier = edge_apply(visit, frontier)
  }
}
return level
"""

# The claim reads the property it writes, at the other end.
BFS_BY_LEVEL = """\
program bfs_by_level: algorithm, ids 32, offsets 32
param source: vid
vertex level: i32 local
frontier frontier
operator visit(src, edge, dst) {
  claim level[dst] from -1:i32 with (level[src] + 1:i32) {
  }
}
run {
  fill level = -1:i32
  level[source] = 0:i32
  frontier = single(source)
  while (size(frontier) > 0:i64) {
    frontier = edge_apply(visit, frontier)
  }
}
return level
"""

SUMS = """\
program sums: algorithm, ids 32, offsets 32
param source: vid
vertex total: i64 local
vertex x: i64 local
edge weight: i32 graph
global @all: i64
frontier f
operator add(src, edge, dst) {
  total[dst] += (x[src] * cast<i64>(weight[edge]))
  @all += 1:i64
}
operator heavy(v) {
  x[v] = (total[v] % 7:i64)
  emit (x[v] > 2:i64)
}
run {
  fill total = 0:i64
  fill x = 1:i64
  edge_apply(add)
  f = vertex_apply(heavy)
  f = edge_apply(add, f) as again
  f = vertex_apply(heavy, f)
}
return total
return x
return all = scalar @all
return left = scalar size(f)
"""

COMPONENTS = """\
program components: algorithm, ids 32, offsets 32
param source: vid
vertex component: vid local disjoint
operator join(src, edge, dst) {
  union(component, component[src], component[dst])
}
run {
  fill component = id
  edge_apply(join)
}
return component
"""

FREQUENT = """\
program frequent: algorithm, ids 32, offsets 32
param source: vid
vertex label: i64 local
vertex count: i32 scratch
vertex seen: bool scratch
global @distinct: i64
operator begin(v) {
  label[v] = (cast<i64>(v) % 3:i64)
}
operator adopt(v) {
  let best: i64 = label[v]
  let most: i32 = 0:i32
  for (u, e) in out(v) {
    let at: vid = cast<vid>(label[u])
    scratch count[at] = (scratch count[at] + 1:i32)
    if not(scratch seen[u]) {
      scratch seen[u] = true
      @distinct += 1:i64
    }
    if (scratch count[at] > most) {
      most = scratch count[at]
      best = label[u]
    }
  }
  label[v] = best
}
run {
  @distinct = 0:i64
  fill label = 0:i64
  vertex_apply(begin)
  vertex_apply(adopt)
  vertex_apply(adopt) as "once more"
}
return label
return distinct = scalar @distinct
"""

SPREAD = """\
program spread: algorithm, ids 32, offsets 32
param source: vid
vertex count: i64 local
vertex most: i64 local
operator give(v) {
  for (u, e) in out(v) {
    count[u] += 1:i64
  }
}
operator look(v) {
  let best: i64 = most[v]
  for (u, e) in in(v) {
    best = max(best, most[u])
  }
  most[v] = best
}
run {
  fill count = 0:i64
  fill most = 0:i64
  most[source] = 5:i64
  vertex_apply(give)
  vertex_apply(look)
  vertex_apply(look) as "look again"
}
return count
return most
"""

# What happens at dst depends on dst: a pull need not walk the arcs of the others.
PATHS = """\
program paths: algorithm, ids 32, offsets 32
param source: vid
vertex level: i32 local
vertex paths: i64 local
global @depth: i32
frontier frontier
operator count(src, edge, dst) {
  if ((level[dst] == -1:i32) and (level[src] >= 0:i32)) {
    paths[dst] += paths[src]
  }
}
operator settle(v) {
  level[v] = @depth
}
run {
  fill level = -1:i32
  fill paths = 0:i64
  level[source] = 0:i32
  paths[source] = 1:i64
  frontier = single(source)
  @depth = 0:i32
  while (size(frontier) > 0:i64) {
    @depth = (@depth + 1:i32)
    frontier = edge_apply(count, frontier)
    vertex_apply(settle, frontier)
  }
}
return level
return paths
"""


# Both ends are written, each time by adding: so every serial order gives the same, and no other.
BOTH = """\
program both: algorithm, ids 32, offsets 32
param source: vid
vertex given: i64 local
vertex taken: i64 local
edge weight: i32 graph
global @arcs: i64
frontier frontier
operator hand(src, edge, dst) {
  given[src] = (given[src] + cast<i64>(weight[edge]))
  given[dst] = (given[dst] + 1:i64)
  if (weight[edge] > 2:i32) {
    taken[dst] = (taken[dst] + cast<i64>(weight[edge]))
  }
  @arcs += 1:i64
}
run {
  fill given = 0:i64
  fill taken = 0:i64
  frontier = single(source)
  @arcs = 0:i64
  for i in range(0:i64, 2:i64, 1:i64) {
    frontier = edge_apply(hand, frontier)
  }
  edge_apply(hand) as "hand all"
}
return given
return taken
return arcs = scalar @arcs
"""


GATHERS = """\
program gathers: algorithm, ids 32, offsets 32
param source: vid
vertex given: i64 local
vertex visits: i64 local
edge weight: i32 graph
global @full: i64
global @arcs: i64
frontier frontier
operator gather(v) {
  let near: vec<vid, 16> = cast<vec<vid, 16>>(none)
  let near.count: i64 = 0:i64
  for (u, e) in out(v) {
    if (near.count >= 16:i64) {
      @full += 1:i64
      leave
    }
    acquire u for near[near.count]
    near = insert(near, near.count, u)
    near.count += 1:i64
  }
  let i: i64 = 0:i64
  while (i < near.count) {
    let w: vid = near[[i]]
    i += 1:i64
    given[w] = (given[w] + i)
  }
  visits[v] = (visits[v] + 1:i64)
  @arcs += near.count
  emit ((visits[v] + near.count) > 2:i64)
}
run {
  fill given = 0:i64
  fill visits = 0:i64
  @full = 0:i64
  @arcs = 0:i64
  frontier = single(source)
  for i in range(0:i64, 2:i64, 1:i64) {
    frontier = vertex_apply(gather, frontier)
  }
  frontier = vertex_apply(gather) as "gather all"
  vertex_apply(gather, frontier) as "gather again"
}
return given
return visits
return arcs = scalar @arcs
return full = scalar @full
return left = scalar size(frontier)
"""


def reversed_applies(text: str) -> str:
    """The program with all its edge operators run against the arcs."""
    return re.sub(r"(edge_apply\([^)]*\))", r"\1 reverse", text)


PROGRAMS = {
    "sssp": SSSP,
    "limited": LIMITED,
    "bfs": BFS,
    "bfs_by_level": BFS_BY_LEVEL,
    "sums": SUMS,
    "components": COMPONENTS,
    "frequent": FREQUENT,
    "spread": SPREAD,
    "paths": PATHS,
    "both": BOTH,
    "gathers": GATHERS,
}
PROGRAMS |= {
    f"{name}_reverse": reversed_applies(PROGRAMS[name]) for name in ("sssp", "bfs", "sums", "paths", "both")
}
