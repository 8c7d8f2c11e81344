"""Locals have types in the language: `total = 0` makes an int64, whatever is added to it later.

CPython would keep the weak Python number, so the code that runs passes the value of every plain assignment to
a local through `bind`. Lines stay where they are in the user's file.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any

from vgraph.decorators import Definition
from vgraph.language import Infinity, NoVertex
from vgraph.reference.values import Number, convert, literal_type

BIND = "__vgraph_bind__"


def bind(value: Any) -> Any:
    """The value that a local takes: bare Python numbers become int64 or float64."""
    if type(value) is tuple:
        return tuple(map(bind, value))
    weak = isinstance(value, (int, float)) and not isinstance(value, (bool, Infinity, NoVertex))
    return Number(convert(value, literal_type(value))) if weak else value


def code_of(definition: Definition) -> CodeType:
    """The user's code with `bind` in its assignments. Raises SourceError without a source text."""
    source = definition.source
    tree = ast.parse(textwrap.dedent(source.text))
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    function.decorator_list = []
    function.returns = None
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    function.args.defaults = [ast.Constant(None) for _ in function.args.defaults]
    function.args.kw_defaults = [d and ast.Constant(None) for d in function.args.kw_defaults]
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and all(isinstance(t, (ast.Name, ast.Tuple)) for t in node.targets):
            node.value = ast.Call(ast.Name(BIND, ast.Load()), [node.value], [])
    free = definition.function.__code__.co_freevars
    if free:  # enclose it in a function whose parameters those names are
        outer = ast.parse(f"def outer({', '.join(free)}): pass").body
        outer[0].body = [function]  # type: ignore[attr-defined]
        tree.body = outer
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, source.first_line - 1)
    whole = compile(tree, source.name, "exec", dont_inherit=True)
    return next(c for c in _codes(whole) if c.co_name == function.name and c.co_freevars == free)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
