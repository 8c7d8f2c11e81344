"""From the text of the IR to nodes: `ir.lark` gives a tree, declarations give the types of names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.ir import forms
from vgraph.compiler.ir.text_expressions import ExpressionBuilder, IrSyntaxError, optional_text, text_of
from vgraph.compiler.types import EID, I64, VID, Target, Type
from vgraph.schedule import AXES, ApplySchedule, axis
from vgraph.source import SourceFile, Span

if TYPE_CHECKING:
    from lark import Lark, Token

_GRAMMAR = Path(__file__).parent / "ir.lark"


@cache
def _lark() -> Lark:
    from lark import Lark

    grammar = _GRAMMAR.read_text(encoding="utf-8").replace("    // forms\n", forms.grammar())
    return Lark(grammar, parser="lalr", propagate_positions=True, maybe_placeholders=True)


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


def _group(lanes: Token | None) -> ir.Lanes:
    return ir.Lanes.THREAD if lanes is None else ir.Lanes(str(lanes))


class _Builder(ExpressionBuilder):
    """Builds declarations and statements from trees."""

    # --- declarations

    def program(self, tree: Any) -> ir.Program:
        header, *rest = tree.children
        name, level, ids, offsets, threads, ordered = header.children
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
        return ir.Program(
            text_of(name),
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
            ordered=ordered is not None,
            buckets=tuple(groups.get("buckets", ())),
            queues=tuple(groups.get("queue", ())),
            span=self.span(header.meta),
        )

    def _d_param(self, tree: Any, name: Token, type_: Any) -> ir.Param:
        self.locals[text_of(name)] = t = self.type(type_)
        return ir.Param(text_of(name), t, span=self.span(tree.meta))

    def _d_property(self, tree: Any, site: str, name: Token, *rest: Any) -> ir.Property:
        type_, origin, disjoint = rest
        args = (self.type(type_), ir.Site(str(site)), ir.Origin(str(origin)), disjoint is not None)
        node = ir.Property(text_of(name), *args, span=self.span(tree.meta))
        self.properties[node.name] = node
        return node

    def _d_global(self, tree: Any, name: Token, type_: Any) -> ir.Global:
        self.globals[text_of(name)] = t = self.type(type_)
        return ir.Global(text_of(name), t, span=self.span(tree.meta))

    def _d_frontier(self, tree: Any, name: Token, *rest: Any) -> ir.FrontierDecl:
        *layouts, flags = rest
        self.frontiers.add(text_of(name))
        kinds = tuple(ir.Layout(str(x)) for x in layouts)
        return ir.FrontierDecl(text_of(name), kinds, flags is not None, span=self.span(tree.meta))

    def _d_list(self, tree: Any, name: Token) -> ir.ListDecl:
        return ir.ListDecl(text_of(name), span=self.span(tree.meta))

    def _d_queue(self, tree: Any, name: Token, prop: Token) -> ir.QueueDecl:
        return ir.QueueDecl(text_of(name), text_of(prop), span=self.span(tree.meta))

    def _d_buckets(self, tree: Any, name: Token, vertex: Token, key: Any, strict: Any) -> ir.BucketsDecl:
        with self.scope({text_of(vertex): VID}):
            built = self.expr(key)
        kind = strict is not None
        return ir.BucketsDecl(text_of(name), text_of(vertex), built, kind, span=self.span(tree.meta))

    def _d_operator(self, tree: Any, name: Token, *rest: Any) -> ir.Operator:
        *tokens, body = rest
        args = tuple(map(text_of, tokens))
        types = ir.ARGUMENT_TYPES.get(len(args))
        if types is None:
            raise self.error(tree.meta, "an operator takes (src, edge, dst) or (v)")
        built = self.body(body, dict(zip(args, types, strict=True)))
        return ir.Operator(text_of(name), args, built, span=self.span(tree.meta))

    def _d_run(self, tree: Any, body: Any) -> ir.Body:
        return tuple(self.stmt(s) for s in body.children)  # its locals stay visible for the results

    def _d_result_short(self, tree: Any, name: Token) -> ir.Result:
        return ir.Result(text_of(name), "property", text_of(name), span=self.span(tree.meta))

    def _d_result_property(self, tree: Any, name: Token, prop: Token) -> ir.Result:
        return ir.Result(text_of(name), "property", text_of(prop), span=self.span(tree.meta))

    def _d_result_scalar(self, tree: Any, name: Token, value: Any) -> ir.Result:
        return ir.Result(text_of(name), "scalar", self.expr(value), span=self.span(tree.meta))

    def body(self, tree: Any, names: dict[str, Type] | None = None) -> ir.Body:
        with self.scope(names or {}):
            return tuple(self.stmt(s) for s in tree.children)

    # --- statements

    def stmt(self, tree: Any) -> ir.Stmt:
        build = getattr(self, f"_s_{tree.data}", None)
        node: ir.Stmt = build(*tree.children) if build else self.by_form(tree)
        object.__setattr__(node, "span", self.span(tree.meta))
        return node

    def by_form(self, tree: Any) -> ir.Stmt:
        """A statement that declares its text, and no names."""
        kind = _BY_RULE[tree.data]
        holes = [part for part in forms.FORMS[kind] if isinstance(part, forms.Hole)]
        names = [hole.name for hole in holes] + ["body"] * forms.has_body(kind)
        types = [hole.type for hole in holes] + ["Body"] * forms.has_body(kind)
        return kind(**{n: _FIELDS[t](self, x) for n, t, x in zip(names, types, tree.children, strict=True)})

    def _s_let(self, name: Token, type_: Any, value: Any) -> ir.Stmt:
        built = self.expr(value)
        self.locals[text_of(name)] = t = self.type(type_)
        return ir.Let(text_of(name), t, built)

    def _s_assign(self, name: Token, value: Any) -> ir.Stmt:
        target = text_of(name)
        if target in self.frontiers and value.data == "load":
            _, source, index = value.children
            return ir.ListGet(target, text_of(source), self.expr(index))
        return ir.Assign(target, self.expr(value))

    def _s_reduce(self, atomic: Any, prop: Token, index: Any, op: Token, *rest: Any) -> ir.Stmt:
        value, _arrow, changed = rest
        place = (str(op[:-1]), text_of(prop), self.expr(index), self.expr(value))
        return ir.Reduce(*place, atomic is not None, optional_text(changed))

    def _s_if(self, condition: Any, then: Any, other: Any) -> ir.Stmt:
        built = self.expr(condition)
        body = self.body(then)
        if other is None:
            return ir.If(built, body)
        return ir.If(built, body, (self.stmt(other),) if other.data == "if" else self.body(other))

    def _s_for(self, name: Token, start: Any, stop: Any, step: Any, body: Any) -> ir.Stmt:
        bounds = (self.expr(start), self.expr(stop), self.expr(step))
        return ir.For(text_of(name), *bounds, self.body(body, {text_of(name): I64}))

    def _s_for_neighbors(self, vertex: Token, edge: Token, way: Token, of: Any, *rest: Any) -> ir.Stmt:
        segments, prefetch, vectorize, body = rest
        names: dict[str, Type] = {text_of(vertex): VID, text_of(edge): EID}
        head = (text_of(vertex), text_of(edge), self.expr(of), ir.Orientation(str(way)))
        how = (int(segments or 1), int(prefetch or 0), vectorize is not None)
        return ir.ForNeighbors(*head, self.body(body, names), *how)

    def _s_for_common(self, vertex: Token, *rest: Any) -> ir.Stmt:
        left_way, left, right_way, right, body = rest
        left_side = (self.expr(left), ir.Orientation(str(left_way)))
        right_side = (self.expr(right), ir.Orientation(str(right_way)))
        return ir.ForCommon(text_of(vertex), *left_side, *right_side, self.body(body, {text_of(vertex): VID}))

    def _s_fail(self, message: Token) -> ir.Stmt:
        return ir.Fail(text_of(message))

    def _s_fill(self, prop: Token, value: Any) -> ir.Stmt:
        return ir.Fill(text_of(prop), None if getattr(value, "type", "") == "ID" else self.expr(value))

    def _apply(self, *parts: Any) -> tuple[str, str | None, str | None, str, ApplySchedule | None]:
        out, op, frontier, label, schedule = parts
        words = None if schedule is None else self.schedule(schedule)
        return (
            text_of(op),
            optional_text(frontier),
            optional_text(out),
            text_of(op if label is None else label),
            words,
        )

    def _s_edge_apply(self, out: Any, op: Any, frontier: Any, reverse: Any, *parts: Any) -> ir.Stmt:
        return ir.EdgeApply(*self._apply(out, op, frontier, *parts), reverse=reverse is not None)

    def _s_vertex_apply(self, *parts: Any) -> ir.Stmt:
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

    def _s_frontier_all(self, out: Token) -> ir.Stmt:
        return ir.FrontierSet(text_of(out), ir.FrontierKind.ALL)

    def _s_frontier_empty(self, out: Token) -> ir.Stmt:
        return ir.FrontierSet(text_of(out), ir.FrontierKind.EMPTY)

    def _s_frontier_single(self, out: Token, vertex: Any) -> ir.Stmt:
        return ir.FrontierSet(text_of(out), ir.FrontierKind.SINGLE, self.expr(vertex))

    def _s_par_for(self, vertex: Token, position: Token | None, *rest: Any) -> ir.Stmt:
        *domain, words, cut, segments, lanes, label, body = rest
        layout, frontier = (ir.Layout(str(domain[0])), text_of(domain[1])) if domain else (None, None)
        place = optional_text(position)
        names: dict[str, Type] = {text_of(vertex): VID}
        if place is not None:
            names[place] = I64
        built = self.body(body, names)
        flags = (optional_text(label) or "", words is not None, place)
        pieces = self.pieces(cut)
        count = int(segments or 1)
        return ir.ParFor(text_of(vertex), layout, frontier, built, *flags, *pieces, count, _group(lanes))

    def _s_pipeline(self, vertex: Token, position: Token | None, *rest: Any) -> ir.Stmt:
        *domain, through, label, producer, consumer = rest
        layout, frontier = (ir.Layout(str(domain[0])), text_of(domain[1])) if domain else (None, None)
        *buffers, chunks = through.children
        place = optional_text(position)
        names: dict[str, Type] = {text_of(vertex): VID}
        if place is not None:
            names[place] = I64
        bodies = (self.body(producer, names), self.body(consumer, names))
        channel = (tuple(map(text_of, buffers)), int(chunks))
        return ir.Pipeline(
            text_of(vertex), layout, frontier, *channel, *bodies, optional_text(label) or "", place
        )

    def _s_bucket_loop(self, vertex: Token, buckets: Token, *rest: Any) -> ir.Stmt:
        cut, lanes, label, body = rest
        built = self.body(body, {text_of(vertex): VID})
        pieces = self.pieces(cut)
        return ir.BucketLoop(
            text_of(vertex), text_of(buckets), built, optional_text(label) or "", *pieces, _group(lanes)
        )

    def pieces(self, cut: Any) -> tuple[ir.Orientation | None, ir.Expr | None]:
        """The side that is cut, and the limit."""
        side, limit = (None, None) if cut is None else cut.children
        return (
            None if side is None else ir.Orientation(str(side)),
            None if limit is None else self.expr(limit),
        )

    def _s_trace(self, label: Token, direction: Token, active: Any, edges: Any) -> ir.Stmt:
        return ir.Trace(text_of(label), text_of(direction), self.expr(active), self.expr(edges))


_BY_RULE: dict[str, type[ir.Stmt]] = {forms.rule_of(kind): kind for kind in forms.STATEMENTS}
_FIELDS: dict[str, Callable[[_Builder, Any], Any]] = {
    "str": lambda b, token: text_of(token),
    "str | None": lambda b, token: optional_text(token),
    "Expr": lambda b, tree: b.expr(tree),
    "Type": lambda b, tree: b.type(tree),
    "Body": lambda b, tree: b.body(tree),
    "Layout": lambda b, token: ir.Layout(str(token)),
    "Orientation": lambda b, token: ir.Orientation(str(token)),
    "Order": lambda b, token: ir.Order.PLAIN if token is None else ir.Order.RELAXED,
    "bool": lambda b, token: token is not None,
    forms.SIGN: lambda b, token: str(token[:-1]),
}
"""The fields in a form from trees and tokens, by type."""
