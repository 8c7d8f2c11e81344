"""The user's functions as code in which the frontend's findings stand: types of variables, and writes that reduce.

CPython would keep `total = 0` as its own number, whatever is added to it later, and would know nothing of the type that
the branches of an `if` have together. So what is assigned to a variable, what a conditional gives and what a helper
returns passes through `kept`, literals are numbers of the language, and helpers are called as they were typed for this
call. Lines stay where they are in the user's file.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any

from vgraph.compiler.foreign.externals import External
from vgraph.compiler.frontend.kinds import default
from vgraph.compiler.frontend.parser import DECLARATIONS
from vgraph.compiler.frontend.typed import Part, Position, Typed
from vgraph.language.decorators import Definition
from vgraph.reference.frontiers import Chosen
from vgraph.reference.proxies import present
from vgraph.reference.values import Number, lift, negation, reduced
from vgraph.reference.whole import assigned, at_vertex, combined

if TYPE_CHECKING:
    from vgraph.reference.overlay import Overlay


VERTEX = "__vgraph_vertex__"
"""The vertex at which an expression of whole properties is evaluated."""


def code_of(typed: Typed, overlay: Overlay) -> tuple[CodeType, dict[str, Any]]:
    """The function's code, and what it needs by names that are no user's. Raises SourceError without a source text."""
    function = tree_of(typed.definition)
    function.decorator_list = []
    function.returns = None
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    function.args.defaults = [ast.Constant(None) for _ in function.args.defaults]
    function.args.kw_defaults = [d and ast.Constant(None) for d in function.args.kw_defaults]
    rewriting = Rewriting(typed, overlay)
    function.body = [made for statement in function.body for made in rewriting.statement(statement)]
    free = typed.definition.function.__code__.co_freevars
    whole = ast.parse(
        f"def outer({', '.join(free)}): pass"
    )  # whose parameters are the names of enclosing functions
    whole.body[0].body = [function]  # type: ignore[attr-defined]
    ast.fix_missing_locations(whole)
    module = compile(whole, typed.definition.source.name, "exec", dont_inherit=True)
    return _inner(_inner(module)), rewriting.names


def tree_of(definition: Definition) -> ast.FunctionDef:
    """The function in Python's syntax, with the lines of the user's file. Raises SourceError without a source text."""
    source = definition.source
    margin = 1 if source.indent else 0  # lines before the text that let it stand indented
    tree = ast.parse("if True:\n" * margin + source.text)
    ast.increment_lineno(tree, source.first_line - 1 - margin)
    return next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def _inner(code: CodeType) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def _declares(value: ast.expr) -> bool:
    function = value.func if isinstance(value, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in DECLARATIONS


def _one_by_one(node: ast.Assign) -> list[ast.stmt]:
    """`a = b = e` and `a, b = graph.vertex_property(...)` as the parser has them: an assignment for each target."""
    targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
    made: list[ast.stmt] = []
    for target in targets:
        one = ast.copy_location(ast.Assign([target], copy.deepcopy(node.value)), node)
        one.lineno, one.col_offset = target.lineno, target.col_offset
        made.append(one)
    return made


class _AtVertex(ast.NodeTransformer):
    """Makes of what is said of whole properties what holds at one vertex; `sums` are taken out, by new names."""

    def __init__(self, rewriting: Rewriting) -> None:
        self.rewriting = rewriting
        self.sums: dict[str, ast.expr] = {}

    def value(self, node: Any) -> Any:
        at = self.rewriting.call(at_vertex, node, ast.Name(VERTEX, ast.Load()))
        return ast.copy_location(at, node)

    def visit_Name(self, node: ast.Name) -> Any:
        return self.value(node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        at = self.rewriting.position(node.value)
        if isinstance(self.rewriting.typed.calls.get(at), Part):
            return self.value(self.once(node))
        return self.value(node)

    def once(self, node: ast.expr) -> ast.Name:
        """A name for what is evaluated before."""
        name = f"__vgraph_sum_{len(self.sums)}__"
        self.sums[name] = node
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.slice, ast.Slice):
            return self.value(node.value)
        node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if self.rewriting.position(node) in self.rewriting.typed.labels:
            return self.once(node)
        node.args = [self.visit(arg) for arg in node.args]
        return node


class Rewriting(ast.NodeTransformer):
    """Rewrites one function; `names` are the objects that it puts into the text."""

    def __init__(self, typed: Typed, overlay: Overlay) -> None:
        self.typed, self.overlay = typed, overlay
        self.names: dict[str, Any] = {}
        self.place = ""  # what the reduction at hand writes, as text
        self.op = ""  # and by what

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """What a statement becomes."""
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def position(self, node: Any) -> Position:
        """Where a node stands, in characters as the frontend counts them; Python's tree counts bytes."""
        source = self.typed.definition.source

        def column(line: int, offset: int) -> int:
            text = source.line(line)
            return offset if text.isascii() else len(text.encode()[:offset].decode())

        end = node.end_lineno
        return (node.lineno, column(node.lineno, node.col_offset), end, column(end, node.end_col_offset))

    def name(self, value: object) -> ast.Name:
        """A name for an object of ours."""
        made = f"__vgraph_{len(self.names)}__"
        self.names[made] = value
        return ast.Name(made, ast.Load())

    def call(self, function: Callable[..., Any], *args: ast.expr) -> ast.Call:
        """A call of a function of ours."""
        return ast.Call(self.name(function), list(args), [])

    def kept(self, node: ast.AST, value: Any) -> Any:
        """`value` in the kind that was found for `node`, if one was: frontiers and properties have none."""
        kind = self.typed.kinds.get(self.position(node))
        if kind is None:
            return value
        state, named = self.overlay.state, self.position(node) in self.typed.names
        return ast.copy_location(self.call(lambda v: state.kept(v, kind, named=named), value), value)

    def reduction(self, node: ast.stmt, target: ast.Attribute | ast.Subscript, value: ast.expr) -> Any:
        """A statement that reduces into `target`, perhaps an element of a vector, what `value` combines with it."""
        op = self.typed.reductions[self.position(node)]
        self.place, self.op = ast.unparse(target), op
        value, self.place = self.visit(value), ""
        index = [self.visit(target.slice)] if isinstance(target, ast.Subscript) else []
        vector: Any = target.value if isinstance(target, ast.Subscript) else target
        name, owner = vector.attr, self.visit(vector.value)
        made = self.call(lambda owner, v, *at: owner._reduce(name, v, op, *at), owner, value, *index)
        return ast.copy_location(ast.Expr(made), node)

    def tuple_update(self, node: ast.Assign, target: ast.Tuple) -> list[ast.stmt]:
        """`a, b = min((a, b), (c, d), ...)`, one candidate after the other."""
        update, places = self.typed.tuples[self.position(node)], ast.unparse(target)
        names = tuple(getattr(place, "attr", "") for place in target.elts)
        state = self.overlay.state

        def reduce(owner: Any, new: Any) -> None:
            owner._reduce_tuple(names, new, update.op)

        def best(old: Any, new: Any) -> Any:
            return state.best(update.op, update.kinds, old, new)

        call: Any = node.value
        made: list[ast.stmt] = []
        for new in call.args:
            if ast.unparse(new) == places:
                continue
            if update.reduces:
                first: Any = copy.deepcopy(target.elts[0])
                made.append(ast.Expr(self.call(reduce, self.visit(first.value), self.visit(new))))
                continue
            old = next(a for a in call.args if ast.unparse(a) == places)
            chosen = self.call(best, self.visit(copy.deepcopy(old)), self.visit(new))
            made.append(ast.Assign([self.visit(copy.deepcopy(target))], chosen))
        return [ast.copy_location(statement, node) for statement in made]

    # --- whole properties

    def at_vertex(self, value: ast.expr) -> ast.Lambda:
        """A function of a vertex for an expression of whole properties; sums inside are made once, before."""
        parts = _AtVertex(self)
        body = self.visit(parts.visit(copy.deepcopy(value)))
        names = [ast.arg(VERTEX), *(ast.arg(name) for name in parts.sums)]
        sums = [self.visit(e) for e in parts.sums.values()]
        seen = ast.arguments(posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=sums)
        return ast.Lambda(seen, body)

    def whole(self, node: ast.stmt, target: Any, value: ast.expr) -> ast.Assign:
        """`x = e`, `x[:] = e`: into the property that there is, or into a new one."""
        label, t = self.typed.labels[self.position(node)], self.typed.kinds[self.position(target)]
        name = ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
        if isinstance(target, ast.Subscript):
            there: ast.expr = self.visit(target.value)
            out: ast.expr = ast.Name("_", ast.Store())
        else:
            there = ast.Call(
                ast.Attribute(self.call(locals), "get", ast.Load()), [ast.Constant(target.id)], []
            )
            out = target
        made = self.call(
            partial(assigned, self.overlay.state, label, default(t), name), there, self.at_vertex(value)
        )
        return ast.copy_location(ast.Assign([out], made), node)

    # --- statements

    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) > 1 or (isinstance(node.targets[0], ast.Tuple) and _declares(node.value)):
            return [made for one in _one_by_one(node) for made in self.statement(one)]
        (target,) = node.targets
        if self.position(node) in self.typed.labels:
            return self.whole(node, target, node.value)
        if isinstance(target, ast.Tuple):  # of a branch that is never taken nothing is known
            return self.tuple_update(node, target) if self.position(node) in self.typed.tuples else node
        if isinstance(target, ast.Attribute | ast.Subscript) and self.position(node) in self.typed.reductions:
            return self.reduction(node, target, node.value)
        self.generic_visit(node)
        node.value = self.kept(target, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target: Any = node.target
        at = self.position(node)
        reduces = not isinstance(target, ast.Name) and at in self.typed.reductions
        if not reduces and not isinstance(target, ast.Name) and at not in self.typed.labels:
            return self.generic_visit(node)
        old = copy.deepcopy(target)
        old.ctx = ast.Load()
        whole = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        if self.position(node) in self.typed.labels:
            return self.whole(node, target, whole)
        if reduces:
            return self.reduction(node, target, whole)
        return ast.copy_location(ast.Assign([target], self.kept(target, self.visit(whole))), node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A call of `print` is Python's own business: nothing in it has been typed."""
        call, prints = node.value, self.typed.definition.prints
        if prints and isinstance(call, ast.Call) and ast.unparse(call.func) == "print":
            return node
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        target: Any = node.target
        names: list[Any] = target.elts if isinstance(target, ast.Tuple) else [target]
        for name in reversed(names):
            old = ast.copy_location(ast.Name(name.id, ast.Load()), name)
            value = self.kept(name, old)
            if value is not old:
                node.body.insert(0, ast.copy_location(ast.Assign([name], value), name))
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if node.value is not None:
            node.value = self.kept(node, node.value)
        return node

    # --- expressions

    def visit_Constant(self, node: ast.Constant) -> Any:
        value = lift(node.value)
        return ast.copy_location(self.name(value), node) if isinstance(value, Number) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return self.kept(node, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return (
            ast.copy_location(self.call(negation, node.operand), node)
            if isinstance(node.op, ast.Not)
            else node
        )

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return node
        return ast.copy_location(self.call(lift, node), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        op = self.op if ast.unparse(node) == self.place else ""
        self.generic_visit(node)
        return ast.copy_location(self.call(lambda read: reduced(read, op), node), node) if op else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        claims = isinstance(node.ctx, ast.Load) and self.position(node) in self.typed.claims
        op = self.op if ast.unparse(node) == self.place else ""
        self.generic_visit(node)
        if op:
            return ast.copy_location(self.call(lambda read: reduced(read, op), node), node)
        return ast.copy_location(self.call(present, node), node) if claims else node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        label = self.typed.labels.get(self.position(node.elt))
        self.generic_visit(node)
        if label is None:  # in a branch that is never taken
            return node
        (loop,) = node.generators
        target: Any = loop.target
        test = ast.BoolOp(ast.And(), [ast.Constant(True), ast.Constant(True), *loop.ifs])
        seen = ast.arguments(
            posonlyargs=[], args=[ast.arg(target.id)], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        return ast.copy_location(self.call(partial(Chosen, label), loop.iter, ast.Lambda(seen, test)), node)

    def visit_Call(self, node: ast.Call) -> Any:
        at = self.position(node)
        found, method = self.typed.calls.get(at), getattr(node.func, "attr", "")
        if at in self.typed.labels:
            values = self.at_vertex(node.args[0])
            made = partial(
                combined, self.overlay.state, self.typed.labels[at], method, default(self.typed.kinds[at])
            )
            return ast.copy_location(self.call(made, values), node)
        self.generic_visit(node)
        if at in self.typed.kinds and method == "where":
            return self.kept(node, ast.copy_location(ast.IfExp(*node.args), node))
        if isinstance(found, Typed):
            node.func = ast.copy_location(self.name(self.overlay.function(found)), node.func)
        elif isinstance(found, External):
            node.func = ast.copy_location(self.name(self.overlay.external(found)), node.func)
        elif isinstance(found, Part):
            node.func = ast.copy_location(self.name(self.overlay.part(found)), node.func)
        return node
