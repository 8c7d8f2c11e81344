"""Loops for which schedules are chosen, beside those of `lowering_programs`: each differs from another in a point."""

from lowering_programs import PROGRAMS

HEAD = """\
program p: algorithm, ids 32, offsets 32
param source: vid
vertex dist: i32 local
vertex level: i32 local
vertex first: i32 local
vertex flag: bool local
vertex wide: vec<f32, 8> local
vertex near: vec<f32, 8> local
vertex total: f64 local
vertex rank: f64 local
edge weight: i32 graph
global @visits: i64
frontier frontier
"""


def looping(body: str, frontier: str = "frontier", out: str = "frontier = ") -> str:
    """An edge operator in a loop to its fixpoint."""
    given = f", {frontier}" if frontier else ""
    return f"""\
{HEAD}\
operator visit(src, edge, dst) {{
{body}
}}
run {{
  frontier = single(source)
  while (size(frontier) > 0:i64) {{
    {out}edge_apply(visit{given})
  }}
}}
return dist
"""


def once(body: str, args: str = "src, edge, dst", out: str = "", frontier: str = "") -> str:
    """An operator applied once."""
    apply = "edge_apply" if "," in args else "vertex_apply"
    return f"""\
{HEAD}\
operator visit({args}) {{
{body}
}}
run {{
  frontier = single(source)
  {out}{apply}(visit{frontier})
}}
return dist
"""


HOPS = "dist[dst] min= (dist[src] + 1:i32)"
CLAIM = "claim level[dst] from -1:i32 with level[src] {\n}"
CHOICES = {
    "hops": looping(HOPS),
    "hops, again and again": looping(HOPS)
    .replace("  while", "  for i in range(0:i64, 3:i64, 1:i64) {\n  while", 1)
    .replace("\n}\nreturn", "\n}\n}\nreturn"),
    "hops, counted": looping(HOPS + "\n@visits += 1:i64"),
    "hops over all arcs": looping(HOPS, frontier=""),
    "hops, whose frontier is dropped": looping(HOPS, out=""),
    "highest": looping("dist[dst] max= dist[src]"),
    "two minima": looping(HOPS + "\nlevel[dst] min= level[src]"),
    "minimum and maximum": looping(HOPS + "\ndist[dst] max= weight[edge]"),
    "reached": looping("flag[dst] |= flag[src]"),
    "lowest flag": looping("flag[dst] min= flag[src]"),
    "lowest vector": looping("wide[dst] min= wide[src]"),
    "falling": looping("dist[dst] min= (10:i32 - dist[src])"),
    "claim": looping(CLAIM),
    "claim over all arcs": looping(CLAIM, frontier=""),
    "claim of what differs from arc to arc": looping(CLAIM.replace("-1:i32", "weight[edge]")),
    "claim and minimum": looping(CLAIM + "\n" + HOPS),
    "sum, then touched": once("total[dst] += rank[src]", out="frontier = "),
    "sum from a frontier": once("total[dst] += rank[src]", frontier=", frontier"),
    "sum of vectors": once("wide[dst] += near[src]\ntotal[dst] += rank[src]"),
    "minimum of what is summed": once("total[dst] += rank[src]\nlevel[dst] min= cast<i32>(total[dst])"),
    "counted arcs": once("@visits += 1:i64"),
    "minimum at once": once("level[dst] min= dist[src]", out="frontier = "),
    "each adds": once("total[v] += 1.0:f64", args="v"),
    "each gathers": once("for (u, e) in in(v) {\ntotal[v] += rank[u]\n}", args="v"),
    "each looks": once("for (u, e) in in(v) {\nif flag[u] {\nbreak\n}\n}\ntotal[v] = 1.0:f64", args="v"),
    "each carries": once(
        "let a: i32 = 0:i32\nfor (u, e) in in(v) {\na += dist[u]\nlevel[u] max= a\n}", args="v"
    ),
}
assert not CHOICES.keys() & PROGRAMS.keys()
EVERY = PROGRAMS | CHOICES
