"""Functions are found by the class of node that they say they take."""

from __future__ import annotations

from types import ModuleType

import pytest

from vgraph.compiler import ir
from vgraph.compiler.ir.handlers import handlers

HEAD = "from __future__ import annotations\n"
TEXT = f"""{HEAD}
def emit_load(f, node: ir.Load, element: str = "") -> str: ...
def emit_ends(f, node: ir.Break | ir.Continue) -> None: ...
def emit_part(f, node: ir.Store, more: str) -> None: ...
def other(f, node: ir.Reduce) -> None: ...
"""


def module(text):
    made = ModuleType("made")
    exec(text, vars(made))
    for function in vars(made).values():
        if hasattr(function, "__code__"):
            function.__module__ = "made"
    return made


def test_by_annotation():
    made = module(TEXT)
    found = handlers(made, parameters=("f", "node"), prefix="emit_")
    assert found == {ir.Load: made.emit_load, ir.Break: made.emit_ends, ir.Continue: made.emit_ends}


def test_of_two_modules_the_last():
    first, last = module(TEXT), module(HEAD + "def emit_again(f, node: ir.Break) -> None: ...")
    found = handlers(first, last, parameters=("f", "node"), prefix="emit_")
    assert found[ir.Break] is last.emit_again
    assert found[ir.Continue] is first.emit_ends


def test_two_for_one_class():
    twice = module(TEXT + "def emit_again(f, node: ir.Load) -> str: ...")
    with pytest.raises(AssertionError, match=r"emit_again and emit_load are both for ir\.Load"):
        handlers(twice, parameters=("f", "node"), prefix="emit_")
