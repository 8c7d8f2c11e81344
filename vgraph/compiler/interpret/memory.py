"""Statements without a body: locals, globals and memory; generators yield where another thread may step in."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.interpret.expressions import evaluate
from vgraph.compiler.interpret.machine import SCRATCH, Env, Machine
from vgraph.errors import AlgorithmError


class Left(Exception):
    """A visit has ended itself."""


class Jump(Enum):
    """How a statement left its body."""

    BREAK = "break"
    CONTINUE = "continue"


Steps = Generator[None, None, Jump | None]


def let(m: Machine, env: Env, n: ir.Let) -> None:
    env[n.name] = evaluate(m, env, n.value)


def assign(m: Machine, env: Env, n: ir.Assign) -> None:
    env[n.name] = evaluate(m, env, n.value)


def accumulate(m: Machine, env: Env, n: ir.Accumulate) -> None:
    env[n.name] = arithmetic.BINARY[n.op](env[n.name], evaluate(m, env, n.value))


def set_global(m: Machine, env: Env, n: ir.SetGlobal) -> None:
    m.globals[n.name] = evaluate(m, env, n.value)


def reduce_global(m: Machine, env: Env, n: ir.ReduceGlobal) -> None:
    m.reduce_global(n.name, n.op, evaluate(m, env, n.value))


def store(m: Machine, env: Env, n: ir.Store) -> None:
    index = evaluate(m, env, n.index)
    m.memory(n.prop)[index] = evaluate(m, env, n.value)
    if m.properties[n.prop].site is ir.Site.VERTEX:
        m.touched.add(int(index))


def scratch_store(m: Machine, env: Env, n: ir.ScratchStore) -> None:
    value = evaluate(m, env, n.value)
    env[SCRATCH].setdefault(n.prop, {})[int(evaluate(m, env, n.index))] = value


def scratch_clear(m: Machine, env: Env, n: ir.ScratchClear) -> None:
    env[SCRATCH].pop(n.prop, None)


def reduce(m: Machine, env: Env, n: ir.Reduce) -> Steps:
    index, value = evaluate(m, env, n.index), evaluate(m, env, n.value)
    array = m.memory(n.prop)
    before = array[index].copy()
    if m.interleaved and not n.atomic:
        yield
    after = arithmetic.BINARY[n.op](before, value)
    same = np.array_equal(after, before, equal_nan=after.dtype.kind == "f")
    if n.op in ir.ACCUMULATING or not same:  # of two zeros the first stays
        array[index] = after
        if m.properties[n.prop].site is not ir.Site.NUMBERED:
            m.touched.add(int(index))
        if n.changed is not None:
            env[n.changed] = np.True_
    return None


def reduce_tuple(m: Machine, env: Env, n: ir.ReduceTuple) -> None:
    index, new = evaluate(m, env, n.index), [evaluate(m, env, e) for e in n.items]
    if arithmetic.precedes(n.op, new, [m.arrays[prop][index] for prop in n.props]):
        for prop, value in zip(n.props, new, strict=True):
            m.arrays[prop][index] = value
        m.touched.add(int(index))


def reduce_global_tuple(m: Machine, env: Env, n: ir.ReduceGlobalTuple) -> None:
    new = [evaluate(m, env, e) for e in n.items]
    key = (n.names, n.op)
    before = m.tuples.get(key)
    if before is None or arithmetic.precedes(n.op, new, before):
        m.tuples[key] = new


def compare_and_swap(m: Machine, env: Env, n: ir.CompareAndSwap) -> Steps:
    index = evaluate(m, env, n.index)
    expected, value = evaluate(m, env, n.expected), evaluate(m, env, n.value)
    ok = bool(m.arrays[n.prop][index] == expected)
    if m.interleaved and not n.atomic:
        yield
    if ok:
        m.arrays[n.prop][index] = value
    env[n.ok] = np.bool_(ok)
    return None


def reserve(m: Machine, env: Env, n: ir.Reserve) -> None:
    array, index = m.arrays[n.prop], int(evaluate(m, env, n.index))
    env[n.before] = array[index]
    array[index] += 1


def lock(m: Machine, env: Env, n: ir.Lock) -> Steps:
    array, index = m.arrays[n.prop], int(evaluate(m, env, n.index))
    ok = bool(array[index] == 0)
    if ok:
        array[index] = 1
        m.held[m.thread].add(index)
    env[n.ok] = np.bool_(ok)
    if m.interleaved:
        yield
    return None


def unlock(m: Machine, env: Env, n: ir.Unlock) -> None:
    index = int(evaluate(m, env, n.index))
    m.held[m.thread].remove(index)
    m.arrays[n.prop][index] = 0


def acquire(m: Machine, env: Env, n: ir.Acquire) -> None:
    """Visits come one after the other."""


def leave(m: Machine, env: Env, n: ir.Leave) -> None:
    raise Left


def root(sets: Any, vertex: int) -> int:
    while int(sets[vertex]) != vertex:
        vertex = int(sets[vertex])
    return vertex


def union(m: Machine, env: Env, n: ir.Union) -> None:
    sets = m.arrays[n.prop]
    a, b = int(evaluate(m, env, n.a)), int(evaluate(m, env, n.b))
    low, high = sorted((root(sets, a), root(sets, b)))
    if low != high:
        sets[high] = low
        m.touched.update((a, b))


def fill(m: Machine, env: Env, n: ir.Fill) -> None:
    array = m.arrays[n.prop]
    array[...] = np.arange(len(array)) if n.value is None else evaluate(m, env, n.value)


def fill_each(m: Machine, env: Env, n: ir.FillEach) -> None:
    for v in range(m.num_vertices):
        m.arrays[n.prop][v] = evaluate(m, {**env, n.vertex: m.vid.type(v)}, n.value)


def fail(m: Machine, env: Env, n: ir.Fail) -> None:
    raise AlgorithmError(n.message)
