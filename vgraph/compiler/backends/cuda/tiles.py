"""Loops over buckets in tiles: a block goes on alone with the values of a tile in shared memory (`tiles.cuh`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import parallel
from vgraph.compiler.backends.cuda.emitter import Emitter, Region
from vgraph.compiler.backends.cuda.statements import OPERATIONS
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.rewrite import walk
from vgraph.compiler.types import VID, Vector

AHEAD: Final = 16
"""How many levels a visit of a search goes on above the lowest that waits. Of weighted arcs, whose buckets are wide on
deep graphs, it stays in the lowest bucket. From kernels written by hand, on clusters: 16 to 20 levels; 700 to 1500 for
weights of 1 to 255."""
MARK: Final = 4
"""Bytes of shared memory for each vertex, beside its values."""


@dataclass(frozen=True)
class Tile:
    """The visit of a tile: the variable, and for each property of which the block keeps values, where these are."""

    vertex: str
    view: str
    kept: dict[str, str]
    key: str

    def place(self, f: Emitter, prop: str, index: ir.Expr) -> str | None:
        """Where the value of a vertex stands; None if its property is not kept."""
        if prop not in self.kept:
            return None
        v = f.expr(index)
        if index == ir.Var(self.vertex, VID):
            return f"{self.kept[prop]}[{v} - {self.view}.first]"
        return f"(*{self.view}.here({self.kept[prop]}, {f.prop(prop)}, {v}))"


def kept_by(f: Emitter, name: str) -> dict[str, ir.Reduce]:
    """Of which properties a loop over these buckets keeps the values: numbers of 4 or 8 bytes that it changes, the
    widest first."""
    loops = [n for n in walk_body(f.program.body) if isinstance(n, ir.BucketLoop) and n.buckets == name]
    writes = [n for loop in loops for n in walk_body(loop.body) if isinstance(n, ir.Reduce)]
    found = {n.prop: n for n in writes if _width(f, n) in (4, 8)}
    return dict(sorted(found.items(), key=lambda item: -_width(f, item[1])))


def _width(f: Emitter, n: ir.Reduce) -> int:
    t = n.value.type
    return 0 if isinstance(t, Vector) else f.program.target.width(t) // 8


def _bytes(f: Emitter, decl: ir.BucketsDecl) -> int:
    """Bytes of shared memory for each vertex of a tile."""
    return MARK + sum(_width(f, n) for n in kept_by(f, decl.name).values())


def opening(f: Emitter, decl: ir.BucketsDecl) -> str:
    """The arguments of `open` that say how large tiles are."""
    return f", {decl.tiles}, {_bytes(f, decl)}, {f.num_vertices}"


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
            given.append(f"Kept<{OPERATIONS[n.op]}, {t}>{{{kept[prop]}, {f.prop(prop)}}}")
            behind += _width(f, n)
        f.line(f"{view}.active = (u32*)((u8*)pool() + (u64){behind} * {tiles}.size);")
        region.tile = Tile(node.vertex, view, kept, key)
        v = f.local(decl.vertex)
        f.line(f"auto {key} = [&](vid {v}) -> i64 {{ return {f.expr(decl.key)}; }};")
        visit = f.temporary("visit")
        with f.block(f"auto {visit} = [&](vid {f.local(node.vertex)})", "};"):
            f.visit(node.body, "return")
        ahead = 0 if _weighted(decl) else AHEAD
        values = "".join(f", {k}" for k in given)
        f.line(
            f"by_tiles(&control->cancel, {tiles}, {view}, {f.num_vertices}, {ahead}, {key}, {visit}{values});"
        )
        parallel.close_region(f, region)


def _weighted(decl: ir.BucketsDecl) -> bool:
    """Whether the width of its buckets follows from an edge property."""
    widths = [n.name for n in walk(decl) if isinstance(n, ir.Var) and n.name.startswith("policy.delta:")]
    return any(not name.endswith(":") for name in widths)


__all__ = ["Tile", "emit_loop", "opening"]
