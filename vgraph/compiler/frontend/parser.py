"""Text to syntax: Lark parses, `Builder` makes records of the tree and refuses what the language leaves out."""

from __future__ import annotations

import ast
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from vgraph import refusals
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend import tables
from vgraph.compiler.frontend.nesting import too_deep
from vgraph.refusals.base import Refusal
from vgraph.source import SourceFile, Span

if TYPE_CHECKING:
    from lark import Token, Tree

REFUSED: dict[str, str] = {  # the class in vgraph.refusals.syntax
    "starred_parameter": "StarredParameter",
    "chained_assign": "ChainedAssignment",
    "annotated": "AnnotatedVariable",
    "del_stmt": "Delete",
    "raise_stmt": "Raise",
    "assert_stmt": "Assert",
    "import_stmt": "Import",
    "global_stmt": "GlobalStatement",
    "nonlocal_stmt": "Nonlocal",
    "yield_stmt": "Yield",
    "yield": "Yield",
    "try_stmt": "TryStatement",
    "with_stmt": "WithStatement",
    "class_stmt": "ClassStatement",
    "definition": "NestedFunction",
    "lambda": "Lambda",
    "walrus": "Walrus",
    "starred": "Starred",
    "double_starred": "Starred",
    "slice": "Slice",
    "await": "AsyncCode",
    "comprehension": "Comprehension",
    "generator": "Comprehension",
    "list_comprehension": "Comprehension",
    "set_comprehension": "Comprehension",
    "dict": "DictOrSet",
    "set": "DictOrSet",
    "ellipsis": "EllipsisLiteral",
    "imaginary": "ComplexNumber",
}


def parse(source: SourceFile, *, defaults: bool) -> s.Function:
    """The function in `source`. Raises a Refusal for what the language leaves out.

    `defaults`: whether its parameters may have default values.
    """
    from lark.exceptions import LarkError

    try:
        tree: Any = tables.parse(source.text)
    except LarkError as error:
        raise _not_understood(source, error) from None
    builder = Builder(source, defaults)
    try:
        return builder.function(tree.children[0])
    except RecursionError:
        raise too_deep(builder.span(builder.at)) from None


def _not_understood(source: SourceFile, error: Exception) -> Refusal:
    """The refusal for a text that the grammar does not have; the one place where parse errors become user errors."""
    line = source.first_line + max(getattr(error, "line", 1) or 1, 1) - 1
    column = max(getattr(error, "column", 1) or 1, 1) - 1
    width = len(str(getattr(error, "token", "") or " ").split("\n")[0]) or 1
    span = Span(source, line, column, line, column + width)
    text = source.line(line)
    if re.match(r"\s*match\b", text):
        start = len(text) - len(text.lstrip())
        return refusals.syntax.MatchStatement(Span(source, line, start, line, len(text)))
    return refusals.syntax.NotUnderstood(span)


