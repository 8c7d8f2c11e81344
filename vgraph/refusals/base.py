"""What all refusals share."""

from __future__ import annotations

from difflib import get_close_matches
from typing import ClassVar

from vgraph.errors import Diagnostic
from vgraph.source import Span


class Refusal(Diagnostic):
    """Something in a user's program that the language refuses.

    Its title, label and help say what; a docstring adds what they do not. Notes show the calls and applies, too,
    through which the compiler came here (`came_by`).
    """

    came_by: ClassVar[tuple[tuple[Span, str], ...]] = ()

    def notes(self) -> list[tuple[Span, str]]:
        """The further place, then the calls, innermost first; of many, the first and the last."""
        notes = super().notes()
        if len(self.came_by) <= 2:
            return [*notes, *self.came_by]
        first, *between, (span, text) = self.came_by
        return [*notes, first, (span, f"through {len(between)} more, {text}")]

    def through(self, span: Span, text: str) -> Refusal:
        """Remember that the place was reached through `span`; returns the refusal itself."""
        vars(self)["came_by"] = (*self.came_by, (span, text))
        return self


def did_you_mean(name: str, known: object) -> str:
    """` (did you mean ...?)` for the closest known name, or nothing."""
    close = (
        get_close_matches(name, [str(k) for k in known], 1)
        if isinstance(known, (list, tuple, set, dict))
        else []
    )
    return f"; did you mean `{close[0]}`?" if close else ""
