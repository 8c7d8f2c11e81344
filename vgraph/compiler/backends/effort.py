"""How hard LLVM works on a module: less where its passes are no longer linear in the length of the text.

In a module with a function above `_LINES` loops are neither unrolled nor vectorised: each of them makes LLVM look at
the whole function again.
In a straight run of `_STRETCH` instructions with many branches jump threading makes so many values that their registers
take cubic time: 300 `if` statements 37 s, without it 0.5 s (`benchmarks/compile_time.py`).
Above `_LONG` lines even the passes of -O1 and the allocation of registers take quadratic time: 80 applies of an edge
operator 30 s, merely cleaned up 6 s, and 160 of them half a minute. Above `_ENDLESS` nothing is optimised: 0.6 s.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from vgraph.records import dataclass

_LINES: Final = 5000  # the longest program of the library has 3,700
_STRETCH: Final = 1000  # the library: 270
_LONG: Final = 10_000
_ENDLESS: Final = 20_000
_LABEL: Final = re.compile(r'label %([\w.$-]+|"[^"]*")')


class Level(IntEnum):
    """What is done to a module. The code generator's own level is at most this, too."""

    NOTHING = 0
    CLEAN = 1
    """Values come out of memory, and what is constant or never reached goes away."""
    SOME = 2
    """As `-O1`."""
    ALL = 3
    """As `-O3`."""


_LESS: Final = {
    Level.NOTHING: "its code is not optimised",
    Level.CLEAN: "its code is cleaned up and not optimised further",
    Level.SOME: "its code is optimised less (as by -O1)",
}


@dataclass(frozen=True)
class Effort:
    """How hard LLVM works, and whether loops are unrolled and vectorised."""

    level: Level
    loops: bool

    @property
    def note(self) -> str:
        """What a user should know of it; nothing where LLVM does all it can."""
        if self.level is Level.ALL and self.loops:
            return ""
        less = _LESS[self.level] if self.level < Level.ALL else "loops are neither unrolled nor vectorised"
        return f"long program: to compile in reasonable time, {less}; split it to have it optimised fully"


def effort_for(text: str) -> Effort:
    """What a module in LLVM's text form is worth."""
    if text.count("\n") <= _STRETCH:
        return Effort(Level.ALL, True)
    lines, stretch = _measure(text)
    if lines > _LONG:
        return Effort(Level.NOTHING if lines > _ENDLESS else Level.CLEAN, False)
    return Effort(Level.SOME if stretch > _STRETCH else Level.ALL, lines <= _LINES)


def _measure(text: str) -> tuple[int, int]:
    """Instructions of the longest function, and in the longest run between two branches backwards."""
    seen: set[str] = set()
    lines = most = since = longest = 0
    for line in text.splitlines():
        if line.startswith("  "):
            lines += 1
            most = max(most, lines)
            since += 1
            if line.startswith("  br ") and not seen.isdisjoint(_LABEL.findall(line)):
                longest, since = max(longest, since), 0
        elif line.endswith(":"):
            seen.add(line[:-1])
        elif line.startswith("define"):
            seen.clear()
            longest, lines, since = max(longest, since), 0, 0
    return most, max(longest, since)