class Builder:
    """Makes syntax records of one function's tree."""

    def __init__(self, source: SourceFile, defaults: bool) -> None:
        self.source = source
        self.defaults = defaults
        self.at: Any = None  # the statement that is being built

    def span(self, x: Tree[Token] | Token) -> Span:
        """Where a tree or token stands in the file."""
        m: Any = x.meta if hasattr(x, "meta") else x
        shift = self.source.first_line - 1
        return Span(self.source, m.line + shift, m.column - 1, m.end_line + shift, m.end_column - 1)

    def refused(self, kind: str, tree: Any) -> Refusal:
        """The refusal of a construct."""
        found: type[Refusal] = getattr(refusals.syntax, REFUSED[kind])
        return found(self.span(tree))

    def name(self, token: Token) -> str:
        """A name as Python knows it, which for letters that have several forms is not as it was written."""
        name = unicodedata.normalize("NFKC", str(token))
        if name.startswith("__") and name.endswith("__"):
            raise refusals.names.PythonsOwn(self.span(token), name)
        return name

    # --- functions

    def function(self, tree: Any) -> s.Function:
        """The record of a `definition`."""
        is_async, name, parameters, _, suite = tree.children[-5:]
        if is_async is not None:
            raise refusals.syntax.AsyncCode(self.span(is_async))
        found = (
            [self.parameter(p) for p in parameters.children if p is not None]
            if parameters is not None
            else []
        )
        body = self.suite(suite)
        if body and isinstance(body[0], s.Evaluate) and _is_text(body[0].value):
            body = body[1:]
        return s.Function(self.span(name), self.name(name), tuple(found), body)

    def parameter(self, tree: Any) -> s.Parameter:
        """A plain parameter."""
        if tree.data == "starred_parameter":
            raise refusals.syntax.StarredParameter(self.span(tree))
        name, _, default = tree.children
        if default is not None and not self.defaults:
            raise refusals.syntax.ParameterDefault(self.span(default))
        return s.Parameter(self.span(name), self.name(name))

    # --- statements

    def suite(self, tree: Any) -> s.Body:
        """The statements of an indented block."""
        return tuple(self.statement(child) for child in tree.children if child is not None)

    def statement(self, tree: Any) -> s.Stmt:
        """The record of a statement."""
        kind = str(tree.data)
        self.at = tree
        if kind in REFUSED:
            raise self.refused(kind, tree)
        made: s.Stmt = getattr(self, kind)(tree)
        return made

    def expression_stmt(self, tree: Any) -> s.Stmt:
        return s.Evaluate(self.span(tree), self.expr(tree.children[0]))

    def assign(self, tree: Any) -> s.Stmt:
        target = self.target(tree.children[0])
        return s.Assign(self.span(tree), target, self.expr(tree.children[1]))

    def augmented(self, tree: Any) -> s.Stmt:
        target, op, value = tree.children
        return s.Augment(self.span(tree), self.target(target), str(op)[:-1], self.expr(value))

    def target(self, tree: Any) -> s.Expr:
        """What stands on the left of an assignment."""
        if tree.data in ("values", "tuple", "list", "starred"):
            raise refusals.syntax.TupleAssignment(self.span(tree))
        return self.expr(tree)

    def pass_stmt(self, tree: Any) -> s.Stmt:
        return s.Pass(self.span(tree))

    def break_stmt(self, tree: Any) -> s.Stmt:
        return s.Break(self.span(tree))

    def continue_stmt(self, tree: Any) -> s.Stmt:
        return s.Continue(self.span(tree))

    def return_stmt(self, tree: Any) -> s.Stmt:
        value = tree.children[0] if tree.children else None
        return s.Return(self.span(tree), None if value is None else self.expr(value))

    def if_stmt(self, tree: Any) -> s.Stmt:
        test, then, *elifs, last = tree.children
        other = () if last is None else self.suite(last.children[0])
        for branch in reversed(elifs):
            other = (self.branch(branch, branch.children[0], branch.children[1], other),)
        return self.branch(tree, test, then, other)

    def branch(self, at: Any, test: Any, then: Any, other: s.Body) -> s.If:
        """One `if` or `elif`; its span is the header."""
        condition = self.expr(test)
        return s.If(self.span(at).to(condition.span), condition, self.suite(then), other)

    def while_stmt(self, tree: Any) -> s.Stmt:
        test, body, other = tree.children
        self.no_else(other)
        condition = self.expr(test)
        return s.While(self.span(tree).to(condition.span), condition, self.suite(body))

    def for_stmt(self, tree: Any) -> s.Stmt:
        is_async, target, iterable, body, other = tree.children
        if is_async is not None:
            raise refusals.syntax.AsyncCode(self.span(is_async))
        self.no_else(other)
        if target.data != "name":
            raise refusals.syntax.ForTarget(self.span(target))
        over = self.expr(iterable)
        name = s.Name(self.span(target), self.name(target.children[0]))
        return s.For(self.span(tree).to(over.span), name, over, self.suite(body))

    def no_else(self, tree: Any) -> None:
        """Refuse the `else` of a loop."""
        if tree is not None:
            raise refusals.syntax.LoopElse(self.span(tree))

    # --- expressions

    def expr(self, tree: Any) -> s.Expr:
        """The record of an expression."""
        kind = str(tree.data)
        if kind in REFUSED:
            raise self.refused(kind, tree)
        made: s.Expr = getattr(self, f"{kind}_expr")(tree, self.span(tree))
        return made

    def name_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Name(span, self.name(tree.children[0]))

    def number_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Literal(span, ast.literal_eval(str(tree.children[0])))

    def text_expr(self, tree: Any, span: Span) -> s.Expr:
        for token in tree.children:
            prefix = re.match(r"[A-Za-z]*", token)
            if prefix and set(prefix.group().lower()) & set("fbt"):
                raise refusals.syntax.FormattedString(self.span(token))
        return s.Literal(span, "".join(ast.literal_eval(str(t)) for t in tree.children))

    def true_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Literal(span, True)

    def false_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Literal(span, False)

    def none_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Literal(span, None)

    def values_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Items(span, "tuple", tuple(self.expr(c) for c in tree.children))

    def tuple_expr(self, tree: Any, span: Span) -> s.Expr:
        inner = tree.children[0]
        return s.Items(span, "tuple", ()) if inner is None else self.expr(inner)

    def list_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Items(span, "list", tuple(self.expr(c) for c in tree.children if c is not None))

    def attribute_expr(self, tree: Any, span: Span) -> s.Expr:
        value, name = tree.children
        return s.Attribute(span, self.expr(value), self.name(name), self.span(name))

    def index_expr(self, tree: Any, span: Span) -> s.Expr:
        value, index = tree.children
        return s.Index(span, self.expr(value), self.expr(index))

    def call_expr(self, tree: Any, span: Span) -> s.Expr:
        function, *given = tree.children
        args, keywords = [], []
        for arg in given:
            if arg is not None and arg.data == "keyword":
                keywords.append(
                    s.Keyword(self.span(arg), self.name(arg.children[0]), self.expr(arg.children[1]))
                )
            elif arg is not None:
                args.append(self.expr(arg))
        return s.Call(span, self.expr(function), tuple(args), tuple(keywords))

    def unary_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Unary(span, str(tree.children[0]), self.expr(tree.children[1]))

    def negation_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Unary(span, "not", self.expr(tree.children[0]))

    def binary_expr(self, tree: Any, span: Span) -> s.Expr:
        left, op, right = tree.children
        return s.Binary(span, str(op), self.expr(left), self.expr(right))

    def bit_or_expr(self, tree: Any, span: Span) -> s.Expr:
        return self.bits("|", tree, span)

    def bit_xor_expr(self, tree: Any, span: Span) -> s.Expr:
        return self.bits("^", tree, span)

    def bit_and_expr(self, tree: Any, span: Span) -> s.Expr:
        return self.bits("&", tree, span)

    def bits(self, op: str, tree: Any, span: Span) -> s.Expr:
        """One of `|`, `^`, `&`."""
        return s.Binary(span, op, self.expr(tree.children[0]), self.expr(tree.children[1]))

    def comparison_expr(self, tree: Any, span: Span) -> s.Expr:
        first, *rest = tree.children
        pairs = zip(rest[::2], rest[1::2], strict=True)
        named = tuple((" ".join(map(str, op.children)), self.expr(operand)) for op, operand in pairs)
        return s.Compare(span, self.expr(first), named)

    def or_test_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Bool(span, "or", tuple(self.expr(c) for c in tree.children))

    def and_test_expr(self, tree: Any, span: Span) -> s.Expr:
        return s.Bool(span, "and", tuple(self.expr(c) for c in tree.children))

    def conditional_expr(self, tree: Any, span: Span) -> s.Expr:
        then, test, other = tree.children
        return s.Conditional(span, self.expr(test), self.expr(then), self.expr(other))


def _is_text(e: s.Expr) -> bool:
    return isinstance(e, s.Literal) and isinstance(e.value, str)
