"""Loops over buckets in tiles: a block goes on alone with the values of a tile in shared memory (`tiles.cuh`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import parallel
from vgraph.compiler.backends.cuda.emitter import Emitter, Region
from vgraph.compiler.backends.cuda.layout import BLOCK
from vgraph.compiler.backends.cuda.statements import OPERATIONS
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import EID, VID, Vector
from vgraph.records import dataclass

AHEAD: Final = 16
"""How many levels a visit of a search goes on above the lowest that waits. Of weighted arcs, whose buckets are wide on
deep graphs, it stays in the lowest bucket. From kernels written by hand, on clusters: 16 to 20 levels; 700 to 1500 for
weights of 1 to 255."""
MARK: Final = 4
"""Bytes of shared memory for each vertex, beside its values, where these do not tell that it was pushed."""
WIDEST: Final = 2 * BLOCK
"""Vertices of the largest tile of which threads keep the rows in registers."""


@dataclass(frozen=True)
class Row:
    """What a thread keeps of the row of a vertex: its first arcs' other ends, and which properties of these arcs."""

    loop: ir.ForNeighbors
    type: str
    name: str
    view: str
    values: dict[str, tuple[str, str]]
    """By property of arcs, the type and the name."""

    def walk(self, f: Emitter, columns: str) -> None:
        """The loop over the row: its first arcs from registers, what is left from memory."""
        node, row, arc, e = self.loop, self.name, f.temporary("arc"), f.local(self.loop.edge)
        given = [f"eid {e}", f"vid {f.local(node.vertex)}"]
        given += [f"{kind} {value}" for kind, value in self.values.values()]
        with f.block(f"auto {arc} = [&]({', '.join(given)})", "};"):
            assert f.region is not None
            assert f.region.tile is not None
            inside = f"{self.view}.has({f.local(node.vertex)})"
            f.line(f"if ({'' if f.region.tile.leaving else '!'}{inside}) return;")
            f.body(node.body)
        k, at = f.temporary("slot"), f.temporary("at")
        near = "".join(f", {row}.{value}[{k}]" for _, value in self.values.values())
        far = "".join(f", fixed(&{f.prop(prop)}[{at}])" for prop in self.values)
        f.line("#pragma unroll")
        with f.block(f"for (u32 {k} = 0; {k} < ROW; ++{k})"):
            f.line(f"if ({row}.begin + {k} < {row}.end) {arc}({row}.begin + {k}, {row}.near[{k}]{near});")
        with f.block(f"for (eid {at} = {row}.begin + ROW; {at} < {row}.end; ++{at})"):
            f.line(f"{arc}({at}, fixed(&{columns}[{at}]){far});")

    def open(self, f: Emitter, v: str) -> None:
        """Read it, for vertex v."""
        side, row, k, at = self.loop.orientation.value, self.name, f.temporary("slot"), f.temporary("at")
        begin, end = f.row(side, v)
        f.line(f"{row}.begin = {begin};")
        f.line(f"{row}.end = {end};")
        f.line("#pragma unroll")
        with f.block(f"for (u32 {k} = 0; {k} < ROW; ++{k})"):
            f.line(f"eid {at} = {row}.begin + {k};")
            f.line(f"if ({at} >= {row}.end) continue;")
            f.line(f"{row}.near[{k}] = fixed(&{f.array(f'{side}.column_indices')}[{at}]);")
            for prop, (_, value) in self.values.items():
                f.line(f"{row}.{value}[{k}] = fixed(&{f.prop(prop)}[{at}]);")


