"""The compiler on one screen: algorithm IR, which `frontend.build_program` makes of source text, through the passes to
kernel IR, to text for a device.

Each step is pure, so programs can be compiled by several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.config import knobs
from vgraph.graph import machine
from vgraph.graph.layouts import plans
from vgraph.records import dataclass
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgraph.compiler import ir
    from vgraph.compiler.backends.base import Backend, SourceText
    from vgraph.compiler.facts import Facts
    from vgraph.compiler.ir.rewrite import Pass

Observer = Callable[["Pass | None", "ir.Program"], None]


def _coloring(*given: NDArray[Any]) -> NDArray[np.uint32]:
    from vgraph.compiler.backends.first_fit import first_fit

    return first_fit(*given)


def _machine_code(
    file: str, name: str, types: Mapping[str, str], numbers: Mapping[str, int]
) -> Callable[..., None]:
    from vgraph.compiler.backends.machine_code import made

    return made(file, name, types, numbers)


plans.coloring, machine.maker = _coloring, _machine_code


@dataclass(frozen=True)
class Compiled:
    """What the compiler gives: the schedule it chose, the kernel-level program, and its text for the backend.

    `notes` is what the passes had to say.
    """

    schedule: Schedule
    kernel: ir.Program
    source: SourceText
    notes: tuple[str, ...] = ()


def build(
    program: ir.Program,
    backend: Backend,
    *,
    schedule: Schedule | None = None,
    threads: int = 0,
    facts: Facts | None = None,
    deterministic: bool = False,
    distributed: bool = False,
    divides: str = "",
    cut: bool = False,
    mixed: bool = False,
    passes: Sequence[Pass] | None = None,
    observe: Observer | None = None,
) -> Compiled:
    """Compile a program, as the frontend gives it, for a backend.

    `threads` is 1 for code without atomics, 0 for any number of threads; `facts` what is known of the graph.
    `deterministic`: its results may not depend on the number of threads, nor on the schedule. `distributed`: it is for
    the members of a set of devices; `divides`, `cut`, `mixed`: as of `Context`.
    `passes` are by default `user_passes.pipeline()`: vgraph's own and those that were registered.
    `observe` sees the program as it comes (with None) and after each pass. Raises a Diagnostic for what the backend
    does not take and ScheduleError or IllegalSchedule for a schedule that does not fit.
    """
    from vgraph.compiler import ir
    from vgraph.compiler.abilities import OF_SETS
    from vgraph.compiler.backends.base import refuse_externals
    from vgraph.compiler.facts import Facts
    from vgraph.compiler.ir.rewrite import Context, PassManager
    from vgraph.compiler.passes.choose_schedule import chosen
    from vgraph.compiler.user_passes import pipeline

    resolved = Schedule()

    def on_pass(step: Pass | None, program: ir.Program) -> None:
        nonlocal resolved
        if step is not None and step.name == "choose-schedule":
            resolved = chosen(program)
        if observe is not None:
            observe(step, program)

    refuse_externals(program, backend)
    on_pass(None, program)
    # [algorithm IR] -> [scheduled IR] -> [kernel IR]
    context = Context(
        schedule or Schedule(),
        threads,
        facts or Facts(),
        abilities=OF_SETS[backend.abilities] if distributed else backend.abilities,
        deterministic=deterministic,
        divides=divides,
        cut=cut,
        mixed=mixed,
    )
    kernel = PassManager(context).run(program, passes or pipeline(), between=knobs().verify, on_pass=on_pass)
    assert kernel.level is ir.Level.KERNEL
    # [kernel IR] -> [text]
    source = backend.emit(kernel, deep=context.facts.deep, narrow=context.facts.narrow)
    return Compiled(resolved, kernel, source, tuple(context.notes))
