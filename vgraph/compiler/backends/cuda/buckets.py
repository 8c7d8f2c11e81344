"""Vertices queued by priority: the nodes of ordered loops and priority queues."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import hops, parallel, tiles
from vgraph.compiler.backends.cuda.emitter import Emitter, Place, Region
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.trees import transform, walk


def declare(f: Emitter) -> None:
    """The key of each set of buckets, as a function of the vertex."""
    for declaration in f.program.buckets:
        with f.at(Place.THREAD):
            v, key = f.local(declaration.vertex), f.expr(declaration.key)
        f.line(f"auto {_key(f, declaration.name)} = [&](vid {v}) -> i64 {{ return {key}; }};")


def _key(f: Emitter, name: str) -> str:
    return f.names.of("bucket key", name)


def emit_clear(f: Emitter, node: ir.BucketsClear) -> None:
    """`clear work buckets`."""
    f.stops(f"clear(team, {f.buckets(node.buckets)}, {f.num_vertices})")


def emit_push(f: Emitter, node: ir.BucketPush) -> None:
    """`enqueue work v`."""
    assert f.region is not None
    vertex = f.agreed(node.vertex)
    with f.effect(), f.block(""):
        v = f.temporary("queued")
        f.line(f"vid {v} = {vertex};")
        if f.program.bucket_set(node.buckets).tiles:
            _to_tile(f, node, v)
            return
        target, lowest = f.buckets(node.buckets), f.region.lowest[node.buckets]
        key, ahead = _known_key(f, node) or f"{_key(f, node.buckets)}({v})", f.region.ahead
        if ahead is None:
            boxes = "".join(f", {box}" for box in f.region.boxes.get(node.buckets, []))
            f.line(f"{target}.push({v}, {key}, {lowest}{boxes});")
        else:
            hops.push(f, ahead, node, v, target, key, lowest)


def _to_tile(f: Emitter, node: ir.BucketPush, v: str) -> None:
    assert f.region is not None
    tile, target = f.region.tile, f.buckets(node.buckets)
    if tile is None:
        f.line(f"{target}.push({v}, {_key(f, node.buckets)}({v}));")
    elif tile.told:
        f.line(f"{target}.tell({v}, {tile.key}({v}, {tile.told}));")
    elif not tile.pulls:
        here = f"{tile.view}.more = true" if tile.watched else f"{tile.view}.push({v})"
        f.line(f"if ({tile.view}.has({v})) {here};")
        f.line(f"else {target}.push({v}, {tile.key}({v}));")


def _known_key(f: Emitter, node: ir.BucketPush) -> str | None:
    """The key of a vertex whose value this thread has just written: who lowered it since, pushes by a lower one."""
    assert f.region is not None
    declared = f.program.bucket_set(node.buckets)
    if carried := f.carried:
        prop, value = carried.reduce.prop, ir.Var(carried.new, carried.let.type)
    elif f.offered and node.vertex == f.offered[1]:
        prop, _, value = f.offered
    else:
        return None
    if any(isinstance(n, ir.Load) and n.prop != prop for n in walk(declared.key)):
        return None
    return f.expr(transform(declared.key, lambda n: value if isinstance(n, ir.Load) else None))


def emit_advance(f: Emitter, node: ir.BucketAdvance) -> None:
    """`more = advance work`: exactly the lowest bucket where the program asks which one it is."""
    asked = any(isinstance(n, ir.BucketKey) and n.buckets == node.buckets for n in walk_body(f.program.body))
    f.slots = max(f.slots, 1)
    exact, more = "true" if asked else "false", f.local(node.more)
    arguments = f"team, {f.buckets(node.buckets)}, {_key(f, node.buckets)}, {more}"
    f.stops(f"advance<{exact}>({arguments})")


def emit_loop(f: Emitter, node: ir.BucketLoop) -> None:
    """`parbucket v in work`: a parallel loop over the queue of the bucket under way, or tile by tile."""
    declared = f.program.bucket_set(node.buckets)
    if declared.tiles:
        tiles.emit_loop(f, node, declared)
        return
    f.line("")
    near = f"{f.buckets(node.buckets)}.near"
    with f.block("", f"}}{f'  // {node.label}' if node.label else ''}"):
        region = Region(vertex=node.vertex)
        parallel.open_region(f, node.body, region)
        if node.cut is not None:
            parallel.balanced(f, node, region, f"members({near})")
        else:
            parallel.by_threads(f, node, f"{near}.count", lambda i: f"{near}.queue[{i}]")
        parallel.close_region(f, region)


def emit_key(f: Emitter, node: ir.BucketKey) -> str:
    """`bucket(work)`."""
    return f"{f.buckets(node.buckets)}.limit"
