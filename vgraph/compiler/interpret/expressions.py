"""Expressions: one function per node class, giving a NumPy scalar or vector."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.foreign.externals import external
from vgraph.compiler.interpret.machine import MARKED, PIECE, SCRATCH, Env, Machine, Table
from vgraph.compiler.ir.handlers import handlers
from vgraph.compiler.types import Packed, Vector
from vgraph.errors import InternalError


def evaluate(m: Machine, env: Env, node: ir.Expr) -> Any:
    """The value of an expression."""
    return m.expressions[type(node)](m, env, node)


def _const(m: Machine, env: Env, n: ir.Const) -> Any:
    if isinstance(n.type, Packed):  # what a minimum or a maximum begins with
        return arithmetic.Word((1 << m.program.target.width(n.type)) - 1 if n.value > 0 else 0)
    return arithmetic.constant(n.value, m.dtype(n.type))


def _compare(m: Machine, env: Env, n: ir.Compare) -> Any:
    return arithmetic.COMPARE[n.op](evaluate(m, env, n.left), evaluate(m, env, n.right))


def _logical(m: Machine, env: Env, n: ir.Logical) -> Any:
    left = evaluate(m, env, n.left)
    return evaluate(m, env, n.right) if bool(left) == (n.op == "and") else left


def cast(m: Machine, n: ir.Cast, operand: Any) -> Any:
    """`cast<t>(x)` of a value."""
    value = arithmetic.cast(operand, m.dtype(n.to))
    return np.full(n.to.length, value) if isinstance(n.to, Vector) and np.ndim(value) == 0 else value


def call(m: Machine, n: ir.Call, args: list[Any]) -> Any:
    """A function of values."""
    found = external(n.function)
    if found is not None:
        return m.dtype(n.type).type(found.python(*args))
    return arithmetic.FUNCTIONS[n.function](*args)


def _element(m: Machine, env: Env, n: ir.Element) -> Any:
    vector = evaluate(m, env, n.vector)
    return vector[int(evaluate(m, env, n.index)) % len(vector)]


def _field(m: Machine, env: Env, n: ir.Field) -> Any:
    assert isinstance(n.word.type, Packed)
    return arithmetic.unpack(evaluate(m, env, n.word), [m.dtype(t) for t in n.word.type.fields], n.k)


def _insert(m: Machine, env: Env, n: ir.Insert) -> Any:
    vector = evaluate(m, env, n.vector).copy()
    vector[int(evaluate(m, env, n.index)) % len(vector)] = evaluate(m, env, n.value)
    return vector


def _load(m: Machine, env: Env, n: ir.Load) -> Any:
    index = evaluate(m, env, n.index)
    array = m.memory(n.prop)
    if n.prop in m.snapshot and not (isinstance(n.index, ir.Var) and n.index.name in m.own):
        array = m.snapshot[n.prop]
    value = array[index]
    return value.copy() if array.ndim == 2 else value


def indices_of(m: Machine, env: Env, node: ir.Lookup) -> list[int]:
    """The indices of an element that is looked up."""
    return [int(evaluate(m, env, i)) for i in node.indices]


def _lookup(m: Machine, env: Env, n: ir.Lookup) -> Any:
    array = m.arrays[n.prop]
    at = arithmetic.element_at(indices_of(m, env, n), array.shape)
    return evaluate(m, env, n.other) if at is None else array[at]


def _scratch_load(m: Machine, env: Env, n: ir.ScratchLoad) -> Any:
    return env[SCRATCH].get(n.prop, {}).get(int(evaluate(m, env, n.index)), m.zero(n.type))


def _neighbor(m: Machine, env: Env, n: ir.Neighbor) -> Any:
    return m.neighbors(int(evaluate(m, env, n.vertex)), n.orientation)[int(evaluate(m, env, n.k))]


def _has_neighbor(m: Machine, env: Env, n: ir.HasNeighbor) -> Any:
    known = m.neighbors(int(evaluate(m, env, n.vertex)), n.orientation)
    return np.bool_((known == evaluate(m, env, n.other)).any())


def hubs_of(m: Machine, env: Env, node: ir.MarkHubs | ir.MarkedHubs | ir.ForMarkedHubs) -> set[int]:
    """The neighbors of a vertex that are hubs."""
    found = m.neighbors(int(evaluate(m, env, node.of)), node.orientation)
    return set(map(int, found)) & m.hubs(node.orientation, node.hubs)


def _in_frontier(m: Machine, env: Env, n: ir.InFrontier) -> Any:
    frontier = m.frontiers[n.frontier]
    if m.low and frontier.layout is not ir.Layout.BITMAP:
        raise InternalError(f"contains({n.frontier}, ...) while the frontier is {frontier.layout.value}")
    return np.bool_(int(evaluate(m, env, n.vertex)) in frontier.bits)


def _piece(m: Machine, env: Env, n: ir.Piece) -> Any:
    piece = env[PIECE]
    match n.share:
        case ir.Share.SIZE:
            return np.int64(piece.end - piece.begin)
        case ir.Share.WHOLE:
            return np.bool_(piece.whole)
        case ir.Share.FIRST:
            return np.bool_(piece.first)


EXPRESSIONS: Table = {
    **handlers(sys.modules[__name__], parameters=("m", "env", "n")),
    ir.Var: lambda m, env, n: env[n.name],
    ir.GlobalVar: lambda m, env, n: m.globals[n.name],
    ir.Unary: lambda m, env, n: arithmetic.UNARY[n.op](evaluate(m, env, n.operand)),
    ir.Binary: lambda m, env, n: arithmetic.BINARY[n.op](evaluate(m, env, n.left), evaluate(m, env, n.right)),
    ir.Select: lambda m, env, n: evaluate(m, env, n.then if evaluate(m, env, n.condition) else n.other),
    ir.Pack: lambda m, env, n: arithmetic.pack([evaluate(m, env, e) for e in n.items]),
    ir.Degree: lambda m, env, n: np.int64(len(m.neighbors(int(evaluate(m, env, n.vertex)), n.orientation))),
    ir.MarkedHubs: lambda m, env, n: np.int64(len(hubs_of(m, env, n) & env[MARKED])),
    ir.GraphSize: lambda m, env, n: np.int64(m.num_vertices if n.what == "num_vertices" else m.num_arcs),
    ir.Cast: lambda m, env, n: cast(m, n, evaluate(m, env, n.operand)),
    ir.Call: lambda m, env, n: call(m, n, [evaluate(m, env, a) for a in n.args]),
    ir.FrontierSize: lambda m, env, n: np.int64(len(m.frontiers[n.frontier].vertices)),
    ir.ListSize: lambda m, env, n: np.int64(len(m.lists[n.list])),
    ir.QueueSize: lambda m, env, n: np.int64(len(m.queues[n.queue])),
    ir.QueueLevel: lambda m, env, n: np.int64(m.levels[n.queue]),
    ir.BucketKey: lambda m, env, n: np.int64(m.current[n.buckets]),
    ir.ArrayLength: lambda m, env, n: np.int64(len(m.arrays[n.array])),
    ir.ArrayColumns: lambda m, env, n: np.int64(m.arrays[n.array].shape[1]),
}
