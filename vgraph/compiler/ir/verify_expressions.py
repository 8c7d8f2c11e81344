"""The rules of the verifier for expressions, one function per node class: operands and type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.functions import call_type
from vgraph.compiler.ir.legality import (
    BINARY,
    COMPARISONS,
    DRIVER_EXPRESSIONS,
    INTEGERS,
    UNARY,
    Place,
)
from vgraph.compiler.types import BOOL, I64, VID, Scalar, Type, Vector, element_of

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


def _const(c: Checker, n: ir.Const) -> Type:
    c.require(isinstance(n.type, Scalar), "a literal is a scalar", n)
    c.require((n.type == BOOL) == isinstance(n.value, bool), "true and false are the literals of bool", n)
    return n.type


def _var(c: Checker, n: ir.Var) -> Type:
    found = c.locals.get(n.name)
    c.require(found is not None, f"no local is called {n.name}", n)
    assert found is not None
    c.require(found.type == n.type, f"{n.name} is {found.type}, not {n.type}", n)
    return n.type


def _global_var(c: Checker, n: ir.GlobalVar) -> Type:
    c.require(n.name in c.globals, f"no global is called {n.name}", n)
    c.require(c.globals[n.name] == n.type, f"@{n.name} is {c.globals[n.name]}, not {n.type}", n)
    return n.type


def _unary(c: Checker, n: ir.Unary) -> Type:
    t = c.expr(n.operand)
    c.require(n.op in UNARY and element_of(t).kind in UNARY[n.op], f"{n.op} does not take {t}", n)
    return t


def _same(c: Checker, n: ir.Expr, left: ir.Expr, right: ir.Expr) -> Type:
    a, b = c.expr(left), c.expr(right)
    if a is not b and a != b:
        c.require(False, f"the operands are {a} and {b}", n)
    return a


def _binary(c: Checker, n: ir.Binary) -> Type:
    t = _same(c, n, n.left, n.right)
    c.require(n.op in BINARY and element_of(t).kind in BINARY[n.op], f"{n.op} does not take {t}", n)
    return t


def _compare(c: Checker, n: ir.Compare) -> Type:
    t = _same(c, n, n.left, n.right)
    c.require(n.op in COMPARISONS and not isinstance(t, Vector), f"{n.op} does not compare {t}", n)
    return BOOL


def _logical(c: Checker, n: ir.Logical) -> Type:
    c.require(n.op in ("and", "or") and _same(c, n, n.left, n.right) == BOOL, "and, or take two bools", n)
    return BOOL


def _select(c: Checker, n: ir.Select) -> Type:
    c.value(n, n.condition, BOOL, "the condition")
    return _same(c, n, n.then, n.other)


def _cast(c: Checker, n: ir.Cast) -> Type:
    t = c.expr(n.operand)
    ok = not isinstance(t, Vector) or (isinstance(n.to, Vector) and n.to.length == t.length)
    c.require(ok, f"{t} cannot become {n.to}", n)
    return n.to


def _call(c: Checker, n: ir.Call) -> Type:
    types = [c.expr(a) for a in n.args]
    c.require(call_type(n.function, types) == n.type, f"there is no such function giving {n.type}", n)
    return n.type


def _element(c: Checker, n: ir.Element) -> Type:
    t = c.expr(n.vector)
    c.require(isinstance(t, Vector), f"{t} has no elements", n)
    index = c.expr(n.index)
    c.require(isinstance(index, Scalar) and index.kind in INTEGERS, f"the index is {index}", n)
    return element_of(t)


def _load(c: Checker, n: ir.Load) -> Type:
    prop = c.prop(n, n.index)
    c.require(prop.type == n.type, f"{n.prop} is {prop.type}, not {n.type}", n)
    c.require(prop.origin is not ir.Origin.SCRATCH, f"{n.prop} is private to a visit", n)
    c.order(n)
    return n.type


def check_scratch(c: Checker, n: Any, index: ir.Expr | None) -> Type:
    prop = c.prop(n, index)
    c.require(prop.origin is ir.Origin.SCRATCH, f"{n.prop} is not private to a visit", n)
    c.require(c.place in (Place.VERTEX, Place.PARFOR), "scratch belongs to the visit of a vertex", n)
    return prop.type


def _scratch_load(c: Checker, n: ir.ScratchLoad) -> Type:
    c.require(check_scratch(c, n, n.index) == n.type, f"{n.prop} is not {n.type}", n)
    return n.type


def _fixed(t: Type) -> Callable[[Checker, Any, Any], Type]:
    def check(c: Checker, n: Any, got: Type) -> Type:
        c.require(got == t, f"its type is {t}, not {got}", n)
        return t

    return check


_is_i64, _is_vid, _is_bool = _fixed(I64), _fixed(VID), _fixed(BOOL)


def _degree(c: Checker, n: ir.Degree) -> Type:
    c.value(n, n.vertex, VID, "the vertex")
    return _is_i64(c, n, n.type)


def _neighbor(c: Checker, n: ir.Neighbor) -> Type:
    c.value(n, n.vertex, VID, "the vertex")
    c.value(n, n.k, I64, "the position")
    return _is_vid(c, n, n.type)


def _graph_size(c: Checker, n: ir.GraphSize) -> Type:
    c.require(n.what in ("num_vertices", "num_arcs"), "there is no such size", n)
    return _is_i64(c, n, n.type)


def _driver_only(c: Checker, n: ir.Expr) -> None:
    ok = c.place in Place.DRIVER | Place.SINGLE
    c.require(ok or not isinstance(n, DRIVER_EXPRESSIONS), "may stand in the driver loop only", n)


def _frontier_size(c: Checker, n: ir.FrontierSize) -> Type:
    _driver_only(c, n)
    c.frontier(n, n.frontier)
    return _is_i64(c, n, n.type)


def _in_frontier(c: Checker, n: ir.InFrontier) -> Type:
    c.frontier(n, n.frontier, ir.Layout.BITMAP if c.low else None)
    c.value(n, n.vertex, VID, "the vertex")
    return _is_bool(c, n, n.type)


def _piece(c: Checker, n: ir.Piece) -> Type:
    c.require(c.cut is not None, "stands outside a parallel loop with pieces", n)
    return n.type


def _list_size(c: Checker, n: ir.ListSize) -> Type:
    _driver_only(c, n)
    c.list(n, n.list)
    return _is_i64(c, n, n.type)


def check_queue(c: Checker, n: Any) -> None:
    c.require(n.queue in c.queues, f"no queue is called {n.queue}", n)


def _queue_number(c: Checker, n: ir.QueueSize | ir.QueueLevel) -> Type:
    _driver_only(c, n)
    check_queue(c, n)
    return _is_i64(c, n, n.type)


def _bucket_key(c: Checker, n: ir.BucketKey) -> Type:
    c.require(c.low and n.buckets in c.buckets, f"no buckets are called {n.buckets}", n)
    return _is_i64(c, n, n.type)


def _array_length(c: Checker, n: ir.ArrayLength) -> Type:
    c.require(c.prop(n, name=n.array).site is ir.Site.ARRAY, f"{n.array} is not an array parameter", n)
    return _is_i64(c, n, n.type)


TYPE_CHECKS: dict[type[ir.Expr], Callable[[Any, Any], Type]] = {
    ir.Const: _const,
    ir.Var: _var,
    ir.GlobalVar: _global_var,
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.Compare: _compare,
    ir.Logical: _logical,
    ir.Select: _select,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Element: _element,
    ir.Load: _load,
    ir.ScratchLoad: _scratch_load,
    ir.Degree: _degree,
    ir.Neighbor: _neighbor,
    ir.GraphSize: _graph_size,
    ir.FrontierSize: _frontier_size,
    ir.InFrontier: _in_frontier,
    ir.Piece: _piece,
    ir.ListSize: _list_size,
    ir.ArrayLength: _array_length,
    ir.QueueSize: _queue_number,
    ir.QueueLevel: _queue_number,
    ir.BucketKey: _bucket_key,
}