@dataclass(frozen=True)
class Tile:
    """The visit of a tile: the variable, and for each property of which the block keeps values, where these are.

    `watched`: a vertex of the tile is due when its values have changed, and nobody has to say so.
    """

    vertex: str
    view: str
    kept: dict[str, str]
    key: str
    watched: bool
    row: Row | None = None
    leaving: bool = False
    """Whether the arcs at hand are those to other tiles; else those within."""

    def load(self, f: Emitter, node: ir.Load) -> str | None:
        """The value that a block keeps, or one that the thread keeps of the arc at hand; None if neither."""
        if self.row and node.prop in self.row.values and node.index == ir.Var(self.row.loop.edge, EID):
            return self.row.values[node.prop][1]
        if node.prop not in self.kept:
            return None
        v = f.expr(node.index)
        if node.index == ir.Var(self.vertex, VID):
            return f"seen(&{self.kept[node.prop]}[{v} - {self.view}.first])"
        return f"{self.view}.value({self.kept[node.prop]}, {f.prop(node.prop)}, {v})"

    def reduce(self, f: Emitter, node: ir.Reduce) -> str | None:
        """The call that lowers a value where it stands, if it is of a property that is kept."""
        if node.prop not in self.kept:
            return None
        given = f"{self.kept[node.prop]}, {f.prop(node.prop)}, {f.expr(node.index)}, {f.expr(node.value)}"
        return f"{self.view}.reduce<{OPERATIONS[node.op]}>({given})"


def kept_by(f: Emitter, name: str) -> dict[str, ir.Reduce]:
    """Of which properties a loop over these buckets keeps the values: numbers of 4 or 8 bytes that it changes, the
    widest first."""
    writes = [n for n in walk_body(_body(f, name)) if isinstance(n, ir.Reduce)]
    found = {n.prop: n for n in writes if _width(f, n) in (4, 8)}
    return dict(sorted(found.items(), key=lambda item: -_width(f, item[1])))


def _width(f: Emitter, n: ir.Reduce) -> int:
    t = n.value.type
    return 0 if isinstance(t, Vector) else f.program.target.width(t) // 8


def _bytes(f: Emitter, decl: ir.BucketsDecl) -> int:
    """Bytes of shared memory for each vertex of a tile."""
    kept = kept_by(f, decl.name)
    return sum(_width(f, n) for n in kept.values()) + MARK * (not _watched(_body(f, decl.name), kept))


def _body(f: Emitter, name: str) -> ir.Body:
    """What is done in loops over these buckets."""
    loops = [n for n in walk_body(f.program.body) if isinstance(n, ir.BucketLoop) and n.buckets == name]
    return tuple(stmt for loop in loops for stmt in loop.body)


def opening(f: Emitter, decl: ir.BucketsDecl) -> str:
    """The arguments of `open` that say how large tiles are."""
    return f", {decl.tiles}, {_bytes(f, decl)}, {f.num_vertices}"


def _watched(body: ir.Body, kept: Collection[str]) -> bool:
    """Whether a vertex is pushed exactly where its only value changes. Of several values one is written first, and
    who looked then would go on with a mix of them."""
    writes = [n for n in walk_body(body) if isinstance(n, ir.Store | ir.CompareAndSwap | ir.Reduce)]
    pushes = sum(isinstance(n, ir.BucketPush) for n in walk_body(body))
    follows = {
        (n.condition.name, n.then[0].vertex)
        for n in walk_body(body)
        if isinstance(n, ir.If) and isinstance(n.condition, ir.Var) and not n.other
        if len(n.then) == 1 and isinstance(n.then[0], ir.BucketPush)
    }
    changes = {(n.changed, n.index) for n in writes if isinstance(n, ir.Reduce) and n.prop in kept}
    return (
        len(kept) == 1
        and len(follows) == pushes
        and follows == changes
        and all(n.prop in kept for n in writes)
    )


def _row(f: Emitter, node: ir.BucketLoop, decl: ir.BucketsDecl, view: str) -> Row | None:
    """What is kept of the rows, where the visit is one loop over its vertex's arcs that takes each of them."""
    loops = [
        n for n in walk_body(node.body) if isinstance(n, ir.ForNeighbors | ir.For | ir.While | ir.ForCommon)
    ]
    if decl.tiles > WIDEST or len(loops) != 1 or not isinstance(loop := loops[0], ir.ForNeighbors):
        return None
    if loop.deltas or loop.of != ir.Var(node.vertex, VID):
        return None
    if any(isinstance(n, ir.Break | ir.Continue) for n in walk(loop)):
        return None
    read = {
        n.prop: (type_name(n.type), f.temporary(f"{n.prop} value"))
        for n in walk(loop)
        if isinstance(n, ir.Load) and n.index == ir.Var(loop.edge, EID) and n.prop not in f.written
        if not isinstance(n.type, Vector)
    }
    return Row(loop, f.temporary("Row"), f.temporary("row"), view, read)


