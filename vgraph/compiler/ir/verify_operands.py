"""What is checked of a field of a node, by the name of its type.

A check takes the verifier, the node, the name of the field, its value, and the type of the place or operand that a
field before it named; it gives the type of what this one names, if it names any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import BINARY, INDEX_TYPES, REDUCTIONS
from vgraph.compiler.ir.node import OPERATOR, PARFOR, SINGLE, VERTEX
from vgraph.compiler.types import BOOL, I64, VID, Kind, Type, computed, element_of

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker

Check = Callable[["Checker", Any, str, Any, Any], Type | None]
_NOUNS = {"expected": "the expected value", "start": "a bound", "stop": "a bound", "step": "a bound"}


# --- names --------------------------------------------------------------------------------------------------


def _local(c: Checker, n: Any, field: str, name: str, _: Any) -> Type:
    """A local that `n` writes."""
    found = c.locals.get(name)
    c.require(found is not None, f"no local is called {name}", n)
    assert found is not None
    c.require(not found.constant, f"{name} is a parameter or loop variable: it is never written", n)
    shared = found.depth < c.depth
    c.require(not shared, f"{name} is shared by all threads: a parallel region may not write it", n)
    return found.type


def _bool_local(c: Checker, n: Any, field: str, name: str, t: Any) -> None:
    c.require(_local(c, n, field, name, t) == BOOL, f"{name} is not a bool", n)


def _read_local(c: Checker, n: Any, field: str, name: str, _: Any) -> Type:
    found = c.locals.get(name)
    if found is None:
        raise c.error(f"no local is called {name}", n)
    return found.type


def _global(c: Checker, n: Any, field: str, name: str, _: Any) -> Type:
    c.require(name in c.globals, f"no global is called {name}", n)
    return c.globals[name]


def _property(c: Checker, n: Any, field: str, name: str, _: Any) -> Type:
    prop = c.property(n, name)
    c.require(prop.origin is not ir.Origin.SCRATCH, f"{name} is private to a visit", n)
    return prop.type


def _written(c: Checker, n: Any, field: str, name: str, t: Any) -> Type:
    prop = c.property(n, name)
    buffer = c.has_loops and prop.origin is ir.Origin.LOCAL and prop.site is not ir.Site.ARRAY
    ring = prop.site is ir.Site.ARRAY and prop.origin is ir.Origin.LOCAL and c.place not in OPERATOR | PARFOR
    ok = prop.site in (ir.Site.VERTEX, ir.Site.NUMBERED) or buffer or ring
    c.require(
        ok,
        "only properties of vertices, and local ones of edges, are written, and arrays by the driver loop",
        n,
    )
    ok = not prop.disjoint or c.place not in OPERATOR
    c.require(ok, "disjoint sets are written by union only", n)
    return _property(c, n, field, name, t)


def _scratch(c: Checker, n: Any, field: str, name: str, _: Any) -> Type:
    prop = c.property(n, name)
    c.require(prop.origin is ir.Origin.SCRATCH, f"{name} is not private to a visit", n)
    c.require(c.place in VERTEX | PARFOR, "scratch belongs to the visit of a vertex", n)
    return prop.type


def _array(c: Checker, n: Any, field: str, name: str, _: Any) -> None:
    c.require(c.property(n, name).site is ir.Site.ARRAY, f"{name} is not an array parameter", n)


def _frontier(c: Checker, n: Any, field: str, name: str, _: Any) -> None:
    c.frontier(n, name, getattr(n, "layout", None))


def _one_of(declared: str, what: str) -> Check:
    def check(c: Checker, n: Any, field: str, name: str, _: Any) -> None:
        c.require(name in getattr(c, declared), f"no {what} called {name}", n)

    return check


# --- expressions --------------------------------------------------------------------------------------------


def _expr(c: Checker, n: Any, field: str, value: ir.Expr, _: Any) -> Type:
    return c.expr(value)


def _domain(c: Checker, n: Any, field: str, value: ir.Domain, _: Any) -> None:
    c.require(isinstance(value, ir.Domain), "there is no such domain", n)
    c.operands(value)


def _typed(wanted: Type, noun: str = "") -> Check:
    def check(c: Checker, n: Any, field: str, value: ir.Expr, _: Any) -> None:
        got = c.expr(value)
        if got is not wanted and got != wanted:
            raise c.error(f"{noun or _NOUNS.get(field) or f'the {field}'} is {got}, not {wanted}", n)

    return check


def _index(c: Checker, n: Any, field: str, value: ir.Expr, _: Any) -> None:
    prop, got = c.properties[n.prop], c.expr(value)
    c.require(got == INDEX_TYPES[prop.site], f"the index is {got}, not {INDEX_TYPES[prop.site]}", n)
    arc = c.locals[value.name].arc if c.low and isinstance(value, ir.Var) else None
    rule = "an arc reached by `in` indexes edge_in properties, one by `out` edge ones, in segments theirs"
    c.require(arc is None or arc is (ir.Site.EDGE if prop.site is ir.Site.NUMBERED else prop.site), rule, n)


def _value(c: Checker, n: Any, field: str, value: ir.Expr, t: Any) -> None:
    got = c.expr(value)
    if got is not t and got != t:
        raise c.error(f"{_NOUNS.get(field, 'the value')} is {got}, not {t}", n)


def _reduced(c: Checker, n: Any, field: str, value: ir.Expr, t: Any) -> None:
    c.require(n.op in REDUCTIONS, f"{n.op} is not a reduction", n)
    kind = element_of(t).kind
    ok = kind in BINARY[n.op] or (kind is Kind.BOOL and n.op in "|&")
    c.require(ok and computed(t) == t, f"{n.op} does not reduce {t}", n)
    _value(c, n, field, value, t)


def _same(c: Checker, n: Any, field: str, value: ir.Expr, t: Any) -> None:
    got = c.expr(value)
    if got is not t and got != t:
        raise c.error(f"the operands are {t} and {got}", n)


def _order(c: Checker, n: Any, field: str, order: ir.Order, _: Any) -> None:
    ok = c.low or order is ir.Order.PLAIN or (order is ir.Order.HELD and c.has_loops)
    c.require(ok, "memory orders are chosen at kernel level", n)


CHECKS: dict[str, Check] = {
    "Local": _local,
    "BoolLocal": _bool_local,
    "ReadLocal": _read_local,
    "GlobalName": _global,
    "PropertyName": _property,
    "WrittenName": _written,
    "ScratchName": _scratch,
    "ArrayName": _array,
    "FrontierName": _frontier,
    "ListName": _one_of("lists", "list is"),
    "QueueName": _one_of("queues", "queue is"),
    "BucketsName": _one_of("buckets", "buckets are"),
    "OperatorName": _one_of("operators", "operator is"),
    "Expr": _expr,
    "Domain": _domain,
    "VidExpr": _typed(VID, "the vertex"),
    "I64Expr": _typed(I64),
    "BoolExpr": _typed(BOOL),
    "Index": _index,
    "Value": _value,
    "Reduced": _reduced,
    "Same": _same,
    "Order": _order,
    "Type": lambda c, n, field, t, _: t,
}
"""Fields of other types are words and numbers, which the class itself checks where they matter, or what it declares."""
INSIDE: dict[str, dict[str, object]] = {
    "Body": {},
    "Else": {},
    "LoopBody": {"in_loop": True},
    "ParallelBody": {"in_loop": False, "place": PARFOR},
    "SingleBody": {"in_loop": False, "place": SINGLE},
    "AloneBody": {"in_loop": False, "alone": True},
    "ClaimedBody": {"claimed": True},
}
"""What changes inside a body."""
