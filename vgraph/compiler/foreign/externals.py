"""Functions that somebody else compiled, and that operators call: their types, their LLVM code, how to run them.

In the IR such a call is a `Call` whose function is called `external.<name>.<digest>`; the digest names the content, so
equal texts of IR mean equal programs. What is behind a name is kept here, for as long as the process lives: a program
with external calls can be parsed from text only where its functions were met before. The LLVM backend declares the
function and links its module in before it optimises; the CUDA backend translates the module.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.types import Type
from vgraph.records import dataclass

if TYPE_CHECKING:
    pass

PREFIX: Final = "external."


@dataclass(frozen=True)
class External:
    """A pure function of scalars.

    `llvm` is the text of a module that defines `"<name>"` with the types of the language (bool as i1), and needs
    nothing but LLVM's intrinsics and the C library's functions; `python` does the same on NumPy scalars.
    """

    name: str
    args: tuple[Type, ...]
    result: Type
    llvm: str = field(repr=False)
    python: Callable[..., Any] = field(repr=False, compare=False)


def is_numba(value: object) -> bool:
    """Whether a value is a function under `@njit` or `@cfunc`, found without importing Numba."""
    if type(value).__module__.partition(".")[0] != "numba":
        return False
    return isinstance(getattr(value, "py_func", None) or getattr(value, "_pyfunc", None), FunctionType)


_known: dict[str, External] = {}
_lock = threading.Lock()


def remember(external: External) -> External:
    """Make a function known by its name."""
    assert external.name.startswith(PREFIX)
    with _lock:
        return _known.setdefault(external.name, external)


def external(name: str) -> External | None:
    """The function of that name, if the process has met it."""
    return _known.get(name)


def external_type(name: str, args: Sequence[Type]) -> Type | None:
    """The type of a call of an external function; None if there is none of such arguments."""
    found = _known.get(name)
    return found.result if found is not None and found.args == tuple(args) else None


def known(name: str) -> External:
    """The function of a call in verified IR."""
    return _known[name]


def needed(text: str) -> Iterator[External]:
    """The external functions that a module in LLVM IR text declares."""
    for name in sorted(set(re.findall(rf'^declare [^@]*@"({re.escape(PREFIX)}[^"]*)"', text, re.MULTILINE))):
        yield _known[name]