def emit_loop(f: Emitter, node: ir.BucketLoop, decl: ir.BucketsDecl) -> None:
    """`parbucket v in work`, tile by tile, until nothing waits."""
    f.shared = max(f.shared, decl.tiles * _bytes(f, decl))
    f.line("")
    with f.block("", f"}}{f'  // {node.label}' if node.label else ''}"):
        region = Region(vertex=node.vertex)
        parallel.open_region(f, node.body, region)
        view, key, tiles = f.temporary("tile"), f.temporary("tile key"), f.buckets(node.buckets)
        f.line(f"TileVisit<vid> {view};")
        kept, behind, given = {}, 0, []
        for prop, n in kept_by(f, node.buckets).items():
            kept[prop], t = f.temporary(f"tile {prop}"), type_name(n.value.type)
            f.line(f"{t}* {kept[prop]} = ({t}*)((u8*)pool() + (u64){behind} * {tiles}.size);")
            given.append(
                f", Kept<{OPERATIONS[n.op]}, {t}, owned({decl.tiles})>({kept[prop]}, {f.prop(prop)})"
            )
            behind += _width(f, n)
        watched, row = _watched(_body(f, node.buckets), kept), _row(f, node, decl, view)
        if not watched:
            f.line(f"{view}.active = (u32*)((u8*)pool() + (u64){behind} * {tiles}.size);")
        v, src = f.local(decl.vertex), f.local(node.vertex)
        region.tile = Tile(node.vertex, view, kept, key, watched)
        f.line(f"auto {key} = [&](vid {v}) -> i64 {{ return {f.expr(decl.key)}; }};")
        region.tile = Tile(node.vertex, view, kept, key, watched, row)
        kind, name = (row.type, row.name) if row else (f.temporary("Row"), f.temporary("row"))
        with f.block(f"struct {kind}", "};"):
            if row:
                f.line("eid begin, end;")
                f.line("vid near[ROW];")
                for t, value in row.values.values():
                    f.line(f"{t} {value}[ROW];")
        opened, visit, leave = map(f.temporary, ("open", "visit", "leave"))
        with f.block(f"auto {opened} = [&](vid {src}, {kind}& {name})", "};"):
            if row:
                row.open(f, src)
                region.rows[row.loop.orientation.value] = f"{name}.begin", f"{name}.end"
        passed = f"vid {src}, const {kind}& {name}"
        with f.block(f"auto {visit} = [&]({passed})", "};"):
            f.visit(node.body, "return")
        with f.block(f"auto {leave} = [&]({passed})", "};"):
            if row:  # counted by the visit
                region.tile = replace(region.tile, leaving=True)
                f.visit(tuple(n for n in node.body if not isinstance(n, ir.ReduceGlobal)), "return")
        ahead, watch = 0 if _weighted(decl) else AHEAD, str(watched).lower()
        passed = (
            f"{tiles}, {view}, {f.num_vertices}, {ahead}, {key}, {opened}, {visit}, {leave}{''.join(given)}"
        )
        f.line(f"by_tiles<{kind}, {decl.tiles}, {watch}>(&control->cancel, {passed});")
        parallel.close_region(f, region)


def _weighted(decl: ir.BucketsDecl) -> bool:
    """Whether the width of its buckets follows from an edge property."""
    widths = [n.name for n in walk(decl) if isinstance(n, ir.Var) and n.name.startswith("policy.delta:")]
    return any(not name.endswith(":") for name in widths)


__all__ = ["Tile", "emit_loop", "opening"]
