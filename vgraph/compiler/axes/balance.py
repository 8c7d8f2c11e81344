"""`balance`: how a loop's work is cut for threads."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import Role, WriteClass
from vgraph.compiler.ir import Operator
from vgraph.compiler.lanes import shared_operator
from vgraph.compiler.pieces import Obstacle, cut_operator
from vgraph.schedule import (
    SPLIT,
    TWC,
    UNORDERED,
    VERTEX,
    Balance,
    Direction,
    Drive,
    FrontierLayout,
    Phases,
    show,
)

_GPU = {
    "warp": "a warp per vertex needs a device with warps",
    "block": "a block per vertex needs a device with blocks of threads",
    "twc": "thread, warp or block by degree needs a device with warps",
}


def choose_balance(c: Choice) -> Balance:
    """By vertex; hubs are split where a few of them have much of the work."""
    asked = c.asked("balance")
    if asked is None:
        return _chosen(c)
    if asked == VERTEX:
        return VERTEX
    option = f"balance={_written(asked)}"
    if asked.kind not in c.context.abilities.balances:
        reason = _GPU.get(asked.kind, "the device cannot do that")
        c.illegal(option, reason, "use vg.VERTEX, vg.EDGE or vg.SPLIT(limit) here")
    obstacle = _obstacle(c, asked)
    if obstacle is not None:
        c.illegal(option, obstacle[0], "use balance=vg.VERTEX or leave it out", obstacle[1])
    c.because("balance", asked, "asked for")
    assert isinstance(asked, Balance)
    return asked


def _chosen(c: Choice) -> Balance:
    """Node splitting where one hub alone would keep the other threads waiting; else chunks even out by themselves."""
    facts, split = c.context.facts, SPLIT()
    if c.context.abilities.warps:
        return _with_warps(c)
    others = ("segments", "pipeline", "prefetch", "vectorize")
    fits = facts.large and facts.hubs and c.context.threads != 1 and not any(map(c.asked, others))
    if not fits or split.kind not in c.context.abilities.balances or _obstacle(c, split) is not None:
        return VERTEX
    c.because("balance", split, "one vertex has so many arcs that other threads would wait for it")
    return split


def _with_warps(c: Choice) -> Balance:
    """The lanes of a warp share the arcs of a vertex, all warps those of a hub (measured: docs/internals/cuda.md)."""
    facts = c.context.facts
    few = facts.deep and c.chosen["drive"] is Drive.DATA
    if few:
        choice, reason = TWC, "few vertices are active at a time: each has a warp"
    elif not c.is_edge and _obstacle(c, SPLIT()) is not None:
        choice, reason = (
            TWC,
            "the lanes of a warp or of a block share the arcs of a vertex, which cannot be cut",
        )
    else:
        choice, reason = SPLIT(), "the lanes of a warp share the arcs of a vertex, all warps those of a hub"
    if not facts.large or (facts.short_lists and not few) or _obstacle(c, choice) is not None:
        return VERTEX
    c.because("balance", choice, reason)
    return choice


def _written(balance: Balance) -> str:
    """As the user writes it."""
    limit = "" if balance.limit is None else balance.limit
    return f"SPLIT({limit})" if balance.kind == "split" else balance.kind.upper()


def _obstacle(c: Choice, balance: Balance) -> Obstacle | None:
    """Why the loop of this traversal cannot run on pieces of a vertex's arcs, nor lanes share them."""
    if c.chosen["phases"] is not Phases.FUSED:
        return f"phases={show(c.chosen['phases'])} walks its buffer in chunks of its own", None
    if c.chosen["order"] != UNORDERED and not c.context.abilities.warps:
        return f"order={show(c.chosen['order'])} takes the vertices of a bucket one by one", None
    pulls_data = c.is_edge and c.chosen["direction"] is Direction.PULL
    bitmap = c.chosen["frontier"] is FrontierLayout.BITMAP and c.chosen["drive"] is not Drive.TOPOLOGY
    if balance.kind == "edge" and bitmap and not pulls_data and not c.context.abilities.warps:
        return "equal shares of arcs are found in a queue of active vertices, not in a bitmap", None
    if not c.is_edge:
        found = cut_operator(c.operator)
        if not isinstance(found, Operator) and balance.kind in _GPU:
            found = shared_operator(c.operator)
        return None if isinstance(found, Operator) else found
    if c.chosen["direction"] is not Direction.PUSH:
        return _read_while_reduced(c)
    return None


def _read_while_reduced(c: Choice) -> Obstacle | None:
    """A pull gathers each piece in registers: nothing may depend on what has been gathered so far."""
    kinds = (WriteClass.MONOTONE, WriteClass.ACCUMULATING)
    written = {w.prop for w in c.effects.writes if w.kind in kinds}
    for read in c.effects.reads:
        if read.role is Role.DST and read.prop in written:
            return f"`{read.prop}` is read at the vertex into which it is reduced", read.span
    return None
