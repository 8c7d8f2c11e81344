"""`order`: which active vertices are taken first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import Role, async_obstacle, is_fixpoint_loop
from vgraph.compiler.ir import EdgeApply, For, Node, While
from vgraph.compiler.rewrite import walk
from vgraph.compiler.types import Kind, Scalar
from vgraph.schedule import (
    STRICT,
    UNORDERED,
    VERTEX,
    Direction,
    Drive,
    FrontierLayout,
    Order,
    Payload,
    Phases,
    Sync,
    delta_stepping,
    spelled,
)

if TYPE_CHECKING:
    from vgraph.source import Span

_ORDERED: Final[dict[str, Any]] = {
    "drive": Drive.DATA,
    "phases": Phases.FUSED,
    "direction": Direction.PUSH,
    "frontier": FrontierLayout.SPARSE,
    "sync": Sync.ASYNC,
    "deduplicate": False,
    "balance": VERTEX,
    "segments": 1,
    "payload": Payload.COMPUTED,
    "pipeline": 0,
    "prefetch": 0,
    "vectorize": False,
}
"""What the other axes are wherever there is an order: buckets are the queue, and updates are seen at once."""


def choose_order(c: Choice) -> Order:
    """Buckets where values grow by the weights of arcs and any order will do; else no order unless asked for."""
    asked = c.asked("order")
    if asked == UNORDERED:
        return UNORDERED
    if asked is None:
        return _by_default(c)
    if asked.kind not in c.context.abilities.orders:
        reason = f'device="{c.context.abilities.device}" has no thread that takes vertices one by one'
        c.illegal(f"order={spelled(asked)}", reason, "use order=vg.delta_stepping() or leave it out")
    obstacle = order_obstacle(c)
    if obstacle is not None:
        c.illegal(
            f"order={spelled(asked)}", obstacle[0], "use order=vg.UNORDERED or leave it out", obstacle[1]
        )
    for name, value in _fixed(c).items():
        other = c.asked(name)
        if other is not None and other != value:
            reason = f"vertices taken by priority stand in buckets, which is always {name}={spelled(value)}"
            c.illegal(f"{name}={spelled(other)}", reason, "leave it out, or leave the order out")
    c.because("order", asked, "asked for")
    if asked == STRICT and c.context.threads != 1:
        c.because(
            "order", asked, "vertices are taken one by one, so one thread runs this loop while others wait"
        )
    return _ordered(c, asked)


def _ordered(c: Choice, order: Order) -> Order:
    c.fixed = _fixed(c)
    return order


def _fixed(c: Choice) -> Mapping[str, Any]:
    """`_ORDERED`, less what is free on this device: where a bucket is a queue of its own, its loop can be balanced."""
    free = {"balance"} if c.context.abilities.warps else set()
    return {name: value for name, value in _ORDERED.items() if name not in free}


def _by_default(c: Choice) -> Order:
    """Measured (sssp, 1 and 2 threads): as fast or a little faster on power-law graphs, 10 times on road networks.

    Without weights the order pays on deep graphs and several threads: labels that spread over a road network were
    overwritten so often on 2 threads that taking the smallest first was 38 times as fast. In a loop within a loop
    (strong components) it does not: there labels spread through what earlier turns left, in long thin paths, and each
    is a round of its own. On 2 threads unordered took a seventeenth of the time on a road network, 0.7 on a grid.
    """
    weighted = any(r.role is Role.EDGE for r in c.effects.reads)
    deep = c.context.facts.deep and c.context.threads != 1 and not _repeated(c)
    free = all(c.asked(name) in (None, value) for name, value in _fixed(c).items())
    if not (weighted or deep) or not free or order_obstacle(c) is not None:
        return UNORDERED
    order = delta_stepping()
    c.because("order", order, "the lowest values first: that saves most repeated visits")
    return _ordered(c, order)


def _repeated(c: Choice) -> bool:
    """Whether the loop around the apply stands in another loop."""

    def inside(n: Node) -> bool:
        return any(isinstance(m, EdgeApply) and m.label == c.apply.label for m in walk(n))

    loops = [n for stmt in c.program.body for n in walk(stmt) if isinstance(n, While | For) and inside(n)]
    return len(loops) > 1


def order_obstacle(c: Choice) -> tuple[str, Span | None] | None:
    """Why the active vertices may not be taken by priority; None if they may.

    Legal when the loop may run in any order (`async_obstacle`), is the whole way to the fixpoint, and one property is
    written, by min or by max: its value is the priority.
    """
    apply, operator = c.apply, c.operator
    if not isinstance(apply, EdgeApply):
        return "a vertex operator sends nothing along arcs", operator.span
    for write in c.effects.writes:
        if write.op not in ("min", "max"):
            return (
                f"`{write.prop}` is written by `{write.op}`, which gives no priority: min or max does",
                write.span,
            )
    names = sorted(c.effects.written)
    if len(names) != 1:
        found = " and ".join(f"`{n}`" for n in names) or "nothing"
        return f"{found} {'is' if len(names) < 2 else 'are'} written; one property must order the vertices", (
            c.effects.writes[-1].span if c.effects.writes else operator.span
        )
    if len({w.op for w in c.effects.writes}) != 1:
        return f"`{names[0]}` is written by min and by max", c.effects.writes[-1].span
    t = c.program.property(names[0]).type
    if not isinstance(t, Scalar) or t.kind is Kind.BOOL:
        return f"`{names[0]}` is {t}, which is not a number", c.effects.writes[0].span
    if c.effects.globals_reduced:
        return "the operator reduces into a global, once per visit", operator.span
    obstacle = async_obstacle(c.program, apply)
    if obstacle is None and not is_fixpoint_loop(c.program, apply):
        return "its rounds can be observed: it is not the whole body of a `while frontier:` loop", apply.span
    return obstacle
