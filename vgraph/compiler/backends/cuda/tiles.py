"""Loops over buckets in tiles: a block goes on alone with the values of a tile in shared memory (`tiles.cuh`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
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
AHEAD_LOOKING: Final = 64
"""The same where vertices look at their neighbors. Measured on an H200, a grid of 2048 x 2048 in squares: a search
4.7 ms with 16, 3.5 with 64 and without a limit; in the order of clusters 6.8 and 7.4 with 16 and 64."""
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

    def walk(self, f: Emitter) -> None:
        """The loop over the row, or what it does for an arc at hand."""
        assert f.region is not None
        assert f.region.tile is not None
        tile, node = f.region.tile, self.loop
        if tile.pulls:
            with f.block(""):
                f.line(f"vid {f.local(node.vertex)} = {tile.pulls};")
                f.body(node.body)
            return
        arc = f.temporary("arc")
        with self.arc(f, arc, f.local(node.vertex)):
            f.line(f"if ({tile.passed.format(f.local(node.vertex))}) return;")
            f.body(node.body)
        self.arcs(f, arc)

    @contextmanager
    def arc(self, f: Emitter, name: str, far: str) -> Iterator[None]:
        """The text inside is a function of this name, of an arc and the vertex at its other end."""
        given = [f"eid {f.local(self.loop.edge)}", f"vid {far}"]
        given += [f"{kind} {value}" for kind, value in self.values.values()]
        with f.block(f"auto {name} = [&]({', '.join(given)})", "};"):
            yield

    def arcs(self, f: Emitter, arc: str) -> None:
        """Such a function of each arc: the first ones from registers, what is left from memory."""
        row, columns = self.name, f.array(f"{self.loop.orientation.value}.column_indices")
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
            f.line(f"{row}.near[{k}] = (vid)-1;  // in no tile")
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
    passed: str = ""
    """Of the other end of an arc: whether the arc is none of those at hand."""
    at: dict[str, str] = field(default_factory=dict)
    """By names of vertices: the value that is kept of each, where it is known."""
    pulls: str = ""
    """The vertex that looks at its neighbors, whether one of them makes its value better; `told`: the value of one
    outside that was made better. Both of the other kind of visits (`by_pulled_tiles`)."""
    told: str = ""

    def load(self, f: Emitter, node: ir.Load) -> str | None:
        """The value that a block keeps, or one that the thread keeps of the arc at hand; None if neither."""
        if self.row and node.prop in self.row.values and node.index == ir.Var(self.row.loop.edge, EID):
            return self.row.values[node.prop][1]
        if node.prop not in self.kept:
            return None
        if isinstance(node.index, ir.Var) and node.index.name in self.at:
            return self.at[node.index.name]
        v = f.expr(node.index)
        if node.index == ir.Var(self.vertex, VID):
            return f"seen(&{self.kept[node.prop]}[{v} - {self.view}.first])"
        return f"{self.view}.value({self.kept[node.prop]}, {f.prop(node.prop)}, {v})"

    def reduce(self, f: Emitter, node: ir.Reduce) -> str | None:
        """The call that lowers a value where it stands, if it is of a property that is kept."""
        if node.prop not in self.kept:
            return None
        if self.pulls:
            assert self.row is not None
            best = self.at[self.row.loop.vertex]
            return f"improve<{OPERATIONS[node.op]}>({best}, {f.expr(node.value)})"
        if self.told:
            place = f"&{f.prop(node.prop)}[{f.expr(node.index)}]"
            return f"improve_far<{OPERATIONS[node.op]}>({place}, {f.expr(node.value)}, {self.told})"
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
        kind, name = (row.type, row.name) if row else (f.temporary("Row"), f.temporary("row"))
        with f.block(f"struct {kind}", "};"):
            if row:
                f.line("eid begin, end;")
                f.line("vid near[ROW];")
                for t, value in row.values.values():
                    f.line(f"{t} {value}[ROW];")
        opened, src = f.temporary("open"), f.local(node.vertex)
        with f.block(f"auto {opened} = [&](vid {src}, {kind}& {name})", "};"):
            if row:
                row.open(f, src)
        tile = Tile(node.vertex, view, kept, key, watched, row)
        passed = f"{tiles}, {view}, {f.num_vertices}"
        if row and decl.mirrored and watched and _turns_round(node, row.loop, kept):
            _pulled(f, node, decl, tile, f"&control->cancel, {passed}", opened)
        else:
            rows = kind, name
            _pushed(f, node, decl, tile, f"&control->cancel, {passed}", opened, rows, "".join(given))
        parallel.close_region(f, region)


def _pushed(
    f: Emitter,
    node: ir.BucketLoop,
    decl: ir.BucketsDecl,
    tile: Tile,
    passed: str,
    opened: str,
    rows: tuple[str, str],
    kept: str,
) -> None:
    """Visits in which a vertex makes its neighbors' values better (`by_tiles`). `rows`: their type, and one's name."""
    region, row, (kind, name) = f.region, tile.row, rows
    assert region is not None
    region.tile = replace(tile, row=None)
    f.line(f"auto {tile.key} = [&](vid {f.local(decl.vertex)}) -> i64 {{ return {f.expr(decl.key)}; }};")
    if row:
        region.rows[row.loop.orientation.value] = f"{name}.begin", f"{name}.end"
    visit, leave = f.temporary("visit"), f.temporary("leave")
    given = f"vid {f.local(node.vertex)}, const {kind}& {name}"
    with f.block(f"auto {visit} = [&]({given})", "};"):
        region.tile = replace(tile, passed=f"!{tile.view}.has({{}})")
        f.visit(node.body, "return")
    with f.block(f"auto {leave} = [&]({given})", "};"):
        if row:  # counted by the visit
            region.tile = replace(tile, passed=f"{tile.view}.has({{}})")
            f.visit(tuple(n for n in node.body if not isinstance(n, ir.ReduceGlobal)), "return")
    ahead, watch = 0 if _weighted(decl) else AHEAD, str(tile.watched).lower()
    f.line(
        f"by_tiles<{kind}, {decl.tiles}, {watch}>({passed}, {ahead}, {tile.key}, {opened}, {visit}, {leave}{kept});"
    )


def _pulled(
    f: Emitter, node: ir.BucketLoop, decl: ir.BucketsDecl, tile: Tile, passed: str, opened: str
) -> None:
    """Visits in which a vertex looks at its neighbors in the tile (`by_pulled_tiles`)."""
    region, row = f.region, tile.row
    assert region is not None
    assert row is not None
    ((prop, n),) = kept_by(f, node.buckets).items()
    kept, t, op, view = tile.kept[prop], type_name(n.value.type), OPERATIONS[n.op], tile.view
    src, nothing = f.local(node.vertex), f"Limits<{t}>::{'most' if n.op == 'min' else 'least'}()"
    own, best, arc, at, handed, told, known = map(
        f.temporary, ("own", "best", "arc", "at", "handed", "told", "known")
    )
    region.tile = replace(tile, at={decl.vertex: known})
    with f.block(f"auto {tile.key} = [&](vid {f.local(decl.vertex)}, {t} {known}) -> i64", "};"):
        f.line(f"return {f.expr(decl.key)};")
    pull, leave = f.temporary("pull"), f.temporary("leave")
    with f.block(f"auto {pull} = [&](vid {own}, const {row.type}& {row.name}, {t}& {best})", "};"):
        with row.arc(f, arc, src):
            f.line(f"vid {at} = {src} - {view}.first;")
            f.line(f"if ({at} >= {view}.size) return;")
            f.line(f"{t} {handed} = seen(&{kept}[{at}]);")
            f.line(f"if ({handed} == {nothing}) return;")
            region.tile = replace(tile, at={node.vertex: handed, row.loop.vertex: best}, pulls=own)
            f.visit(tuple(n for n in node.body if not isinstance(n, ir.ReduceGlobal)), "return")
        row.arcs(f, arc)
    region.rows[row.loop.orientation.value] = f"{row.name}.begin", f"{row.name}.end"
    with f.block(f"auto {leave} = [&](vid {src}, const {row.type}& {row.name})", "};"):
        f.line(f"{t} {told}, {handed} = {kept}[{src} - {view}.first];")
        # Where the value is what stands for none, neighbors in the tile have not seen it.
        within = f"{view}.has({{}}) && {handed} != {nothing}"
        region.tile = replace(tile, at={node.vertex: handed}, told=told, passed=within)
        f.visit(node.body, "return")
    most = f"{op}, {row.type}, {decl.tiles}"
    ahead = 0 if _weighted(decl) else AHEAD_LOOKING
    order = f"{ahead}, {nothing}, {tile.key}, {opened}, {pull}, {leave}"
    f.line(f"by_pulled_tiles<{most}>({passed}, {order}, {kept}, {f.prop(prop)});")


_PURE: Final = (ir.Let, ir.If, ir.ForNeighbors, ir.Reduce, ir.BucketPush, ir.ReduceGlobal)


def _turns_round(node: ir.BucketLoop, loop: ir.ForNeighbors, kept: Collection[str]) -> bool:
    """Whether the one update along an arc may be made by the other end: it asks for nothing but the value there, its
    own, what is not written, and values of the arc."""
    inside = list(walk_body(node.body))
    updates = [n for n in walk(loop) if isinstance(n, ir.Reduce)]
    ends = ir.Var(node.vertex, VID), ir.Var(loop.vertex, VID)
    edge = ir.Var(loop.edge, EID)
    of_arcs = sum(isinstance(n, ir.Load) and n.index == edge for n in inside)
    return (
        all(isinstance(n, _PURE) for n in inside if isinstance(n, ir.Stmt))
        and not any(isinstance(n, ir.ReduceGlobal) for n in walk(loop))
        and [(n.op in ("min", "max"), n.index) for n in updates] == [(True, ends[1])]
        and all(n.index in ends for n in inside if isinstance(n, ir.Load) and n.prop in kept)
        and sum(n == edge for n in inside) == of_arcs
    )


def _weighted(decl: ir.BucketsDecl) -> bool:
    """Whether the width of its buckets follows from an edge property."""
    widths = [n.name for n in walk(decl) if isinstance(n, ir.Var) and n.name.startswith("policy.delta:")]
    return any(not name.endswith(":") for name in widths)


__all__ = ["Tile", "emit_loop", "opening"]
