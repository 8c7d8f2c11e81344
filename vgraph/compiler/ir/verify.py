"""The verifier: levels, places, scopes, types and names of a program. Its tables are in `legality.py` beside it.

It runs at the start of the pipeline and after every pass; what it lets through, every backend can emit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import (
    BINARY,
    INDEX_TYPES,
    PLACE_NAMES,
    REDUCTIONS,
    STATEMENTS,
    Place,
    VerifyError,
)
from vgraph.compiler.ir.verify_expressions import TYPE_CHECKS
from vgraph.compiler.ir.verify_nodes import STATEMENT_CHECKS
from vgraph.compiler.types import F64, I64, VID, Kind, Scalar, Type, element_of

__all__ = ["VerifyError", "verify"]


def verify(program: ir.Program, level: ir.Level | None = None, *, spans: bool = False) -> None:
    """Raise VerifyError unless `program` is valid (at `level`, if given).

    `spans`: every operator, statement and expression must have one, as where the user's text was read.
    """
    checker = Checker(program)
    if level is not None:
        checker.require(program.level is level, f"the program is at level {program.level.value}", program)
    checker.program()
    if spans:
        checker.spans()


@dataclass
class Local:
    """A name in scope."""

    type: Type
    depth: int  # how many parallel regions (ParFor, Single) enclose its declaration
    arc: ir.Site | None = None  # which edge properties an arc variable indexes at kernel level
    constant: bool = False


@dataclass
class Checker:
    """Walks a program once, with what is in scope; raises VerifyError at the first broken rule."""

    subject: ir.Program
    where: str = "program"
    place: Place = Place.DRIVER
    locals: dict[str, Local] = field(default_factory=dict)
    loops: int = 0
    own: str | None = None  # the vertex that an operator may store to
    claimed: bool = False
    cut: ir.Orientation | None = None  # whose arcs the parallel loop around cuts
    segmented: ir.ParFor | None = None  # the parallel loop around, if it goes by segments

    def __post_init__(self) -> None:
        p = self.subject
        self.low = p.level is ir.Level.KERNEL
        self.properties = {x.name: x for x in p.properties}
        self.globals = {x.name: x.type for x in p.globals}
        self.frontiers = {x.name: x for x in p.frontiers}
        self.lists = {x.name for x in p.lists}
        self.buckets = {x.name for x in p.buckets}
        self.queues = {x.name for x in p.queues}
        self.operators = {x.name: x for x in p.operators}

    def require(self, condition: object, rule: str, node: ir.Node) -> None:
        if not condition:
            raise VerifyError(rule, node, self.where)

    # --- declarations

    def program(self) -> None:
        p = self.subject
        self.require(not (self.low and p.operators), "there are no operators at kernel level", p)
        for group in (p.params, p.properties, p.globals, p.operators):
            self.unique(group)
        self.unique((*p.frontiers, *p.lists, *p.buckets, *p.queues))
        for prop in p.properties:
            self.declared(prop)
        for f in p.frontiers:
            self.require(self.low or not (f.layouts or f.flags), "layouts are chosen at kernel level", f)
        for param in p.params:
            self.require(param.name not in self.frontiers, "a frontier has the name of the parameter", param)
            self.locals[param.name] = Local(param.type, 0, constant=True)
        for operator in p.operators:
            self.operator(operator)
        for queue in p.queues:
            self.require(not self.low, "queues are buckets at kernel level", queue)
            ok = queue.prop in self.properties and self.properties[queue.prop].site is ir.Site.VERTEX
            kind = element_of(self.properties[queue.prop].type).kind if ok else None
            self.require(kind in (Kind.SIGNED, Kind.UNSIGNED), "a queue is over integers of vertices", queue)
        for buckets in p.buckets:
            self.bucket_key(buckets)
        self.where = "the driver loop"
        for stmt in p.body:  # its locals stay in scope for the results
            self.stmt(stmt)
        self.where = "results"
        self.unique(p.results)
        for result in p.results:
            self.result(result)

    def unique(self, nodes: tuple[Any, ...]) -> None:
        seen: set[str] = set()
        for n in nodes:
            self.require(n.name not in seen, f"{n.name} is declared twice", n)
            seen.add(n.name)

    def declared(self, prop: ir.Property) -> None:
        ok = prop.site not in (ir.Site.EDGE_IN, ir.Site.EDGE_SEGMENTS) or self.low
        self.require(ok, "properties in the order of the transpose exist at kernel level only", prop)
        ok = prop.site is not ir.Site.QUEUE or (self.low and prop.origin is ir.Origin.LOCAL)
        self.require(ok, "buffers of a queue are local and exist at kernel level only", prop)
        ok = prop.site is not ir.Site.THREAD or (self.low and prop.origin is ir.Origin.LOCAL)
        self.require(ok, "copies for threads are made at kernel level", prop)
        ok = not prop.disjoint or (prop.type == VID and prop.site is ir.Site.VERTEX)
        self.require(ok, "disjoint sets are a vertex property of type vid", prop)
        private = prop.origin is ir.Origin.SCRATCH
        ok = not private or (
            prop.site is ir.Site.VERTEX and isinstance(prop.type, Scalar) and prop.type != VID
        )
        self.require(ok, "scratch is a vertex property of numbers or bools", prop)

    def bucket_key(self, decl: ir.BucketsDecl) -> None:
        self.where = f"buckets {decl.name}"
        self.require(self.low, "buckets exist at kernel level only", decl)
        self.place = Place.PARFOR
        with self.scope():
            self.declare(decl, decl.vertex, VID, constant=True)
            t = self.expr(decl.key)
        ok = t == I64 or (decl.strict and t == F64)
        self.require(ok, f"the key is {t}, not i64 or, if strict, f64", decl)
        self.place = Place.DRIVER

    def operator(self, op: ir.Operator) -> None:
        self.where = f"operator {op.name}"
        types = ir.ARGUMENT_TYPES.get(len(op.args))
        ok = types is not None and len(set(op.args)) == len(op.args)
        self.require(ok, "arguments are (src, edge, dst) or (v)", op)
        self.place = Place.EDGE if op.is_edge else Place.VERTEX
        self.own = None if op.is_edge else op.args[0]
        with self.scope():
            for name, t in zip(op.args, types or (), strict=True):
                self.declare(op, name, t, constant=True)
            self.body(op.body)
        for position, stmt in enumerate(op.body):
            inner = list(_statements(stmt))
            last = position == len(op.body) - 1 and isinstance(stmt, ir.Emit)
            emits = [s for s in inner if isinstance(s, ir.Emit)]
            if emits and not last:
                raise VerifyError("emit is the last statement of its operator", emits[0], self.where)
        self.place, self.own = Place.DRIVER, None

    def result(self, result: ir.Result) -> None:
        if isinstance(result.value, ir.Expr):
            self.require(result.kind == "scalar", "an expression is a scalar result", result)
            self.expr(result.value)
        else:
            prop = self.properties.get(result.value)
            self.require(result.kind == "property", "a name is a property result", result)
            ok = (
                prop is not None
                and prop.site in (ir.Site.VERTEX, ir.Site.THREAD)
                and prop.origin is not ir.Origin.SCRATCH
            )
            self.require(ok, f"{result.value} is not a vertex property", result)

    # --- scopes

    @contextmanager
    def scope(self) -> Iterator[None]:
        outside = len(self.locals)
        yield
        while (
            len(self.locals) > outside
        ):  # nothing is declared twice, so the last names are those of the scope
            self.locals.popitem()

    def declare(self, node: ir.Node, name: str, t: Type, **kind: Any) -> None:
        self.require(name not in self.locals, f"{name} is declared already", node)
        self.require(name not in self.frontiers, f"a frontier has the name of the local {name}", node)
        self.locals[name] = Local(t, self.depth, **kind)

    @property
    def depth(self) -> int:
        return 1 if self.place in (Place.PARFOR | Place.SINGLE) else 0

    def local(self, node: ir.Node, name: str) -> Local:
        """The local `name`, which `node` writes."""
        found = self.locals.get(name)
        self.require(found is not None, f"no local is called {name}", node)
        assert found is not None
        self.require(not found.constant, f"{name} is a parameter or loop variable: it is never written", node)
        shared = found.depth < self.depth
        self.require(not shared, f"{name} is shared by all threads: a parallel region may not write it", node)
        return found

    # --- statements

    def body(self, body: ir.Body) -> None:
        if body:
            with self.scope():
                for stmt in body:
                    self.stmt(stmt)

    def loop(self, body: ir.Body) -> None:
        self.loops += 1
        self.body(body)
        self.loops -= 1

    def stmt(self, node: ir.Stmt) -> None:
        levels, high, low = STATEMENTS[type(node)]
        level = self.subject.level
        if level not in levels:
            raise VerifyError(f"does not exist at {level.value} level", node, self.where)
        if self.place not in (low if self.low else high):
            raise VerifyError(f"may not stand in {PLACE_NAMES[self.place]}", node, self.where)
        STATEMENT_CHECKS[type(node)](self, node)

    def value(self, node: ir.Node, value: ir.Expr, t: Type, what: str) -> None:
        got = self.expr(value)
        if got is not t and got != t:
            raise VerifyError(f"{what} is {got}, not {t}", node, self.where)

    def prop(self, node: Any, index: ir.Expr | None = None, name: str | None = None) -> ir.Property:
        """The property that `node` names, its index checked."""
        wanted = node.prop if name is None else name
        prop = self.properties.get(wanted)
        self.require(prop is not None, f"no property is called {wanted}", node)
        assert prop is not None
        if index is not None:
            self.value(node, index, INDEX_TYPES[prop.site], "the index")
            arc = self.locals[index.name].arc if isinstance(index, ir.Var) else None
            if self.low and arc is not None:
                rule = "an arc reached by `in` indexes edge_in properties, one by `out` edge ones, in segments theirs"
                self.require(arc is prop.site, rule, node)
        return prop

    def writable(self, node: Any) -> ir.Property:
        prop = self.prop(node, node.index)
        buffer = self.low and prop.origin is ir.Origin.LOCAL and prop.site is not ir.Site.ARRAY
        ok = prop.site is ir.Site.VERTEX or buffer
        self.require(ok, "only vertex properties and local buffers are written", node)
        self.require(prop.origin is not ir.Origin.SCRATCH, f"{prop.name} is private to a visit", node)
        high_disjoint = prop.disjoint and not self.low and self.place is not Place.DRIVER
        self.require(not high_disjoint, "disjoint sets are written by union only", node)
        return prop

    def order(self, node: ir.Load | ir.Store) -> None:
        ok = self.low or node.order is ir.Order.PLAIN
        self.require(ok, "memory orders are chosen at kernel level", node)

    def frontier(self, node: ir.Node, name: str | None, layout: ir.Layout | None = None) -> None:
        decl = self.frontiers.get(name or "")
        self.require(decl is not None, f"no frontier is called {name}", node)
        ok = layout is None or (decl is not None and layout in decl.layouts)
        self.require(ok, f"frontier {name} does not take this layout", node)

    def list(self, node: ir.Node, name: str) -> None:
        self.require(name in self.lists, f"no list is called {name}", node)

    def reduction(self, node: Any, t: Type) -> None:
        self.require(node.op in REDUCTIONS, f"{node.op} is not a reduction", node)
        kind = element_of(t).kind
        ok = kind in BINARY[node.op] or (kind is Kind.BOOL and node.op in "|&")
        self.require(ok, f"{node.op} does not reduce {t}", node)
        self.value(node, node.value, t, "the value")

    # --- expressions

    def expr(self, node: ir.Expr) -> Type:
        check = TYPE_CHECKS.get(type(node))
        if check is None:
            raise VerifyError("there is no such expression", node, self.where)
        return check(self, node)

    def spans(self) -> None:
        from vgraph.compiler.ir.rewrite import walk

        for node in walk(self.subject):
            if isinstance(node, ir.Stmt | ir.Expr | ir.Operator):
                self.require(node.span is not None, "has no span", node)


def _statements(stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    yield stmt
    for name in ("then", "other", "body"):
        for inner in getattr(stmt, name, ()):
            if isinstance(inner, ir.Stmt):
                yield from _statements(inner)
