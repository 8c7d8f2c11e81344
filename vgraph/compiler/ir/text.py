"""The text form of the IR: `print_program` and `parse_program` are exact inverses, spans apart.

Nodes declare their text themselves (`forms.py`); what no form can say stands here. It is complete and deterministic:
it serves as the key of the compile cache.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.ir.forms import FORMS, Choice, Part, reserved
from vgraph.compiler.types import BOOL, VID, Scalar

RESERVED = frozenset({*reserved(), "true", "false", "none"})
"""Names that are printed in quotes."""
_PLAIN = re.compile(r"[A-Za-z_]\w*(\.\w+)*", re.ASCII)


def print_program(program: ir.Program) -> str:
    """The text of a whole program, ending in a newline."""
    target = f"ids {program.target.id_bits}, offsets {program.target.offset_bits}"
    threads = f", threads {program.threads}" if program.threads else ""
    ordered = ", ordered" if program.ordered else ""
    sets = (*program.frontiers, *program.lists, *program.queues, *program.buckets, *program.called)
    lines = [f"program {_name(program.name)}: {program.level.value}, {target}{threads}{ordered}"]
    lines += [_node(d) for d in (*program.params, *program.properties, *program.globals, *sets)]
    lines += [*map(_node, program.operators), "run {"]
    lines += ["  " + _node(stmt, "  ") for stmt in program.body]
    lines += ["}", *map(_node, program.results)]
    return "\n".join(lines) + "\n"


def print_node(node: ir.Node) -> str:
    """The text of one expression, statement or declaration, without a newline at its end."""
    return print_program(node).rstrip("\n") if isinstance(node, ir.Program) else _node(node)


def parse_program(text: str, name: str = "<ir>") -> ir.Program:
    """The program that `text` describes; nodes carry spans into it.

    Raises IrSyntaxError, which shows the line and a caret; `name` stands in its message for the file.
    """
    from vgraph.compiler.ir.text_parser import parse

    return parse(text, name)


# --- by form ------------------------------------------------------------------------------------------------


def _node(node: ir.Node, indent: str = "") -> str:
    """One call for each level of nodes: programs may be nested deeply."""
    kind, values = type(node), node.__dict__
    own = _OWN.get(kind)
    if own is not None and (text := own(node)):
        return text
    texts: list[str] = []
    parts: Iterable[Any] = _made(FORMS[kind], values) if kind in _WITH_CHOICES else FORMS[kind]
    for part in parts:
        if type(part) is str:
            texts.append(part)
            continue
        name, field, way, words, _ = part
        value = values[name]
        if field.many:
            texts.append((" " if words else ", ").join([_WAYS[way](each) for each in value]))
        elif way in ("Expr", "Domain"):
            texts.append(_node(value))
        elif way == "Else" and len(value) == 1 and isinstance(value[0], ir.If):
            texts.append(_node(value[0], indent))
        elif way in ("Body", "Else"):
            inner = indent + "  "
            texts.append("{\n")
            for stmt in value:
                texts += inner, _node(stmt, inner), "\n"
            texts += indent, "}"
        else:
            texts.append(name if value is True else _WAYS[way](value))
    return "".join(texts)


def _made(parts: tuple[Part, ...], values: dict[str, Any]) -> Iterator[Any]:
    """The parts with all choices made."""
    for part in parts:
        if type(part) is Choice:
            yield from _made(part.other if part.rests(values) else part.parts, values)
        else:
            yield part


def _name(name: str) -> str:
    plain = name not in RESERVED and _PLAIN.fullmatch(name)
    return name if plain else json.dumps(name)


def _word(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else json.dumps(word)


_WAYS: dict[str, Callable[[Any], str]] = {
    "str": _name,
    "Word": _word,
    "Text": json.dumps,
    "words": lambda value: value.value if isinstance(value, Enum) else value,
    "int": str,
    "Type": str,
    "Expr": _node,
    "ApplySchedule": str,
    "Balance": str,
}
"""How fields are printed that fit on a line; a flag is its name."""
# --- by hand ------------------------------------------------------------------------------------------------


def _const(node: ir.Const) -> str:
    value, type_ = node.value, node.type
    if type_ == BOOL:
        return "true" if value else "false"
    if type_ == VID and value == -1:
        return "none"
    if math.isinf(value) or math.isnan(value):
        return f"{'nan' if math.isnan(value) else 'inf' if value > 0 else '-inf'}:{type_}"
    return f"{float(value) if isinstance(type_, Scalar) and type_.is_float else int(value)!r}:{type_}"


def _minimum(node: ir.Binary) -> str:
    return f"{node.op}({_node(node.left)}, {_node(node.right)})" if node.op in ("min", "max") else ""


def _result(node: ir.Result) -> str:
    if isinstance(node.value, ir.Expr):
        return f"return {_name(node.name)} = scalar {_node(node.value)}"
    short = node.kind == "property" and node.value == node.name
    return f"return {_name(node.name)}" + f" = {node.kind} {_name(node.value)}" * (not short)


_OWN: dict[type[ir.Node], Callable[[Any], str]] = {ir.Const: _const, ir.Binary: _minimum, ir.Result: _result}
"""What no form can say; nothing where the form can."""
_WITH_CHOICES = {kind for kind, form in FORMS.items() if any(isinstance(part, Choice) for part in form)}
