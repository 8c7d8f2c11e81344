"""Every error that vgraph shows to a user, one small class each.

Two families: `Diagnostic` points into the user's program (title, caret, reason, way out); the others concern
data, files, parameters and the machine, where there is no source line to show.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Final

from vgraph.source import Span

_HOLE: Final = re.compile(r"\{(\w+)\b[^}]*\}")


class VGraphError(Exception):
    """Base of every error that vgraph raises on purpose."""


def shown(value: object, width: int = 60) -> str:
    """A user's value for a message, cut where it is long; ints of more than 4,300 digits have no decimal text."""
    try:
        text = repr(value)
    except ValueError:
        text = f"{value:#x}" if isinstance(value, int) else object.__repr__(value)
    return text if len(text) <= width else text[: width - 3] + "..."


class InternalError(VGraphError):
    """A bug in vgraph itself; please report it."""


class Diagnostic(VGraphError):
    """An error in the user's program, rendered with the user's line and a caret.

    What is given behind the span fills the `{holes}` of `title`, `label` (behind the caret) and `help` (the way out),
    in the order in which they first stand there; a hole may have a value of its own in the class.
    """

    title: ClassVar[str] = "error"
    label: ClassVar[str] = ""
    help: ClassVar[str] = ""
    also: ClassVar[tuple[str, str]] = ("", "")
    """The name of a further span, given behind the others (None: nowhere else), and what is said of it."""

    def __init__(self, span: Span, *given: object, **named: object) -> None:
        self.span = span
        holes = self.holes()
        filled = {name: vars(type(self))[name] for name in holes if name in vars(type(self))}
        filled |= dict(zip(holes, given, strict=False)) | named
        if len(given) > len(holes) or not filled.keys() >= set(holes):
            raise TypeError(f"{type(self).__name__} takes a span and {', '.join(holes) or 'no more'}")
        vars(self).update(filled)

    @classmethod
    def holes(cls) -> list[str]:
        """The names of what is given behind the span."""
        place, text = cls.also
        return list(dict.fromkeys(_HOLE.findall(f"{cls.title} {cls.label} {cls.help} {{{place}}} {text}")))

    def notes(self) -> list[tuple[Span, str]]:
        """Further places to show, each with a text."""
        place, text = self.also
        holes = vars(self)
        return [(holes[place], text.format(**holes))] if place and holes[place] else []

    def __str__(self) -> str:
        holes = vars(self)
        lines = [f"{self.title.format(**holes)} ({self.span})", self.span.render(self.label.format(**holes))]
        for span, text in self.notes():
            lines += [f"note: {text} ({span})", span.render()]
        if self.help:
            lines.append(f"help: {self.help.format(**holes)}")
        return "\n".join(lines)


# --- data and files -------------------------------------------------------------------------------------------


class GraphError(VGraphError, ValueError):
    """A graph cannot be built from, or does not hold, what was asked for."""


class GraphFormatError(VGraphError, ValueError):
    """A file is malformed: names the file, the line (1-based; None for binary formats) and the reason."""

    def __init__(self, path: str | Path, line: int | None, reason: str) -> None:
        self.path, self.line, self.reason = Path(path), line, reason
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {reason}")


# --- calls ----------------------------------------------------------------------------------------------------


class ParameterError(VGraphError, ValueError):
    """A parameter of `vgraph.run` is missing, unknown, of the wrong type or out of range."""


class DeclarationError(VGraphError, TypeError):
    """A decorator, `vg.vector` or `vg.vertex_property` is given something that it does not take."""


class DeviceError(VGraphError, RuntimeError):
    """A device is missing, unsupported on this machine, or ran out of memory."""


class DeviceMemoryError(DeviceError):
    """A device ran out of memory."""


class ScheduleError(VGraphError, ValueError):
    """A schedule names an unknown label or option, or a value of the wrong kind."""


class PassError(VGraphError):
    """A pass of the user's own (`@vg.schedule_pass`) gave a program that breaks a rule of the IR.

    `name`: the pass; `rule`: what is broken; `node`: where (None: nothing in particular); `before` and `after`: the IR
    that the pass was given and that it gave, as texts.
    """

    def __init__(
        self, name: str, place: str, found: str, rule: str, node: object, before: str, after: str
    ) -> None:
        self.name, self.rule, self.node, self.before, self.after = name, rule, node, before, after
        super().__init__(
            f"the pass {name} ({place}) broke the program\n{found}\n"
            f"help: this error's `before` and `after` hold the IR before and after the pass; "
            f"VGRAPH_DEBUG=4 prints the IR up to the pass"
        )


# --- language -------------------------------------------------------------------------------------------------
# What the language refuses is a catalogue of its own: one Diagnostic class per refusal in `vgraph.refusals`.


class SourceError(VGraphError):
    """The text of a decorated function cannot be found, so it cannot be compiled."""


class CheckError(VGraphError):
    """A checked run (`vg.run(..., checked=True)`) found a fault: the classes are in `vgraph.refusals.checks`."""


class VerificationError(VGraphError):
    """A result is not what defines it: `vg.verify` found a vertex that is wrong."""


class AlgorithmError(VGraphError, RuntimeError):
    """An algorithm ended its own run by `vg.fail(message)`, or had more rounds than `run(max_rounds=)` gave it."""
