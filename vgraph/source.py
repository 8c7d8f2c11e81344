"""Source text, spans and the caret rendering that every diagnostic uses."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from vgraph.records import dataclass

_WIDEST: Final = 110
"""Columns shown of the user's line."""


@dataclass(frozen=True)
class SourceFile:
    """A piece of source text and where it stands in the user's file.

    `first_line` is the 1-based line number, in the file, of the first line of `text`.
    """

    name: str
    text: str
    first_line: int = 1
    indent: int = 0
    lines: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Not `splitlines`: Python counts no line at a form feed or a separator inside a text.
        lines = self.text.removesuffix("\n").split("\n") if self.text else []
        object.__setattr__(self, "lines", tuple(line.removesuffix("\r") for line in lines))

    def line(self, number: int) -> str:
        """The text of file line `number`, or an empty string past the end."""
        index = number - self.first_line
        return self.lines[index] if 0 <= index < len(self.lines) else ""


@dataclass(frozen=True)
class Span:
    """A range of source text: 1-based lines, 0-based columns, end exclusive, in the file's own coordinates."""

    source: SourceFile
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.source, self.line, self.column, other.end_line, other.end_column)

    @property
    def text(self) -> str:
        """What stands there, in one line."""
        return self.source.line(self.line)[self.column : self.end_column]

    def render(self, message: str = "") -> str:
        """The user's line with a caret under the span and `message` behind the caret."""
        text = self.source.line(self.line)
        start, end = self.column, self.end_column if self.end_line == self.line else len(text)
        if len(text) > _WIDEST:
            cut = max(0, min(start - _WIDEST // 3, len(text) - _WIDEST))
            text, start, end = text[cut : cut + _WIDEST], start - cut, min(end - cut, _WIDEST)
        width = max(1, end - start)
        gutter = str(self.line)
        caret = " " * start + "^" * width + (f" {message}" if message else "")
        return f"{gutter} | {text}\n{' ' * len(gutter)} | {caret}"

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column + 1}"
