"""Programs that print: CPython does it; compiled code leaves it out, and says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from vgraph.compiler.frontend.sources import PRINTS, calls_of_print

if TYPE_CHECKING:
    from vgraph.language.decorators import AlgorithmDef


class PrintWarning(UserWarning):
    """A program that prints runs on a device where that is left out."""


def warn_of_prints(algorithm: AlgorithmDef, parts: Iterable[str], device: str) -> None:
    """Warn, once for each line, where a program of these `parts` (`source_parts`) prints."""
    if PRINTS not in parts:
        return
    for definition, spans in calls_of_print(algorithm).items():
        seen = definition.function.__globals__.setdefault("__warningregistry__", {})
        for span in spans:
            warnings.warn_explicit(
                f'print(...) does nothing on device="{device}": device="python" prints, '
                "and debug=[vertices] keeps values on every device",
                PrintWarning,
                span.source.name,
                span.line,
                registry=seen,
            )


def notes_of_prints(algorithm: AlgorithmDef) -> Iterator[str]:
    """For people who read what the compiler does: what it leaves out."""
    spans = (span for spans in calls_of_print(algorithm).values() for span in spans)
    for name, line in sorted((PurePath(span.source.name).name, span.line) for span in spans):
        yield f"{name}:{line}: print(...) is left out"
