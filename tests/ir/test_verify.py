"""The verifier lets valid programs through and names the rule that a broken one breaks."""

from __future__ import annotations

from enum import Enum

import pytest
from programs import MIXED, SSSP, SSSP_PULL, SSSP_PUSH

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import NEW_LOCALS, WORDS
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.ir.trees import transform, with_fields
from vgraph.compiler.ir.verify import VerifyError, verify
from vgraph.compiler.ir.verify_operands import CHECKS, INSIDE
from vgraph.compiler.types import BOOL, I64, VID

NODES = [*ir.Stmt.__subclasses__(), *ir.Apply.__subclasses__(), *ir.Expr.__subclasses__()]
NODES.remove(ir.Apply)
QUEUE = """\
program popped: algorithm, ids 32, offsets 32
vertex key: i64 local
frontier f
priority queue: key
run {
  refill queue
  f = pop queue
  requeue queue f
}
"""
PLAN = "direction=pull, phases=fused, drive=topology, frontier=bitmap, sync=async, deduplicate=false"
SCHEDULED = f"""\
program both: scheduled, ids 32, offsets 32
vertex level: i32 local
global @arcs: i64
global @least: i32
frontier frontier
frontier next
frontier open
frontier still
operator visit(src, edge, dst) {{
  claim level[dst] from -1:i32 with level[src] {{
  }}
}}
run {{
  while (size(frontier) > 0:i64) {{
    frontier = edge_apply(visit, frontier) schedule({PLAN}) into next counting arcs among open keeping still
    parfor v in sparse frontier cut out balance split(4) {{
      let d: i32 = level[v]
      for (dst, e) in out(v) {{
        level[dst] min= d
        push next dst sparse dedupe
      }}
    }}
  }}
}}
return level
"""
BUCKETS = """\
program pushed: kernel, ids 32, offsets 32
vertex key: i64 local
frontier f sparse
buckets work(v): key[v]
run {
  clear work buckets
  convert f to sparse
  parfor v in vertices {
    enqueue work v
  }
}
"""
COPIED = """\
program copied: kernel, ids 32, offsets 32
edge weight: i64 graph
global @sum: i64
run {
  parfor v in vertices {
    for (u, e) in out(v) {
      let arc: eid = e
      @sum += weight[arc]
    }
  }
}
"""


@pytest.mark.parametrize("text", [SSSP, SSSP_PUSH, SSSP_PULL, MIXED, QUEUE, BUCKETS, COPIED, SCHEDULED])
def test_valid_programs_pass(text):
    program = parse_program(text)
    verify(program, program.level, spans=True)


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
def test_every_field_is_checked_or_says_that_it_is_not(kind):
    free = {"str", "Word", "Text", "int", "bool", "float", "ApplySchedule", "Balance", "KeyExpr"}
    for f in fields_of(kind):
        enumerated = isinstance(f.meaning, type) and issubclass(f.meaning, Enum)
        known = f.type in {*CHECKS, *INSIDE, *NEW_LOCALS, *WORDS, *free}
        assert known or enumerated, f
    assert issubclass(kind, ir.Expr) or any(kind.places)


