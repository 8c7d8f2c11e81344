"""Text to syntax: `grammar.py` parses, `Builder` makes records of the tree and refuses what the language leaves out."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

from vgraph import refusals
from vgraph.compiler.frontend import grammar
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.grammar import Token, Tree, Unexpected
from vgraph.compiler.frontend.nesting import too_deep
from vgraph.refusals.base import Refusal
from vgraph.source import SourceFile, Span

DECLARATIONS = frozenset({"vertex_property", "edge_property", "scratch", "disjoint_sets"})
"""Methods of the graph that give each name on the left of an assignment a property of its own."""

REFUSED: dict[str, str] = {  # the class in vgraph.refusals.syntax
    "starred_parameter": "StarredParameter",
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
    "await": "AsyncCode",
    "list_comprehension": "Comprehension",
    "set_comprehension": "Comprehension",
    "dict": "DictOrSet",
    "set": "DictOrSet",
    "ellipsis": "EllipsisLiteral",
    "imaginary": "ComplexNumber",
}


def parse(source: SourceFile, *, defaults: bool, prints: bool = True) -> s.Function:
    """The function in `source`. Raises a Refusal for what the language leaves out.

    `defaults`: whether its parameters may have default values. `prints`: whether `print` is Python's; then statements
    that call it are left out.
    """
    try:
        tree: Any = grammar.parse(source.text)
    except Unexpected as error:
        raise _not_understood(source, error) from None
    builder = Builder(source, defaults, prints)
    try:
        return builder.function(tree.children[0])
    except RecursionError:
        raise too_deep(builder.span(builder.at)) from None


def _not_understood(source: SourceFile, error: Unexpected) -> Refusal:
    """The refusal for a text that the grammar does not have; the one place where parse errors become user errors."""
    line, column = source.first_line + error.line - 1, error.column - 1
    span = Span(source, line, column, line, column + max(len(error.word.split("\n")[0]), 1))
    text = source.line(line)
    if re.match(r"\s*match\b", text):
        start = len(text) - len(text.lstrip())
        return refusals.syntax.MatchStatement(Span(source, line, start, line, len(text)))
    return refusals.syntax.NotUnderstood(span)


class Builder:
    """Makes syntax records of one function's tree."""

    def __init__(self, source: SourceFile, defaults: bool, prints: bool) -> None:
        self.source = source
        self.defaults = defaults
        self.prints: list[Span] | None = [] if prints else None  # those that are left out
        self.at: Any = None  # the statement that is being built

    def span(self, x: Tree | Token) -> Span:
        """Where a tree or token stands in the file."""
        (line, column), (end_line, end_column) = x.start, x.end
        shift = self.source.first_line - 1
        return Span(self.source, line + shift, column - 1, end_line + shift, end_column - 1)

    def kind(self, tree: Any) -> str:
        """The rule of the grammar that a tree is of. Raises the Refusal of what the language leaves out."""
        kind: str = tree.data
        if kind in REFUSED:
            raise getattr(refusals.syntax, REFUSED[kind])(self.span(tree))
        return kind

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
        given = () if parameters is None else parameters.children
        found = tuple(self.parameter(p) for p in given if p is not None)
        body = self.suite(suite)
        match body:
            case (s.Evaluate(value=s.Literal(value=str())), *_):
                body = body[1:]
        return s.Function(self.span(name), self.name(name), found, body, tuple(self.prints or ()))

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
        """The statements of an indented block; none if all it does is print."""
        return tuple(x for child in tree.children if child is not None for x in self.statement(child))

    def statement(self, tree: Any) -> s.Body:
        """The records of a statement: one for each target of an assignment, none if all it does is print."""
        self.at = tree
        if self.prints is not None and _is_print(tree):
            self.prints.append(self.span(tree))
            return ()
        kind = self.kind(tree)
        if kind == "assign":
            return self.assign(tree.children, self.span(tree))
        made = _STATEMENTS[kind](self, tree.children, self.span(tree))
        return () if isinstance(made, s.If | s.For) and not any(s.bodies(made)) else (made,)

    def target(self, tree: Any) -> s.Expr:
        """What stands on the left of an assignment."""
        if tree.data in ("values", "tuple", "list", "starred"):
            raise refusals.syntax.TupleAssignment(self.span(tree))
        return self.expr(tree)

    def assign(self, children: Any, span: Span) -> s.Body:
        """`target = value`, `a = b = value`, `a, b = value`; of several targets each gets a value of its own."""
        *targets, last = children
        if len(targets) > 1:
            return _chained(span, [self.target(t) for t in targets], self.expr(last))
        if targets[0].data not in ("values", "tuple"):
            return (s.Assign(span, self.target(targets[0]), self.expr(last)),)
        places, made = self.expr(targets[0]), self.expr(last)
        if not (isinstance(places, s.Items) and isinstance(made, s.Call)):
            raise refusals.syntax.TupleAssignment(self.span(targets[0]))
        if places in made.args:
            return (s.AssignTuple(span, places.items, made),)
        if not _declares(made.function) or any(not isinstance(name, s.Name) for name in places.items):
            raise refusals.syntax.TupleAssignment(places.span)
        return tuple(s.Assign(name.span.to(span), name, made) for name in places.items)

    def if_stmt(self, children: Any, span: Span) -> s.Stmt:
        """`if`, `elif`, `else`."""
        test, then, *elifs, last = children
        other = () if last is None else self.suite(last.children[0])
        for branch in reversed(elifs):
            made = self.branch(self.span(branch), branch.children[0], branch.children[1], other)
            other = (made,) if any(s.bodies(made)) else ()
        return self.branch(span, test, then, other)

    def branch(self, span: Span, test: Any, then: Any, other: s.Body) -> s.If:
        """One `if` or `elif`; its span is the header."""
        condition = self.expr(test)
        return s.If(span.to(condition.span), condition, self.suite(then), other)

    def while_stmt(self, children: Any, span: Span) -> s.Stmt:
        """`while test:`."""
        test, body, other = children
        condition = self.expr(test)
        return s.While(span.to(condition.span), condition, self.suite(body), self.other(other))

    def for_stmt(self, children: Any, span: Span) -> s.Stmt:
        """`for target in iterable:`."""
        is_async, target, iterable, body, other = children
        if is_async is not None:
            raise refusals.syntax.AsyncCode(self.span(is_async))
        targets = target.children if target.data == "targets" else [target]
        if len(targets) > 2 or any(t is None or t.data != "name" for t in targets):
            raise refusals.syntax.ForTarget(self.span(target))
        over = self.expr(iterable)
        *counter, name = (s.Name(self.span(t), self.name(t.children[0])) for t in targets)
        counted = counter[0] if counter else None
        return s.For(span.to(over.span), name, over, self.suite(body), self.other(other), counted)

    def other(self, tree: Any) -> s.Body:
        """The `else` of a loop."""
        return () if tree is None else self.suite(tree.children[0])

    # --- expressions

    def expr(self, tree: Any) -> s.Expr:
        """The record of an expression."""
        return _EXPRESSIONS[self.kind(tree)](self, tree.children, self.span(tree))

    def all(self, children: Any) -> tuple[s.Expr, ...]:
        """The records of several."""
        return tuple(self.expr(c) for c in children if c is not None)

    def text(self, children: Any, span: Span) -> s.Expr:
        """Strings, one after another."""
        for token in children:
            prefix = re.match(r"[A-Za-z]*", token)
            if prefix and set(prefix.group().lower()) & set("fbt"):
                raise refusals.syntax.FormattedString(self.span(token))
        with warnings.catch_warnings():  # of `\\ ` and the like Python has warned where it read the file
            warnings.simplefilter("ignore")
            try:
                return s.Literal(span, "".join(ast.literal_eval(str(t)) for t in children))
            except SyntaxError:  # an escape sequence without its digits
                raise refusals.syntax.NotUnderstood(span) from None

    def call(self, children: Any, span: Span) -> s.Expr:
        """`function(args, keyword=value)`."""
        function, *given = children
        args: list[s.Expr] = []
        keywords: list[s.Keyword] = []
        for arg in given:
            if arg is not None and arg.data == "keyword":
                name, value = arg.children
                keywords.append(s.Keyword(self.span(arg), self.name(name), self.expr(value)))
            elif arg is not None:
                args.append(self.expr(arg))
        return s.Call(span, self.expr(function), tuple(args), tuple(keywords))

    def slice(self, children: Any, span: Span) -> s.Expr:
        """`a:b`."""
        start, stop, step = (None if c is None else self.expr(c) for c in children)
        return s.Slice(span, start, stop, step)

    def comprehension(self, children: Any, span: Span) -> s.Expr:
        """`element for target in iterable if test`."""
        element, *loops = children
        is_async, target, iterable, *tests = loops[0].children
        if len(loops) > 1 or is_async is not None or target.data != "name":
            raise refusals.syntax.Comprehension(span)
        name = s.Name(self.span(target), self.name(target.children[0]))
        return s.Comprehension(span, self.expr(element), name, self.expr(iterable), self.all(tests))

    def comparison(self, children: Any, span: Span) -> s.Expr:
        """`a < b <= c`."""
        first, *rest = children
        pairs = zip(rest[::2], rest[1::2], strict=True)
        named = tuple((" ".join(map(str, op.children)), self.expr(operand)) for op, operand in pairs)
        return s.Compare(span, self.expr(first), named)


