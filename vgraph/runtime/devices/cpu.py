"""Runs on the CPU: object code, a native context, a pool of threads."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import CHANNEL_LINES, LINE
from vgraph.compiler.backends.context import ContextView, aligned_zeros
from vgraph.config import MAX_OPT, knob, scope
from vgraph.graph import layouts
from vgraph.runtime.arguments import (
    host_array,
    layouts_of,
    local_shape,
    needed,
    scalar_argument,
    topology_array,
)
from vgraph.runtime.devices import drafts
from vgraph.runtime.devices.compiled import CompiledRunner, keep, recall
from vgraph.runtime.devices.runner import Call, Ran, raise_failure
from vgraph.runtime.devices.threads import native_runtime, run_native

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vgraph.compiler.backends.base import Kernel, SourceText
    from vgraph.compiler.backends.llvm import LLVMBackend
    from vgraph.graph.layouts import Prepared
    from vgraph.runtime.devices.compiled import Place
    from vgraph.runtime.devices.runner import Loaded
    from vgraph.runtime.executor import Job
    from vgraph.runtime.plan import Array, Plan
    from vgraph.runtime.progress import ProgressCallback


RECORD: Final = ("label", "direction", "frontier", "edges", "ns", "waited_ns")
"""What of a native record is one of a run, in this order."""


@functools.cache
def backend() -> LLVMBackend:
    """The CPU backend with the native runtime's symbols."""
    from vgraph.compiler.backends.llvm import LLVMBackend

    return LLVMBackend(lambda: native_runtime().symbols)


class CPU(CompiledRunner):
    """So many threads of this machine's processor."""

    name: ClassVar[str] = "cpu"
    language: ClassVar[str] = "LLVM IR"
    suffix: ClassVar[str] = ".ll"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    @property
    def backend(self) -> LLVMBackend:
        return backend()

    def build(self, job: Job) -> Loaded:
        """As of any device; but a small graph's run begins with a draft if there is no optimised code at hand."""
        place = self._place(job)
        if place is None or not drafts.worth(job):
            return self._built(job, place)
        if (loaded := recall(place)) is not None:
            return loaded
        with scope(opt=0):
            name, *rest = self._place(job) or place
            quick = cast("Place", (f"draft, {name}", *rest))
            loaded = recall(quick)
            if loaded is None:
                if (known := self.found(place)) is not None:
                    return known
                loaded = drafts.begun(self._built(job, quick))
                keep(quick, loaded)
        return drafts.going_on(loaded, functools.partial(self._built, job, place))

    def stamp(self) -> str:
        opt = knob("opt")
        return f"{jit.target_key()}|O{MAX_OPT if opt is None else opt}"

    def parts(self, source: SourceText) -> tuple[str, ...]:
        return jit.object_parts(source.text)

    def compile(self, source: SourceText) -> bytes:
        return backend().compile(source)

    def load(self, code: bytes, plan: Plan) -> Kernel:
        return jit.load_kernel(code, native_runtime().symbols, plan.interface)

    def make_ready(self, kernel: Kernel, call: Call) -> Sequence[Prepared]:
        context = new_context(call.plan, self.threads)
        try:
            bind(context, call)
        finally:
            context.close()
        return _layouts(call)

    def run(self, kernel: Kernel, call: Call, progress: ProgressCallback | None) -> Ran:
        if not isinstance(kernel, drafts.Draft):
            return self._native(kernel, call, progress)
        try:
            ran = self._native(kernel, call, progress, kernel.overtake)
        except drafts.Overtaken as late:
            ran = self._native(late.loaded.kernel, call, progress)
            return replace(ran, compile_seconds=late.seconds)
        kernel.spent.append(ran.run_seconds)
        return ran

    def _native(
        self,
        kernel: Kernel,
        call: Call,
        progress: ProgressCallback | None,
        due: Callable[[ContextView], bool] | None = None,
    ) -> Ran:
        start = time.perf_counter()
        plan = call.plan
        context = new_context(plan, self.threads)
        try:
            arrays = bind(context, call)
            prepared = time.perf_counter()
            overlap = None
            if call.beside is None:
                stop = None if due is None else functools.partial(due, context)
                run_native(kernel, context, self.threads, progress=progress, due=stop)
            else:
                from vgraph.runtime.devices.overlap import run_beside

                call, overlap = run_beside(kernel, context, arrays, call, progress)
            ran = time.perf_counter()
            raise_failure(plan.interface, context.status, context.get("payload"))
            scalars = [context.result(slot, r.dtype) for slot, r in enumerate(plan.interface.results)]
            trace, dropped = context.trace(), int(context.get("trace_dropped"))
            waited = context.waited / self.threads
        finally:
            context.close()
        records = np.empty((len(trace), len(RECORD)), np.int64)
        for k, name in enumerate(RECORD):
            records[:, k] = trace[name]
        records[:, -1] //= self.threads
        return Ran(
            arrays,
            scalars,
            records,
            threads=self.threads,
            prepare_seconds=prepared - start,
            run_seconds=ran - prepared,
            dropped=dropped,
            waited=waited,
            layouts=_layouts(call),
            call=call,
            overlap=overlap,
        )


