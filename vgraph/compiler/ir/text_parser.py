"""From the text of the IR to nodes: the grammar gives a tree, declarations give the types of names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.functions import call_type
from vgraph.compiler.ir.forms import CALLS, FORMS, RULES, Hole, grammar, holes
from vgraph.compiler.ir.legality import NEW_LOCALS
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.types import BOOL, VID, Packed, Scalar, Target, Type, Vector, scalar_named
from vgraph.errors import Diagnostic
from vgraph.schedule import AXES, ApplySchedule, axis
from vgraph.source import SourceFile, Span

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.tree import Meta

_GRAMMAR = Path(__file__).parent / "ir.lark"


class IrSyntaxError(Diagnostic):
    """Text that is not a program of the IR."""

    title = "the text is not valid IR"
    label = "{reason}"


@cache
def _lark() -> Lark:
    from lark import Lark

    text = _GRAMMAR.read_text(encoding="utf-8") + grammar()
    return Lark(text, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse(text: str, name: str) -> ir.Program:
    """The program that `text` describes; `name` stands for the file in messages."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    source = SourceFile(name, text)
    try:
        tree = _lark().parse(text if text.endswith("\n") else text + "\n")
    except UnexpectedInput as error:
        line, column = max(error.line, 1), max(error.column, 1) - 1
        if error.line < 1:  # the end of the text
            line, column = max(len(source.lines), 1), len(source.lines[-1]) if source.lines else 0
        got = "this character is" if isinstance(error, UnexpectedCharacters) else "this word is"
        allowed = getattr(error, "allowed", None) or getattr(error, "expected", None) or ()
        reason = f"{got} not expected here; one of {', '.join(sorted(map(str, allowed)))} is"
        raise IrSyntaxError(Span(source, line, column, line, column + 1), reason) from None
    try:
        return _Builder(source).program(tree)
    except RecursionError:
        raise IrSyntaxError(Span(source, 1, 0, 1, 1), "the program is nested too deeply") from None


def _text_of(token: Token | str) -> str:
    """The name that a NAME token stands for."""
    return str(json.loads(token)) if token.startswith('"') else str(token)


