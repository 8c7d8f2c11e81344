"""What a Python function does, as a text: for the key of code that the function had a part in making.

It is taken from the function as it is in memory, its bytecode and the values of the names it uses, not from its file,
which may have been edited since.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import os
import site
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from vgraph.records import is_frozen

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(...), enum.Enum, np.generic)


class Decorated:
    """Base of objects that a decorator puts in place of `function`, and whose fingerprint is that function's."""

    function: FunctionType


class NoFingerprintError(Exception):
    """The function uses something whose meaning cannot be written down: the text says what."""


def fingerprint(function: FunctionType) -> str:
    """Equal for functions that do the same, different for functions that may not. Raises NoFingerprintError."""
    digest = hashlib.sha256()
    pending: list[FunctionType] = [function]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        parts = [f"{current.__module__}.{current.__qualname__}", _code(current.__code__)]
        defaults = (current.__defaults__, current.__kwdefaults__)
        for name, value in [("its defaults", defaults), *_captured(current)]:
            if isinstance(value, FunctionType) and _is_users(value.__module__, value.__code__.co_filename):
                pending.append(value)
                parts.append(f"{name}: {value.__module__}.{value.__qualname__}")
            else:
                parts.append(f"{name}: {_value(name, value)}")
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _code(code: CodeType) -> str:
    """All of a code object but where it stands."""
    constants = [_code(c) if isinstance(c, CodeType) else _value("a constant", c) for c in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {code.co_flags} {names!r} {constants!r}"


def _captured(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The names that the function takes from outside, with their values; those of the user's modules too."""
    names = dict.fromkeys(_names(function.__code__))
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = dict(function.__globals__)
    for name, cell in cells:
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not bound yet
            continue
    owners = []
    for name in names:
        if name in scope:
            value = _undecorated(scope[name])
            yield name, value
            if isinstance(value, ModuleType):
                owners.append(value)
    for owner in owners:
        if _is_users(owner.__name__, getattr(owner, "__file__", None)):
            yield from (
                (f"{owner.__name__}.{n}", _undecorated(vars(owner)[n])) for n in names if n in vars(owner)
            )


def _undecorated(value: Any) -> Any:
    """The function under a decorator of ours or Numba's: such functions may call each other."""
    if type(value).__module__.startswith("numba.") and isinstance(
        getattr(value, "py_func", None), FunctionType
    ):
        return value.py_func  # functions under @njit may call each other too
    return value.function if isinstance(value, Decorated) else value


def _names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value(name: str, value: Any) -> str:
    """A value as a text that says all of it. Raises NoFingerprintError."""
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} [{', '.join(_value(name, v) for v in value)}]"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__} [{', '.join(sorted(_value(name, v) for v in value))}]"
    if isinstance(value, dict):
        return f"dict [{', '.join(f'{_value(name, k)}: {_value(name, v)}' for k, v in value.items())}]"
    if isinstance(value, ModuleType):
        return f"module {value.__name__} {_stamp(getattr(value, '__file__', None))}"
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return _definition(name, value)
    if is_frozen(type(value)):
        fields = [_value(name, getattr(value, f)) for f in value.__dataclass_fields__]
        return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(fields)})"
    raise NoFingerprintError(f"{name} is a {type(value).__name__}")


def _definition(name: str, value: Any) -> str:
    """A class, a function of a library, or a builtin: its name, and the text or the stamp of what defines it."""
    shown = f"{value.__module__}.{value.__qualname__}"
    try:
        file = inspect.getfile(value)
    except (TypeError, OSError):
        file = None
    if not isinstance(value, type) or not _is_users(value.__module__, file):
        return f"{shown} {_stamp(file)}"
    try:
        return f"{shown} {_stamp(file)}\n{inspect.getsource(value)}"
    except (OSError, TypeError):
        raise NoFingerprintError(f"the source text of the class {name} is not available") from None


@functools.cache
def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = [paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.join(os.path.realpath(f), "") for f in [*folders, *site.getsitepackages()])


def _is_users(module: str | None, file: str | None) -> bool:
    """Whether a definition is neither vgraph's (whose own stamp is in every key) nor a library's."""
    if (module or "").partition(".")[0] == "vgraph" or (file is None and module != "__main__"):
        return False
    return not os.path.realpath(file or "").startswith(_libraries()) or module == "__main__"


def _stamp(file: str | None) -> str:
    """Size and date of a file, if there is one."""
    try:
        status = Path(file or "").stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}" if file else ""
