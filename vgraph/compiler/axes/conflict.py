"""`conflict`: how activations that write several vertices are kept from meeting at one."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.ir.reductions import is_rounded
from vgraph.refusals.schedules import NoExclusiveEdges
from vgraph.schedule import (
    EDGE_LOCKED,
    FREE,
    MARKED,
    NODE_LOCKED,
    RACED,
    SEQUENTIAL,
    Conflict,
    blocked_diagonals,
    dealt_blocks,
    even_blocks,
    spelled,
)

_MARKS: Final = (MARKED, RACED)
_OF_VERTICES: Final = (SEQUENTIAL, NODE_LOCKED, *_MARKS)
BY_DEGREE: Final = blocked_diagonals()
EVEN: Final = even_blocks()
_WAY_OUT: Final = "use conflict=vg.SEQUENTIAL{} or leave it out"


def choose(c: Choice, asked: Conflict | None) -> Conflict:
    """FREE where nothing conflicts."""
    write = c.effects.exclusive
    if write is None:
        if asked not in (None, FREE):
            none = "it does not write both ends of its edge: no two activations conflict"
            c.refuse(none if c.is_edge else "it gathers no vertices: no two visits conflict", c.operator.span)
        return FREE
    assert write.span is not None
    what = "it writes both ends of its edge" if c.is_edge else "it writes what it gathers"
    if asked == FREE:
        met = "edges" if c.is_edge else "visits"
        c.refuse(f"{what}, and two {met} may meet at a vertex", write.span, _WAY_OUT.format(""))
    if asked is not None:
        _check_kind(c, asked)
    chosen = asked or _by_default(c)
    gathers_there = c.context.abilities.warps and not c.is_edge
    if asked is None and (gathers_there or c.axis.lack(chosen, c.device)):
        several = [v for v in c.axis.candidates if _fits(c, v) and c.axis.lack(v, c.device) is None]
        ask = f"ask for conflict={spelled(several[0], 'vg.')} or " if several else ""
        raise NoExclusiveEdges(write.span, c.operator.name, c.device, what, f'{ask}use device="cpu"')
    if c.context.deterministic and not (chosen.key or chosen == MARKED):
        way_out = _WAY_OUT.format("" if c.is_edge else " or vg.MARKED")
        who = "edge" if c.is_edge else "visit"
        c.refuse(f"deterministic=True: which {who} comes first depends on the threads", write.span, way_out)
    for n in ir.walk(c.operator) if c.context.deterministic and chosen == MARKED else ():
        if isinstance(n, ir.Reduce) and is_rounded(n):
            reason = f"deterministic=True: the sum `{n.prop}` of floats depends on the order of its parts"
            c.refuse(reason, n.span, _WAY_OUT.format(""))
    c.because(chosen, "asked for" if asked else _because(c, chosen))
    return chosen


def _fits(c: Choice, value: Conflict) -> bool:
    """Whether a value keeps apart what the operator is about: edges, or visits that gather vertices."""
    return value != FREE and (value not in _MARKS if c.is_edge else value in _OF_VERTICES)


def _check_kind(c: Choice, asked: Conflict) -> None:
    if _fits(c, asked):
        return
    if c.is_edge:
        c.refuse("it has two vertices, which are known before: there is nothing to mark", c.operator.span)
    reason = "a plan of arcs does not know what a visit gathers"
    if asked == EDGE_LOCKED or not asked.key:
        reason = "it locks the two ends of arcs, and a visit gathers vertices"
    c.refuse(reason, c.operator.span, "use conflict=vg.NODE_LOCKED, vg.MARKED or vg.SEQUENTIAL")


def _because(c: Choice, chosen: Conflict) -> str:
    if chosen == BY_DEGREE:
        return (
            "turns at a vertex of many edges, up to graph.max_degree, are quickest in the caches of one block of "
            "threads, which needs no locks in its part of the matrix"
        )
    if chosen == EVEN:
        return (
            "many edges at a vertex: in blocks that share no row and no column what it has stays in the cache of one "
            "thread, which needs no locks"
        )
    if chosen.kind == "dealt_blocks":
        return "members take blocks of the matrix that share no row and no column, and hand over columns"
    if chosen == SEQUENTIAL:
        whose = "of the user's edges" if c.is_edge else "of the vertices"
        return f"deterministic=True: one after the other, in the order {whose}"
    if chosen == NODE_LOCKED:
        return "visits that share no vertex need no turn: with locks each gathers once, with marks twice"
    return (
        "locks cost policy.lock_ns ns for an arc; a plan has a barrier of policy.barrier_ns ns for each of "
        "the graph.max_degree arcs at a vertex"
    )


def _by_default(c: Choice) -> Conflict:
    """Locks, or blocks. A plan takes d_max * (p + b) at the least, locks d_max * (p + l) + b / f, where p is the time
    of an activation, b of a barrier, l of a lock, d_max the most arcs at a vertex, and f the part of them that get
    their turn in a pass (Kaleem 2016, section 4.6). On CPUs b is a microsecond and more, l some 20 ns, and f near 1.
    Since p is on both sides, a plan of arcs is never the quicker one where a vertex has two arcs. What that model has
    not is caches: threads that lock a vertex in turns fetch what it has from each other, some 50 ns. In blocks a vertex
    stays with a thread for as long as a block lasts; that pays where vertices have several arcs, and there are many.

    On a GPU l is a microsecond, too, for a lock and what it protects go through the memory that multiprocessors share.
    In blocks made by degree a step of a vertex takes p and a barrier of the block, and the grid has few barriers.
    """
    if c.is_edge and c.context.distributed:
        return dealt_blocks()
    if c.is_edge and c.context.abilities.warps:
        return BY_DEGREE
    if c.context.deterministic:
        return SEQUENTIAL
    if not c.is_edge:
        return NODE_LOCKED
    facts = c.context.facts
    crowded = facts.large and not facts.short_lists and c.context.threads != 1
    return EVEN if crowded and c.apply.frontier is None and c.agrees(EVEN) else EDGE_LOCKED
