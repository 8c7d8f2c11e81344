"""Tables of functions by class of node: each function is for the class that its last parameter is annotated with."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from vgraph.compiler import ir


def handlers(*modules: ModuleType, parameters: tuple[str, ...], prefix: str = "") -> dict[type[Any], Any]:
    """The functions of modules by class of node. A function named `prefix...` that needs just these parameters is for
    the class that its last one is annotated with, as in `node: ir.Load`, or for each as in `node: ir.Load | ir.Lookup`.
    Where several modules have a function for one class, the last one's is taken."""
    found: dict[type[Any], Any] = {}
    for module in modules:
        own: dict[type[Any], Any] = {}
        for name, function in vars(module).items():
            if not (isinstance(function, FunctionType) and function.__module__ == module.__name__):
                continue
            code, defaults = function.__code__, function.__defaults__ or ()
            needed = code.co_varnames[: code.co_argcount - len(defaults)]
            if name.startswith(prefix) and needed == parameters:
                for word in function.__annotations__[parameters[-1]].split(" | "):
                    kind = getattr(ir, word.removeprefix("ir."))
                    assert kind not in own, f"{name} and {own[kind].__name__} are both for {word}"
                    own[kind] = function
        found |= own
    return found
