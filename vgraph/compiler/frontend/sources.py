"""The text that a compiled algorithm depends on: its own, that of everything it reaches, and captured constants.

It is the front half of the cache key and runs at every call, so names are followed through code objects, not parsed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import numpy as np

from vgraph.compiler.foreign.externals import is_numba
from vgraph.language.decorators import AlgorithmDef, Definition
from vgraph.language.names import DType
from vgraph.source import Span

_MISSING: Final = object()


class Reached(list[tuple[Definition, list[tuple[str, Any]]]]):
    """Definitions, each with the names that it captures and their values, and where these were looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[tuple[Mapping[str, Any], str, Any]] = []
        self.texts: tuple[str, ...] | None = None
        """Its `source_parts`, if they stay the same while it `holds`."""

    def look(self, scope: Mapping[str, Any], name: str) -> Any:
        """What `scope` has by that name, or _MISSING."""
        value = scope.get(name, _MISSING)
        self.looks.append((scope, name, value))
        return value

    def holds(self) -> bool:
        """Whether all names would be found where, and as, they were."""
        return all([scope.get(name, _MISSING) is value for scope, name, value in self.looks])


PRINTS: Final = "print = builtins.print"
"""Among the parts of a program that prints."""


def calls_of_print(definition: AlgorithmDef) -> dict[Definition, tuple[Span, ...]]:
    """The calls of `print` in an algorithm and in all that it reaches, which compiled programs leave out."""
    from vgraph.compiler.frontend.unit import syntax_of

    return {current: syntax_of(current).prints for current, _ in reached(definition)}


def source_parts(definition: AlgorithmDef, found: Reached | None = None) -> tuple[str, ...]:
    """Texts of the algorithm and of every operator and function it reaches, and the constants they capture.

    `found`: what it reaches, if that is known. Raises SourceError where a text is not available.
    """
    found = reached(definition) if found is None else found
    if found.texts is not None:
        return found.texts
    parts: list[str] = []
    lasting = True
    for current, captured in found:
        parts.append(f"{current.kind} {current.function.__module__}.{current.name}\n{current.source.text}")
        if isinstance(current, AlgorithmDef) and current is not definition:  # the frontend looks at its hooks
            lasting = False  # more may be registered
            hooks = (current.asked, current.endings, list(current.derivations))
            parts.append(f"{hooks[0]} {bool(hooks[1])} {hooks[2]}" if any(hooks) else "")
        for name, value in captured:
            if isinstance(value, Definition):
                parts.append(f"{name} -> {value.function.__module__}.{value.function.__qualname__}")
            elif isinstance(value, int):
                parts.append(f"{name} = {type(value).__name__} {value:#x}")  # of any length, unlike repr
            elif isinstance(value, DType | float | str | np.generic | enum.Enum | None):
                parts.append(f"{name} = {type(value).__name__} {value!r}")
            elif is_numba(value):
                lasting = False  # it captures values of its own
                parts.append(f"{name} = {_content(value)}")
            elif callable(value):
                parts.append(
                    f"{name} = {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
                )
    texts = tuple(parts)
    found.texts = texts if lasting else None
    return texts


def reached(definition: Definition) -> Reached:
    """A definition and all that it reaches, each with the names that it captures and their values."""
    known: Reached | None = vars(definition).get("reached")
    if known is not None and known.holds():
        return known
    found = Reached()
    seen: set[int] = set()
    pending: list[Definition] = [definition]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        captured = _captured(current, found)
        pending += [value for _, value in captured if isinstance(value, Definition)]
        found.append((current, captured))
    closed = any(d.function.__closure__ for d, _ in found)  # cells change unseen
    large = any(isinstance(value, np.ndarray) for _, _, value in found.looks)  # which `del` is to free
    vars(definition)["reached"] = None if closed or large else found
    return found


def _content(value: Any) -> str:
    """What a function of Numba's depends on; where that cannot be told, the frontend refuses its call."""
    from vgraph.compiler.foreign.numba_functions import NumbaRefusal, content

    try:
        return content(value)
    except NumbaRefusal as problem:
        return str(problem)


def _captured(definition: Definition, by: Reached) -> list[tuple[str, Any]]:
    """The names of enclosing scopes and modules that a function's code mentions, with their values."""
    names = definition.mentioned
    found: list[tuple[str, Any]] = []
    owners: list[Any] = []
    for name in names:
        value = next(
            (v for scope in definition.scopes if (v := by.look(scope, name)) is not _MISSING), _MISSING
        )
        if isinstance(value, ModuleType | type):
            owners.append(value)
        elif value is not _MISSING:
            found.append((name, value))
    for owner in owners:  # `module.name` and `module.inner.name` leave only the names in the code object
        places = [vars(place) for place in (owner.__mro__ if isinstance(owner, type) else (owner,))]
        for name in names:
            there = any([by.look(place, name) is not _MISSING for place in places])
            value = getattr(owner, name, None) if there else None
            if isinstance(value, ModuleType | type) and value not in owners:
                owners.append(value)
            elif value is not None and not isinstance(value, ModuleType):
                found.append((f"{owner.__name__}.{name}", value))
    return found
