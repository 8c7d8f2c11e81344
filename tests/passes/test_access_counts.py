"""The access counts of the four forms are those of table 5.4 of the source (SYSTEMS: pull, push, GA, AS)."""

from __future__ import annotations

import pytest
from access_counts import Counts, access_counts, table
from lowering_programs import PROGRAMS

import vgraph as vg
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.compiler.passes.fuse_loops import fuse_loops
from vgraph.errors import ScheduleError
from vgraph.schedule import Options, Schedule

RANKS = """\
program ranks: algorithm, ids 32, offsets 32
vertex part: f64 local
vertex incoming: f64 local
operator gather(src, edge, dst) {
  incoming[dst] += part[src]
}
run {
  fill part = 1.0:f64
  fill incoming = 0.0:f64
  edge_apply(gather)
}
return incoming
"""
COMPONENTS = """\
program components: algorithm, ids 32, offsets 32
vertex component: vid local
frontier frontier
operator lower(src, edge, dst) {
  component[dst] min= component[src]
}
run {
  fill component = id
  frontier = all
  while (size(frontier) > 0:i64) {
    frontier = edge_apply(lower, frontier)
  }
}
return component
"""
CASES = {"sssp": (PROGRAMS["sssp"], "relax"), "ranks": (RANKS, "gather"), "components": (COMPONENTS, "lower")}
FORMS = {
    "pull": ({"direction": vg.PULL}, Counts("0", "V", "E", "0")),
    "push": ({"direction": vg.PUSH}, Counts("V", "0", "0", "E")),
    "gather-apply": ({"phases": vg.GATHER_APPLY, "payload": vg.COMPUTED}, Counts("E", "V + E", "E", "0")),
    "apply-scatter": ({"phases": vg.APPLY_SCATTER, "payload": vg.COMPUTED}, Counts("V + E", "E", "0", "E")),
    "apply-scatter, one element per vertex": (
        {"phases": vg.APPLY_SCATTER, "payload": vg.RAW},
        Counts("2 V", "V", "0", "E"),
    ),
}


def kernel(text, options):
    program = parse_program(text)
    schedule = Schedule({label: Options(**options) for label in labels(program)})
    apart = [step for step in PIPELINE if step is not fuse_loops]  # the table is of a label's own loops
    return PassManager(Context(schedule=schedule)).run(program, apart)


@pytest.mark.parametrize("pipeline", [0, 2])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_table(name, form, pipeline):
    text, label = CASES[name]
    options, expected = FORMS[form]
    if "phases" in options:
        options = options | {"pipeline": pipeline}
    assert table(kernel(text, options | {"drive": vg.TOPOLOGY}), label) == expected


def test_raw_fields_of_an_arc_are_two_elements():
    """SSSP's distance and weight: what the source's first gather stores."""
    options = {"phases": vg.GATHER_APPLY, "payload": vg.RAW}
    found = kernel(RANKS.replace("part[src]", "(part[src] * part[dst])"), options)
    assert table(found, "gather") == Counts("V + E", "V + E", "E", "0")  # part of dst is the consumer's
    found = kernel(PROGRAMS["sssp"], options | {"drive": vg.TOPOLOGY})
    assert [a.prop for a in access_counts(found, "relax") if a.buffer and a.write] == [
        "relax.dist", "relax.weight", "relax.active",
    ]  # fmt: skip


def test_worklists_count_in_their_own_size():
    options = {"phases": vg.APPLY_SCATTER, "payload": vg.COMPUTED, "drive": vg.DATA, "frontier": vg.SPARSE}
    counts = table(kernel(PROGRAMS["sssp"], options), "relax", ["dist"])
    assert counts == Counts("V(frontier) + E(frontier)", "E(frontier)", "0", "E(frontier)")


def test_only_what_is_asked_for_is_counted():
    found = kernel(PROGRAMS["bfs"], {"direction": vg.PUSH, "drive": vg.TOPOLOGY})
    assert table(found, "visit", ["level"]) == Counts("0", "0", "0", "E")
    assert table(found, "visit") == Counts("0", "0", "0", "2 E")


def test_options_of_the_table_are_legal_only_where_they_mean_something():
    with pytest.raises(ScheduleError):
        kernel(RANKS, {"payload": vg.RAW})
