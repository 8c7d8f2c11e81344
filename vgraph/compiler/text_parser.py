"""From the text of the IR to nodes: `grammar/ir.lark` gives a tree, declarations give the types of names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from vgraph.compiler import ir
from vgraph.compiler.functions import call_type
from vgraph.compiler.ir import Body, Expr, FrontierKind, Layout, Order, Orientation, Program, Site, Stmt
from vgraph.compiler.types import BOOL, EID, I64, SCALARS, VID, Scalar, Target, Type, Vector
from vgraph.errors import Diagnostic
from vgraph.schedule import AXES, ApplySchedule, axis
from vgraph.source import SourceFile, Span

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.tree import Meta

_GRAMMAR = Path(__file__).parent / "grammar" / "ir.lark"
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class IrSyntaxError(Diagnostic):
    """Text that is not a program of the IR."""

    title: ClassVar[str] = "the text is not valid IR"
    label: ClassVar[str] = "{reason}"

    reason: str


@cache
def _lark() -> Lark:
    from lark import Lark

    grammar = _GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse(text: str, name: str) -> Program:
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
    return _Builder(source).program(tree)


def _text(token: Token | str) -> str:
    """The name that a NAME token stands for."""
    return str(json.loads(token)) if token.startswith('"') else str(token)


def _group(lanes: Token | None) -> ir.Lanes:
    return ir.Lanes.THREAD if lanes is None else ir.Lanes(str(lanes))


def _optional(token: Token | None) -> str | None:
    return None if token is None else _text(token)


class _Builder:
    """Builds nodes from trees, top down, with the names that are in scope."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.locals: dict[str, Type] = {}
        self.properties: dict[str, ir.Property] = {}
        self.globals: dict[str, Type] = {}
        self.frontiers: set[str] = set()

    # --- declarations

    def program(self, tree: Any) -> Program:
        header, *rest = tree.children
        name, level, ids, offsets, threads = header.children
        groups: dict[str, list[Any]] = {}
        for item in rest:
            group = item.data.split("_")[0]
            node = getattr(self, f"_d_{item.data}")(item, *item.children)
            groups.setdefault(group, []).append(node)
        if level not in {x.value for x in ir.Level}:
            raise self.error(header.meta, f"there is no level {level}")
        target = Target(int(ids), int(offsets))
        if not {target.id_bits, target.offset_bits} <= {32, 64}:
            raise self.error(header.meta, "indices have 32 or 64 bits")
        return Program(
            _text(name),
            ir.Level(level),
            target,
            params=tuple(groups.get("param", ())),
            properties=tuple(groups.get("property", ())),
            globals=tuple(groups.get("global", ())),
            frontiers=tuple(groups.get("frontier", ())),
            lists=tuple(groups.get("list", ())),
            operators=tuple(groups.get("operator", ())),
            body=groups["run"][0],
            results=tuple(groups.get("result", ())),
            threads=int(threads or 0),
            buckets=tuple(groups.get("buckets", ())),
            queues=tuple(groups.get("queue", ())),
            span=self.span(header.meta),
        )

    def _d_param(self, tree: Any, name: Token, type_: Any) -> ir.Param:
        self.locals[_text(name)] = t = self.type(type_)
        return ir.Param(_text(name), t, span=self.span(tree.meta))

    def _d_property(self, tree: Any, site: str, name: Token, *rest: Any) -> ir.Property:
        type_, origin, disjoint = rest
        args = (self.type(type_), Site(str(site)), ir.Origin(str(origin)), disjoint is not None)
        node = ir.Property(_text(name), *args, span=self.span(tree.meta))
        self.properties[node.name] = node
        return node

    def _d_global(self, tree: Any, name: Token, type_: Any) -> ir.Global:
        self.globals[_text(name)] = t = self.type(type_)
        return ir.Global(_text(name), t, span=self.span(tree.meta))

    def _d_frontier(self, tree: Any, name: Token, *rest: Any) -> ir.FrontierDecl:
        *layouts, flags = rest
        self.frontiers.add(_text(name))
        kinds = tuple(Layout(str(x)) for x in layouts)
        return ir.FrontierDecl(_text(name), kinds, flags is not None, span=self.span(tree.meta))

    def _d_list(self, tree: Any, name: Token) -> ir.ListDecl:
        return ir.ListDecl(_text(name), span=self.span(tree.meta))

    def _d_queue(self, tree: Any, name: Token, prop: Token) -> ir.QueueDecl:
        return ir.QueueDecl(_text(name), _text(prop), span=self.span(tree.meta))

    def _d_buckets(self, tree: Any, name: Token, vertex: Token, key: Any, strict: Any) -> ir.BucketsDecl:
        with self.scope({_text(vertex): VID}):
            built = self.expr(key)
        kind = strict is not None
        return ir.BucketsDecl(_text(name), _text(vertex), built, kind, span=self.span(tree.meta))

    def _d_operator(self, tree: Any, name: Token, *rest: Any) -> ir.Operator:
        *tokens, body = rest
        args = tuple(map(_text, tokens))
        types = ir.ARGUMENT_TYPES.get(len(args))
        if types is None:
            raise self.error(tree.meta, "an operator takes (src, edge, dst) or (v)")
        built = self.body(body, dict(zip(args, types, strict=True)))
        return ir.Operator(_text(name), args, built, span=self.span(tree.meta))

    def _d_run(self, tree: Any, body: Any) -> Body:
        return tuple(self.stmt(s) for s in body.children)  # its locals stay visible for the results

    def _d_result_short(self, tree: Any, name: Token) -> ir.Result:
        return ir.Result(_text(name), "property", _text(name), span=self.span(tree.meta))

    def _d_result_property(self, tree: Any, name: Token, prop: Token) -> ir.Result:
        return ir.Result(_text(name), "property", _text(prop), span=self.span(tree.meta))

    def _d_result_scalar(self, tree: Any, name: Token, value: Any) -> ir.Result:
        return ir.Result(_text(name), "scalar", self.expr(value), span=self.span(tree.meta))

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

    def body(self, tree: Any, names: dict[str, Type] | None = None) -> Body:
        with self.scope(names or {}):
            return tuple(self.stmt(s) for s in tree.children)

    # --- statements

    def stmt(self, tree: Any) -> Stmt:
        node: Stmt = getattr(self, f"_s_{tree.data}")(*tree.children)
        object.__setattr__(node, "span", self.span(tree.meta))
        return node

    def _s_let(self, name: Token, type_: Any, value: Any) -> Stmt:
        built = self.expr(value)
        self.locals[_text(name)] = t = self.type(type_)
        return ir.Let(_text(name), t, built)

    def _s_assign(self, name: Token, value: Any) -> Stmt:
        target = _text(name)
        if target in self.frontiers and value.data == "load":
            _, source, index = value.children
            return ir.ListGet(target, _text(source), self.expr(index))
        return ir.Assign(target, self.expr(value))

    def _s_accumulate(self, name: Token, op: Token, value: Any) -> Stmt:
        return ir.Accumulate(str(op[:-1]), _text(name), self.expr(value))

    def _s_set_global(self, name: Token, value: Any) -> Stmt:
        return ir.SetGlobal(_text(name), self.expr(value))

    def _s_reduce_global(self, name: Token, op: Token, value: Any) -> Stmt:
        return ir.ReduceGlobal(str(op[:-1]), _text(name), self.expr(value))

    def _s_scratch_store(self, prop: Token, index: Any, value: Any) -> Stmt:
        return ir.ScratchStore(_text(prop), self.expr(index), self.expr(value))

    def _s_scratch_clear(self, prop: Token) -> Stmt:
        return ir.ScratchClear(_text(prop))

    def _s_store(self, relaxed: Any, prop: Token, index: Any, value: Any) -> Stmt:
        order = Order.PLAIN if relaxed is None else Order.RELAXED
        return ir.Store(_text(prop), self.expr(index), self.expr(value), order)

    def _s_reduce(self, atomic: Any, prop: Token, index: Any, op: Token, *rest: Any) -> Stmt:
        value, _arrow, changed = rest
        place = (str(op[:-1]), _text(prop), self.expr(index), self.expr(value))
        return ir.Reduce(*place, atomic is not None, _optional(changed))

    def _s_if(self, condition: Any, then: Any, other: Any) -> Stmt:
        built = self.expr(condition)
        body = self.body(then)
        if other is None:
            return ir.If(built, body)
        return ir.If(built, body, (self.stmt(other),) if other.data == "if" else self.body(other))

    def _s_while(self, condition: Any, body: Any) -> Stmt:
        return ir.While(self.expr(condition), self.body(body))

    def _s_for(self, name: Token, start: Any, stop: Any, step: Any, body: Any) -> Stmt:
        bounds = (self.expr(start), self.expr(stop), self.expr(step))
        return ir.For(_text(name), *bounds, self.body(body, {_text(name): I64}))

    def _s_for_neighbors(self, vertex: Token, edge: Token, way: Token, of: Any, *rest: Any) -> Stmt:
        segments, prefetch, vectorize, body = rest
        names: dict[str, Type] = {_text(vertex): VID, _text(edge): EID}
        head = (_text(vertex), _text(edge), self.expr(of), Orientation(str(way)))
        how = (int(segments or 1), int(prefetch or 0), vectorize is not None)
        return ir.ForNeighbors(*head, self.body(body, names), *how)

    def _s_for_common(self, vertex: Token, *rest: Any) -> Stmt:
        left_way, left, right_way, right, body = rest
        left_side = (self.expr(left), Orientation(str(left_way)))
        right_side = (self.expr(right), Orientation(str(right_way)))
        return ir.ForCommon(_text(vertex), *left_side, *right_side, self.body(body, {_text(vertex): VID}))

    def _s_break(self) -> Stmt:
        return ir.Break()

    def _s_continue(self) -> Stmt:
        return ir.Continue()

    def _s_fail(self, message: Token) -> Stmt:
        return ir.Fail(_text(message))

    def _s_claim(self, prop: Token, index: Any, expected: Any, value: Any, body: Any) -> Stmt:
        place = (_text(prop), self.expr(index), self.expr(expected), self.expr(value))
        return ir.Claim(*place, self.body(body))

    def _s_union(self, prop: Token, a: Any, b: Any) -> Stmt:
        return ir.Union(_text(prop), self.expr(a), self.expr(b))

    def _s_fill(self, prop: Token, value: Any) -> Stmt:
        return ir.Fill(_text(prop), None if getattr(value, "type", "") == "ID" else self.expr(value))

    def _apply(self, *parts: Any) -> tuple[str, str | None, str | None, str, ApplySchedule | None]:
        out, op, frontier, label, schedule = parts
        words = None if schedule is None else self.schedule(schedule)
        return _text(op), _optional(frontier), _optional(out), _text(op if label is None else label), words

    def _s_edge_apply(self, *parts: Any) -> Stmt:
        return ir.EdgeApply(*self._apply(*parts))

    def _s_vertex_apply(self, *parts: Any) -> Stmt:
        return ir.VertexApply(*self._apply(*parts))

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

    def _s_emit(self, value: Any) -> Stmt:
        return ir.Emit(self.expr(value))

    def _s_frontier_all(self, out: Token) -> Stmt:
        return ir.FrontierSet(_text(out), FrontierKind.ALL)

    def _s_frontier_empty(self, out: Token) -> Stmt:
        return ir.FrontierSet(_text(out), FrontierKind.EMPTY)

    def _s_frontier_single(self, out: Token, vertex: Any) -> Stmt:
        return ir.FrontierSet(_text(out), FrontierKind.SINGLE, self.expr(vertex))

    def _s_frontier_copy(self, out: Token, source: Token) -> Stmt:
        return ir.FrontierCopy(_text(out), _text(source))

    def _s_list_clear(self, name: Token) -> Stmt:
        return ir.ListClear(_text(name))

    def _s_list_append(self, name: Token, frontier: Token) -> Stmt:
        return ir.ListAppend(_text(name), _text(frontier))

    def _s_par_for(self, vertex: Token, position: Token | None, *rest: Any) -> Stmt:
        *domain, words, cut, segments, lanes, label, body = rest
        layout, frontier = (Layout(str(domain[0])), _text(domain[1])) if domain else (None, None)
        place = _optional(position)
        names: dict[str, Type] = {_text(vertex): VID}
        if place is not None:
            names[place] = I64
        built = self.body(body, names)
        flags = (_optional(label) or "", words is not None, place)
        pieces = self.pieces(cut)
        count = int(segments or 1)
        return ir.ParFor(_text(vertex), layout, frontier, built, *flags, *pieces, count, _group(lanes))

    def _s_pipeline(self, vertex: Token, position: Token | None, *rest: Any) -> Stmt:
        *domain, through, label, producer, consumer = rest
        layout, frontier = (Layout(str(domain[0])), _text(domain[1])) if domain else (None, None)
        *buffers, chunks = through.children
        place = _optional(position)
        names: dict[str, Type] = {_text(vertex): VID}
        if place is not None:
            names[place] = I64
        bodies = (self.body(producer, names), self.body(consumer, names))
        channel = (tuple(map(_text, buffers)), int(chunks))
        return ir.Pipeline(_text(vertex), layout, frontier, *channel, *bodies, _optional(label) or "", place)

    def _s_queue_fill(self, queue: Token) -> Stmt:
        return ir.QueueFill(_text(queue))

    def _s_queue_pop(self, out: Token, queue: Token) -> Stmt:
        return ir.QueuePop(_text(out), _text(queue))

    def _s_queue_update(self, queue: Token, frontier: Token | None) -> Stmt:
        return ir.QueueUpdate(_text(queue), _optional(frontier))

    def _s_buckets_clear(self, buckets: Token) -> Stmt:
        return ir.BucketsClear(_text(buckets))

    def _s_bucket_push(self, buckets: Token, vertex: Any) -> Stmt:
        return ir.BucketPush(_text(buckets), self.expr(vertex))

    def _s_bucket_advance(self, more: Token, buckets: Token) -> Stmt:
        return ir.BucketAdvance(_text(more), _text(buckets))

    def _s_bucket_loop(self, vertex: Token, buckets: Token, *rest: Any) -> Stmt:
        cut, lanes, label, body = rest
        built = self.body(body, {_text(vertex): VID})
        pieces = self.pieces(cut)
        return ir.BucketLoop(
            _text(vertex), _text(buckets), built, _optional(label) or "", *pieces, _group(lanes)
        )

    def pieces(self, cut: Any) -> tuple[Orientation | None, Expr | None]:
        """The side that is cut, and the limit."""
        side, limit = (None, None) if cut is None else cut.children
        return (
            None if side is None else Orientation(str(side)),
            None if limit is None else self.expr(limit),
        )

    def _s_single(self, body: Any) -> Stmt:
        return ir.Single(self.body(body))

    def _s_barrier(self) -> Stmt:
        return ir.Barrier()

    def _s_compare_and_swap(self, ok: Token, atomic: Any, prop: Token, *rest: Any) -> Stmt:
        index, expected, value = (self.expr(e) for e in rest)
        return ir.CompareAndSwap(_text(ok), _text(prop), index, expected, value, atomic is not None)

    def _s_frontier_push(self, frontier: Token, vertex: Any, layout: Token, dedupe: Any, atomic: Any) -> Stmt:
        flags = (dedupe is not None, atomic is not None)
        return ir.FrontierPush(_text(frontier), self.expr(vertex), Layout(str(layout)), *flags)

    def _s_frontier_clear(self, frontier: Token, layout: Token) -> Stmt:
        return ir.FrontierClear(_text(frontier), Layout(str(layout)))

    def _s_fold(self, prop: Token, _op: Token, own: Token) -> Stmt:
        return ir.Fold(_text(prop), _text(own))

    def _s_frontier_swap(self, left: Token, right: Token) -> Stmt:
        return ir.FrontierSwap(_text(left), _text(right))

    def _s_frontier_convert(self, frontier: Token, layout: Token) -> Stmt:
        return ir.FrontierConvert(_text(frontier), Layout(str(layout)))

    def _s_trace(self, label: Token, direction: Token, active: Any, edges: Any) -> Stmt:
        return ir.Trace(_text(label), _text(direction), self.expr(active), self.expr(edges))

    # --- expressions

    def expr(self, tree: Any) -> Expr:
        node: Expr = getattr(self, f"_e_{tree.data}")(tree, *tree.children)
        object.__setattr__(node, "span", self.span(tree.meta))
        return node

    def _e_const(self, tree: Any, token: Token) -> Expr:
        number, _, name = token.partition(":")
        scalar = SCALARS.get(name)
        if scalar is None or scalar is BOOL:
            raise self.error(tree.meta, f"there is no number of type {name}")
        return ir.Const(_number(number, scalar), scalar)

    def _e_true(self, tree: Any) -> Expr:
        return ir.Const(True, BOOL)

    def _e_false(self, tree: Any) -> Expr:
        return ir.Const(False, BOOL)

    def _e_none(self, tree: Any) -> Expr:
        return ir.Const(-1, VID)

    def _e_var(self, tree: Any, name: Token) -> Expr:
        if _text(name) not in self.locals:
            raise self.error(tree.meta, f"no local is called {name}")
        return ir.Var(_text(name), self.locals[_text(name)])

    def _e_global_var(self, tree: Any, name: Token) -> Expr:
        if _text(name) not in self.globals:
            raise self.error(tree.meta, f"no global is called {name}")
        return ir.GlobalVar(_text(name), self.globals[_text(name)])

    def _e_num_vertices(self, tree: Any) -> Expr:
        return ir.GraphSize("num_vertices")

    def _e_num_arcs(self, tree: Any) -> Expr:
        return ir.GraphSize("num_arcs")

    def _e_operation(self, tree: Any, left: Any, op: Token, right: Any) -> Expr:
        kind = ir.Compare if op in _COMPARE else ir.Logical if op in ("and", "or") else ir.Binary
        return kind(str(op), self.expr(left), self.expr(right))

    def _e_cast(self, tree: Any, _lt: Token, to: Any, _gt: Token, operand: Any) -> Expr:
        return ir.Cast(self.type(to), self.expr(operand))

    def _e_element(self, tree: Any, vector: Any, index: Any) -> Expr:
        built = self.expr(vector)
        if not isinstance(built.type, Vector):
            raise self.error(tree.meta, f"{built.type} has no elements")
        return ir.Element(built, self.expr(index))

    def _property_type(self, tree: Any, name: Token) -> Type:
        prop = self.properties.get(_text(name))
        if prop is None:
            raise self.error(tree.meta, f"no property is called {name}")
        return prop.type

    def _e_load(self, tree: Any, relaxed: Any, name: Token, index: Any) -> Expr:
        order = Order.PLAIN if relaxed is None else Order.RELAXED
        return ir.Load(_text(name), self.expr(index), self._property_type(tree, name), order)

    def _e_scratch_load(self, tree: Any, name: Token, index: Any) -> Expr:
        return ir.ScratchLoad(_text(name), self.expr(index), self._property_type(tree, name))

    def _e_call(self, tree: Any, token: Token, *args: Any) -> Expr:
        name = _text(token)
        trees = [a for a in args if a is not None]
        if name == "contains" or name in _OF_NAMES:
            return self._names_first(tree, name, trees)
        built = [self.expr(a) for a in trees]
        match name.split("."), built:
            case [("neg" | "not" | "invert") as op], [a]:
                return ir.Unary(op, a)
            case [("min" | "max") as op], [a, b]:
                return ir.Binary(op, a, b)
            case ["select"], [c, a, b]:
                return ir.Select(c, a, b)
            case ["degree", ("out" | "in") as way], [v]:
                return ir.Degree(v, Orientation(way))
            case ["piece", ("size" | "whole" | "first") as share], []:
                return ir.Piece(ir.Share(share))
            case ["neighbor", ("out" | "in") as way], [v, k]:
                return ir.Neighbor(v, Orientation(way), k)
        result = call_type(name, [a.type for a in built])
        if result is None:
            raise self.error(tree.meta, f"there is no {name}({', '.join(str(a.type) for a in built)})")
        return ir.Call(name, tuple(built), result)

    def _names_first(self, tree: Any, name: str, args: list[Any]) -> Expr:
        """The functions whose first argument is the name of a frontier, list or array."""
        if len(args) != (2 if name == "contains" else 1) or args[0].data != "var":
            raise self.error(tree.meta, f"{name} takes the name of a declaration first")
        target = _text(args[0].children[0])
        if name == "contains":
            return ir.InFrontier(target, self.expr(args[1]))
        made: Expr = _OF_NAMES[name](target)
        return made


_OF_NAMES: dict[str, Any] = {
    "size": ir.FrontierSize, "count": ir.ListSize, "length": ir.ArrayLength,
    "left": ir.QueueSize, "level": ir.QueueLevel, "bucket": ir.BucketKey,
}  # fmt: skip


def _number(text: str, scalar: Scalar) -> int | float:
    if text.endswith("nan"):
        return math.nan
    if scalar.is_float or text.endswith("inf"):
        return float(text)
    return int(float(text) if "." in text else text)
