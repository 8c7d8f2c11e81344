"""Gather-apply and apply-scatter: the answer of the program under every schedule, payload and number of threads."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_lowering import fitted, graphs, lowered, native, refused, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.axes.base import Traversal
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.graph import Graph
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.schedule import Options, Schedule

# Operators with conditions, several writes of one property, accumulation that gives a frontier, claims under a test.
MANY = """\
program many: algorithm, ids 32, offsets 32
param source: vid
vertex a: i64 local
vertex b: i64 local
vertex low: i32 local
vertex mark: i32 local
vertex note: i64 local
vertex x: i64 local
edge weight: i32 graph
global @seen: i64
global @claimed: i64
frontier f
operator start(v) {
  x[v] = (cast<i64>(v) * 3:i64)
  low[v] = cast<i32>(v)
}
operator mix(src, edge, dst) {
  let t: i64 = ((x[src] * 5:i64) + cast<i64>(weight[edge]))
  if ((t % 3:i64) == 1:i64) {
    a[dst] += t
  } else {
    if (x[dst] > 4:i64) {
      a[dst] += 1:i64
    }
  }
  b[dst] max= (t - degree.out(src))
  if (weight[edge] > 2:i32) {
    low[dst] min= weight[edge]
    claim mark[dst] from -1:i32 with 7:i32 {
      @claimed += 1:i64
    }
  }
  @seen += 1:i64
}
run {
  fill a = 0:i64
  fill b = 0:i64
  fill mark = -1:i32
  fill note = 0:i64
  vertex_apply(start)
  f = single(source)
  for i in range(0:i64, 3:i64, 1:i64) {
    f = edge_apply(mix, f)
  }
  edge_apply(mix) as whole
}
return a
return b
return low
return mark
return seen = scalar @seen
return claimed = scalar @claimed
return left = scalar size(f)
"""
EVERY = {k: v for k, v in PROGRAMS.items() if "edge_apply" in v and "union" not in v and "both" not in k} | {
    "many": MANY
}


def options(**more):
    """Two phases with everything that goes along with them."""
    found = []
    for phases, payload, pipeline, drive, frontier, sync in itertools.product(
        (vg.GATHER_APPLY, vg.APPLY_SCATTER),
        (None, vg.RAW, vg.COMPUTED),
        (None, 1, 3),
        (None, vg.TOPOLOGY, vg.DATA),
        (None, vg.SPARSE, vg.BITMAP),
        (None, vg.BSP, vg.ASYNC),
    ):
        names = {"phases": phases, "payload": payload, "pipeline": pipeline, "drive": drive}
        names |= {"frontier": frontier, "sync": sync}
        found.append({k: v for k, v in (names | more).items() if v is not None})
    return found


def scheduled(program, **asked):
    """The kernel with `asked` at every edge operator, as far as it is legal there; None if it is nowhere."""
    schedule = Schedule()
    for label in labels(program):
        attempt = Schedule({**schedule.labels, label: Options(**asked)})
        try:
            lowered(program, attempt, 0)
        except (IllegalSchedule, vg.ScheduleError):
            continue
        schedule = attempt
    return schedule if schedule.labels else None


@pytest.mark.parametrize("name", EVERY)
@given(
    graph=graphs(), asked=st.sampled_from(options()), seed=st.integers(0, 99), threads=st.sampled_from((0, 1))
)
@settings(max_examples=12)
def test_kernels_give_the_answer_of_the_program(name, graph, asked, seed, threads):
    program = fitted(EVERY[name], graph)
    schedule = scheduled(program, **asked)
    if schedule is None:
        return
    want = interpret(program, graph, {"source": 0})
    kernel = lowered(program, schedule, threads)
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", EVERY)
def test_machine_code_gives_the_answer_of_the_program(name, threads):
    rng = np.random.default_rng(threads)
    n, m = 200, 900
    graph = Graph.from_edges(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        num_vertices=n,
        weight=rng.integers(0, 9, m).astype(np.int32),
    )
    program = fitted(EVERY[name], graph)
    want = interpret(program, graph, {"source": 0})
    every = options()
    rng.shuffle(every)
    tried = 0
    for asked in every:
        schedule = scheduled(program, **asked)
        if schedule is None:
            continue
        same(native(lowered(program, schedule, threads), graph, threads), want)
        tried += 1
        if tried == 8:
            break
    assert tried == 8


@pytest.mark.parametrize(
    "options",
    [
        {"phases": vg.GATHER_APPLY, "drive": vg.TOPOLOGY},
        {"phases": vg.GATHER_APPLY, "payload": vg.RAW, "drive": vg.DATA, "pipeline": 4},
        {"phases": vg.APPLY_SCATTER},
        {"phases": vg.APPLY_SCATTER, "payload": vg.COMPUTED, "sync": vg.BSP, "pipeline": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["sssp", "bfs"])
def test_golden_kernels(name, options, golden):
    program = parse_program(PROGRAMS[name])
    kernel = lowered(program, Schedule({label: Options(**options) for label in labels(program)}), 0)
    words = "-".join([name, *(f"{k}-{getattr(v, 'value', v)}" for k, v in options.items())])
    golden(Path(__file__).parent / "golden" / "phases" / f"{words}.ir", print_program(kernel))


def test_the_buffer_is_the_copy_that_a_round_needs():
    """Phase after phase, all reads come before all writes: BSP keeps no second copy."""
    bsp = {"phases": vg.GATHER_APPLY, "sync": vg.BSP}
    texts = {}
    for pipeline in (0, 2):
        program = parse_program(PROGRAMS["limited"])
        asked = Schedule({"relax": Options(**bsp, pipeline=pipeline)})
        texts[pipeline] = print_program(lowered(program, asked, 0))
    assert "dist.old" not in texts[0]
    assert "dist.old" in texts[2]


def test_the_payload_of_fewer_bytes_is_chosen_and_explained():
    program = PassManager(Context()).run(parse_program(PROGRAMS["sssp"]), PIPELINE[:1])
    (apply,) = [n for n in walk(program) if isinstance(n, ir.EdgeApply)]

    def chosen(**asked):
        found = Traversal(program, apply, Context()).resolve(Options(**asked))
        return found.payload, next(r for r in found.reasons if r.startswith("payload="))

    payload, reason = chosen(phases=vg.GATHER_APPLY)
    assert payload is vg.COMPUTED
    assert "raw, 9 bytes an arc; computed, 4 bytes an arc" in reason
    payload, reason = chosen(phases=vg.APPLY_SCATTER)
    assert payload is vg.RAW
    assert "raw, 4 bytes a vertex; computed, 4 bytes an arc" in reason
    assert chosen(phases=vg.GATHER_APPLY, payload=vg.RAW)[0] is vg.RAW


def test_a_wrong_channel_is_found_out():
    """The interpreter spoils what is not in the channel: a consumer that reads beyond its own vertex fails."""
    program = parse_program(PROGRAMS["sums"])
    kernel = lowered(program, Schedule({"add": Options(phases=vg.APPLY_SCATTER, pipeline=1)}), 0)
    text = print_program(kernel)
    assert "let x.1: i64 = add.x[i]" in text
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], weight=np.array([1, 2, 3], np.int32))
    want = interpret(kernel, graph, {"source": 0})
    wrong = parse_program(text.replace("= add.x[i]", "= add.x[((i + 1:i64) % num_vertices)]"))
    found = [interpret(wrong, graph, {"source": 0}, seed=s, threads=3)["total"] for s in range(5)]
    assert any(not np.array_equal(f, want["total"]) for f in found)


def test_refusals_name_the_reason():
    assert "disjoint sets" in refused("components", phases=vg.GATHER_APPLY)
    assert "walks along out-arcs" in refused("sssp", phases=vg.APPLY_SCATTER, direction=vg.PULL)
    assert "fused" in refused("sssp", pipeline=2)
    assert "fused" in refused("sssp", payload=vg.RAW)


@pytest.mark.parametrize("layout", [vg.SPARSE, vg.BITMAP], ids=str)
def test_a_scatter_walks_its_frontier_as_it_is_and_a_pipeline_takes_pieces_of_a_queue(layout):
    program = parse_program(PROGRAMS["sssp"])
    asked = {"phases": vg.APPLY_SCATTER, "frontier": layout, "drive": vg.DATA, "sync": vg.BSP}
    kernel = lowered(program, Schedule().at("relax", **asked), 0)
    phases = [n for n in walk(kernel) if isinstance(n, ir.ParFor) and n.label == "relax"]
    assert [n.domain.layout.value for n in phases] == [layout.value] * 2
    (both,) = [n for n in walk(lowered(program, Schedule().at("relax", pipeline=2, **asked), 0))
               if isinstance(n, ir.Pipeline)]  # fmt: skip
    assert both.domain.layout.value == "sparse"
