"""Random kernels against the interpreter: expressions of every type, nested statements, loops over arcs.

Each vertex writes its own places only, and no float sum is declared as a reduction: results agree exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from llvm_harness import CSR, program, run

from vgraph.compiler import ir
from vgraph.compiler.functions import call_type
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.legality import BINARY, COMPARISONS, UNARY
from vgraph.compiler.ir.verify import verify
from vgraph.compiler.types import (
    BOOL,
    EID,
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    VID,
    Target,
    Type,
    Vector,
    element_of,
)
from vgraph.graph import Graph

N = 9
SCALARS = (BOOL, I32, I64, U32, U64, F32, F64)
TYPES: tuple[Type, ...] = (*SCALARS, Vector(F32, 3), Vector(I64, 2), Vector(BOOL, 3))
NUMBERS = (0, 1, -1, 2, 3, 7, -5, 31, 64, 1000, 2**31 - 1, -(2**31), 2**63 - 1)
EXACT = ("abs", "popcount", "ctz", "clz", "sqrt", "floor", "ceil", "isnan", "isinf")
TARGET = Target()


def name_of(t: Type) -> str:
    return f"{element_of(t)}_{t.length}" if isinstance(t, Vector) else str(t)


class Maker:
    """Draws a valid kernel; `locals` holds names in scope, their types, and whether they may be assigned."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.count = draw, 0
        self.locals: list[tuple[str, Type, bool]] = [("v", VID, False)]
        self.loops = 0

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(tuple(options)))

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    # --- expressions

    def expr(self, t: Type, depth: int) -> ir.Expr:
        leaves = [self.constant, self.load, self.local]
        inner = [self.binary, self.binary, self.select, self.cast, self.unary, self.call]
        if t == BOOL:
            inner += [self.compare, self.compare, self.logical]
        if t in (VID, EID):
            return self.local(t, 0)
        return self.pick(leaves if depth <= 0 else leaves + inner)(t, depth - 1)

    def constant(self, t: Type, _: int) -> ir.Expr:
        element = element_of(t)
        if isinstance(t, Vector):
            return ir.Cast(t, self.constant(element, 0))
        if element is BOOL:
            return ir.Const(self.draw(st.booleans()), t)
        if element.is_float:
            return ir.Const(self.pick((0.0, -0.0, 1.0, 0.5, -2.5, 1e10, float("inf"), float("nan"))), t)
        return ir.Const(self.pick(NUMBERS), t)

    def load(self, t: Type, depth: int) -> ir.Expr:
        if t not in TYPES:
            return self.constant(t, depth)
        return ir.Load(f"in_{name_of(t)}", self.local(VID, 0), t)

    def local(self, t: Type, depth: int) -> ir.Expr:
        names = [name for name, other, _ in self.locals if other == t]
        return ir.Var(self.pick(names), t) if names else self.constant(t, depth)

    def binary(self, t: Type, depth: int) -> ir.Expr:
        if isinstance(t, Vector) and self.draw(st.booleans()):
            return ir.Insert(self.expr(t, depth), self.expr(I64, depth), self.expr(t.element, depth))
        kind = element_of(t).kind
        ops = [
            op
            for op, kinds in BINARY.items()
            if kind in kinds and not (op == "**" and element_of(t).is_float)
        ]
        return ir.Binary(self.pick(ops), self.expr(t, depth), self.expr(t, depth))

    def unary(self, t: Type, depth: int) -> ir.Expr:
        ops = [
            op for op, kinds in UNARY.items() if element_of(t).kind in kinds and (op != "not" or t == BOOL)
        ]
        return ir.Unary(self.pick(ops), self.expr(t, depth)) if ops else self.constant(t, depth)

    def call(self, t: Type, depth: int) -> ir.Expr:
        if t == U64 and self.draw(st.booleans()):
            return ir.Call("philox", tuple(self.expr(t, depth) for _ in range(3)), t)
        source = self.pick((t, *TYPES))
        names = [f for f in EXACT if call_type(f, [source]) == t]
        if isinstance(source, Vector) and not element_of(source).is_float:
            names += [f for f in ("sum",) if call_type(f, [source]) == t]
        return ir.Call(self.pick(names), (self.expr(source, depth),), t) if names else self.constant(t, depth)

    def select(self, t: Type, depth: int) -> ir.Expr:
        return ir.Select(self.expr(BOOL, depth), self.expr(t, depth), self.expr(t, depth))

    def cast(self, t: Type, depth: int) -> ir.Expr:
        if isinstance(t, Vector):
            return ir.Cast(
                t, self.expr(self.pick((element_of(t), Vector(self.pick(SCALARS), t.length))), depth)
            )
        source: Type = self.pick((*SCALARS, VID, Vector(F32, 3)))
        if isinstance(source, Vector):
            return ir.Cast(t, ir.Element(self.expr(source, depth), self.expr(I64, depth)))
        return ir.Cast(t, self.expr(source, depth))

    def compare(self, _: Type, depth: int) -> ir.Expr:
        t = self.pick((*SCALARS, VID))
        return ir.Compare(self.pick(COMPARISONS), self.expr(t, depth), self.expr(t, depth))

    def logical(self, _: Type, depth: int) -> ir.Expr:
        return ir.Logical(self.pick(("and", "or")), self.expr(BOOL, depth), self.expr(BOOL, depth))

    # --- statements

    def body(self, size: int, depth: int) -> tuple[ir.Stmt, ...]:
        saved = list(self.locals)
        made = tuple(self.stmt(depth) for _ in range(size))
        self.locals = saved
        return made

    def stmt(self, depth: int) -> ir.Stmt:
        simple = [self.let, self.store, self.assign, self.reduce]
        blocks = [self.branch, self.neighbors, self.range, self.jump] if depth > 0 else []
        made: ir.Stmt = self.pick(simple + simple + blocks)(depth)
        return made

    def let(self, _: int) -> ir.Stmt:
        t, name = self.pick(TYPES), self.fresh()
        made = ir.Let(name, t, self.expr(t, 3))
        self.locals.append((name, t, True))
        return made

    def store(self, _: int) -> ir.Stmt:
        t = self.pick(TYPES)
        return ir.Store(f"out_{name_of(t)}", ir.Var("v", VID), self.expr(t, 3))

    def assign(self, depth: int) -> ir.Stmt:
        targets = [(n, t) for n, t, free in self.locals if free]
        if not targets:
            return self.let(depth)
        name, t = self.pick(targets)
        return ir.Assign(name, self.expr(t, 2))

    def reduce(self, _: int) -> ir.Stmt:
        t = self.pick((BOOL, I32, I64, U32, U64))
        op = self.pick(("|", "&") if t is BOOL else ("min", "max", "+", "*", "|", "&"))
        changed = [n for n, other, free in self.locals if other == BOOL and free]
        out = self.pick((None, *changed))
        return ir.Reduce(op, f"out_{t}", ir.Var("v", VID), self.expr(t, 2), self.draw(st.booleans()), out)

    def branch(self, depth: int) -> ir.Stmt:
        condition = self.expr(BOOL, 2)
        return ir.If(condition, self.body(2, depth - 1), self.body(self.pick((0, 1)), depth - 1))

    def neighbors(self, depth: int) -> ir.Stmt:
        u, e, saved = self.fresh(), self.fresh(), list(self.locals)
        side, of = self.pick(ir.Orientation), self.local(VID, 0)
        self.locals += [(u, VID, False), (e, EID, False)]
        self.loops += 1
        body = self.body(2, depth - 1)
        weight = ir.Load("w" if side is ir.Orientation.OUT else "w.in", ir.Var(e, EID), I64)
        body += (ir.Reduce("+", "out_i64", ir.Var("v", VID), weight),)
        self.loops -= 1
        self.locals = saved
        return ir.ForNeighbors(u, e, of, side, body)

    def range(self, depth: int) -> ir.Stmt:
        i, saved = self.fresh(), list(self.locals)
        self.locals.append((i, I64, False))
        self.loops += 1
        body = self.body(2, depth - 1)
        self.loops -= 1
        self.locals = saved
        return ir.For(i, ir.Const(self.pick((0, -2, 3)), I64), ir.Const(self.pick((0, 4, -3)), I64),
                      ir.Const(self.pick((1, 2, -1)), I64), body)  # fmt: skip

    def jump(self, depth: int) -> ir.Stmt:
        if not self.loops:
            return self.let(depth)
        return ir.If(self.expr(BOOL, 2), (self.pick((ir.Break, ir.Continue))(),))


