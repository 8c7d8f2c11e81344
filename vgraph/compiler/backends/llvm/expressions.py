"""Emit functions of expressions; each returns the `Value`."""

from __future__ import annotations

from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.placement import OWNED
from vgraph.compiler.backends.abi import FRONTIER, LIST
from vgraph.compiler.backends.llvm import arithmetic, arrays, helpers
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.memory import element_number, emit_loaded_element
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.foreign.externals import PREFIX
from vgraph.compiler.types import BOOL, I64, VID, Vector, is_long


def emit_const(f: Emitter, node: ir.Const) -> Value:
    """A literal."""
    return Value(f.types.constant(node.value, node.type), node.type)


def emit_var(f: Emitter, node: ir.Var) -> Value:
    """A local."""
    binding = f.locals[node.name]
    return arrays.whole(f, binding) if binding.array else _read(f, binding)


def emit_global(f: Emitter, node: ir.GlobalVar) -> Value:
    """A global: in a parallel loop still its value at the start, for reductions go to partials."""
    return _read(f, f.globals[node.name])


def _read(f: Emitter, binding: Any) -> Value:
    if binding.value is not None:
        value: Value = binding.value
        return value
    return Value(f.op(f"load {f.types.register(binding.type)}, ptr {binding.pointer}"), binding.type)


def emit_unary(f: Emitter, node: ir.Unary) -> Value:
    """`neg`, `not`, `invert`."""
    a = f.expr(node.operand)
    return Value(arithmetic.unary(f, node.op, a.text, a.type), a.type)


def emit_binary(f: Emitter, node: ir.Binary) -> Value:
    """An arithmetic operator."""
    a, b = f.expr(node.left), f.expr(node.right)
    return Value(arithmetic.binary(f, node.op, a.text, b.text, a.type), a.type)


def emit_compare(f: Emitter, node: ir.Compare) -> Value:
    """A comparison."""
    a, b = f.expr(node.left), f.expr(node.right)
    return Value(arithmetic.compare(f, node.op, a.text, b.text, a.type), BOOL)


def emit_cast(f: Emitter, node: ir.Cast) -> Value:
    """A conversion."""
    return arithmetic.cast(f, f.expr(node.operand), node.to)


def emit_call(f: Emitter, node: ir.Call) -> Value:
    """A function of values."""
    args = [f.expr(a) for a in node.args]
    if node.function.startswith(PREFIX):
        given = (f"{f.types.register(a.type)} {a.text}" for a in args)
        return Value(f.call(f.types.register(node.type), f'"{node.function}"', *given), node.type)
    return arithmetic.function(f, node.function, args, node.type)


# --- short-circuit evaluation -------------------------------------------------------------------------------

_CHEAP: Final = (ir.Const, ir.Var, ir.GlobalVar, ir.GraphSize)
_CHEAP_OPERATORS: Final = ("+", "-", "*", "&", "|", "^", "<<", ">>", "min", "max")


def is_cheap(node: ir.Expr) -> bool:
    """Whether computing it needlessly costs less than a branch: no memory, no division, no calls."""
    match node:
        case ir.Binary(op=op, left=left, right=right):
            return op in _CHEAP_OPERATORS and is_cheap(left) and is_cheap(right)
        case ir.Compare(left=left, right=right) | ir.Logical(left=left, right=right):
            return is_cheap(left) and is_cheap(right)
        case ir.Unary(operand=operand) | ir.Cast(operand=operand):
            return is_cheap(operand)
        case ir.Field(word=word):
            return is_cheap(word)
        case ir.Select(condition=a, then=b, other=c):
            return is_cheap(a) and is_cheap(b) and is_cheap(c)
    return isinstance(node, _CHEAP)


def emit_logical(f: Emitter, node: ir.Logical) -> Value:
    """`and`, `or`: the right side only when it is needed."""
    a = f.expr(node.left).text
    if is_cheap(node.right):
        b = f.expr(node.right).text
        return Value(f.op(f"{node.op} i1 {a}, {b}"), BOOL)
    before, more, done = f.block, f.label("logical"), f.label("logical.end")
    if node.op == "and":
        f.branch(a, more, done)
    else:
        f.branch(a, done, more)
    f.start(more)
    b, after = f.expr(node.right).text, f.block
    f.start(done)
    known = "false" if node.op == "and" else "true"
    return Value(f.op(f"phi i1 [ {known}, %{before} ], [ {b}, %{after} ]"), BOOL)


def emit_select(f: Emitter, node: ir.Select) -> Value:
    """`select(c, a, b)`: only the chosen side, unless both are cheap."""
    condition = f.expr(node.condition).text
    t = f.types.register(node.type)
    if is_cheap(node.then) and is_cheap(node.other):
        a, b = f.expr(node.then).text, f.expr(node.other).text
        return Value(f.op(f"select i1 {condition}, {t} {a}, {t} {b}"), node.type)
    no, done = f.label("else"), f.label("selected")
    f.jump_unless(condition, no)
    a, after_a = f.expr(node.then).text, f.block
    f.jump(done)
    f.start(no)
    b, after_b = f.expr(node.other).text, f.block
    f.start(done)
    return Value(f.op(f"phi {t} [ {a}, %{after_a} ], [ {b}, %{after_b} ]"), node.type)


