"""`balance`: how a loop's work is cut for threads."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, WriteClass
from vgraph.compiler.analysis.lanes import SHARED_BY, compares_others, compares_own, shared_operator
from vgraph.compiler.analysis.pieces import cut_operator
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.axes.segments import sliced
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import EDGE, SPLIT, TWC, VERTEX, WARP, Balance, Direction, Drive, FrontierLayout

MARKED: Final = SPLIT(128)
"""Where lists are marked on a GPU, another list is walked for each arc: so pieces of so many. Measured on an H200,
triangles with 64, 128, 256 and 512: R-MAT scale 18 1.42, 1.45, 1.91 and 2.74 ms, scale 22 34.6, 33.6, 33.6 and 33.6."""


def choose(c: Choice, asked: Balance | None) -> Balance:
    """By vertex; hubs are split where a few of them have much of the work."""
    if asked is None:
        return _with_warps(c) if c.context.abilities.warps else _by_default(c)
    if asked == VERTEX:
        return VERTEX
    obstacle = _obstacle(c, asked)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use balance=vg.VERTEX or leave it out")
    c.because(asked, "asked for")
    return asked


def _by_default(c: Choice) -> Balance:
    """Node splitting where one hub alone would keep the other threads waiting; else chunks even out by themselves."""
    facts, split = c.context.facts, SPLIT()
    fits = facts.large and facts.hubs and c.context.threads != 1 and c.agrees(split)
    if not fits or _obstacle(c, split) is not None:
        return _of_a_round(c)
    c.because(split, "one vertex has so many arcs that other threads would wait for it")
    return split


def _of_a_round(c: Choice) -> Balance:
    """Equal shares of the arcs of a push that a search may take, where one vertex has many of them."""
    facts = c.context.facts
    search = c.chosen["direction"] is Direction.AUTO and c.effects.classes() == {WriteClass.CLAIMING}
    fits = search and facts.heavy and facts.crowd and c.agrees(EDGE)
    if not fits or _obstacle(c, EDGE) is not None:
        return VERTEX
    c.because(EDGE, "one vertex has so many arcs of a round that other threads would wait for it")
    return EDGE


def _with_warps(c: Choice) -> Balance:
    """The lanes of a warp share the arcs of a vertex, all warps those of a hub (measured: docs/internals/cuda.md)."""
    facts = c.context.facts
    if sliced(c):
        return VERTEX
    few = facts.deep and c.chosen["drive"] is Drive.DATA
    compares = not c.is_edge and c.at.once(_compares)
    choice, reason = SPLIT(), "the lanes of a warp share the arcs of a vertex, all warps those of a hub"
    if c.is_edge and c.apply.frontier is None and c.chosen["direction"] is Direction.PULL and not facts.hubs:
        choice, reason = TWC, "the lanes of a warp or of a block share the arcs of a vertex, none has more"
    if few:
        choice, reason = TWC, "few vertices are active at a time: each has a warp"
    elif not c.is_edge and _obstacle(c, SPLIT()) is not None:
        choice = TWC
        reason = "the lanes of a warp or of a block share the arcs of a vertex, which cannot be cut"
    if not c.is_edge and c.at.once(_compares_others):
        choice, reason = WARP, "the lanes of a warp walk one of two lists and look in the other"
    elif compares:
        whole = WARP if facts.even else TWC  # threads alone mark nothing
        choice = MARKED if choice == SPLIT() else whole
        reason += "; lists of others are compared with its own, which they mark"
    merged = compares and facts.slim  # by one thread, sooner than a warp marks one of two lists
    fits = (
        (facts.large or facts.hubs or (compares and facts.long_lists))
        and (few or not facts.short_lists)
        and not merged
        and c.agrees(choice)
    )
    if not fits or _obstacle(c, choice) is not None:
        return VERTEX
    c.because(choice, reason)
    return choice


def _obstacle(c: Choice, balance: Balance) -> Obstacle | None:
    """Why the loop of this traversal cannot run on pieces of a vertex's arcs, nor lanes share them."""
    if not c.is_edge:
        if c.effects.exclusive is not None:
            return Obstacle("a visit that gathers vertices is one thread's", c.effects.exclusive.span)
        found = c.at.once(_cut)
        if found is not None and balance.kind in SHARED_BY:
            found = c.at.once(_shared)
        return found or _in_a_bitmap(c, balance)
    pulls = c.chosen["direction"] is Direction.PULL
    found = None if pulls else _in_a_bitmap(c, balance)
    return found or (None if c.chosen["direction"] is Direction.PUSH else _read_while_reduced(c))


def _compares(at: Traversal) -> bool:
    loops = (n for n in ir.walk(at.operator) if isinstance(n, ir.ForNeighbors))
    return any(compares_own(n, at.operator.args[0]) for n in loops)


def _compares_others(at: Traversal) -> bool:
    return compares_others(at.operator, at.operator.args[0]) and at.once(_shared) is None


def _cut(at: Traversal) -> Obstacle | None:
    found = cut_operator(at.operator)
    return found if isinstance(found, Obstacle) else None


def _shared(at: Traversal) -> Obstacle | None:
    found = shared_operator(at.operator)
    return found if isinstance(found, Obstacle) else None


def _in_a_bitmap(c: Choice, balance: Balance) -> Obstacle | None:
    if balance.kind != "edge" or c.context.abilities.warps or c.chosen["drive"] is Drive.TOPOLOGY:
        return None
    if c.chosen["frontier"] is not FrontierLayout.BITMAP:
        return None
    return Obstacle("equal shares of arcs are found in a queue of active vertices, not in a bitmap")


def _read_while_reduced(c: Choice) -> Obstacle | None:
    """A pull gathers each piece in registers: nothing may depend on what has been gathered so far."""
    kinds = (WriteClass.MONOTONE, WriteClass.ACCUMULATING)
    written = {w.prop for w in c.effects.writes if w.kind in kinds}
    for read in c.effects.reads:
        if read.role is Role.DST and read.prop in written:
            return Obstacle(f"`{read.prop}` is read at the vertex into which it is reduced", read.span)
    return None