# Text replaced in a valid program; what the verifier says; the class of the node it blames.
BROKEN = [
    # scopes
    (SSSP, "param source: vid\n", "param source: vid\nparam source: vid\n", "declared twice", ir.Param),
    (SSSP, "frontier frontier\n", "frontier source\n", "name of the parameter", ir.Param),
    (MIXED, "let k: i64", "let v: i64 = 0:i64\n  let k: i64", "v is declared already", ir.Let),
    (MIXED, "let k: i64", "let f: i64 = 0:i64\n  let k: i64", "a frontier has the name", ir.Let),
    (MIXED, "    k += 1:i64", "    q += 1:i64", "no local is called q", ir.Accumulate),
    (MIXED, "    k += 1:i64", "    v = v", "v is a parameter or loop variable", ir.Assign),
    (MIXED, "@least = limit", "@most = limit", "no global is called most", ir.SetGlobal),
    (MIXED, "edge_apply(visit, f)", "edge_apply(visits, f)", "no operator is called visits", ir.EdgeApply),
    (MIXED, "edge_apply(visit, f)", "edge_apply(visit, h)", "no frontier is called h", ir.EdgeApply),
    (
        MIXED,
        "append levels f\n  }\n  g",
        "append layers f\n  }\n  g",
        "no list is called layers",
        ir.ListAppend,
    ),
    (MIXED, "return x\n", "return y\n", "y is not a vertex property", ir.Result),
    (MIXED, "return x\n", "return x\nreturn x\n", "x is declared twice", ir.Result),
    (QUEUE, "refill queue", "refill other", "no queue is called other", ir.QueueFill),
    (QUEUE, "f = pop queue", "f = pop other", "no queue is called other", ir.QueuePop),
    (QUEUE, "f = pop queue", "g = pop queue", "no frontier is called g", ir.QueuePop),
    (QUEUE, "requeue queue f", "requeue queue g", "no frontier is called g", ir.QueueUpdate),
    (BUCKETS, "clear work buckets", "clear other buckets", "no buckets are called other", ir.BucketsClear),
    (BUCKETS, "enqueue work v", "enqueue other v", "no buckets are called other", ir.BucketPush),
    (BUCKETS, "convert f to sparse", "convert f to bitmap", "does not take this layout", ir.FrontierConvert),
    (
        BUCKETS,
        "  clear work buckets\n",
        "  alone {\n    clear work buckets\n  }\n",
        "one thread has no part of others",
        ir.BucketsClear,
    ),
    # types
    (BUCKETS, "enqueue work v", "enqueue work num_arcs", "the vertex is i64, not vid", ir.BucketPush),
    (SSSP, "dist[source] = 0:i32", "dist[source] = 0:i64", "the value is i64, not i32", ir.Store),
    (SSSP, "edge weight: i32", "edge weight: i64", "the operands are i32 and i64", ir.Binary),
    (SSSP, "dist[src]", "dist[edge]", "the index is eid, not vid", ir.Load),
    (SSSP, "> 0:i64", "+ 0:i64", "the condition is i64, not bool", ir.While),
    (MIXED, "(level[src] + 1:i32)", "(level[src] / 1:i32)", "/ does not take i32", ir.Binary),
    (MIXED, "emit (level[v] >= 0:i32)", "emit not(level[v])", "not does not take i32", ir.Unary),
    (
        MIXED,
        "vertex component: vid",
        "vertex component: i64",
        "disjoint sets are a vertex property",
        ir.Property,
    ),
    (MIXED, "fill component = id", "fill level = id", "takes the vertex ids", ir.Fill),
    (MIXED, "length(sources)", "length(level)", "is not an array parameter", ir.ArrayLength),
    (MIXED, "cast<vid>(sources[i])", "cast<vid>(lookup level[i; 0:i32])", "elements of an array", ir.Lookup),
    (MIXED, "cast<vid>(sources[i])", "cast<vid>(lookup sources[i, i, i; 0:i64])", "elements of", ir.Lookup),
    (MIXED, "union(component,", "union(parent,", "does not hold disjoint sets", ir.Union),
    # levels and places
    (SSSP, "sssp: algorithm", "sssp: kernel", "no operators at kernel level", ir.Program),
    (SSSP, "sssp: algorithm", "sssp: scheduled", "has no schedule", ir.EdgeApply),
    (
        SSSP,
        "  frontier = single",
        "  barrier\n  frontier = single",
        "does not exist at algorithm",
        ir.Barrier,
    ),
    (SSSP, "  dist[dst] min=", "  dist[dst] = dist[dst]\n  dist[dst] min=", "inside a claim only", ir.Store),
    (SSSP, "  dist[dst] min=", "  atomic dist[dst] min=", "atomics are chosen at kernel level", ir.Reduce),
    (SSSP, "dist[src]", "relaxed dist[src]", "memory orders are chosen at kernel level", ir.Load),
    (SSSP, "frontier frontier\n", "frontier frontier sparse\n", "layouts are chosen", ir.FrontierDecl),
    (SSSP, "edge weight", "edge_in weight", "order of the transpose", ir.Property),
    (SSSP, "fill dist", "break\n  fill dist", "outside a sequential loop", ir.Break),
    (MIXED, "x[v] = k", "@total = k", "may not stand in a vertex operator", ir.SetGlobal),
    (MIXED, "x[v] = k", "x[neighbor.out(v, k)] = k", "its own vertex v only", ir.Store),
    (MIXED, "x[v] = k", "component[v] = v", "written by union only", ir.Store),
    (MIXED, "x[v] = k", "emit true\n  x[v] = k", "emit is the last statement", ir.Emit),
    (MIXED, "  emit (level[v] >= 0:i32)\n", "", "count emits nothing", ir.VertexApply),
    (MIXED, "x[v] = k", "x[v] = size(f)", "in the driver loop only", ir.FrontierSize),
    (MIXED, "x[v] = k", 'fail "no"', "may not stand in a vertex operator", ir.Fail),
    (MIXED, "edge_apply(join)", "vertex_apply(join)", "is not a vertex operator", ir.VertexApply),
    (MIXED, "  g = all", "  @total += 1:i64\n  g = all", "may not stand in the driver loop", ir.ReduceGlobal),
    # scheduled level, where loops may stand beside applies
    (SCHEDULED, " into next counting arcs", " into other", "no frontier is called other", ir.EdgeApply),
    (SCHEDULED, "frontier = edge_apply", "edge_apply", "takes the place of an output", ir.EdgeApply),
    (SCHEDULED, "counting arcs", "counting least", "in a global of type i64, not in least", ir.EdgeApply),
    (SCHEDULED, "among open ", "", "what stays open is kept of a set", ir.EdgeApply),
    (SCHEDULED, "level[dst] min= d", "atomic level[dst] min= d", "atomics are chosen", ir.Reduce),
    # kernel level
    (
        SSSP_PUSH,
        "sparse frontier as relax",
        "sparse frontier balance twc as relax",
        "is limit and lanes",
        ir.ParFor,
    ),
    (SSSP_PULL, "edge_in weight.in", "edge weight.in", "indexes edge_in properties", ir.Load),
    (SSSP_PUSH, "edge weight", "edge_in weight", "indexes edge_in properties", ir.Load),
    (COPIED, "edge weight", "edge_in weight", "indexes edge_in properties", ir.Load),
    (
        SSSP_PUSH,
        "  if changed",
        "  barrier\n        if changed",
        "may not stand in a parallel loop",
        ir.Barrier,
    ),
    (SSSP_PUSH, "    let d: i32", "    break\n      let d: i32", "outside a sequential loop", ir.Break),
    (
        SSSP_PUSH,
        "  clear next sparse\n  }\n  while",
        "  push next source sparse\n  }\n  while",
        "single region",
        ir.FrontierPush,
    ),
    (SSSP_PUSH, "frontier next sparse flags", "frontier next sparse", "no in-queue flags", ir.FrontierPush),
    (
        SSSP_PUSH,
        "frontier next sparse flags",
        "frontier next bitmap",
        "does not take this layout",
        ir.FrontierClear,
    ),
    (
        SSSP_PUSH,
        "  single {\n    dist[source] = 0:i32",
        "  dist[source] = 0:i32\n  single {",
        "driver loop",
        ir.Store,
    ),
    (
        SSSP_PUSH,
        "    let d: i32",
        "    parfor w in vertices {\n      }\n      let d: i32",
        "parallel loop",
        ir.ParFor,
    ),
    (
        SSSP_PUSH,
        "    trace",
        "    let n: i64 = 0:i64\n    single {\n      n = 1:i64\n    }\n    trace",
        "shared by all threads",
        ir.Assign,
    ),
    (SSSP_PUSH, "let changed: bool = false", "let changed: i32 = 0:i32", "changed is not a bool", ir.Reduce),
    (SSSP_PUSH, "    swap", "    fill dist = 0:i32\n    swap", "does not exist at kernel level", ir.Fill),
    (
        SSSP_PULL,
        "frontier frontier sparse bitmap",
        "frontier frontier sparse",
        "does not take this layout",
        ir.FrontierConvert,
    ),
]