class _Builder:
    """Builds nodes from trees, top down, with the names that are in scope."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.locals: dict[str, Type] = {}
        self.properties: dict[str, Type] = {}
        self.globals: dict[str, Type] = {}
        self.frontiers: set[str] = set()

    def span(self, meta: Meta) -> Span:
        return Span(self.source, meta.line, meta.column - 1, meta.end_line, meta.end_column - 1)

    def error(self, meta: Meta, reason: str) -> IrSyntaxError:
        return IrSyntaxError(self.span(meta), reason)

    @contextmanager
    def scope(self, names: dict[str, Type]) -> Iterator[None]:
        before = self.locals
        self.locals = {**before, **names}
        try:
            yield
        finally:
            self.locals = before

    def program(self, tree: Any) -> ir.Program:
        header, *rest = tree.children
        name, level, ids, offsets, threads, ordered = header.children
        declared: dict[type[ir.Node], list[Any]] = {}
        body: ir.Body = ()
        for item in rest:
            if item.data == "run":
                body = tuple(self.node(s) for s in item.children[0].children)  # the results see its locals
            else:
                made = self.node(item)
                self.declare(made)
                declared.setdefault(type(made), []).append(made)
        if level not in {x.value for x in ir.Level}:
            raise self.error(header.meta, f"there is no level {level}")
        target = Target(int(ids), int(offsets))
        if not {target.id_bits, target.offset_bits} <= {32, 64}:
            raise self.error(header.meta, "indices have 32 or 64 bits")
        groups: dict[str, Any] = {
            f.name: tuple(declared.get(f.meaning, ())) for f in fields_of(ir.Program) if f.many
        }
        groups |= {"name": _text_of(name), "level": ir.Level(level), "target": target, "body": body}
        groups |= {"threads": int(threads or 0), "ordered": ordered is not None}
        return ir.Program(**groups, span=self.span(header.meta))

    def declare(self, node: Any) -> None:
        """What the program around has to know of a declaration."""
        match node:
            case ir.Param():
                self.locals[node.name] = node.type
            case ir.Property():
                self.properties[node.name] = node.type
            case ir.Global():
                self.globals[node.name] = node.type
            case ir.FrontierDecl():
                self.frontiers.add(node.name)

    # --- by form

    def node(self, tree: Any) -> Any:
        """The node of a tree; its span is that of the text."""
        build = getattr(self, f"_{tree.data}", None)
        node = build(tree, *tree.children) if build else self.by_form(tree, *RULES[tree.data], tree.children)
        object.__setattr__(node, "span", self.span(tree.meta))
        return node

    def by_form(self, tree: Any, kind: Any, parts: tuple[Any, ...], trees: Sequence[Any]) -> ir.Node:
        values = {hole.name: hole.field.rest for hole in holes(FORMS[kind])}
        pairs = list(zip(holes(parts), trees, strict=True))
        scoped = [(hole, x) for hole, x in pairs if hole.field.scoped and x is not None]
        for hole, x in pairs:
            if not hole.field.scoped:
                values[hole.name] = self.value(hole, x, values)
        names: dict[str, Type] = {}
        for hole, _ in pairs:
            names |= self.new_names(tree, hole, values)
        if issubclass(kind, ir.Expr) and any(f.name == "type" and f.rest is None for f in fields_of(kind)):
            values["type"] = self.declared_type(tree, parts, values)
        if scoped:
            with self.scope(names):
                values |= {hole.name: self.value(hole, x, values) for hole, x in scoped}
        else:
            self.locals.update(names)
        made: ir.Node = kind(**values)
        return made

    def value(self, hole: Hole, x: Any, values: dict[str, Any]) -> Any:
        """The value of a field, from its tree or token."""
        if x is None:
            return values[hole.like] if hole.like else hole.field.rest
        if hole.field.many:
            return tuple(self.one(hole, child) for child in x.children)
        return self.one(hole, x)

    def one(self, hole: Hole, x: Any) -> Any:
        match hole.way:
            case "Expr" | "Domain":
                return self.node(x)
            case "Body" | "Else":
                return self.body(x) if x.data == "body" else (self.node(x),)
            case "Type":
                return self.type(x)
            case "ApplySchedule":
                return self.schedule(x)
            case "Balance":
                return self.balance(x)
            case "words" | "int":
                return hole.field.meaning(str(x))
        return _text_of(x)

    def new_names(self, tree: Any, hole: Hole, values: dict[str, Any]) -> dict[str, Type]:
        """The locals that a field declares, with their types."""
        value, word = values[hole.name], hole.field.type
        if value is None or word not in NEW_LOCALS:
            return {}
        if not hole.field.many:
            return {value: NEW_LOCALS[word] or values["type"]}
        types = ir.ARGUMENT_TYPES.get(len(value))
        if types is None:
            raise self.error(tree.meta, "an operator takes (src, edge, dst) or (v)")
        return dict(zip(value, types, strict=True))

    def declared_type(self, tree: Any, parts: tuple[Any, ...], values: dict[str, Any]) -> Type:
        """The type of what an expression reads by name."""
        declared = {"ReadLocal": self.locals, "GlobalName": self.globals}
        field = next(hole.field for hole in holes(parts) if hole.field.meaning is str)
        found = declared.get(field.type, self.properties).get(values[field.name])
        if found is None:
            what = {"ReadLocal": "local", "GlobalName": "global"}.get(field.type, "property")
            raise self.error(tree.meta, f"no {what} is called {values[field.name]}")
        return found

    def body(self, tree: Any) -> ir.Body:
        with self.scope({}):
            return tuple(self.node(s) for s in tree.children)

    def type(self, tree: Any) -> Type:
        scalar = scalar_named(tree.children[0])
        if scalar is None:
            raise self.error(tree.meta, f"there is no type {tree.children[0]}")
        return scalar if tree.data == "scalar" else Vector(scalar, int(tree.children[1]))

    def schedule(self, tree: Any) -> ApplySchedule:
        words = [str(t) for t in tree.children]
        given = dict(zip(words[::2], words[1::2], strict=True))
        try:
            if 2 * len(given) != len(words):
                raise ValueError
            values: dict[str, Any] = {name: axis(name).read(value) for name, value in given.items()}
            own = {name: value for name, value in values.items() if name in AXES}
            extra = tuple(sorted((k, axis(k).check(v)) for k, v in values.items() if k not in AXES))
            return ApplySchedule(**own, extra=extra)
        except (KeyError, ValueError, TypeError):
            raise self.error(tree.meta, "a schedule names each choice once, with one of its values") from None

    def balance(self, token: Any) -> object:
        try:
            return AXES["balance"].read(str(token))
        except ValueError:
            raise self.error(token, f"{token} is no balance") from None

    # --- by hand

    def _result_short(self, tree: Any, name: Token) -> ir.Result:
        return ir.Result(_text_of(name), "property", _text_of(name))

    def _result_property(self, tree: Any, name: Token, prop: Token) -> ir.Result:
        return ir.Result(_text_of(name), "property", _text_of(prop))

    def _result_members(self, tree: Any, name: Token, prop: Token) -> ir.Result:
        return ir.Result(_text_of(name), "members", _text_of(prop))

    def _result_scalar(self, tree: Any, name: Token, value: Any) -> ir.Result:
        return ir.Result(_text_of(name), "scalar", self.node(value))

    def _assign(self, tree: Any, name: Token, value: Any) -> ir.Node:
        if _text_of(name) in self.frontiers and value.data == "load":
            _, source, index = value.children
            return ir.ListGet(_text_of(name), _text_of(source), self.node(index))
        return self.by_form(tree, *RULES["assign"], (name, value))

    def _element(self, tree: Any, vector: Any, index: Any) -> ir.Expr:
        built = self.node(vector)
        if not isinstance(built.type, Vector):
            raise self.error(tree.meta, f"{built.type} has no elements")
        return ir.Element(built, self.node(index))

    def _const(self, tree: Any, token: Token) -> ir.Const:
        number, _, name = token.partition(":")
        scalar = scalar_named(name)
        if scalar is None or scalar is BOOL:
            raise self.error(tree.meta, f"there is no number of type {name}")
        try:
            return ir.Const(_number(number, scalar), scalar)
        except (ValueError, OverflowError):
            raise self.error(tree.meta, f"this is no number of type {name}") from None

    def _true(self, tree: Any) -> ir.Const:
        return ir.Const(True, BOOL)

    def _false(self, tree: Any) -> ir.Const:
        return ir.Const(False, BOOL)

    def _none(self, tree: Any) -> ir.Const:
        return ir.Const(-1, VID)

    def _call(self, tree: Any, token: Token, *args: Any) -> ir.Node:
        name = _text_of(token)
        trees = [a for a in args if a is not None]
        made = self._call_by_form(tree, name, trees)
        if made is not None:
            return made
        built = [self.node(a) for a in trees]
        match name, built:
            case ("neg" | "not" | "invert") as op, [a]:
                return ir.Unary(op, a)
            case ("min" | "max") as op, [a, b]:
                return ir.Binary(op, a, b)
        head, _, number = name.partition(".")
        if name == "pack" and built:
            return ir.Pack(tuple(built))
        if head == "field" and number.isdigit() and len(built) == 1:
            word = built[0].type
            if not isinstance(word, Packed) or int(number) >= len(word.fields):
                raise self.error(tree.meta, f"{word} has no field {number}")
            return ir.Field(built[0], int(number))
        result = call_type(name, [a.type for a in built])
        if result is None:
            raise self.error(tree.meta, f"there is no {name}({', '.join(str(a.type) for a in built)})")
        return ir.Call(name, tuple(built), result)

    def _call_by_form(self, tree: Any, name: str, args: list[Any]) -> ir.Node | None:
        """The expression of a form, or None if there is none of this name, word and number of operands."""
        head, _, word = name.partition(".")
        kind = CALLS.get(head)
        if kind is None:
            return None
        given = [word, *args] if word else args
        named = list(holes(FORMS[kind]))
        fits = len(given) == len(named) and bool(word) == any(hole.words for hole in named)
        if any(hole.way == "str" for hole in named):
            if not (fits and args[0].data == "var"):
                raise self.error(tree.meta, f"{name} takes the name of a declaration first")
            given[0] = args[0].children[0]
        if not fits or any(hole.words and x not in hole.words for hole, x in zip(named, given, strict=True)):
            return None
        return self.by_form(tree, kind, FORMS[kind], given)


def _number(text: str, scalar: Scalar) -> int | float:
    if text.endswith("nan"):
        return math.nan
    if scalar.is_float or text.endswith("inf"):
        return float(text)
    return int(float(text) if "." in text else text)
