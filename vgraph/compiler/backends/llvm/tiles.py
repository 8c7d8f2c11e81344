"""Emit functions of buckets in tiles: whoever has a tile to itself puts what waits in it into its own buckets, and goes
on alone until these are empty. No barrier stands between two tiles (`prelude/tiles.loops`).

A vertex waits as long as its flag is set. What is pushed to another tile than the one that is visited has no entry
anywhere: whoever visits its tile looks at all flags there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import (
    BUCKETS_BEHIND,
    BUCKETS_CELLS,
    BUCKETS_NONE,
    DECLARATIONS,
    TILE_GROUP,
    WORKER,
)
from vgraph.compiler.backends.llvm import buckets
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter, Region
from vgraph.compiler.backends.llvm.forks import fork_point
from vgraph.compiler.backends.llvm.loops import counted, set_bits
from vgraph.compiler.backends.llvm.parallel import end_region, once, prepare
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import Unit
from vgraph.compiler.types import VID

AHEAD: Final = 8
"""A visit goes on up to a key so much above the lowest that waited: what is farther may be reached on a shorter way
through another tile. Shortest paths on a road grid of 1000 x 1000 in the order of clusters, tiles of 1024, one thread:
1.05, 1.17, 1.78 and 2.00 million visits with 2, 8, 32 and no bound (62.7, 61.6, 83 and 95 ms of CPU time; in buckets
without tiles 54); a search 1.00, 1.01, 1.04 and 1.12 (64, 56, 54 and 56 ms)."""
_NUMBERS: Final = {
    "NONE": BUCKETS_NONE,
    "GROUP": TILE_GROUP,
    "BEHIND": BUCKETS_BEHIND,
    "CELLS": BUCKETS_CELLS,
    "CIRCLE": WORKER.size,
}
UNIT: Final = Unit("tiles", numbers=_NUMBERS)


@dataclass(frozen=True)
class Tile:
    """The tile that is visited: its first vertex, and the slots of the last key that is due and of the lowest that is
    not."""

    base: str
    limit: str
    rest: str


def _helper(f: Emitter, name: str) -> str:
    return functions(UNIT, name, DECLARATIONS, f.helpers, f.declarations)


def _table(f: Emitter, decl: ir.BucketsDecl) -> str:
    """The tiles of a set of buckets."""
    return f.load_field(WORKER, f.pointers[f"workers {decl.name}"], "tiles")


def emit_clear(f: Emitter, node: ir.BucketsClear) -> None:
    """`clear work buckets`."""
    decl = f.program.bucket_set(node.buckets)
    if decl.tiles:
        with once(f):
            f.do(f"call void @{_helper(f, 'reset')}(ptr {_table(f, decl)})")
    buckets.emit_clear(f, node)


def emit_push(f: Emitter, node: ir.BucketPush) -> None:
    """`enqueue work v`: into this thread's buckets if it visits the tile, else v waits there."""
    decl = f.program.bucket_set(node.buckets)
    if not decl.tiles:
        buckets.emit_push(f, node)
        return
    vertex = f.expr(node.vertex)
    wide, done, outside = f.index(vertex), f.label("pushed"), f.label("outside")
    key = buckets.key_of(f, decl, vertex).text
    if f.region is not None and f.region.tile is not None:
        tile = f.region.tile
        away = f.op(f"sub i64 {wide}, {tile.base}")
        f.jump_unless(f.op(f"icmp ult i64 {away}, {decl.tiles}"), outside)
        buckets.set_flag(f, decl, vertex)
        _put(f, decl, tile, key, vertex.text, done)
    f.start(outside)
    flag = f.item("i8", f.pointers[f"queued {decl.name}"], wide)
    f.op(f"atomicrmw xchg ptr {flag}, i8 1 seq_cst, align 1{f.alias('queued')}")
    number = f.op(f"udiv i64 {wide}, {decl.tiles}")
    f.do(f"call void @{_helper(f, 'wait')}(ptr {_table(f, decl)}, i64 {number}, i64 {key})")
    f.start(done)


def _put(f: Emitter, decl: ir.BucketsDecl, tile: Tile, key: str, vertex: str, done: str) -> None:
    """An entry for a vertex of the tile, if it is due; then go to `done`."""
    limit = f.op(f"load i64, ptr {tile.limit}")
    with f.unless(f.op(f"icmp sle i64 {key}, {limit}"), "later"):
        rest = f.op(f"load i64, ptr {tile.rest}")
        least = f.call("i64", "llvm.smin.i64", f"i64 {rest}", f"i64 {key}")
        f.do(f"store i64 {least}, ptr {tile.rest}")
        f.jump(done)
    buckets.put(f, decl, key, vertex)
    f.jump(done)


