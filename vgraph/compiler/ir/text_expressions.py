"""From the text of the IR to nodes: names, types and expressions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final

from vgraph.compiler import ir
from vgraph.compiler.functions import call_type
from vgraph.compiler.ir import forms
from vgraph.compiler.types import BOOL, SCALARS, VID, Scalar, Type, Vector
from vgraph.errors import Diagnostic
from vgraph.source import SourceFile, Span

if TYPE_CHECKING:
    from lark import Token
    from lark.tree import Meta

_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class IrSyntaxError(Diagnostic):
    """Text that is not a program of the IR."""

    title: ClassVar[str] = "the text is not valid IR"
    label: ClassVar[str] = "{reason}"

    reason: str


def text_of(token: Token | str) -> str:
    """The name that a NAME token stands for."""
    return str(json.loads(token)) if token.startswith('"') else str(token)


def optional_text(token: Token | None) -> str | None:
    return None if token is None else text_of(token)


class ExpressionBuilder:
    """Builds expressions from trees, top down, with the names that are in scope."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.locals: dict[str, Type] = {}
        self.properties: dict[str, ir.Property] = {}
        self.globals: dict[str, Type] = {}
        self.frontiers: set[str] = set()

    # --- helpers

    def span(self, meta: Meta) -> Span:
        return Span(self.source, meta.line, meta.column - 1, meta.end_line, meta.end_column - 1)

    def error(self, meta: Meta, reason: str) -> IrSyntaxError:
        return IrSyntaxError(self.span(meta), reason)

    def type(self, tree: Any) -> Type:
        names = [str(t) for t in tree.children if t.type in ("NAME", "INT")]
        scalar = SCALARS.get(names[0])
        if scalar is None:
            raise self.error(tree.meta, f"there is no type {names[0]}")
        return scalar if tree.data == "scalar" else Vector(scalar, int(names[1]))

    @contextmanager
    def scope(self, names: dict[str, Type]) -> Iterator[None]:
        before = self.locals
        self.locals = {**before, **names}
        try:
            yield
        finally:
            self.locals = before

    # --- expressions

    def expr(self, tree: Any) -> ir.Expr:
        node: ir.Expr = getattr(self, f"_e_{tree.data}")(tree, *tree.children)
        object.__setattr__(node, "span", self.span(tree.meta))
        return node

    def _e_const(self, tree: Any, token: Token) -> ir.Expr:
        number, _, name = token.partition(":")
        scalar = SCALARS.get(name)
        if scalar is None or scalar is BOOL:
            raise self.error(tree.meta, f"there is no number of type {name}")
        try:
            return ir.Const(_number(number, scalar), scalar)
        except (ValueError, OverflowError):
            raise self.error(tree.meta, f"this is no number of type {name}") from None

    def _e_true(self, tree: Any) -> ir.Expr:
        return ir.Const(True, BOOL)

    def _e_false(self, tree: Any) -> ir.Expr:
        return ir.Const(False, BOOL)

    def _e_none(self, tree: Any) -> ir.Expr:
        return ir.Const(-1, VID)

    def _e_var(self, tree: Any, name: Token) -> ir.Expr:
        if text_of(name) not in self.locals:
            raise self.error(tree.meta, f"no local is called {name}")
        return ir.Var(text_of(name), self.locals[text_of(name)])

    def _e_global_var(self, tree: Any, name: Token) -> ir.Expr:
        if text_of(name) not in self.globals:
            raise self.error(tree.meta, f"no global is called {name}")
        return ir.GlobalVar(text_of(name), self.globals[text_of(name)])

    def _e_num_vertices(self, tree: Any) -> ir.Expr:
        return ir.GraphSize("num_vertices")

    def _e_num_arcs(self, tree: Any) -> ir.Expr:
        return ir.GraphSize("num_arcs")

    def _e_operation(self, tree: Any, left: Any, op: Token, right: Any) -> ir.Expr:
        kind = ir.Compare if op in _COMPARE else ir.Logical if op in ("and", "or") else ir.Binary
        return kind(str(op), self.expr(left), self.expr(right))

    def _e_cast(self, tree: Any, _lt: Token, to: Any, _gt: Token, operand: Any) -> ir.Expr:
        return ir.Cast(self.type(to), self.expr(operand))

    def _e_element(self, tree: Any, vector: Any, index: Any) -> ir.Expr:
        built = self.expr(vector)
        if not isinstance(built.type, Vector):
            raise self.error(tree.meta, f"{built.type} has no elements")
        return ir.Element(built, self.expr(index))

    def _property_type(self, tree: Any, name: Token) -> Type:
        prop = self.properties.get(text_of(name))
        if prop is None:
            raise self.error(tree.meta, f"no property is called {name}")
        return prop.type

    def _e_load(self, tree: Any, relaxed: Any, name: Token, index: Any) -> ir.Expr:
        order = ir.Order.PLAIN if relaxed is None else ir.Order.RELAXED
        return ir.Load(text_of(name), self.expr(index), self._property_type(tree, name), order)

    def _e_scratch_load(self, tree: Any, name: Token, index: Any) -> ir.Expr:
        return ir.ScratchLoad(text_of(name), self.expr(index), self._property_type(tree, name))

    def _e_call(self, tree: Any, token: Token, *args: Any) -> ir.Expr:
        name = text_of(token)
        trees = [a for a in args if a is not None]
        made = self._by_form(tree, name, trees)
        if made is not None:
            return made
        built = [self.expr(a) for a in trees]
        match name, built:
            case ("neg" | "not" | "invert") as op, [a]:
                return ir.Unary(op, a)
            case ("min" | "max") as op, [a, b]:
                return ir.Binary(op, a, b)
        result = call_type(name, [a.type for a in built])
        if result is None:
            raise self.error(tree.meta, f"there is no {name}({', '.join(str(a.type) for a in built)})")
        return ir.Call(name, tuple(built), result)

    def _by_form(self, tree: Any, name: str, args: list[Any]) -> ir.Expr | None:
        """The expression of a form, or None if there is none of this name, word and number of operands."""
        head, _, word = name.partition(".")
        kind = forms.CALLS.get(head)
        if kind is None:
            return None
        holes = [part for part in forms.FORMS[kind] if isinstance(part, forms.Hole)]
        given = [word, *args] if word else args
        fits = len(given) == len(holes) and bool(word) == any(hole.type in _WORDS for hole in holes)
        if any(hole.type == "str" for hole in holes) and not (fits and args[0].data == "var"):
            raise self.error(tree.meta, f"{name} takes the name of a declaration first")
        if not fits:
            return None
        values: dict[str, Any] = {}
        for hole, x in zip(holes, given, strict=True):
            if hole.type in _WORDS:
                if x not in _WORDS[hole.type]:
                    return None
                values[hole.name] = _WORDS[hole.type][x]
            else:
                values[hole.name] = text_of(x.children[0]) if hole.type == "str" else self.expr(x)
        made: ir.Expr = kind(**values)
        return made


_WORDS: Final[dict[str, dict[str, Enum]]] = {
    kind.__name__: {str(member.value): member for member in kind} for kind in (ir.Orientation, ir.Share)
}


def _number(text: str, scalar: Scalar) -> int | float:
    if text.endswith("nan"):
        return math.nan
    if scalar.is_float or text.endswith("inf"):
        return float(text)
    return int(float(text) if "." in text else text)