def emit_element(f: Emitter, node: ir.Element) -> Value:
    """`x[[i]]`, i modulo the length."""
    if isinstance(node.vector, ir.Var) and f.locals[node.vector.name].array:
        return arrays.element(f, f.locals[node.vector.name], node.index)
    if isinstance(node.vector, ir.Load) and is_long(node.vector.type):
        return emit_loaded_element(f, node.vector, node.index)
    vector = f.expr(node.vector)
    assert isinstance(vector.type, Vector)
    at = element_number(f, node.index, vector.type)
    text = f.op(f"extractelement {f.types.register(vector.type)} {vector.text}, i64 {at}")
    return Value(text, vector.type.element)


def emit_insert(f: Emitter, node: ir.Insert) -> Value:
    """`insert(x, i, e)`, i modulo the length."""
    vector = f.expr(node.vector)
    assert isinstance(vector.type, Vector)
    at, value = element_number(f, node.index, vector.type), f.expr(node.value)
    name = f.types.register(vector.type)
    text = f.op(f"insertelement {name} {vector.text}, {f.types.register(value.type)} {value.text}, i64 {at}")
    return Value(text, vector.type)


# --- graph, frontiers, lists --------------------------------------------------------------------------------


def row_offset(f: Emitter, side: ir.Orientation, vertex: str, next_one: bool = False) -> str:
    """The i64 offset where the arcs of `vertex` (i64) begin, or where those of the next vertex do."""
    scope = f"{side.value}.row_offsets"
    t = f.types.offset
    address = f.item(t, f.pointers[scope], vertex)
    if next_one:
        address = f.item(t, address, "1")
    offset = f.op(f"load {t}, ptr {address}{f.alias(scope)}")
    return offset if t == "i64" else f.op(f"zext {t} {offset} to i64")


def row(f: Emitter, side: ir.Orientation, vertex: str) -> tuple[str, str]:
    """The i64 offsets between which the arcs of `vertex` (i64) lie."""
    return row_offset(f, side, vertex), row_offset(f, side, vertex, next_one=True)


def arcs_of(f: Emitter, side: ir.Orientation) -> str:
    """How many arcs there are on a side: in a part of a directed graph not as many in as out."""
    if any(p.name == OWNED for p in f.program.params):
        return row_offset(f, side, "%num_vertices")
    return "%num_arcs"


def column_index(f: Emitter, side: ir.Orientation, arc: str) -> str:
    """The vertex at the other end of arc number `arc` (i64)."""
    scope = f"{side.value}.column_indices"
    return f.read(f.types.id, f.pointers[scope], arc, scope)


def emit_degree(f: Emitter, node: ir.Degree) -> Value:
    """`degree.out(v)`."""
    begin, end = row(f, node.orientation, f.index(f.expr(node.vertex)))
    degree = f.op(f"sub nuw nsw i64 {end}, {begin}")
    return arithmetic.cast(f, Value(degree, I64), node.type)


def emit_neighbor(f: Emitter, node: ir.Neighbor) -> Value:
    """`neighbor.out(v, k)`."""
    begin = row_offset(f, node.orientation, f.index(f.expr(node.vertex)))
    arc = f.op(f"add i64 {begin}, {f.i64(node.k)}")
    return Value(column_index(f, node.orientation, arc), VID)


def emit_has_neighbor(f: Emitter, node: ir.HasNeighbor) -> Value:
    """`adjacent.out(v, u)`: bisection."""
    v, u = f.index(f.expr(node.vertex)), f.expr(node.other).text
    begin, end = row(f, node.orientation, v)
    columns = f.pointers[f"{node.orientation.value}.column_indices"]
    return Value(helpers.bisect(f, columns, begin, end, u), BOOL)


def emit_graph_size(f: Emitter, node: ir.GraphSize) -> Value:
    """`num_vertices`, `num_arcs`."""
    return Value(f"%{node.what}", I64, f"%{node.what}")


def descriptor(f: Emitter, frontier: str) -> str:
    """The address of a frontier's descriptor."""
    return f.pointers[f"frontier {frontier}"]


def emit_frontier_size(f: Emitter, node: ir.FrontierSize) -> Value:
    """`size(frontier)`."""
    count = f.load_field(FRONTIER, descriptor(f, node.frontier), "count")
    return Value(count, I64, count)


def emit_in_frontier(f: Emitter, node: ir.InFrontier) -> Value:
    """`contains(frontier, v)`: a bit of the bitmap."""
    v = f.index(f.expr(node.vertex))
    bits = f.region.bits.get(node.frontier) if f.region is not None else None
    if bits is None:
        bits = f.load_field(FRONTIER, descriptor(f, node.frontier), "bits")
    word = f.op(f"lshr i64 {v}, 6")
    loaded = f.read("i64", bits, word, "bits")
    place = f.op(f"and i64 {v}, 63")
    return Value(f.op(f"trunc i64 {f.op(f'lshr i64 {loaded}, {place}')} to i1"), BOOL)


def emit_list_size(f: Emitter, node: ir.ListSize) -> Value:
    """`count(levels)`."""
    length = f.load_field(LIST, f.pointers[f"list {node.list}"], "length")
    return Value(length, I64, length)


def emit_array_length(f: Emitter, node: ir.ArrayLength) -> Value:
    """`length(sources)`."""
    return Value(f'%"length.{node.array}"', I64)


def emit_array_columns(f: Emitter, node: ir.ArrayColumns) -> Value:
    """`columns(cost)`."""
    return Value(f'%"columns.{node.array}"', I64)


def emit_bucket_key(f: Emitter, node: ir.BucketKey) -> Value:
    """`bucket(work)`: every thread has its copy."""
    key = f.op(f"load i64, ptr {f.pointers[f'current {node.buckets}']}")
    return Value(key, I64)
