"""The passes, one file each, and the order in which they run.

`lowering.py`, `cut_loops.py`, `pulls.py`, `pull_pieces.py` and `loop_hints.py` are what the lowerings share.
"""

from __future__ import annotations

from vgraph.compiler.passes.balance_load import balance_load
from vgraph.compiler.passes.choose_per_round import choose_per_round
from vgraph.compiler.passes.choose_schedule import choose_schedule
from vgraph.compiler.passes.claim_rounds import claim_rounds
from vgraph.compiler.passes.compress_sets import compress_sets
from vgraph.compiler.passes.count_hops import count_hops
from vgraph.compiler.passes.divide_loops import divide_loops
from vgraph.compiler.passes.double_buffer import double_buffer
from vgraph.compiler.passes.fix_order import fix_order
from vgraph.compiler.passes.fuse_loops import fuse_loops
from vgraph.compiler.passes.insert_atomics import insert_atomics
from vgraph.compiler.passes.insert_barriers import insert_barriers
from vgraph.compiler.passes.join_cascades import join_cascades
from vgraph.compiler.passes.lower_apply_scatter import lower_apply_scatter
from vgraph.compiler.passes.lower_cautious import lower_cautious
from vgraph.compiler.passes.lower_conflicts import lower_conflicts
from vgraph.compiler.passes.lower_fills import lower_fills
from vgraph.compiler.passes.lower_frontiers import lower_frontiers
from vgraph.compiler.passes.lower_gather_apply import lower_gather_apply
from vgraph.compiler.passes.lower_ordered import lower_ordered
from vgraph.compiler.passes.lower_pull import lower_pull
from vgraph.compiler.passes.lower_push import lower_push
from vgraph.compiler.passes.lower_queues import lower_queues
from vgraph.compiler.passes.lower_storage import lower_storage
from vgraph.compiler.passes.lower_vertex import lower_vertex
from vgraph.compiler.passes.mark_common import mark_common
from vgraph.compiler.passes.narrow_frontiers import narrow_frontiers
from vgraph.compiler.passes.own_copies import own_copies
from vgraph.compiler.passes.pack_tuples import pack_tuples
from vgraph.compiler.passes.place_exchanges import place_exchanges
from vgraph.compiler.passes.requeue_changed import requeue_changed
from vgraph.compiler.passes.simplify import simplify
from vgraph.compiler.passes.spread_globals import spread_globals

PIPELINE = (
    # algorithm level
    pack_tuples,
    simplify,
    claim_rounds,
    requeue_changed,
    narrow_frontiers,
    divide_loops,
    choose_schedule,
    # scheduled level: applies become loops
    place_exchanges,
    count_hops,
    join_cascades,
    double_buffer,
    lower_ordered,
    lower_fills,
    lower_frontiers,
    compress_sets,
    lower_cautious,
    lower_vertex,
    lower_queues,
    choose_per_round,
    lower_conflicts,
    lower_gather_apply,
    lower_apply_scatter,
    lower_pull,
    lower_push,
    balance_load,
    lower_storage,
    # kernel level
    fix_order,
    fuse_loops,
    spread_globals,
    own_copies,
    mark_common,
    insert_atomics,
    insert_barriers,
)
