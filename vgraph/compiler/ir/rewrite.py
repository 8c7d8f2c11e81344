"""Passes and their manager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, ClassVar

from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, Abilities
from vgraph.compiler.facts import Facts
from vgraph.errors import InternalError, VGraphError
from vgraph.records import dataclass
from vgraph.schedule import Schedule


@dataclass
class Context:
    """What a pass may know besides the program.

    `schedule` is what the user asked for, `threads` how many workers will run it (0: any number), `facts`
    what is known of the graph and the machine, `abilities` what the device can do. `deterministic`: the result may not
    depend on the order in which threads come. Passes may leave `notes` for `explain`.
    """

    schedule: Schedule = field(default_factory=Schedule)
    threads: int = 0
    facts: Facts = field(default_factory=Facts)
    notes: list[str] = field(default_factory=list)
    abilities: Abilities = CPU
    deterministic: bool = False
    divides: str = ""
    """Whether members of a set divide loops: they "must", or "may" where there are such; empty: they do not."""
    cut: bool = False
    """Whether members of a set may have some of the arcs of a vertex each."""
    mixed: bool = False
    """Whether members of a set are devices of different kinds, of which a function may have another last bit."""

    @property
    def distributed(self) -> bool:
        """Whether every member of a set of devices runs the program, on its own part of the graph."""
        return self.abilities.distributed

    def option(self, label: str, name: str, default: Any = None) -> Any:
        """What the schedule asks of option `name`, which belongs to a pass of the user's, at `label`."""
        asked = self.schedule.labels.get(label)
        return default if asked is None else dict(asked.extra).get(name, default)


@dataclass(frozen=True)
class Pass:
    """One step of the compiler: a pure function from valid programs at level `takes` to such at `gives`."""

    name: str
    run: Callable[[ir.Program, Context], ir.Program]
    takes: ir.Level
    gives: ir.Level
    distrusted: ClassVar[bool] = False
    """Its results are verified even where those of others are not."""

    def broke(self, before: ir.Program, after: ir.Program, error: VGraphError) -> VGraphError:
        """The error to raise where the pass turned `before` into `after`, which is not valid."""
        return InternalError(f"pass {self.name} broke the program: {error}")


@dataclass
class PassManager:
    """Runs passes one after the other and holds each to its contract."""

    context: Context = field(default_factory=Context)

    def run(
        self,
        program: ir.Program,
        passes: Sequence[Pass],
        *,
        verify: bool = True,
        between: bool = True,
        on_pass: Callable[[Pass, ir.Program], None] | None = None,
    ) -> ir.Program:
        """The program after all `passes`; `on_pass` sees the result of each.

        With `verify` the program is checked at the start, at the end, and with `between` after every pass that changed
        it; what passes of the user's give is always. Raises InternalError, or PassError for a pass of the user's, with
        the name of the pass that broke it.
        """
        first = program
        if verify:
            fault = _fault(program, None)
            if fault is not None:
                raise InternalError(f"the program is not valid before the first pass: {fault}") from fault
        for step in passes:
            if program.level is not step.takes:
                level = program.level.value
                raise InternalError(f"pass {step.name} takes {step.takes.value} level, not {level}")
            before, program = program, step.run(program, self.context)
            if ((verify and between) or step.distrusted) and program is not before:
                fault = _fault(program, step.gives)
                if fault is not None:
                    raise step.broke(before, program, fault) from fault
            elif program.level is not step.gives:
                level = program.level.value
                raise InternalError(f"pass {step.name} gave {level} level, not {step.gives.value}")
            if on_pass is not None:
                on_pass(step, program)
        if verify and not between and (fault := _fault(program, None)) is not None:
            self.run(first, passes)  # says which pass it was
            raise fault
        return program


def _fault(program: ir.Program, level: ir.Level | None) -> VGraphError | None:
    """What the verifier says of `program`, if it says anything."""
    from vgraph.compiler.ir.verify import VerifyError, verify

    try:
        verify(program, level)
    except VerifyError as error:
        return error
    except Exception as error:  # what stands there is no IR at all
        return InternalError(f"the verifier cannot read it: {type(error).__name__}: {error}")
    return None
