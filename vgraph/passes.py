"""What a compiler pass of one's own is written with: docs/passes.md has an example, and says what each is for.

The names in `__all__` stay as they are from release to release; everything else in `vgraph.compiler` may change.
"""

from __future__ import annotations

from vgraph.compiler import ir, types
from vgraph.compiler.analysis.effects import Effects, any_order_obstacle, effects
from vgraph.compiler.ir import Level, Program
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.ir.text import parse_program, print_node, print_program
from vgraph.compiler.ir.trees import (
    FreshNames,
    children,
    fresh_names,
    rename,
    substitute,
    transform,
    transform_body,
    walk,
    with_fields,
)
from vgraph.compiler.ir.verify import verify
from vgraph.compiler.user_passes import UserPass, pipeline, registered, schedule_pass
from vgraph.refusals.schedules import IllegalSchedule

__all__ = [
    "Context", "Effects", "FreshNames", "IllegalSchedule", "Level", "Pass", "Program", "UserPass",
    "any_order_obstacle", "children", "effects", "fresh_names", "ir", "parse_program", "pipeline",
    "print_node", "print_program", "registered", "rename", "schedule_pass", "substitute", "transform",
    "transform_body", "types", "verify", "walk", "with_fields",
]  # fmt: skip
