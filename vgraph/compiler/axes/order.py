"""`order`: which active vertices are taken first."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, WriteClass, any_order_obstacle
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.axes.hops import no_search
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import Kind, Scalar
from vgraph.schedule import STRICT, UNORDERED, Order, delta_stepping

LEVELS: Final = 16
"""Width of buckets of a search."""


def choose(c: Choice, asked: Order | None) -> Order:
    """Buckets where values grow by the weights of arcs and any order will do; else no order unless asked for."""
    if asked is None:
        return _by_default(c)
    if asked == UNORDERED:
        return asked
    obstacle = c.at.once(_obstacle)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use order=vg.UNORDERED or leave it out")
    c.because(asked, "asked for")
    if asked == STRICT and c.context.threads != 1:
        c.because(asked, "vertices are taken one by one, so one thread runs this loop while others wait")
    return asked


def _by_default(c: Choice) -> Order:
    """Measured (sssp, 1 and 2 threads): as fast or a little faster on power-law graphs, 10 times on road networks.

    Without weights the order pays on deep graphs and several threads: labels that spread over a road network were
    overwritten so often on 2 threads that taking the smallest first was 38 times as fast. In a loop within a loop
    (strong components) it does not: there labels spread through what earlier turns left, in long thin paths, and each
    is a round of its own. On 2 threads unordered took a seventeenth of the time on a road network, 0.7 on a grid.

    A search that claims gains by buckets of LEVELS where threads are many. Measured on a road grid of 1000 x 1000, ms
    without and with 8, 16 and 32 levels: 16 threads 10.7, 7.5, 6.8, 6.9; 8 threads 13.6, 10.3, 9.7, 9.4; 4 threads
    17.7, 18.3, 17.8, 23.7. With 1 and 2 they take 1.3 to 2 times as long.
    """
    order = delta_stepping()
    if c.context.distributed:
        return UNORDERED
    if c.asked("tiles") and c.agrees(order) and c.at.once(_obstacle) is None:
        c.because(
            order, "the lowest values first, in a tile and among tiles: what is far comes again and again"
        )
        return order
    if c.at.once(_by_levels) and c.agrees(delta_stepping(LEVELS)):
        order = delta_stepping(LEVELS)
        c.because(order, "many threads go on by themselves for so many levels before they meet")
        return order
    if not c.at.once(_pays) or not c.agrees(order):
        return UNORDERED
    c.because(order, "the lowest values first: that saves most repeated visits")
    return order


def _by_levels(at: Traversal) -> bool:
    facts, claims = at.context.facts, at.effects.classes() == {WriteClass.CLAIMING}
    fits = claims and facts.deep and facts.crowd > 0
    return fits and not _repeated(at) and at.once(_obstacle) is None


def _pays(at: Traversal) -> bool:
    if at.effects.classes() == {WriteClass.CLAIMING}:
        return False
    weighted = any(r.role is Role.EDGE for r in at.effects.reads)
    deep = at.context.facts.deep and at.context.threads != 1 and not _repeated(at)
    return (weighted or deep) and at.once(_obstacle) is None


def _repeated(at: Traversal) -> bool:
    """Whether the loop around the apply stands in another loop."""

    def inside(n: ir.Node) -> bool:
        return any(isinstance(m, ir.EdgeApply) and m.label == at.apply.label for m in ir.walk(n))

    loops = [
        n for stmt in at.program.body for n in ir.walk(stmt) if isinstance(n, ir.While | ir.For) and inside(n)
    ]
    return len(loops) > 1


def _obstacle(at: Traversal) -> Obstacle | None:
    """Why the active vertices may not be taken by priority; None if they may.

    Legal when the loop may run in any order (`any_order_obstacle`) and one property is written, by min or by max:
    its value is the priority. In a search it is the distance of a vertex that is claimed.
    """
    apply, operator, writes = at.apply, at.operator, at.effects.writes
    if not isinstance(apply, ir.EdgeApply):
        return Obstacle("a vertex operator sends nothing along arcs", operator.span)
    if at.effects.classes() == {WriteClass.CLAIMING}:
        if at.context.distributed:
            return Obstacle(
                "what is claimed for good on a set is not claimed once more from nearer", operator.span
            )
        return no_search(at)
    for write in writes:
        if write.op not in ("min", "max"):
            return Obstacle(
                f"`{write.prop}` is written by `{write.op}`, which gives no priority: min or max does",
                write.span,
            )
    names = sorted(at.effects.written)
    if len(names) != 1:
        listed = " and ".join(f"`{n}`" for n in names) or "nothing"
        reason = f"{listed} {'is' if len(names) < 2 else 'are'} written; one property must order the vertices"
        return Obstacle(reason, writes[-1].span if writes else operator.span)
    if len({w.op for w in writes}) != 1:
        return Obstacle(f"`{names[0]}` is written by min and by max", writes[-1].span)
    t = at.program.property(names[0]).type
    if not isinstance(t, Scalar) or t.kind is Kind.BOOL:
        return Obstacle(f"`{names[0]}` is {t}, which is not a number", writes[0].span)
    found = any_order_obstacle(at.program, apply)
    return None if found is None else Obstacle(*found)
