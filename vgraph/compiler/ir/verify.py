"""The verifier: levels, places, scopes, types and names of a program.

It runs at the start of the pipeline and at its end, in tests and behind passes of the user's after every pass; what it
lets through, every backend can emit. What a node may hold, its class declares (`verify_operands.py`), with a method
`verify` for what a declaration cannot say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import ARC_SITES, NEW_LOCALS
from vgraph.compiler.ir.node import DRIVER, EDGE, PARFOR, SINGLE, VERTEX, Place, fields_of, per_class
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.ir.verify_operands import CHECKS, INSIDE, Check
from vgraph.compiler.types import BOOL, F64, I64, VID, Kind, Scalar, Type, element_of
from vgraph.errors import InternalError
from vgraph.records import dataclass

PLACE_NAMES = {
    DRIVER: "the driver loop",
    EDGE: "an edge operator",
    VERTEX: "a vertex operator",
    PARFOR: "a parallel loop",
    SINGLE: "a single region",
}


class VerifyError(InternalError):
    """A program that breaks a rule of the IR: which `rule`, at which `node`, in which `place`."""

    def __init__(self, rule: str, node: ir.Node, place: str) -> None:
        self.rule, self.node, self.place = rule, node, place
        span = f" ({node.span})" if node.span else ""
        super().__init__(f"{place}, {type(node).__name__} `{_headline(node)}`{span}: {rule}")


def _headline(node: ir.Node) -> str:
    from vgraph.compiler.ir.text import print_node

    try:
        return print_node(node).partition("\n")[0]
    except (AssertionError, AttributeError, KeyError, TypeError):  # too broken to print
        return repr(node)


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


class Rules(NamedTuple):
    """What is checked of a class of nodes."""

    base: type[ir.Node]
    places: tuple[Place, Place, Place] | None
    """None: anywhere."""
    operands: tuple[tuple[str, Check], ...]
    own: Callable[[Any, Checker, Any], None] | None
    new: tuple[tuple[str, str], ...]
    """The fields that declare locals, with the names of their types."""
    bodies: tuple[tuple[str, dict[str, object]], ...]
    keys: tuple[str, ...]
    """The expressions in which the locals that the node declares are visible."""
    type: Type | None
    """The type that an expression of the class has, if it is always the same."""
    read: str
    """The field that names what an expression reads, whose type it has."""


@per_class
def rules_of(kind: type[Any]) -> Rules:
    """The rules of a class, from its declaration."""
    base = next(base for base in (ir.Stmt, ir.Expr, ir.Node) if issubclass(kind, base))
    checks = [(f, CHECKS[f.type]) for f in fields_of(kind) if f.type in CHECKS]
    own_type = next((f for f in fields_of(kind) if base is ir.Expr and f.name == "type"), None)
    if own_type is not None:
        checks = [(f, check) for f, check in checks if f is not own_type]
    read = next((f.name for f, _ in checks if f.meaning is str), "") if own_type else ""
    fixed: Any = own_type.rest if own_type else None
    return Rules(
        base,
        None if kind.places == ir.Node.places else kind.places,
        tuple((f.name, partial(_each, check) if f.many else check) for f, check in checks),
        getattr(kind, "verify", None),
        tuple((f.name, f.type) for f in fields_of(kind) if f.type in NEW_LOCALS),
        tuple((f.name, INSIDE[f.type]) for f in fields_of(kind) if f.meaning == ir.Body),
        tuple(f.name for f in fields_of(kind) if f.type == "KeyExpr"),
        fixed,
        "" if fixed else read,
    )


def _each(check: Check, c: Checker, n: ir.Node, name: str, values: tuple[Any, ...], t: Any) -> None:
    for value in values:
        check(c, n, name, value, t)


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
    place: Place = DRIVER
    locals: dict[str, Local] = field(default_factory=dict)
    own: tuple[str, ...] = ()  # the vertices that an operator may store to
    acquires: bool = False  # or any that it acquires
    last: ir.Stmt | None = None  # the last statement of the operator
    claimed: bool = False
    in_loop: bool = False  # a sequential one
    alone: bool = False
    around: Any = None  # the parallel loop

    def __post_init__(self) -> None:
        p = self.subject
        self.level, self.stage = p.level, list(ir.Level).index(p.level)
        self.low = p.level is ir.Level.KERNEL
        self.has_loops = p.level is not ir.Level.ALGORITHM
        self.properties = {x.name: x for x in p.properties}
        self.globals = {x.name: x.type for x in p.globals}
        self.frontiers = {x.name: x for x in p.frontiers}
        self.lists = {x.name for x in p.lists}
        self.buckets = {x.name for x in p.buckets}
        self.queues = {x.name for x in p.queues}
        self.operators = {x.name: x for x in p.operators}

    def require(self, condition: object, rule: str, node: ir.Node) -> None:
        if not condition:
            raise self.error(rule, node)

    def error(self, rule: str, node: ir.Node) -> VerifyError:
        return VerifyError(rule, node, self.where)

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
        buffer = self.has_loops and prop.origin is ir.Origin.LOCAL
        ok = prop.site not in (ir.Site.EDGE_IN, ir.Site.EDGE_SEGMENTS) or self.low or buffer
        self.require(ok, "properties in the order of the transpose exist at kernel level only", prop)
        ok = prop.site is not ir.Site.NUMBERED or prop.origin is ir.Origin.LOCAL
        self.require(ok, "properties by the number of the edge are the algorithm's own", prop)
        ok = prop.site is not ir.Site.QUEUE or buffer
        self.require(ok, "buffers of a queue are local and exist where loops are only", prop)
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
        self.require(self.has_loops, "buckets exist where loops are only", decl)
        self.place = PARFOR
        self.declare(decl, decl.vertex, VID, constant=True)
        t = self.expr(decl.key)
        del self.locals[decl.vertex]
        ok = t == I64 or (decl.strict and t == F64)
        self.require(ok, f"the key is {t}, not i64 or, if strict, f64", decl)
        self.require(not (decl.strict and decl.tiles), "strict buckets have no tiles", decl)
        self.place = DRIVER

    def operator(self, op: ir.Operator) -> None:
        self.where = f"operator {op.name}"
        types = ir.ARGUMENT_TYPES.get(len(op.args))
        ok = types is not None and len(set(op.args)) == len(op.args)
        self.require(ok, "arguments are (src, edge, dst) or (v)", op)
        self.place = EDGE if op.is_edge else VERTEX
        stored = {n.index.name for n in walk(op) if isinstance(n, ir.Store) and isinstance(n.index, ir.Var)}
        both = op.is_edge and op.args[0] in stored
        self.acquires = any(isinstance(n, ir.Acquire) for n in walk(op))
        self.own = (op.args[0], op.args[-1]) if both else () if op.is_edge else op.args[:1]
        outside = len(self.locals)
        for name, t in zip(op.args, types or (), strict=True):
            self.declare(op, name, t, constant=True)
        self.last = op.body[-1] if op.body else None
        self.body(op.body)
        self.leave(outside)
        self.place, self.own, self.acquires = DRIVER, (), False

    def result(self, result: ir.Result) -> None:
        if isinstance(result.value, ir.Expr):
            self.require(result.kind == "scalar", "an expression is a scalar result", result)
            self.expr(result.value)
        else:
            prop = self.properties.get(result.value)
            self.require(result.kind in ("property", "members"), "a name is a property result", result)
            ok = (
                prop is not None
                and prop.site in (ir.Site.VERTEX, ir.Site.THREAD, ir.Site.NUMBERED, ir.Site.ARRAY)
                and prop.origin is not ir.Origin.SCRATCH
            )
            self.require(
                ok, f"{result.value} is not a vertex property, nor one of edges, nor an array", result
            )
            ok = result.kind == "property" or (prop is not None and prop.type == BOOL)
            self.require(ok, f"{result.value} does not tell members", result)

    # --- scopes

    def declare(self, node: ir.Node, name: str, t: Type, **kind: Any) -> None:
        self.require(name not in self.locals, f"{name} is declared already", node)
        self.require(name not in self.frontiers, f"a frontier has the name of the local {name}", node)
        self.locals[name] = Local(t, self.depth, **kind)

    @property
    def depth(self) -> int:
        return 1 if self.place in (PARFOR | SINGLE) else 0

    # --- nodes

    def body(self, body: ir.Body) -> None:
        outside = len(self.locals)
        for stmt in body:
            self.stmt(stmt)
        self.leave(outside)

    def leave(self, outside: int) -> None:
        """Forget the locals beyond so many: nothing is declared twice, so the last ones are the inner ones."""
        while len(self.locals) > outside:
            self.locals.popitem()

    def stmt(self, node: ir.Stmt) -> None:
        rules = rules_of(type(node))
        if rules.places is not None and self.place not in rules.places[self.stage]:
            raise self.misplaced(node, f"may not stand in {PLACE_NAMES[self.place]}")
        if rules.base is not ir.Stmt:
            raise self.error("there is no such statement", node)
        if self.alone and node.each:
            raise self.error("one thread has no part of others", node)
        self.operands(node)
        outside = len(self.locals)
        for name, word in rules.new:
            self.new_local(node, name, word)
        for name in rules.keys:
            self.expr(node.__dict__[name])
        for name, inside in rules.bodies:
            before = self.__dict__.copy()
            self.__dict__.update(inside, around=node if "place" in inside else self.around)
            self.body(node.__dict__[name])
            self.__dict__.update(before)
        if rules.bodies or rules.keys:
            self.leave(outside)

    def misplaced(self, node: ir.Node, rule: str) -> VerifyError:
        level = self.subject.level.value
        return self.error(rule if node.places[self.stage] else f"does not exist at {level} level", node)

    def operands(self, node: ir.Node) -> Any:
        """The type that `node` names last, all its operands checked."""
        rules, values, t = rules_of(type(node)), node.__dict__, None
        for name, check in rules.operands:
            value = values[name]
            if value is not None:
                t = check(self, node, name, value, t) or t
        if rules.own is not None:
            rules.own(node, self, t)
        return t

    def new_local(self, node: Any, field: str, word: str) -> None:
        """Declare the local that a field of `node` names, if it does."""
        name, t, arc = node.__dict__[field], NEW_LOCALS[word], None
        if word == "NewEid":
            arc = ir.Site.EDGE_SEGMENTS if node.segments > 1 or node.planned else ARC_SITES[node.orientation]
        elif t is None and isinstance(node.value, ir.Var):
            arc = self.locals[node.value.name].arc
        if name is not None:
            self.declare(node, name, t or node.type, arc=arc, constant=t is not None)

    def expr(self, node: ir.Expr) -> Type:
        rules = rules_of(type(node))
        if rules.places is not None and self.place not in rules.places[self.stage]:
            only = " or ".join(PLACE_NAMES[place] for place in rules.places[self.stage])
            raise self.misplaced(node, f"may stand in {only} only")
        if rules.base is not ir.Expr:
            raise self.error("there is no such expression", node)
        t = self.operands(node)
        if rules.read and t is not node.type and t != node.type:
            raise self.error(f"{node.__dict__[rules.read]} is {t}, not {node.type}", node)
        if rules.type is not None and node.type != rules.type:
            raise self.error(f"its type is {rules.type}, not {node.type}", node)
        return node.type

    def property(self, node: ir.Node, name: str) -> ir.Property:
        """The property called `name`."""
        found = self.properties.get(name)
        if found is None:
            raise self.error(f"no property is called {name}", node)
        return found

    def reduced_tuple(self, node: ir.ReduceTuple | ir.ReduceGlobalTuple, types: list[Type]) -> None:
        """The values of a reduction over several places of `types`."""
        self.require(node.op in ("min", "max"), f"tuples are not reduced by {node.op}", node)
        ok = [v.type for v in node.items] == types and all(isinstance(t, Scalar) for t in types)
        self.require(ok, "as many values as places, each a scalar of the place's type", node)

    def frontier(self, node: ir.Node, name: str, layout: ir.Layout | None = None) -> None:
        decl = self.frontiers.get(name)
        if decl is None:
            raise self.error(f"no frontier is called {name}", node)
        fits = layout is None or not self.low or layout in decl.layouts
        self.require(fits, f"frontier {name} does not take this layout", node)

    def spans(self) -> None:
        for node in walk(self.subject):
            if isinstance(node, ir.Stmt | ir.Expr | ir.Operator):
                self.require(node.span is not None, "has no span", node)