@st.composite
def kernels(draw: Any) -> ir.Program:
    body = Maker(draw).body(6, 2)
    results = [ir.Result(f"out_{name_of(t)}", "property", f"out_{name_of(t)}") for t in TYPES]
    loop = ir.ParFor("v", ir.Vertices(), body)
    inputs = tuple(ir.Property(f"in_{name_of(t)}", t, ir.Site.VERTEX, ir.Origin.PARAM) for t in TYPES)
    weights = tuple(
        ir.Property(w, I64, s, ir.Origin.GRAPH) for w, s in (("w", ir.Site.EDGE), ("w.in", ir.Site.EDGE_IN))
    )
    outputs = {f"out_{name_of(t)}": t for t in TYPES}
    p = program([loop], properties=outputs, results=results)
    return ir.Program(
        p.name, p.level, p.target, (), (*p.properties, *inputs, *weights), (), (), (), (), p.body, p.results,
        draw(st.sampled_from((0, 1))),
    )  # fmt: skip


def data_of(t: Type, rng: Any) -> Any:
    size = (N, t.length) if isinstance(t, Vector) else N
    element = element_of(t)
    dtype = np.dtype(TARGET.numpy_name(element))
    if element is BOOL:
        return rng.random(size) < 0.5
    if element.is_float:
        return rng.choice([0.0, -0.0, 1.5, -2.25, 1e9, -1e20, np.inf, -np.inf, np.nan], size).astype(dtype)
    info = np.iinfo(dtype)
    return rng.choice(np.array([0, 1, 2, 5, info.max, info.min, info.max - 1], dtype), size)


@given(kernel=kernels(), seed=st.integers(0, 100))
@settings(max_examples=30)
def test_random_kernels_do_what_the_interpreter_does(kernel: ir.Program, seed: int) -> None:
    check(kernel, seed)


def check(kernel: ir.Program, seed: int) -> None:
    """Run it on data of `seed`; the interpreter says what must come out."""
    verify(kernel, ir.Level.KERNEL)
    rng = np.random.default_rng(seed)
    src, dst, w = (rng.integers(0, N, 15) for _ in range(3))
    csr = CSR.of(N, src, dst)
    graph = Graph.from_edges(src, dst, num_vertices=N, w=w)
    inputs = {f"in_{name_of(t)}": data_of(t, rng) for t in TYPES}
    expected = interpret(kernel, graph, inputs)
    outs = {p.name: np.zeros_like(expected[p.name]) for p in kernel.properties if p.origin is ir.Origin.LOCAL}
    weight = w[csr.order].astype(np.int64)
    arrays = {**inputs, **outs, "w": weight, "w.in": weight[csr.in_order]}
    run(kernel, csr, arrays, threads=1 if kernel.threads else 2)
    for name in outs:
        np.testing.assert_array_equal(arrays[name], expected[name], err_msg=name)
