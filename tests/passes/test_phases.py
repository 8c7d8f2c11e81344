"""Gather-apply and apply-scatter: the answer of the program under every schedule, payload and number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_lowering import fitted, graphs, lowered, native, same

import vgraph as vg
from vgraph.compiler.interpret import interpret
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
EVERY = {**{k: v for k, v in PROGRAMS.items() if k not in ("components", "frequent", "spread")}, "many": MANY}


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
@settings(max_examples=80, deadline=None)
def test_kernels_give_the_answer_of_the_program(name, graph, asked, seed, threads):
    program = fitted(EVERY[name], graph)
    schedule = scheduled(program, **asked)
    if schedule is None:
        return
    want = interpret(program, graph, {"source": 0})
    kernel = lowered(program, schedule, threads)
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)


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
