"""How each axis of a schedule is resolved for one apply: one file per axis, in the order in which they are decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vgraph.compiler.axes.balance import choose_balance
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.deduplicate import choose_deduplicate
from vgraph.compiler.axes.direction import choose_direction
from vgraph.compiler.axes.drive import choose_drive
from vgraph.compiler.axes.frontier import choose_frontier
from vgraph.compiler.axes.locality import choose_prefetch, choose_segments, choose_vectorize
from vgraph.compiler.axes.order import choose_order
from vgraph.compiler.axes.phases import choose_payload, choose_phases, choose_pipeline
from vgraph.compiler.axes.sync import choose_sync

RESOLVERS: Final[dict[str, Callable[[Choice], Any]]] = {
    "order": choose_order,
    "drive": choose_drive,
    "phases": choose_phases,
    "direction": choose_direction,
    "frontier": choose_frontier,
    "sync": choose_sync,
    "deduplicate": choose_deduplicate,
    "balance": choose_balance,
    "segments": choose_segments,
    "payload": choose_payload,
    "pipeline": choose_pipeline,
    "prefetch": choose_prefetch,
    "vectorize": choose_vectorize,
}
"""Each sees what those before it decided, in `Choice.chosen`."""

__all__ = ["RESOLVERS", "Choice"]
