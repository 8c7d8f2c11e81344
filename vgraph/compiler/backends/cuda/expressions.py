"""Emit functions of expressions; each returns C++ text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda.emitter import Emitter, Place
from vgraph.compiler.backends.cuda.texts import constant, is_bool, is_real, is_signed, pack_name, type_name
from vgraph.compiler.foreign.externals import PREFIX
from vgraph.compiler.types import Packed, Type, Vector, element_of, is_long
from vgraph.graph.layouts.deltas import DELTAS

# --- arithmetic ------------------------------------------------------------------------------------------------

_BOOL: Final = {
    "+": "({a} || {b})", "|": "({a} || {b})", "max": "({a} || {b})",
    "*": "({a} && {b})", "&": "({a} && {b})", "min": "({a} && {b})", "//": "({a} && {b})",
    "-": "({a} != {b})", "^": "({a} != {b})",
    "%": "({a} && false)", "<<": "{a}", ">>": "({a} && !{b})", "**": "({a} || !{b})",
}  # fmt: skip
_CALLS: Final = {
    "min": "vg::min", "max": "vg::max", "//": "floor_div", "%": "floor_mod", "**": "power",
    "<<": "shift_left", ">>": "shift_right",
}  # fmt: skip
_WRAPPING: Final = {"+": "add", "-": "sub", "*": "mul"}


def binary(op: str, a: str, b: str, t: Type) -> str:
    """`a op b` on values of type `t`."""
    if isinstance(t, Vector):
        x, e = type_name(t.element), t.element
        return f"each<{type_name(t)}>({a}, {b}, [&]({x} p, {x} q) -> {x} {{ return {binary(op, 'p', 'q', e)}; }})"
    if is_bool(t):
        return _BOOL[op].format(a=a, b=b)
    if op in _CALLS:
        return f"{_CALLS[op]}({a}, {b})"
    if op in _WRAPPING and is_signed(t):
        return f"{_WRAPPING[op]}({a}, {b})"
    return f"({a} {op} {b})"


def unary(op: str, a: str, t: Type) -> str:
    """`neg`, `not`, `invert`."""
    if isinstance(t, Vector):
        x = type_name(t.element)
        return f"each<{type_name(t)}>({a}, [&]({x} p) -> {x} {{ return {unary(op, 'p', t.element)}; }})"
    if op == "neg":
        return a if is_bool(t) else f"negate({a})"
    return f"!{a}" if is_bool(t) else f"(~{a})"


def cast(a: str, source: Type, to: Type) -> str:
    """A conversion; a scalar becomes a vector by repetition."""
    if source == to:
        return a
    if isinstance(to, Vector):
        if not isinstance(source, Vector):
            return f"splat<{type_name(to)}>({cast(a, source, to.element)})"
        x = type_name(source.element)
        inner = cast("p", source.element, to.element)
        return f"each<{type_name(to)}>({a}, [&]({x} p) -> {type_name(to.element)} {{ return {inner}; }})"
    if is_bool(to) or (is_real(source) and not is_real(to)):
        return f"to<{type_name(to)}>({a})"
    return f"({type_name(to)}){a}"


_FUNCTIONS: Final = {
    "abs": "absolute", "sqrt": "math::sqrt", "exp": "math::exp", "log": "math::log",
    "floor": "math::floor", "ceil": "math::ceil", "isnan": "is_nan", "isinf": "is_inf",
}  # fmt: skip


def emit_call(f: Emitter, node: ir.Call) -> str:
    """A function of values."""
    args, types = [f.expr(a) for a in node.args], [a.type for a in node.args]
    name, t = node.function, node.type
    if name.startswith(PREFIX):
        return f"({type_name(t)}){f.external(name)}({', '.join(args)})"
    if name == "philox":
        return f"philox({', '.join(args)})"
    total = f"sum<{type_name(t)}>("
    if f.spread is not None:
        total = f"sum_shares<{type_name(t)}, {f.spread.length}>(lanes, "
    if name == "sum":
        return f"{total}{args[0]})"
    if name == "dot":
        vector = types[0]
        assert isinstance(vector, Vector)
        wide = Vector(element_of(t), vector.length)
        a, b = (cast(x, vector, wide) for x in args)
        return f"{total}{binary('*', a, b, wide)})"
    (a,), (source,) = args, types
    if name in ("isnan", "isinf"):
        return _map(_FUNCTIONS[name], a, source, t)
    if name in ("floor", "ceil") and not is_real(source):
        return cast(a, source, t)
    if not is_real(source) and is_real(t):
        a, source = cast(a, source, t), t
    return cast(_map(_FUNCTIONS.get(name, name), a, source, source), source, t)


def _map(function: str, a: str, source: Type, result: Type) -> str:
    if not isinstance(source, Vector):
        return f"{function}({a})"
    x, y = type_name(source.element), type_name(element_of(result))
    return f"each<{type_name(result)}>({a}, [&]({x} p) -> {y} {{ return {function}(p); }})"


def emit_element(f: Emitter, node: ir.Element) -> str:
    """`x[[i]]`, i modulo the length."""
    if f.spread is not None:
        at = element_number(f, node.index, f.spread.length)
        return f"shared_element<{f.spread.length}>(lanes, {f.expr(node.vector)}, {at})"
    if isinstance(node.vector, ir.Load) and is_long(node.vector.type):
        return emit_load(f, node.vector, f"[{element_number(f, node.index, length_of(node.vector))}]")
    return f"{f.expr(node.vector)}[{element_number(f, node.index, length_of(node.vector))}]"


def emit_insert(f: Emitter, node: ir.Insert) -> str:
    """`insert(x, i, e)`, i modulo the length."""
    of = "with_element("
    if f.spread is not None:
        of = f"with_shared_element<{f.spread.length}>(lanes, "
    at = element_number(f, node.index, f.spread.length if f.spread else length_of(node))
    return f"{of}{f.expr(node.vector)}, {at}, {f.expr(node.value)})"


def length_of(vector: ir.Expr) -> int:
    """How many elements a vector has."""
    assert isinstance(vector.type, Vector)
    return vector.type.length


def element_number(f: Emitter, index: ir.Expr, length: int) -> str:
    """Which element of a vector of this length an index means: it is taken modulo that."""
    if isinstance(index, ir.Const):
        return str(int(index.value) % length)
    return f"floor_mod((i64){f.expr(index)}, {length}ll)"


def emit_pack(f: Emitter, node: ir.Pack) -> str:
    """`pack(d, v)`."""
    assert isinstance(node.type, Packed)
    return f"{pack_name(node.type)}::of({', '.join(f.expr(item) for item in node.items)})"


def emit_field(f: Emitter, node: ir.Field) -> str:
    """`field.0(x)`."""
    assert isinstance(node.word.type, Packed)
    return f"{pack_name(node.word.type)}::field<{node.k}>({f.expr(node.word)})"


# --- memory and graph ------------------------------------------------------------------------------------------


def combined(op: str, a: str, b: str, t: Any) -> str:
    """One step of a reduction."""
    if op in ("min", "max") and is_bool(t):
        op = "&" if op == "min" else "|"
    return binary(op, a, b, t)


def emit_load(f: Emitter, node: ir.Load, element: str = "") -> str:
    """`dist[v]`: past the L1 cache where others may write it; of a long vector one `element`."""
    if f.seen is not None and (node.prop, node.index) == f.seen[:2]:
        return f.seen[2]
    own = f.region.tile.load(f, node) if f.region is not None and f.region.tile else None
    if own is None and f.region is not None and isinstance(node.index, ir.Var) and not element:
        own = f.region.fetched.get((node.prop, node.index.name))
    if own is not None:
        return own
    place = f"{f.prop(node.prop)}[{f.expr(node.index)}]{element}"
    if f.spread is not None and isinstance(node.type, Vector):
        return f"share(lanes, {place})"
    if node.prop not in f.written:
        return f"fixed(&{place})"
    if f.region is not None and node.prop in f.region.kept:
        return place
    text = f"relaxed(&{place})" if node.order is ir.Order.RELAXED else place
    changes = f.region is None or node.prop in f.region.written
    return f"lanes.same({text})" if f.place is Place.GROUP and changes else text


def emit_lookup(f: Emitter, node: ir.Lookup) -> str:
    """`lookup table[i; 0:i32]`, `lookup cost[i, j; 0.0:f64]`."""
    sizes = [
        f.names.of(kind, node.prop) for kind, _ in zip(("length", "columns"), node.indices, strict=False)
    ]
    given = [*sizes, *map(f.expr, node.indices), f.expr(node.other)]
    return f"lookup<{type_name(node.type)}>({f.prop(node.prop)}, {', '.join(given)})"


def emit_degree(f: Emitter, node: ir.Degree) -> str:
    """`degree.out(v)`."""
    side = node.orientation.value
    rows, v = f.array(f"{side}.row_offsets"), f.expr(node.vertex)
    near = f.region is not None and side in f.region.deltas
    row = f.row_of(node.vertex, side)
    if near:
        word = row[0] if row else f"fixed(&{f.array(f'{DELTAS[side].key()}.words')}[{v}])"
        return f"(i64)DeltaRow<eid>({word}, {rows}, {v}).count()"
    return f"(i64)({row[1]} - {row[0]})" if row else f"num_arcs_of({rows}, {v})"


def emit_neighbor(f: Emitter, node: ir.Neighbor) -> str:
    """`neighbor.out(v, k)`."""
    side = node.orientation.value
    rows, columns = f.array(f"{side}.row_offsets"), f.array(f"{side}.column_indices")
    return f"fixed(&{columns}[fixed(&{rows}[{f.expr(node.vertex)}]) + {f.expr(node.k)}])"


def emit_has_neighbor(f: Emitter, node: ir.HasNeighbor) -> str:
    """`adjacent.out(v, u)`."""
    side = node.orientation.value
    rows, columns = f.array(f"{side}.row_offsets"), f.array(f"{side}.column_indices")
    return f"is_neighbor({rows}, {columns}, {f.expr(node.vertex)}, {f.expr(node.other)})"


def emit_piece(f: Emitter, node: ir.Piece) -> str:
    """`piece.size()`, `piece.whole()`, `piece.first()`."""
    if node.share is ir.Share.SIZE:
        return "(i64)(end - begin)" if f.place is Place.GROUP else "share_of(lanes, begin, end)"
    return "whole" if node.share is ir.Share.WHOLE else "first"


PLAIN: Final[dict[type[ir.Expr], Callable[[Emitter, Any], str]]] = {
    ir.Const: lambda f, n: constant(n.value, n.type, f.program.target),
    ir.Var: lambda f, n: f.local(n.name),
    ir.GlobalVar: lambda f, n: f.global_(n.name),
    ir.Unary: lambda f, n: unary(n.op, f.expr(n.operand), n.operand.type),
    ir.Binary: lambda f, n: binary(n.op, f.expr(n.left), f.expr(n.right), n.left.type),
    ir.Compare: lambda f, n: f"({f.expr(n.left)} {n.op} {f.expr(n.right)})",
    ir.Logical: lambda f, n: f"({f.expr(n.left)} {'&&' if n.op == 'and' else '||'} {f.expr(n.right)})",
    ir.Select: lambda f, n: f"({f.expr(n.condition)} ? {f.expr(n.then)} : {f.expr(n.other)})",
    ir.Cast: lambda f, n: cast(f.expr(n.operand), n.operand.type, n.to),
    ir.ScratchLoad: lambda f, n: f"{f.names.of('scratch', n.prop)}[{f.expr(n.index)}]",
    ir.GraphSize: lambda f, n: f.names.of("size", n.what),
    ir.FrontierSize: lambda f, n: f"{f.frontier(n.frontier)}.count",
    ir.InFrontier: lambda f, n: f"{f.frontier(n.frontier)}.contains({f.expr(n.vertex)})",
    ir.ListSize: lambda f, n: f"{f.names.of('list', n.list)}.length",
    ir.ArrayLength: lambda f, n: f.names.of("length", n.array),
    ir.ArrayColumns: lambda f, n: f.names.of("columns", n.array),
}
"""What an expression is of its operands' texts; of a global, in a parallel loop, its value at the start."""