def _layouts(call: Call) -> list[Prepared]:
    """The layouts that a run walks, built now if they are not there."""
    return [layouts.on_host(call.graph, key) for key in layouts_of(call.plan.interface)]


def new_context(plan: Plan, threads: int) -> ContextView:
    """The native context of one run, with room for all that the kernel's interface names."""
    interface = plan.interface
    return ContextView(
        threads,
        num_args=len(interface.args),
        num_results=len(interface.results),
        num_slots=interface.num_slots,
        num_frontiers=len(interface.frontiers),
        num_lists=len(interface.lists),
        num_buckets=len(interface.buckets),
        num_state=interface.num_state,
        forks=interface.forks,
    )


def bind(context: ContextView, call: Call) -> dict[str, np.ndarray[Any, Any]]:
    """Fill the argument slots and allocate what the kernel writes; the arrays by name."""
    plan, graph = call.plan, call.graph
    threads = int(context.get("num_threads"))
    arrays = {a.name: _array(a, call, threads) for a in plan.arrays if needed(a, plan)}
    for slot, arg in enumerate(plan.interface.args):
        match arg.kind:
            case "property":
                context.set_array(slot, arrays[arg.name])
            case "scratch" | "touched":
                # Zeroed lazily, page by page, and a visit leaves it as it was.
                context.set_array(slot, np.zeros(threads * graph.num_vertices, arg.dtype))
            case "adjacency" | "prepared":
                context.set_array(slot, topology_array(arg, call))
            case "prepared_number":
                key, _, number = arg.name.rpartition(".")
                context.set_scalar(slot, layouts.on_host(graph, key).numbers[number], arg.dtype)
            case "channel":
                context.set_array(slot, aligned_zeros((CHANNEL_LINES + arg.length) * LINE))
            case "workspace":
                context.set_array(slot, np.zeros(arg.length * graph.num_vertices + 8, arg.dtype))
            case "length":
                context.set_scalar(slot, len(arrays[arg.name]), "int64")
            case "columns":
                context.set_scalar(slot, arrays[arg.name].shape[1], "int64")
            case _:
                context.set_scalar(slot, *scalar_argument(arg, call, "cpu", threads))
    frontiers = plan.interface.frontiers
    context.add_frontiers(
        graph.num_vertices,
        f"uint{plan.interface.id_bits}",
        [frontier.bitmap for frontier in frontiers],
        [frontier.flags for frontier in frontiers],
    )
    for index, tile in enumerate(plan.interface.buckets):
        context.add_buckets(index, graph.num_vertices, tile)
    return arrays


def _array(array: Array, call: Call, threads: int) -> np.ndarray[Any, Any]:
    if array.site == "thread":
        return np.zeros((threads, call.graph.num_vertices, max(1, array.length)), array.dtype)
    if array.origin == "local":
        made = np.empty(local_shape(array, call), array.dtype)
        assert made.itemsize < 16 or made.ctypes.data % 16 == 0, "words of 16 bytes are swapped whole"
        return made
    return host_array(array, call)