def _chained(span: Span, targets: list[s.Expr], value: s.Expr) -> s.Body:
    """One assignment after the other, of what none of them changes."""
    number = value.operand if isinstance(value, s.Unary) else value
    plain = isinstance(number, s.Literal | s.Name)
    plain |= isinstance(number, s.Attribute) and isinstance(number.value, s.Name)
    if not plain or any(part in targets for part in s.walk(value)):
        raise refusals.syntax.ChainedAssignment(span)
    return tuple(s.Assign(target.span.to(span), target, value) for target in targets)


def _declares(function: s.Expr) -> bool:
    """Whether what is called makes a property, one for each name on the left."""
    return isinstance(function, s.Attribute) and function.name in DECLARATIONS


def _is_print(tree: Any) -> bool:
    """Whether a statement calls `print`, with whatever: it is for Python alone."""
    call = tree.children[0] if tree.data == "expression_stmt" else None
    if call is None or call.data != "call":
        return False
    function = call.children[0]
    return bool(function.data == "name" and function.children[0] == "print")


_STATEMENTS: dict[str, Callable[[Builder, Any, Span], s.Stmt]] = {
    "expression_stmt": lambda b, c, at: s.Evaluate(at, b.expr(c[0])),
    "augmented": lambda b, c, at: s.Augment(at, b.target(c[0]), str(c[1])[:-1], b.expr(c[2])),
    "pass_stmt": lambda b, c, at: s.Pass(at),
    "break_stmt": lambda b, c, at: s.Break(at),
    "continue_stmt": lambda b, c, at: s.Continue(at),
    "return_stmt": lambda b, c, at: s.Return(at, b.expr(c[0]) if c and c[0] is not None else None),
    "if_stmt": Builder.if_stmt,
    "while_stmt": Builder.while_stmt,
    "for_stmt": Builder.for_stmt,
}
_EXPRESSIONS: dict[str, Callable[[Builder, Any, Span], s.Expr]] = {
    "name": lambda b, c, at: s.Name(at, b.name(c[0])),
    "number": lambda b, c, at: s.Literal(at, ast.literal_eval(str(c[0]))),
    "text": Builder.text,
    "true": lambda b, c, at: s.Literal(at, True),
    "false": lambda b, c, at: s.Literal(at, False),
    "none": lambda b, c, at: s.Literal(at, None),
    "values": lambda b, c, at: s.Items(at, "tuple", b.all(c)),
    "tuple": lambda b, c, at: s.Items(at, "tuple", ()) if c[0] is None else b.expr(c[0]),
    "list": lambda b, c, at: s.Items(at, "list", b.all(c)),
    "attribute": lambda b, c, at: s.Attribute(at, b.expr(c[0]), b.name(c[1]), b.span(c[1])),
    "index": lambda b, c, at: s.Index(at, b.expr(c[0]), b.expr(c[1])),
    "slice": Builder.slice,
    "call": Builder.call,
    "unary": lambda b, c, at: s.Unary(at, str(c[0]), b.expr(c[1])),
    "negation": lambda b, c, at: s.Unary(at, "not", b.expr(c[0])),
    "binary": lambda b, c, at: s.Binary(at, str(c[1]), b.expr(c[0]), b.expr(c[2])),
    "bit_or": lambda b, c, at: s.Binary(at, "|", b.expr(c[0]), b.expr(c[1])),
    "bit_xor": lambda b, c, at: s.Binary(at, "^", b.expr(c[0]), b.expr(c[1])),
    "bit_and": lambda b, c, at: s.Binary(at, "&", b.expr(c[0]), b.expr(c[1])),
    "comprehension": Builder.comprehension,
    "generator": lambda b, c, at: b.expr(c[0]),
    "comparison": Builder.comparison,
    "or_test": lambda b, c, at: s.Bool(at, "or", b.all(c)),
    "and_test": lambda b, c, at: s.Bool(at, "and", b.all(c)),
    "conditional": lambda b, c, at: s.Conditional(at, b.expr(c[1]), b.expr(c[0]), b.expr(c[2])),
}
