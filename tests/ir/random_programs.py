"""Random programs that are well scoped and well typed, with every node class; levels are mixed freely."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from vgraph.compiler import ir
from vgraph.compiler.types import (
    BOOL,
    EID,
    F16,
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    VID,
    Packed,
    Scalar,
    Target,
    Type,
    Vector,
    packed,
)
from vgraph.schedule import AXES, ApplySchedule

NUMBERS = (I32, I64, U32, U64, F16, F32, F64)
VECTORS = (Vector(F32, 3), Vector(I64, 2), Vector(F16, 5))
WORDS = (packed((I32, VID)), packed((BOOL, F64, U32)))
TYPES: tuple[Type, ...] = (*NUMBERS, BOOL, VID, EID, *VECTORS, *WORDS)
INDEX: dict[ir.Site, Type] = {
    ir.Site.VERTEX: VID,
    ir.Site.EDGE: EID,
    ir.Site.EDGE_IN: EID,
    ir.Site.EDGE_SEGMENTS: EID,
    ir.Site.NUMBERED: EID,
    ir.Site.ARRAY: I64,
    ir.Site.QUEUE: I64,
    ir.Site.THREAD: VID,
}
NAMES = (
    *("x", "dist", "frontier", "fill", "in", "min", "weight.in", "größe", "a b", 'quote"d', "inf", "none"),
    *("list", "single", "all", "size", "degree.out", "vec", "cast", "edge", "return", "and", "x.1", "not"),
)


class Maker:
    """One random program; the same seed gives the same program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.depth = 0
        self.names = [f"{n}.{i}" if self.chance(0.4) else n for i, n in enumerate(NAMES)]
        self.random.shuffle(self.names)
        self.locals: dict[str, Type] = {}

    def chance(self, p: float = 0.5) -> bool:
        return self.random.random() < p

    def pick(self, items):
        return self.random.choice(list(items))

    def new(self) -> str:
        return self.names.pop() if self.names else f"fresh{self.random.random():.17f}".replace(".", "_")

    # --- declarations

    def program(self) -> ir.Program:
        params = tuple(ir.Param(self.new(), self.pick(TYPES)) for _ in range(2))
        self.properties = [
            ir.Property(self.new(), t, ir.Site.VERTEX, self.pick(ir.Origin), self.chance()) for t in TYPES
        ]
        self.properties += [
            ir.Property(self.new(), self.pick(TYPES), site, self.pick(ir.Origin)) for site in ir.Site
        ]
        self.globals = tuple(ir.Global(self.new(), t) for t in NUMBERS)
        layouts = ((), (ir.Layout.SPARSE,), (ir.Layout.BITMAP, ir.Layout.SPARSE))
        frontiers = tuple(ir.FrontierDecl(self.new(), self.pick(layouts), self.chance()) for _ in range(3))
        lists = (ir.ListDecl(self.new()),)
        self.frontiers, self.list = [f.name for f in frontiers], lists[0].name
        self.operators = [self.new(), self.new()]
        self.buckets, self.queue = self.new(), self.new()
        self.locals = {p.name: p.type for p in params}
        operators = []
        for name, count in zip(self.operators, (3, 1), strict=True):
            args = tuple(self.new() for _ in range(count))
            operators.append(
                ir.Operator(name, args, self.body(dict(zip(args, ir.ARGUMENT_TYPES[count], strict=True))))
            )
        body = tuple(self.stmt() for _ in range(6))
        results = (
            ir.Result("p", "property", "p"),
            ir.Result(self.new(), "property", self.pick(self.properties).name),
            ir.Result(self.new(), "scalar", self.expr(F64)),
        )
        target = Target(self.pick((32, 64)), self.pick((32, 64)))
        groups = (params, tuple(self.properties), self.globals, frontiers, lists, tuple(operators))
        v = self.new()
        self.locals = {v: VID}  # the key of buckets sees nothing else
        queues = (ir.QueueDecl(self.queue, self.pick(self.properties).name),)
        buckets = (ir.BucketsDecl(self.buckets, v, self.expr(I64), self.chance(), self.pick((0, 4))),)
        called = (ir.Called(self.new(), self.new()),) * self.chance()
        tail = (self.pick((0, 1)), buckets, queues, called, self.chance())
        return ir.Program(self.new(), self.pick(ir.Level), target, *groups, body, results, *tail)

    # --- expressions

    def expr(self, t: Type) -> ir.Expr:
        self.depth += 1
        choices: list[Callable[[Type], ir.Expr]] = [self.leaf]
        if self.depth < 5:
            choices += [self.load, self.select, self.cast]
            choices += [self.field] * any(t in word.fields for word in WORDS)
            if isinstance(t, Packed):
                choices += [lambda word: ir.Pack(tuple(self.expr(field) for field in word.fields))] * 2
            elif t == BOOL:
                choices += [self.test] * 4
            elif t == I64:
                choices += [self.binary, self.size, self.size]
            elif t == VID:
                choices += [self.neighbor]
            elif t != EID:
                choices += [self.binary, self.binary, self.call]
        result = self.pick(choices)(t)
        self.depth -= 1
        return result

    def leaf(self, t: Type) -> ir.Expr:
        found = [n for n, kind in self.locals.items() if kind == t]
        if found and self.chance(0.6):
            return ir.Var(self.pick(found), t)
        known = [g for g in self.globals if g.type == t]
        if known and self.chance(0.3):
            return ir.GlobalVar(known[0].name, t)
        if isinstance(t, Vector):
            return ir.Cast(t, self.const(t.element))
        return self.const(t)

    def const(self, t: Scalar) -> ir.Expr:
        if t == BOOL:
            return ir.Const(self.chance(), BOOL)
        if t.is_float:
            values = (0.0, 1.5, -2.25, 1e-9, 1e300, math.inf, -math.inf, math.nan, self.random.random())
            return ir.Const(self.pick(values), t)
        return ir.Const(self.pick((0, 1, -1, 2**31 - 1, -(2**31), 2**64 - 1)), t)

    def load(self, t: Type) -> ir.Expr:
        found = [p for p in self.properties if p.type == t]
        prop = self.pick(found)
        if isinstance(t, Scalar) and not isinstance(t, Packed) and self.chance(0.1):
            indices = tuple(self.expr(I64) for _ in range(self.pick((1, 2))))
            return ir.Lookup(prop.name, indices, self.const(t))
        if self.chance():
            return ir.ScratchLoad(prop.name, self.expr(INDEX[prop.site]), t)
        return ir.Load(prop.name, self.expr(INDEX[prop.site]), t, self.pick(ir.Order))

    def select(self, t: Type) -> ir.Expr:
        return ir.Select(self.expr(BOOL), self.expr(t), self.expr(t))

    def field(self, t: Type) -> ir.Expr:
        word = self.pick(word for word in WORDS if t in word.fields)
        return ir.Field(self.expr(word), word.fields.index(t))

    def cast(self, t: Type) -> ir.Expr:
        return ir.Cast(t, self.expr(self.pick(NUMBERS)))

    def binary(self, t: Type) -> ir.Expr:
        if isinstance(t, Vector) and self.chance(0.2):
            return ir.Insert(self.expr(t), self.expr(I64), self.expr(t.element))
        if self.chance(0.2):
            return ir.Unary(self.pick(("neg", "invert")), self.expr(t))
        if self.chance(0.1) and isinstance(t, Scalar):
            vectors = [v for v in VECTORS if v.element == t]
            if vectors:
                return ir.Element(self.expr(vectors[0]), self.expr(I64))
        ops = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "min", "max")
        return ir.Binary(self.pick(ops), self.expr(t), self.expr(t))

    def call(self, t: Type) -> ir.Expr:
        element = t.element if isinstance(t, Vector) else t
        vectors = [v for v in VECTORS if v == t or (isinstance(t, Scalar) and v.element == t)]
        if isinstance(t, Scalar) and vectors and self.chance():
            pair = (self.expr(vectors[0]), self.expr(vectors[0]))
            return ir.Call("dot", pair, t) if self.chance() else ir.Call("sum", pair[:1], t)
        if t == U64 and self.chance():
            return ir.Call("philox", (self.expr(t), self.expr(t), self.expr(t)), t)
        of_floats = ("sqrt", "exp", "log", "floor", "ceil", "abs")
        name = self.pick(of_floats if element.is_float else ("abs", "popcount", "ctz", "clz"))
        return ir.Call(name, (self.expr(t),), t)

    def test(self, t: Type) -> ir.Expr:
        kind = self.random.randrange(8)
        operand = self.pick((*NUMBERS, VID, BOOL))
        if kind == 0:
            op = self.pick(("<", "<=", ">", ">=", "==", "!="))
            return ir.Compare(op, self.expr(operand), self.expr(operand))
        if kind == 1:
            return ir.Logical(self.pick(("and", "or")), self.expr(BOOL), self.expr(BOOL))
        if kind == 2:
            return ir.Unary("not", self.expr(BOOL))
        if kind == 3:
            return ir.InFrontier(self.pick(self.frontiers), self.expr(VID))
        if kind == 5:
            return ir.HasNeighbor(self.expr(VID), self.pick(ir.Orientation), self.expr(VID))
        if kind == 4:
            return ir.Piece(self.pick((ir.Share.WHOLE, ir.Share.FIRST)))
        if kind == 6:
            return ir.Compare(
                ">", ir.MarkedHubs(self.expr(VID), self.pick(ir.Orientation), 4), self.expr(I64)
            )
        return ir.Call(self.pick(("isnan", "isinf")), (self.expr(F64),), BOOL)

    def size(self, t: Type) -> ir.Expr:
        arrays = [p.name for p in self.properties if p.site is ir.Site.ARRAY]
        return self.pick(
            (
                ir.Degree(self.expr(VID), self.pick(ir.Orientation)),
                ir.Piece(ir.Share.SIZE),
                ir.GraphSize(self.pick(("num_vertices", "num_arcs"))),
                ir.FrontierSize(self.pick(self.frontiers)),
                ir.ListSize(self.list),
                ir.ArrayLength(arrays[0]),
                ir.ArrayColumns(arrays[0]),
                ir.QueueSize(self.queue),
                ir.QueueLevel(self.queue),
                ir.BucketKey(self.buckets),
            )
        )

    def neighbor(self, t: Type) -> ir.Expr:
        return ir.Neighbor(self.expr(VID), self.pick(ir.Orientation), self.expr(I64))

    # --- statements

    def body(self, names: dict[str, Type] | None = None, least: int = 0) -> ir.Body:
        before = dict(self.locals)
        self.locals.update(names or {})
        self.depth += 2
        body = tuple(self.stmt() for _ in range(self.random.randrange(least, least + 4)))
        self.depth -= 2
        self.locals = before
        return body

    def stmt(self) -> ir.Stmt:
        if self.depth >= 6:
            return self.simple()
        return self.pick((self.simple, self.memory, self.block, self.frontier, self.kernel, self.apply))()

    def simple(self) -> ir.Stmt:
        t = self.pick(TYPES)
        found = [n for n, kind in self.locals.items() if kind in NUMBERS]
        g = self.pick(self.globals)
        choices: list[Callable[[], ir.Stmt]] = [
            lambda: self.let(t),
            lambda: ir.SetGlobal(g.name, self.expr(g.type)),
            lambda: ir.ReduceGlobal(self.pick(("+", "min", "*", "|")), g.name, self.expr(g.type)),
            ir.Break,
            ir.Continue,
            ir.Barrier,
            lambda: ir.Fail(self.pick(("negative cycle", 'say "no"', "über\n"))),
            lambda: ir.Emit(self.expr(BOOL)),
            ir.Leave,
        ]
        if found:
            name = self.pick(found)
            choices.append(lambda: ir.Acquire(self.expr(VID), name, name))
            choices.append(lambda: ir.Assign(name, self.expr(self.locals[name])))
            choices.append(
                lambda: ir.Accumulate(self.pick(("+", "max", "&")), name, self.expr(self.locals[name]))
            )
        return self.pick(choices)()

    def let(self, t: Type) -> ir.Stmt:
        name, value = self.new(), self.expr(t)
        self.locals[name] = t
        return ir.Let(name, t, value)

    def memory(self) -> ir.Stmt:
        prop = self.pick(self.properties)
        place = (prop.name, self.expr(INDEX[prop.site]))
        value, t = self.expr(prop.type), prop.type
        ok, some = self.new(), self.globals[:2]
        return self.pick(
            (
                lambda: ir.Store(*place, value, self.pick(ir.Order)),
                lambda: ir.ScratchStore(*place, value),
                lambda: ir.ScratchClear(prop.name),
                lambda: ir.Reduce(
                    self.pick(("min", "+", "|")), *place, value, self.chance(), self.pick((None, ok))
                ),
                lambda: ir.CompareAndSwap(ok, *place, self.expr(t), value, self.chance()),
                lambda: ir.Lock(ok, *place),
                lambda: ir.Unlock(*place),
                lambda: ir.Claim(*place, self.expr(t), value, self.body()),
                lambda: ir.Union(prop.name, self.expr(VID), self.expr(VID)),
                lambda: ir.Fill(prop.name, self.pick((None, value))),
                lambda: self.fill_each(prop),
                lambda: ir.ReduceTuple(
                    *(self.pick(("min", "max")), (prop.name, self.properties[0].name), self.expr(VID)),
                    (value, self.expr(self.properties[0].type)),
                ),
                lambda: ir.ReduceGlobalTuple(
                    self.pick(("min", "max")),
                    tuple(g.name for g in some),
                    tuple(self.expr(g.type) for g in some),
                ),
            )
        )()

    def fill_each(self, prop: ir.Property) -> ir.Stmt:
        before, v = self.locals, self.new()
        self.locals = {**before, v: VID}
        value = self.expr(prop.type)
        self.locals = before
        return ir.FillEach(prop.name, v, value)

    def block(self) -> ir.Stmt:
        i, e = self.new(), self.new()
        ways = (self.pick(ir.Orientation), self.pick(ir.Orientation))
        return self.pick(
            (
                lambda: ir.If(self.expr(BOOL), self.body(), self.body()),
                lambda: ir.If(
                    self.expr(BOOL), self.body(), (ir.If(self.expr(BOOL), self.body(), self.body()),)
                ),
                lambda: ir.While(self.expr(BOOL), self.body()),
                lambda: ir.For(i, self.expr(I64), self.expr(I64), self.expr(I64), self.body({i: I64})),
                lambda: ir.ForNeighbors(
                    *(i, e, self.expr(VID), ways[0], self.body({i: VID, e: EID})),
                    *(self.pick((1, 4)), self.pick((0, 32)), self.chance()),
                    deltas=self.chance(),
                    planned=self.chance(),
                    beyond=self.pick((0, 4)),
                ),
                lambda: ir.ForCommon(
                    *(i, self.expr(VID), ways[0], self.expr(VID), ways[1], self.body({i: VID})),
                    *(self.pick((0, 4)), self.pick((0, 4))),
                ),
                lambda: ir.ForMarkedHubs(i, self.expr(VID), ways[0], 4, self.body({i: VID}), self.chance()),
                lambda: ir.MarkHubs(self.expr(VID), ways[0], 4),
            )
        )()

    def frontier(self) -> ir.Stmt:
        a, b = self.pick(self.frontiers), self.pick(self.frontiers)
        return self.pick(
            (
                lambda: ir.FrontierSet(a, ir.FrontierKind.SINGLE, self.expr(VID)),
                lambda: ir.FrontierSet(a, self.pick((ir.FrontierKind.ALL, ir.FrontierKind.EMPTY))),
                lambda: ir.FrontierCopy(a, b),
                lambda: ir.FrontierCombine(a, b, self.pick(("|", "&", "-")), self.pick(self.frontiers)),
                lambda: ir.FrontierWhere(a, self.pick(self.properties).name),
                lambda: ir.FrontierMark(self.pick(self.properties).name, a),
                lambda: ir.ListClear(self.list),
                lambda: ir.ListAppend(self.list, a),
                lambda: ir.ListGet(a, self.list, self.expr(I64)),
                lambda: ir.FrontierPush(
                    a, self.expr(VID), self.pick(ir.Layout), self.chance(), self.chance()
                ),
                lambda: ir.FrontierClear(a, self.pick(ir.Layout)),
                lambda: ir.FrontierSwap(a, b),
                lambda: ir.Fold(self.pick(self.properties).name, self.pick(self.properties).name),
                lambda: ir.FrontierConvert(a, self.pick(ir.Layout)),
                lambda: ir.Exchange(self.pick(self.properties).name, self.pick(self.properties).name),
                lambda: ir.Take(self.pick(self.properties).name, self.expr(I64)),
                lambda: ir.AllToAll(
                    tuple(p.name for p in self.properties[:2]),
                    tuple(p.name for p in self.properties[-2:]),
                    (self.pick(ir.WAYS[:3]), "all"),
                ),
                lambda: ir.AllToAll(
                    (self.properties[0].name,), (self.properties[-1].name,), ("turns",), self.expr(I64)
                ),
            )
        )()

    def kernel(self) -> ir.Stmt:
        v, i = self.new(), self.new()
        domain = self.pick(
            (
                ir.Vertices(),
                ir.VertexWords(),
                ir.Segments(4),
                ir.SlicedSegments(4),
                ir.PartedSegments(2, "8"),
                ir.Slices(4),
                ir.PartedSlices(2, "8"),
                ir.PlannedArcs("blocked_diagonals.4.8", self.pick(ir.Orientation)),
                ir.PlannedArcs("dealt_blocks.4", self.pick(ir.Orientation), self.expr(I64), self.expr(I64)),
                ir.Listed(self.pick(self.properties).name),
                ir.Listed(self.pick(self.properties).name, self.expr(I64), self.expr(I64)),
                ir.SparseMembers(self.pick(self.frontiers)),
                ir.BitmapMembers(self.pick(self.frontiers)),
            )
        )
        cut = self.pick((None, *ir.Orientation))
        limit = self.pick((None, ir.Const(64, I64))) if cut else None
        return self.pick(
            (
                lambda: ir.ParFor(
                    v,
                    domain,
                    self.body({v: VID}),
                    self.pick(("", "relax")),
                    self.pick((None, i)),
                    cut,
                    limit,
                ),
                lambda: ir.ParFor(v, domain, self.body({v: VID, i: I64}), position=i),
                lambda: ir.ParFor(v, ir.Vertices(), self.body({v: VID}), lanes=self.pick(tuple(ir.Lanes))),
                lambda: ir.ParFor(
                    v, ir.Vertices(), self.body({v: VID}), balance=self.pick(AXES["balance"].candidates)
                ),
                lambda: ir.Pipeline(
                    v, domain, *self.channel(), self.body({v: VID}), self.body({v: VID}), "relax"
                ),
                lambda: ir.Pipeline(
                    v, ir.Vertices(), *self.channel(), self.body({v: VID, i: I64}), self.body(), position=i
                ),
                lambda: ir.Single(self.body()),
                lambda: ir.Alone(self.body()),
                lambda: ir.QueueFill(self.queue),
                lambda: ir.QueuePop(self.pick(self.frontiers), self.queue),
                lambda: ir.QueueUpdate(self.queue, self.pick((None, *self.frontiers))),
                lambda: ir.Reserve(self.new(), self.pick(self.properties).name, self.expr(I64)),
                lambda: ir.BucketsClear(self.buckets),
                lambda: ir.BucketPush(self.buckets, self.expr(VID)),
                lambda: ir.BucketAdvance(self.new(), self.buckets),
                lambda: ir.BucketLoop(
                    v,
                    self.buckets,
                    self.body({v: VID}),
                    self.pick(("", "relax")),
                    cut,
                    limit,
                    self.pick(tuple(ir.Lanes)),
                ),
                lambda: ir.Trace(self.new(), self.pick(("push", "pull")), self.expr(I64), self.expr(I64)),
            )
        )()

    def channel(self) -> tuple[tuple[str, ...], int]:
        count = self.random.randint(1, 2)
        return tuple(self.pick(self.properties).name for _ in range(count)), self.random.randint(1, 9)

    def apply(self) -> ir.Stmt:
        kind = self.pick((ir.EdgeApply, ir.VertexApply))
        optional = [None, *self.frontiers]
        op = self.pick(self.operators)
        schedule = ApplySchedule(**{name: self.pick(axis.candidates) for name, axis in AXES.items()})
        label = self.pick((op, "sweep", "the label", ""))
        whole = (
            op,
            self.pick(optional),
            self.pick(optional),
            label,
            self.pick((None, schedule)),
            self.chance(),
        )
        shared = [
            self.pick((None, name)) for name in (*self.frontiers, "arcs", self.frontiers[0], self.new())
        ]
        return ir.EdgeApply(*whole, *shared[-4:]) if kind is ir.EdgeApply else kind(*whole)
