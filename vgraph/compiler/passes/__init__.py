"""The passes, one file each, and the order in which they run."""

from __future__ import annotations

from vgraph.compiler.passes.choose_schedule import choose_schedule
from vgraph.compiler.passes.double_buffer import double_buffer
from vgraph.compiler.passes.insert_atomics import insert_atomics
from vgraph.compiler.passes.insert_barriers import insert_barriers
from vgraph.compiler.passes.lower_applies import lower_applies
from vgraph.compiler.passes.mark_common import mark_common
from vgraph.compiler.passes.own_copies import own_copies
from vgraph.compiler.passes.requeue_changed import requeue_changed
from vgraph.compiler.passes.simplify import simplify

PIPELINE = (
    simplify,
    requeue_changed,
    choose_schedule,
    double_buffer,
    lower_applies,
    own_copies,
    mark_common,
    insert_atomics,
    insert_barriers,
)
