"""The interpreter of the IR, for every level: slow, exact, sequential. It is what the levels *mean*.

At kernel level a seed shuffles the iterations of parallel loops, and several `threads` run interleaved,
statement by statement, reductions that are not atomic split into a read and a write: what depends on order
shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.interpret.bodies import run_body
from vgraph.compiler.interpret.expressions import EXPRESSIONS
from vgraph.compiler.interpret.machine import Frontier, Machine, TraceRecord
from vgraph.compiler.interpret.statements import COMPOUND, SIMPLE
from vgraph.compiler.types import VID

__all__ = ["Frontier", "TraceRecord", "interpret"]


class _Plain(Machine):
    expressions, simple, compound = EXPRESSIONS, SIMPLE, COMPOUND


def _machine(checked: bool) -> type[Machine]:
    if not checked:
        return _Plain
    from vgraph.compiler.interpret.checked import CheckedMachine

    return CheckedMachine


def interpret(
    program: ir.Program,
    graph: Any,
    arguments: Mapping[str, Any],
    *,
    seed: int | None = None,
    threads: int = 1,
    trace: list[TraceRecord] | None = None,
    checked: bool = False,
) -> dict[str, Any]:
    """Run `program` on `graph` (a `vgraph.Graph`); `arguments` holds numbers and arrays by name.

    Returns the results by name: arrays for properties, NumPy scalars for the rest; vertex ids signed, with
    -1 for none; for a frontier whether each vertex is in it. `trace` receives a record per round. `seed` shuffles the
    order of a round's visits. `checked` (kernel level): a fault of an access or a number is a CheckError. Raises
    AlgorithmError where the program fails by its own will.
    """
    rng = None if seed is None and threads == 1 else np.random.default_rng(seed)
    machine = _machine(checked)(
        program, graph, arguments, rng=rng, threads=threads, trace=[] if trace is None else trace
    )
    with arithmetic.quiet():
        env = machine.parameters(arguments)
        for _ in run_body(machine, env, program.body, own_scope=False):
            pass
        results: dict[str, Any] = {}
        for result in program.results:
            if isinstance(result.value, ir.Expr):
                value = machine.result(env, result.value, result.name)
                is_vertex = result.value.type == VID
            else:
                value = machine.arrays[result.value].copy()
                is_vertex = program.property(result.value).type == VID
            results[result.name] = value.view(f"i{value.itemsize}") if is_vertex else value
    return results