@pytest.mark.parametrize(("text", "old", "new", "rule", "kind"), BROKEN, ids=[c[3] for c in BROKEN])
def test_broken_programs_are_refused(text, old, new, rule, kind):
    assert old in text
    program = parse_program(text.replace(old, new, 1))
    with pytest.raises(VerifyError) as caught:
        verify(program)
    assert rule in str(caught.value)
    assert type(caught.value.node) is kind
    assert caught.value.node.span is not None
    assert str(caught.value.node.span) in str(caught.value)


def _change(program, kind, fields):
    """The program with fields of every node of a class changed: what no text can say."""
    return transform(program, lambda n: with_fields(n, fields) if type(n) is kind else None)


@pytest.mark.parametrize(
    ("text", "kind", "fields", "rule"),
    [
        (SSSP, ir.Load, {"type": VID}, "dist is i32, not vid"),
        (SSSP, ir.Load, {"prop": "dust"}, "no property is called dust"),
        (SSSP, ir.Var, {"name": "other"}, "no local is called other"),
        (SSSP, ir.Var, {"type": I64}, "is vid, not i64"),
        (SSSP, ir.FrontierSize, {"type": VID}, "its type is i64, not vid"),
        (SSSP, ir.Compare, {"op": "<>"}, "does not compare"),
        (SSSP, ir.Reduce, {"op": "-"}, "- is not a reduction"),
        (SSSP, ir.Result, {"kind": "scalar"}, "a name is a property result"),
        (SSSP, ir.FrontierSet, {"vertex": None}, "single takes a vertex"),
        (MIXED, ir.For, {"start": ir.Const(True, BOOL)}, "a bound is bool, not i64"),
        (SSSP_PUSH, ir.ParFor, {"domain": ir.Segments(1)}, "a loop by segments has several"),
        (SSSP_PUSH, ir.ParFor, {"domain": ir.VertexWords(), "cut": ir.Orientation.OUT}, "are not cut"),
        (SSSP_PUSH, ir.ParFor, {"domain": ir.Const(1, I64)}, "there is no such domain"),
    ],
)
def test_broken_nodes_are_refused(text, kind, fields, rule):
    with pytest.raises(VerifyError) as caught:
        verify(_change(parse_program(text), kind, fields))
    assert rule in str(caught.value)


def test_the_level_and_the_spans_are_checked_where_asked():
    program = parse_program(SSSP)
    with pytest.raises(VerifyError, match="the program is at level algorithm"):
        verify(program, ir.Level.KERNEL)
    object.__setattr__(program.operators[0].body[0], "span", None)
    verify(program)
    with pytest.raises(VerifyError, match="has no span"):
        verify(program, spans=True)
