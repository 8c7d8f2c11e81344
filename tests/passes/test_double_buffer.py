"""`double-buffer`: what is read at other vertices is what it was when the round began, and all of it is there."""

from __future__ import annotations

import pytest
from choices_programs import looping, once

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_node
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.double_buffer import double_buffer
from vgraph.schedule import Schedule

BEFORE = PIPELINE[: PIPELINE.index(double_buffer) + 1]
LOWEST = "dist[dst] min= (dist[src] + dist[dst])"
GATHER = "for (u, e) in in(v) {\ndist[v] min= dist[u]\n}"


def buffered(text: str, **options: object):
    """The applies of a program after the pass, and its operators by name."""
    schedule = Schedule().at("visit", **options) if options else Schedule()
    program = PassManager(Context(schedule)).run(parse_program(text), BEFORE)
    applies = [print_node(n).partition(" schedule(")[0] for n in walk(program) if hasattr(n, "schedule")]
    return applies, {o.name: print_node(o) for o in program.operators}


def test_a_push_reads_only_its_frontier_so_only_that_is_copied() -> None:
    applies, operators = buffered(looping(LOWEST), sync=vg.BSP)
    assert [a.split(" as ")[0] for a in applies] == [
        "vertex_apply(visit.copy, frontier) untraced",
        "frontier = edge_apply(visit.bsp, frontier)",
    ]
    assert "dist[dst] min= (dist.old[src] + dist[dst])" in operators["visit.bsp"]
    assert "dist.old[v] = dist[v]" in operators["visit.copy"]


@pytest.mark.parametrize("frontier", ["", ", frontier"])
def test_a_vertex_operator_reads_neighbors_anywhere_so_all_is_copied(frontier: str) -> None:
    applies, operators = buffered(once(GATHER, args="v", frontier=frontier))
    assert [a.split(" as ")[0] for a in applies] == [
        "vertex_apply(visit.copy) untraced",
        f"vertex_apply(visit.bsp{frontier})",
    ]
    assert "dist[v] min= dist.old[u]" in operators["visit.bsp"]


def test_an_edge_operator_that_reads_other_vertices_than_src_copies_all() -> None:
    body = "let first: vid = dst\nfirst = cast<vid>(level[dst])\ndist[dst] min= (dist[first] + dist[src])"
    applies, operators = buffered(looping(body), sync=vg.BSP)
    assert applies[0].split(" as ")[0] == "vertex_apply(visit.copy) untraced"
    assert "dist[dst] min= (dist.old[first] + dist.old[src])" in operators["visit.bsp"]


def test_two_properties_are_copied_by_one_operator() -> None:
    body = "dist[dst] min= (level[src] + dist[src])\nlevel[dst] min= dist[src]"
    applies, operators = buffered(looping(body), sync=vg.BSP)
    assert len(applies) == 2
    assert operators["visit.copy"].splitlines()[1:-1] == [
        "  dist.old[v] = dist[v]",
        "  level.old[v] = level[v]",
    ]


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (LOWEST, {"sync": vg.ASYNC}),
        ("dist[dst] min= level[src]", {"sync": vg.BSP}),
        (LOWEST, {"phases": vg.GATHER_APPLY, "sync": vg.BSP}),
        (LOWEST, {"phases": vg.APPLY_SCATTER, "sync": vg.BSP}),
    ],
)
def test_no_copies_where_nothing_stale_can_be_read(body: str, options: dict[str, object]) -> None:
    applies, _ = buffered(looping(body), **options)
    assert len(applies) == 1


@pytest.mark.parametrize("phases", [vg.GATHER_APPLY, vg.APPLY_SCATTER], ids=str)
def test_phases_side_by_side_need_copies(phases: object) -> None:
    applies, _ = buffered(looping(LOWEST), phases=phases, sync=vg.BSP, pipeline=2)
    assert len(applies) == 2


@pytest.mark.parametrize("layout", [vg.SPARSE, vg.BITMAP], ids=str)
def test_the_copy_takes_the_layout_of_the_frontier(layout: object) -> None:
    schedule = Schedule().at("visit", sync=vg.BSP, frontier=layout, direction=vg.PUSH)
    program = PassManager(Context(schedule)).run(parse_program(looping(LOWEST)), BEFORE)
    copy = next(n for n in walk(program) if isinstance(n, ir.VertexApply))
    assert copy.schedule is not None
    assert copy.schedule.frontier is layout
    assert copy.schedule.drive is vg.DATA


def globals_saved(phases: object) -> tuple[list[str], dict[str, str]]:
    body = "@visits += 1:i64\nclaim level[dst] from -1:i32 with cast<i32>(@visits) {\n}"
    program = PassManager(Context(Schedule().at("visit", phases=phases))).run(
        parse_program(once(body)), BEFORE
    )
    saved = [print_node(n).strip() for n in walk(program) if isinstance(n, ir.SetGlobal)]
    return saved, {o.name: print_node(o) for o in program.operators}


@pytest.mark.parametrize("phases", [vg.GATHER_APPLY, vg.APPLY_SCATTER], ids=str)
def test_a_global_that_two_phases_read_and_reduce_is_saved_before_them(phases: object) -> None:
    saved, operators = globals_saved(phases)
    assert saved == ["@visits.old = @visits"]
    assert "with cast<i32>(@visits.old)" in operators["visit.phases"]
    assert "@visits += 1:i64" in operators["visit.phases"]


def test_one_loop_combines_globals_when_it_ends_so_none_is_saved() -> None:
    saved, operators = globals_saved(vg.FUSED)
    assert saved == []
    assert list(operators) == ["visit"]