def emit_loop(f: Emitter, node: ir.BucketLoop) -> None:
    """`parbucket v in work`, tile by tile."""
    decl = f.program.bucket_set(node.buckets)
    if not decl.tiles:
        buckets.emit_loop(f, node)
        return
    fork_point(f, buckets.BLOCK_IDS // 8, lambda: "%num_vertices")
    loops, f.loops = f.loops, []
    region = f.region = Region(f.label("drained"))
    prepare(f, node.body, region)
    table, current = _table(f, decl), f.pointers[f"current {decl.name}"]
    found, limit, rest = f.slot("[2 x i64]", "tile"), f.slot("i64", "limit"), f.slot("i64", "rest")
    head = f.label("tile")
    f.start(head)
    some = f.op(f"call i1 @{_helper(f, 'next')}(ptr %ctx, ptr {table}, ptr {found})")
    f.jump_unless(some, region.leave)
    number = f.op(f"load i64, ptr {found}")
    first = f.op(f"load i64, ptr {f.item('i64', found, '1')}")
    f.do(f"store i64 {first}, ptr {current}")
    f.do(f"store i64 {f.op(f'add i64 {first}, {AHEAD}')}, ptr {limit}")
    f.do(f"store i64 {BUCKETS_NONE}, ptr {rest}")
    region.tile = Tile(f.op(f"mul nuw nsw i64 {number}, {decl.tiles}"), limit, rest)
    _gather(f, decl, region.tile)
    _drain(f, decl, node, region.tile, region.leave)
    left = f.op(f"load i64, ptr {rest}")
    f.do(f"call void @{_helper(f, 'leave')}(ptr {table}, i64 {number}, i64 {left})")
    f.jump(head)
    f.start(region.leave)
    f.loops = loops
    end_region(f, node.body, region)


def _gather(f: Emitter, decl: ir.BucketsDecl, tile: Tile) -> None:
    """Put all vertices of a tile that wait into this thread's buckets; flags are read eight at a time."""
    behind = f.op(f"add nuw nsw i64 {tile.base}, {decl.tiles}")
    end = f.call("i64", "llvm.umin.i64", f"i64 {behind}", "i64 %num_vertices")
    first = f.op(f"lshr i64 {tile.base}, 3")
    last = f.op(f"lshr i64 {f.op(f'add i64 {end}, 7')}, 3")
    flags = f.pointers[f"queued {decl.name}"]

    def word(i: str, _: str, __: str) -> None:
        place = f.item("i64", flags, i)
        bits = f.op(f"load atomic i64, ptr {place} monotonic, align 8{f.alias('queued')}")
        set_bits(f, bits, i, waits)

    def waits(bit: str, again: str, _: str) -> None:
        wide = f.op(f"lshr i64 {bit}, 3")
        away = f.op(f"sub i64 {wide}, {tile.base}")
        f.jump_unless(f.op(f"icmp ult i64 {away}, {decl.tiles}"), again)
        vertex = f.narrow(wide, VID)
        _put(f, decl, tile, buckets.key_of(f, decl, vertex).text, vertex.text, again)

    counted(f, first, last, word, "flags")


def _drain(f: Emitter, decl: ir.BucketsDecl, node: ir.BucketLoop, tile: Tile, leave: str) -> None:
    """Visit all that this thread's buckets hold, and what comes into them meanwhile, the lowest first."""
    worker, current = f.pointers[f"worker {decl.name}"], f.pointers[f"current {decl.name}"]
    head, empty = f.label("bucket"), f.label("bucket.empty")
    f.start(head)
    now, limit = f.op(f"load i64, ptr {current}"), f.op(f"load i64, ptr {tile.limit}")
    lowest = f.op(f"call i64 @{_helper(f, 'lowest')}(ptr {worker}, i64 {now}, i64 {limit})")
    with f.unless(f.op(f"icmp eq i64 {lowest}, {BUCKETS_NONE}"), "bucket.some"):
        behind = f.op(f"icmp eq i64 {lowest}, {BUCKETS_BEHIND}")
        next_ = f.op(f"select i1 {behind}, i64 {now}, i64 {lowest}")
        f.do(f"store i64 {next_}, ptr {current}")
        f.store_field(WORKER, worker, "cell", buckets.cell_of(f, worker, next_, behind))
        buckets.visit_all(f, decl, node, "0", empty)
        f.start(empty)
        f.branch(f.cancelled(), leave, head, UNLIKELY)


"""In place of those of `buckets.py`, which they call where there are no tiles."""
