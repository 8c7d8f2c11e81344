"""Small programs in the text form of the IR."""

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

SSSP_PUSH = """\
program sssp: kernel, ids 32, offsets 32
param source: vid
vertex dist: i32 local
edge weight: i32 graph
frontier frontier sparse flags
frontier next sparse flags
run {
  parfor v in vertices {
    dist[v] = 2147483647:i32
  }
  single {
    dist[source] = 0:i32
    frontier = single(source)
    clear next sparse
  }
  while (size(frontier) > 0:i64) {
    parfor src in sparse frontier as relax {
      let d: i32 = relaxed dist[src]
      for (dst, e) in out(src) {
        let changed: bool = false
        atomic dist[dst] min= (d + weight[e]) -> changed
        if changed {
          push next dst sparse dedupe atomic
        }
      }
    }
    trace relax push size(frontier), 0:i64
    swap frontier next
    clear next sparse
  }
}
return dist
"""

SSSP_PULL = """\
program sssp: kernel, ids 64, offsets 64
param source: vid
vertex dist: i32 local
edge_in weight.in: i32 graph
frontier frontier sparse bitmap
frontier next bitmap
run {
  parfor v in vertices {
    dist[v] = 2147483647:i32
  }
  single {
    dist[source] = 0:i32
    frontier = single(source)
  }
  convert frontier to bitmap
  while (size(frontier) > 0:i64) {
    clear next bitmap
    parfor v in vertices words as relax {
      let best: i32 = dist[v]
      for (u, e) in in(v) {
        if contains(frontier, u) {
          best = min(best, (relaxed dist[u] + weight.in[e]))
        }
      }
      if (best < dist[v]) {
        relaxed dist[v] = best
        push next v bitmap dedupe
      }
    }
    swap frontier next
  }
}
return dist
"""

# Everything that the other programs leave out, at algorithm level.
MIXED = """\
program mixed: algorithm, ids 32, offsets 32
param limit: i64
vertex parent: vid local
vertex level: i32 local
vertex component: vid local disjoint
vertex rank: f64 local
vertex x: i64 local
array sources: i64 param
global @total: i64
global @least: i64
frontier f
frontier g
list levels
operator visit(src, edge, dst) {
  claim parent[dst] from none with src {
    level[dst] = (level[src] + 1:i32)
  }
}
operator join(src, edge, dst) {
  union(component, component[src], component[dst])
}
operator count(v) {
  for w in common(out(v), in(v)) {
    @total += 1:i64
  }
  @least min= degree.out(v)
  let k: i64 = 0:i64
  while true {
    k += 1:i64
    if (k >= 3:i64) {
      break
    }
  }
  x[v] = k
  emit (level[v] >= 0:i32)
}
run {
  fill parent = none
  fill level = -1:i32
  fill component = id
  @least = limit
  for i in range(0:i64, length(sources), 1:i64) {
    let s: vid = cast<vid>(sources[i])
    parent[s] = s
    level[s] = 0:i32
    f = single(s)
    append levels f
  }
  g = all
  edge_apply(join)
  f = levels[-1:i64]
  while (size(f) > 0:i64) {
    f = edge_apply(visit, f) as "one level"
    append levels f
  }
  f = vertex_apply(count, g)
  if (size(f) == num_vertices) {
    fail "everything was reached"
  }
}
return parent
return level
return component
return x
return total = scalar @total
return least = scalar @least
return reached = scalar size(f)
return rounds = scalar count(levels)
"""
