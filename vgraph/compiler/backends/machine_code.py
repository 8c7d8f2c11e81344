"""Functions of the prelude on their own, in machine code, for what is made of graphs."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import Unit

Names = tuple[tuple[str, str], ...]


def made(file: str, name: str, types: Mapping[str, str], numbers: Mapping[str, int]) -> Callable[..., None]:
    """The function `name` of a file, where names stand for these types and numbers."""
    return machine_code(file, name, tuple(types.items()), tuple(numbers.items()))


@functools.cache
def machine_code(
    file: str,
    name: str,
    types: Names = (),
    numbers: tuple[tuple[str, int], ...] = (),
    *,
    external: Names = (),
    text: str = "",
) -> Callable[..., None]:
    """A function of a file that gives nothing; what it gets are ints and addresses. Threads may call it at once.

    `external`: what it calls that is defined in `text`, and the type that this gives.
    """
    into: dict[str, str] = {}
    unit = Unit(file, dict(types), dict(numbers))
    functions(unit, name, dict(external), into, set())
    code = "\n".join((text, *into.values()))
    binary, _ = cached_object(jit.object_parts(code), lambda: jit.compile_ir(code), {"what": name})
    loaded = jit.load_object(binary, {})
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * len(unit.parameters(name)))(loaded.address(name))

    def function(*given: int) -> None:
        call(*given)
        assert loaded  # which keeps the code

    return function


__all__ = ["machine_code", "made"]
