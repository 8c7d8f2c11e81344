"""Globals as a round finds them, where its activations exclude each other and so may come in several passes.

What an operator adds to a global is seen when the round has ended; but there may be a sum at the end of each pass. So
what such an operator reads of a global to which it adds itself is put by before the round.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.frontend.lowering.context import Context
from vgraph.source import Span


def of_round_start(ctx: Context, operator: ir.Operator) -> ir.Operator:
    """The operator, reading what `put_by` puts by."""
    unit = ctx.unit
    added = {n.name for n in ir.walk(operator) if isinstance(n, ir.ReduceGlobal)}
    unit.begins[operator.name] = names = {}

    def rule(n: ir.Node) -> ir.Node | None:
        if not (isinstance(n, ir.GlobalVar) and n.name in added):
            return None
        if n.name not in unit.starts:
            unit.starts[n.name] = unit.names.fresh(f"{n.name}.start")
            unit.kept.append(ir.Global(unit.starts[n.name], n.type))
        names[n.name] = n
        return ir.with_fields(n, {"name": unit.starts[n.name]})

    return ir.transform(operator, rule)


def put_by(ctx: Context, operator: str, span: Span) -> ir.Body:
    """What stands before a round of an operator."""
    starts = ctx.unit.starts
    return tuple(
        ir.SetGlobal(starts[name], ir.with_fields(n, {"span": span}), span=span)
        for name, n in ctx.unit.begins.get(operator, {}).items()
    )
