"""Passes of the user's own: `@vg.schedule_pass(after="lower-storage")` on a function of (program, context).

They are kept in the order of their registration; `pipeline()` is vgraph's passes with them in their places. Nothing is
found by itself: a pass exists from the moment its module is imported until it is removed.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, Final

from vgraph import schedule
from vgraph.compiler import ir
from vgraph.compiler.fingerprints import Decorated
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.errors import DeclarationError, PassError, ScheduleError, VGraphError, shown
from vgraph.records import dataclass
from vgraph.tracebacks import public

PassFunction = Callable[[ir.Program, Context], ir.Program]
Option = tuple[Callable[[object], bool], str]
"""Which values are accepted, and how messages call them."""

_KINDS: Final[dict[type, str]] = {int: "an int", float: "a number", bool: "True or False", str: "a string"}


@dataclass(frozen=True, eq=False)
class UserPass(Pass, Decorated):
    """A registered pass. It can be called like the function under it, and removed.

    As a context manager it is registered inside the `with` block and removed at its end.
    """

    distrusted = True
    function: FunctionType  # type: ignore[assignment]  # mypy takes a function for a method
    anchor: str
    """The pass of vgraph's own that it stands beside."""
    after: bool
    """Behind the anchor, or before it."""
    options: Mapping[str, Option] = field(default_factory=dict)

    def __call__(self, program: ir.Program, context: Context) -> ir.Program:
        """What the function under it gives."""
        return self.function(program, context)  # type: ignore[no-any-return]

    def remove(self) -> None:
        """Take the pass, and its options, out of the pipeline; nothing happens if it is not in it."""
        with _lock:
            if any(p is self for p in _registered):
                _replace([p for p in _registered if p is not self])

    def __enter__(self) -> UserPass:
        if not any(p is self for p in _registered):
            _register(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<pass {self.name}, {'after' if self.after else 'before'} {self.anchor}>"

    def broke(self, before: ir.Program, after: ir.Program, error: VGraphError) -> VGraphError:
        """The error for a result that is not valid IR."""
        from vgraph.compiler.ir.verify import VerifyError

        rule, node = (error.rule, error.node) if isinstance(error, VerifyError) else (str(error), None)
        return PassError(
            self.name, _place(self.function), str(error), rule, node, _text(before), _text(after)
        )


@public
def schedule_pass(
    *,
    after: str | None = None,
    before: str | None = None,
    name: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Callable[[PassFunction], UserPass]:
    """Register the function below, `(program, context) -> program`, as a pass of the compiler.

    after, before: the pass of vgraph's (one of the two) that it stands behind or before; it takes and gives programs of
    the level that they have there. Among passes at one place the order of registration holds. name: by default the
    function's, with dashes. A pass of the same name is replaced, at its place in that order.
    options: options of schedules that belong to the pass, each with the type of its values (int, float, bool, str), or
    (type, function that accepts a value, words that complete "option=x is not ..."). In the pass,
    `context.option(label, name)` gives their values.

    Raises ScheduleError for a place that there is not, and a name or an option that is taken.
    """
    if (after is None) == (before is None):
        raise ScheduleError("schedule_pass takes either after= or before=, the name of a pass")
    anchor = after if after is not None else before
    assert anchor is not None
    level = _level(anchor, after=after is not None)
    checked = {option: _option(option, meant) for option, meant in (options or {}).items()}

    @public
    def register(function: PassFunction) -> UserPass:
        if not isinstance(function, FunctionType):
            raise DeclarationError(f"@vg.schedule_pass goes on a function, not on {shown(function)}")
        own = name or function.__name__.replace("_", "-")
        run = _guarded(function, own)
        made = UserPass(own, run, level, level, function, anchor, after is not None, checked)
        _register(made)
        return made

    return register


def registered() -> tuple[UserPass, ...]:
    """The passes of the user's own, in the order of their registration."""
    return _registered


def pipeline(own: Sequence[UserPass] | None = None) -> tuple[Pass, ...]:
    """All passes in the order in which they run: vgraph's, and `own`, by default all that are registered."""
    from vgraph.compiler.passes import PIPELINE

    own = _registered if own is None else own
    found: list[Pass] = []
    for step in PIPELINE:
        found += [p for p in own if p.anchor == step.name and not p.after]
        found.append(step)
        found += [p for p in own if p.anchor == step.name and p.after]
    return tuple(found)


def fingerprints(passes: Sequence[UserPass]) -> tuple[str, ...]:
    """A text for each of `passes`: equal only if it does the same.

    Raises NoFingerprintError, naming the pass, where there is none.
    """
    from vgraph.compiler.fingerprints import NoFingerprintError, fingerprint

    found = []
    for step in passes:
        try:
            mark = fingerprint(step.function)
        except NoFingerprintError as error:
            raise NoFingerprintError(f"the pass {step.name}: {error}") from None
        found.append(f"{step!r} {sorted(step.options)} {mark}")
    return tuple(found)


# --- the registry ---------------------------------------------------------------------------------------------

_registered: tuple[UserPass, ...] = ()
_lock = threading.RLock()


def _register(made: UserPass) -> None:
    from vgraph.compiler.passes import PIPELINE

    with _lock:
        if any(p.name == made.name for p in PIPELINE):
            raise ScheduleError(f"{made.name!r} is a pass of vgraph's own: give yours another name=")
        others = [p for p in _registered if p.name != made.name]
        for option in made.options:
            owner = next((p.name for p in others if option in p.options), None)
            if owner is not None:
                raise ScheduleError(
                    f"the option {option!r} belongs to the pass {owner}: leave it out of options=; "
                    f"context.option(label, {option!r}) reads it in every pass"
                )
            if option in schedule.AXES or not option.isidentifier():
                schedule.register_option(option, *made.options[option])  # says what is wrong
        places = [made if p.name == made.name else p for p in _registered]
        _replace(places if made in places else [*places, made])


def _replace(passes: Sequence[UserPass]) -> None:
    """Make `passes` the registered ones, and their options those that schedules may carry."""
    global _registered
    for gone in _registered:
        for option in gone.options:
            schedule.unregister_option(option)
    for step in passes:
        for option, (accepts, meant) in step.options.items():
            schedule.register_option(option, accepts, meant)
    _registered = tuple(passes)


def _level(anchor: str, *, after: bool) -> ir.Level:
    from vgraph.compiler.passes import PIPELINE

    for step in PIPELINE:
        if step.name == anchor:
            return step.gives if after else step.takes
    known = ", ".join(p.name for p in PIPELINE)
    raise ScheduleError(f"there is no pass {anchor!r} to stand beside; the passes are {known}")


def _option(name: str, meant: Any) -> Option:
    """An option from what `schedule_pass` was given."""
    given = meant if isinstance(meant, tuple) else (meant,)
    kind, *rest = given
    fits = not rest or (len(rest) == 2 and callable(rest[0]) and isinstance(rest[1], str))
    if kind not in _KINDS or not fits:
        raise ScheduleError(
            f"the option {name!r} is given by a type ({', '.join(k.__name__ for k in _KINDS)}) or by "
            f"(type, function that accepts a value, words for messages), not by {meant!r}"
        )
    taken = int | float if kind is float else kind

    def accepts(value: object) -> bool:
        right = isinstance(value, taken) and (kind is bool or not isinstance(value, bool))
        return right and (not rest or bool(rest[0](value)))

    return accepts, rest[1] if rest else _KINDS[kind]


# --- faults ---------------------------------------------------------------------------------------------------


def _guarded(function: FunctionType, name: str) -> PassFunction:
    """The function, with the pass's name on what goes wrong inside it."""

    def run(program: ir.Program, context: Context) -> ir.Program:
        try:
            result = function(program, context)
        except VGraphError:
            raise
        except Exception as error:
            error.add_note(f"raised in the pass {name} ({_place(function)})")
            raise
        if not isinstance(result, ir.Program):
            rule = f"it gave {type(result).__name__}, not a program"
            raise PassError(name, _place(function), rule, rule, None, _text(program), "")
        return result

    return run


def _place(function: FunctionType) -> str:
    try:
        return f"{inspect.getfile(function)}:{function.__code__.co_firstlineno}"
    except (TypeError, OSError):
        return function.__qualname__


def _text(program: ir.Program) -> str:
    """The program as text, as far as it can be printed."""
    from vgraph.compiler.ir.text import print_program

    try:
        return print_program(program)
    except Exception as error:
        return f"(this program cannot be printed: {type(error).__name__}: {error})\n"


__all__ = ["UserPass", "fingerprints", "pipeline", "registered", "schedule_pass"]
