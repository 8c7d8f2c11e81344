"""The text form of the IR: `print_program` and `parse_program` are exact inverses, spans apart.

Most nodes declare their text themselves (`forms.py`), the tables have the rest. It is complete and deterministic:
it serves as the key of the compile cache.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.ir.forms import FORMS, SIGN, STATEMENTS, Hole
from vgraph.compiler.types import BOOL, VID, Scalar, Type

# Words that begin a statement or an expression, or stand behind `x =`: a name like one of them is printed in quotes.
RESERVED = frozenset(
    """all atomic cas cast edge_apply empty fail false fill id if none num_arcs num_vertices parbucket
    parfor pipeline relaxed trace true vertex_apply""".split()  # noqa: SIM905
).union(*(re.findall(r"(?:^|= )(\w+)", kind.form) for kind in STATEMENTS))
_PLAIN = re.compile(r"[A-Za-z_]\w*(\.\w+)*", re.ASCII)


def print_program(program: ir.Program) -> str:
    """The text of a whole program, ending in a newline."""
    return "\n".join(_program(program)) + "\n"


def print_node(node: ir.Node) -> str:
    """The text of one expression, statement or declaration, without a newline at its end."""
    if isinstance(node, ir.Program):
        return print_program(node).rstrip("\n")
    if isinstance(node, ir.Expr):
        return _expr(node)
    if isinstance(node, ir.Stmt):
        return "\n".join(_stmt(node, ""))
    return "\n".join(_DECLARATIONS[type(node)](node))


def parse_program(text: str, name: str = "<ir>") -> ir.Program:
    """The program that `text` describes; nodes carry spans into it.

    Raises IrSyntaxError, which shows the line and a caret; `name` stands in its message for the file.
    """
    from vgraph.compiler.ir.text_parser import parse

    return parse(text, name)


# --- pieces -------------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    plain = name not in RESERVED and _PLAIN.fullmatch(name)
    return name if plain else json.dumps(name)


def _const(node: ir.Const) -> str:
    value, type_ = node.value, node.type
    if type_ == BOOL:
        return "true" if value else "false"
    if type_ == VID and value == -1:
        return "none"
    if math.isinf(value) or math.isnan(value):
        return f"{'nan' if math.isnan(value) else 'inf' if value > 0 else '-inf'}:{type_}"
    return f"{float(value) if isinstance(type_, Scalar) and type_.is_float else int(value)!r}:{type_}"


def _binary(node: ir.Binary) -> str:
    left, right = _expr(node.left), _expr(node.right)
    return f"{node.op}({left}, {right})" if node.op in ("min", "max") else f"({left} {node.op} {right})"


def _infix(node: ir.Compare | ir.Logical) -> str:
    return f"({_expr(node.left)} {node.op} {_expr(node.right)})"


def _list(nodes: tuple[ir.Expr, ...]) -> str:
    return ", ".join(map(_expr, nodes))


def _place(node: Any) -> str:
    return f"{_name(node.prop)}[{_expr(node.index)}]"


def _relaxed(node: ir.Load | ir.Store) -> str:
    return "relaxed " if node.order is ir.Order.RELAXED else ""


def _flags(**flags: object) -> str:
    return "".join(f" {name}" for name, on in flags.items() if on)


def _numbers(**given: tuple[int, int]) -> str:
    """Each number that is not at its default."""
    return "".join(f" {name} {value}" for name, (value, default) in given.items() if value != default)


def _type(t: Type) -> str:
    return str(t)


_EXPRESSIONS: dict[type[ir.Expr], Callable[[Any], str]] = {
    ir.Const: _const,
    ir.Var: lambda n: _name(n.name),
    ir.GlobalVar: lambda n: f"@{_name(n.name)}",
    ir.Unary: lambda n: f"{n.op}({_expr(n.operand)})",
    ir.Binary: _binary,
    ir.Compare: _infix,
    ir.Logical: _infix,
    ir.Cast: lambda n: f"cast<{_type(n.to)}>({_expr(n.operand)})",
    ir.Call: lambda n: f"{n.function}({_list(n.args)})",
    ir.Element: lambda n: f"{_expr(n.vector)}[[{_expr(n.index)}]]",
    ir.Load: lambda n: f"{_relaxed(n)}{_place(n)}",
    ir.ScratchLoad: lambda n: f"scratch {_place(n)}",
    ir.GraphSize: lambda n: n.what,
}


def _expr(node: ir.Expr) -> str:
    form = FORMS.get(type(node))
    return _EXPRESSIONS[type(node)](node) if form is None else _form(form, node)


# --- statements ---------------------------------------------------------------------------------------------


def _block(head: str, body: ir.Body, indent: str) -> Iterator[str]:
    yield f"{indent}{head} {{"
    for stmt in body:
        yield from _stmt(stmt, indent + "  ")
    yield f"{indent}}}"


def _if(node: ir.If, indent: str, head: str = "if") -> Iterator[str]:
    lines = list(_block(f"{head} {_expr(node.condition)}", node.then, indent))
    if not node.other:
        yield from lines
        return
    yield from lines[:-1]
    if len(node.other) == 1 and isinstance(node.other[0], ir.If):
        yield from _if(node.other[0], indent, "} else if")
    else:
        yield from _block("} else", node.other, indent)


def _reduce(node: ir.Reduce) -> str:
    changed = "" if node.changed is None else f" -> {_name(node.changed)}"
    atomic = "atomic " if node.atomic else ""
    return f"{atomic}{_place(node)} {node.op}= {_expr(node.value)}{changed}"


def _apply(node: ir.EdgeApply | ir.VertexApply) -> str:
    word = "edge_apply" if isinstance(node, ir.EdgeApply) else "vertex_apply"
    out = "" if node.out is None else f"{_name(node.out)} = "
    frontier = "" if node.frontier is None else f", {_name(node.frontier)}"
    label = "" if node.label == node.op else f" as {_name(node.label)}"
    label = " reverse" + label if isinstance(node, ir.EdgeApply) and node.reverse else label
    schedule = f" schedule({node.schedule})" if node.schedule else ""
    return f"{out}{word}({_name(node.op)}{frontier}){label}{schedule}"


def _frontier_set(node: ir.FrontierSet) -> str:
    if node.kind is not ir.FrontierKind.SINGLE:
        return f"{_name(node.out)} = {node.kind.value}"
    assert node.vertex is not None
    return f"{_name(node.out)} = single({_expr(node.vertex)})"


def _trace(node: ir.Trace) -> str:
    direction = node.direction if _PLAIN.fullmatch(node.direction) else _name(node.direction)
    return f"trace {_name(node.label)} {direction} {_expr(node.active)}, {_expr(node.edges)}"


def _par_for(node: ir.ParFor) -> str:
    over = "vertices" if node.layout is None else f"{node.layout.value} {_name(node.frontier or '')}"
    label = f" as {_name(node.label)}" if node.label else ""
    at = f" at {_name(node.position)}" if node.position else ""
    more = _cut(node) + _numbers(segments=(node.segments, 1)) + _lanes(node)
    return f"parfor {_name(node.vertex)}{at} in {over}{_flags(words=node.words)}{more}{label}"


def _pipeline(node: ir.Pipeline, indent: str) -> Iterator[str]:
    over = "vertices" if node.layout is None else f"{node.layout.value} {_name(node.frontier or '')}"
    label = f" as {_name(node.label)}" if node.label else ""
    at = f" at {_name(node.position)}" if node.position else ""
    through = f"through ({', '.join(map(_name, node.buffers))}) chunks {node.chunks}"
    yield from list(
        _block(f"pipeline {_name(node.vertex)}{at} in {over} {through}{label}", node.producer, indent)
    )[:-1]
    yield from _block("} then", node.consumer, indent)


def _bucket_loop(node: ir.BucketLoop) -> str:
    label = f" as {_name(node.label)}" if node.label else ""
    return f"parbucket {_name(node.vertex)} in {_name(node.buckets)}{_cut(node)}{_lanes(node)}{label}"


def _cut(node: ir.ParFor | ir.BucketLoop) -> str:
    limit = f" at {_expr(node.limit)}" if node.limit else ""
    return f" cut {node.cut.value}{limit}" if node.cut else ""


def _lanes(node: ir.ParFor | ir.BucketLoop) -> str:
    return "" if node.lanes is ir.Lanes.THREAD else f" by {node.lanes.value}"


def _for_neighbors(node: ir.ForNeighbors) -> str:
    how = _numbers(segments=(node.segments, 1), prefetch=(node.prefetch, 0)) + _flags(
        vectorize=node.vectorize
    )
    over = f"{node.orientation.value}({_expr(node.of)}){how}"
    return f"for ({_name(node.vertex)}, {_name(node.edge)}) in {over}"


_STATEMENTS: dict[type[ir.Stmt], Callable[[Any], str]] = {
    ir.Reduce: _reduce,
    ir.Fail: lambda n: f"fail {json.dumps(n.message)}",
    ir.Fill: lambda n: f"fill {_name(n.prop)} = {'id' if n.value is None else _expr(n.value)}",
    ir.EdgeApply: _apply,
    ir.VertexApply: _apply,
    ir.FrontierSet: _frontier_set,
    ir.ListGet: lambda n: f"{_name(n.out)} = {_name(n.list)}[{_expr(n.index)}]",
    ir.Trace: _trace,
    ir.ForNeighbors: _for_neighbors,
    ir.ParFor: _par_for,
    ir.BucketLoop: _bucket_loop,
}


_FIELDS: dict[str, Callable[[Any], str]] = {
    "str": _name,
    "str | None": lambda name: "" if name is None else _name(name),
    "Expr": _expr,
    "Type": _type,
    "Layout": lambda layout: str(layout.value),
    "Orientation": lambda side: str(side.value),
    "Share": lambda share: str(share.value),
    "Order": lambda order: "relaxed" if order is ir.Order.RELAXED else "",
    SIGN: lambda op: f"{op}=",
}
"""How the fields in a form are printed, by type; a flag is its name."""


def _hole(node: ir.Node, hole: Hole) -> str:
    value = node.__dict__[hole.name]
    text = (hole.name if value else "") if hole.type == "bool" else _FIELDS[hole.type](value)
    return f"{hole.before}{text}{hole.after}" if text else ""


def _form(form: tuple[str | Hole, ...], node: ir.Node) -> str:
    return "".join([part if isinstance(part, str) else _hole(node, part) for part in form])


def _stmt(node: ir.Stmt, indent: str) -> Iterator[str]:
    if isinstance(node, ir.If):
        yield from _if(node, indent)
    elif isinstance(node, ir.Pipeline):
        yield from _pipeline(node, indent)
    else:
        form = FORMS.get(type(node))
        head = _STATEMENTS[type(node)](node) if form is None else _form(form, node)
        body = node.__dict__.get("body")
        if body is None:
            yield indent + head
        else:
            yield from _block(head, body, indent)


# --- declarations -------------------------------------------------------------------------------------------


def _property(node: ir.Property) -> Iterator[str]:
    head = f"{node.site.value} {_name(node.name)}: {_type(node.type)}"
    yield f"{head} {node.origin.value}{_flags(disjoint=node.disjoint)}"


def _frontier(node: ir.FrontierDecl) -> Iterator[str]:
    layouts = "".join(f" {layout.value}" for layout in node.layouts)
    yield f"frontier {_name(node.name)}{layouts}{_flags(flags=node.flags)}"


def _buckets(node: ir.BucketsDecl) -> Iterator[str]:
    strict = " strict" if node.strict else ""
    yield f"buckets {_name(node.name)}({_name(node.vertex)}): {_expr(node.key)}{strict}"


def _operator(node: ir.Operator) -> Iterator[str]:
    return _block(f"operator {_name(node.name)}({', '.join(map(_name, node.args))})", node.body, "")


def _result(node: ir.Result) -> Iterator[str]:
    if isinstance(node.value, ir.Expr):
        yield f"return {_name(node.name)} = scalar {_expr(node.value)}"
    elif node.value == node.name:
        yield f"return {_name(node.name)}"
    else:
        yield f"return {_name(node.name)} = property {_name(node.value)}"


_DECLARATIONS: dict[type[ir.Node], Callable[[Any], Iterator[str]]] = {
    ir.Param: lambda n: iter((f"param {_name(n.name)}: {_type(n.type)}",)),
    ir.Property: _property,
    ir.Global: lambda n: iter((f"global @{_name(n.name)}: {_type(n.type)}",)),
    ir.FrontierDecl: _frontier,
    ir.ListDecl: lambda n: iter((f"list {_name(n.name)}",)),
    ir.BucketsDecl: _buckets,
    ir.QueueDecl: lambda n: iter((f"priority {_name(n.name)}: {_name(n.prop)}",)),
    ir.Operator: _operator,
    ir.Result: _result,
}


def _program(node: ir.Program) -> Iterator[str]:
    target = f"ids {node.target.id_bits}, offsets {node.target.offset_bits}"
    threads = f", threads {node.threads}" if node.threads else ""
    ordered = ", ordered" if node.ordered else ""
    yield f"program {_name(node.name)}: {node.level.value}, {target}{threads}{ordered}"
    sets: tuple[ir.Node, ...] = (*node.frontiers, *node.lists, *node.queues, *node.buckets)
    for group in (node.params, node.properties, node.globals, sets, node.operators):
        for declaration in group:
            yield from _DECLARATIONS[type(declaration)](declaration)
    yield from _block("run", node.body, "")
    for result in node.results:
        yield from _result(result)
