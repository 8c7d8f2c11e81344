"""Run kernel-level programs on arrays: what the runtime does, in a few lines.

By default on the CPU; inside `on(machine)` on another machine, so that the tests of this folder serve all backends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from machine_code import object_code
from native_lists import frontiers_of

from vgraph.compiler import ir
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.backends.context import ContextView
from vgraph.compiler.backends.llvm import LLVMBackend
from vgraph.compiler.types import Target, Type
from vgraph.runtime.devices.threads import native_runtime, run_native

Array = npt.NDArray[Any]
BACKEND = LLVMBackend(lambda: native_runtime().symbols)


@dataclass
class CSR:
    """A graph of `n` vertices; arcs sorted by source, then destination. Multi-edges and loops are kept."""

    n: int
    offsets: Array
    indices: Array
    order: Array
    in_offsets: Array
    in_indices: Array
    in_order: Array

    @staticmethod
    def of(n: int, src: npt.ArrayLike, dst: npt.ArrayLike) -> CSR:
        s, d = np.asarray(src, np.int64), np.asarray(dst, np.int64)
        order = np.lexsort((d, s))
        s, d = s[order], d[order]
        back = np.lexsort((s, d))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(s, minlength=n))))
        in_offsets = np.concatenate(([0], np.cumsum(np.bincount(d, minlength=n))))
        return CSR(n, offsets, d, order, in_offsets, s[back], back)

    @property
    def m(self) -> int:
        return len(self.indices)


EMPTY = CSR.of(0, [], [])


def program(
    body: list[ir.Stmt],
    *,
    properties: dict[str, Type] | None = None,
    sites: dict[str, ir.Site] | None = None,
    params: dict[str, Type] | None = None,
    globals_: dict[str, Type] | None = None,
    frontiers: list[str] | None = None,
    lists: list[str] | None = None,
    results: list[ir.Result] | None = None,
    target: Target | None = None,
    threads: int = 0,
) -> ir.Program:
    """A kernel-level program; properties are local, of vertices unless `sites` says otherwise."""
    sites = sites or {}
    declared = tuple(
        ir.Property(n, t, sites.get(n, ir.Site.VERTEX), ir.Origin.LOCAL)
        for n, t in (properties or {}).items()
    )
    return ir.Program(
        "test",
        ir.Level.KERNEL,
        target or Target(),
        tuple(ir.Param(n, t) for n, t in (params or {}).items()),
        declared,
        tuple(ir.Global(n, t) for n, t in (globals_ or {}).items()),
        tuple(ir.FrontierDecl(n) for n in frontiers or []),
        tuple(ir.ListDecl(n) for n in lists or []),
        (),
        tuple(body),
        tuple(results or []),
        threads,
    )


@dataclass
class Outcome:
    """What a run left behind."""

    arrays: dict[str, Array]
    results: dict[str, Any]
    trace: Array
    lists: list[list[Array]] = field(default_factory=list)
    status: int = 0
    payload: int = 0


class Machine(Protocol):
    """Where kernels run. `name` tells apart machines whose loaded kernels differ."""

    name: str

    def load(self, p: ir.Program) -> Kernel:
        """Emit, compile, load."""

    def run(
        self, kernel: Kernel, threads: int, graph: CSR, arrays: dict[str, Array], params: dict[str, Any]
    ) -> Outcome:
        """Run once; `arrays` are written in place."""


class CPU:
    """LLVM's machine code on threads of this machine."""

    name = "cpu"

    def load(self, p: ir.Program) -> Kernel:
        source = BACKEND.emit(p)
        return BACKEND.load_code(object_code(source.text), source.interface)

    def run(
        self, kernel: Kernel, threads: int, graph: CSR, arrays: dict[str, Array], params: dict[str, Any]
    ) -> Outcome:
        with context_for(kernel, threads, graph, arrays, params) as context:
            run_native(kernel, context, threads)
            results = {r.name: context.result(k, r.dtype) for k, r in enumerate(kernel.interface.results)}
            lists = [frontiers_of(context, k) for k in range(len(kernel.interface.lists))]
            return Outcome(
                arrays, results, context.trace(), lists, context.get("status"), context.get("payload")
            )


_machines: list[Machine] = [CPU()]


@contextmanager
def on(machine: Machine) -> Iterator[None]:
    """Inside, kernels are loaded and run on `machine`."""
    _machines.append(machine)
    try:
        yield
    finally:
        _machines.pop()


def cached(make: Callable[..., Kernel]) -> Callable[..., Kernel]:
    """As `functools.cache`, for each machine apart."""
    kept = functools.cache(lambda name, *arguments: make(*arguments))
    return lambda *arguments: kept(_machines[-1].name, *arguments)


def load(p: ir.Program) -> Kernel:
    """Emit, compile, load."""
    return _machines[-1].load(p)


def adjacency(graph: CSR, name: str, dtype: str) -> Array:
    """The array called `out.row_offsets` and so on."""
    arrays = {
        "out.row_offsets": graph.offsets,
        "out.column_indices": graph.indices,
        "in.row_offsets": graph.in_offsets,
        "in.column_indices": graph.in_indices,
    }
    return arrays[name].astype(dtype)


def context_for(
    kernel: Kernel, threads: int, graph: CSR, arrays: dict[str, Array], params: dict[str, Any]
) -> ContextView:
    """A filled context; `arrays` must have the right dtypes and are written in place."""
    face = kernel.interface
    context = ContextView(
        threads,
        num_args=len(face.args),
        num_results=len(face.results),
        num_slots=face.num_slots,
        num_frontiers=len(face.frontiers),
        num_lists=len(face.lists),
        num_state=face.num_state,
        forks=face.forks,
    )
    for index, slot in enumerate(face.args):
        if slot.kind == "property":
            assert arrays[slot.name].dtype == np.dtype(slot.dtype)
            context.set_array(index, arrays[slot.name])
        elif slot.kind == "adjacency":
            context.set_array(index, adjacency(graph, slot.name, slot.dtype))
        elif slot.kind == "size":
            context.set_scalar(index, graph.n if slot.name == "num_vertices" else graph.m, "int64")
        elif slot.kind == "scratch":
            context.set_array(index, np.zeros(slot.length * graph.n + 8, slot.dtype))
        elif slot.kind == "length":
            context.set_scalar(index, len(arrays[slot.name]), "int64")
        else:
            context.set_scalar(index, params[slot.name], slot.dtype)
    bitmaps, flags = [f.bitmap for f in face.frontiers], [f.flags for f in face.frontiers]
    context.add_frontiers(graph.n, f"uint{face.id_bits}", bitmaps, flags)
    return context


def run(
    p: ir.Program,
    graph: CSR = EMPTY,
    arrays: dict[str, Array] | None = None,
    *,
    threads: int = 1,
    params: dict[str, Any] | None = None,
    kernel: Kernel | None = None,
) -> Outcome:
    """Compile and run once."""
    return _machines[-1].run(kernel or load(p), threads, graph, arrays or {}, params or {})
