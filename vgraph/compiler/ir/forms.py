"""Forms: the text of a node, which its class declares once; printer, grammar and parser follow from it.

`push {frontier} {vertex} {layout} {dedupe} {atomic}` names fields in braces. How a field is written follows from its
type. One that may be left out (a flag, an optional name, a plain order) takes a space beside it along. `{op=}` is the
sign of a reduction: `min=`. The fields of type `Body` follow the form, and are not in it.
The form of an expression is a call: `neighbor.{orientation}({vertex}, {k})`.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, Final, NamedTuple

from vgraph.compiler import ir


class Hole(NamedTuple):
    """A field in a form: its type as the class has it, and the spaces that it takes along."""

    name: str
    type: str
    before: str = ""
    after: str = ""


SIGN: Final = "sign"
"""The type of `{op=}`."""
OPTIONAL: Final = ("bool", "str | None", "Order")
_GRAMMAR: Final = {
    "str": "NAME",
    "str | None": "[NAME]",
    "Expr": "expr",
    "Type": "type",
    "Layout": "LAYOUT",
    "Orientation": "ORIENTATION",
    "Order": "[RELAXED]",
    SIGN: "ASSIGN_OP",
}


def _cut(kind: type[ir.Node]) -> tuple[str | Hole, ...]:
    """The form of a class, cut into texts and holes."""
    types = {f.name: str(f.type) for f in fields(kind)}
    found: list[str | Hole] = []
    for i, text in enumerate(re.split(r"\{(\w+=?)\}", kind.form)):
        if i % 2 == 0:
            last = found[-1] if found else None
            # Without a space before it, one that may be left out takes the space behind it.
            if isinstance(last, Hole) and last.type in OPTIONAL and not last.before and text.startswith(" "):
                found[-1], text = last._replace(after=" "), text[1:]
            found.append(text)
            continue
        hole = Hole(text.rstrip("="), SIGN if text.endswith("=") else types[text])
        before = found[-1]
        if hole.type in OPTIONAL and isinstance(before, str) and before.endswith(" "):
            found[-1], hole = before[:-1], hole._replace(before=" ")
        found.append(hole)
    return tuple(part for part in found if part)


def has_body(kind: type[ir.Node]) -> bool:
    """Whether a body follows the form."""
    return any(f.type == "Body" for f in fields(kind))


def rule_of(kind: type[ir.Node]) -> str:
    """The name of its grammar rule: `frontier_push`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", kind.__name__).lower()


_CLASSES: Final = [c for c in vars(ir).values() if isinstance(c, type) and issubclass(c, ir.Node) and c.form]
FORMS: Final[dict[type[ir.Node], tuple[str | Hole, ...]]] = {kind: _cut(kind) for kind in _CLASSES}
"""The forms of all classes that have one."""
STATEMENTS: Final = [kind for kind in FORMS if issubclass(kind, ir.Stmt)]
CALLS: Final[dict[str, Any]] = {
    re.split(r"\W", kind.form)[0]: kind for kind in FORMS if issubclass(kind, ir.Expr)
}
"""Expressions by the word that begins them."""


def grammar() -> str:
    """An alternative of the grammar's rule `statement` for each form."""
    lines = []
    for kind in STATEMENTS:
        symbols = []
        for part in FORMS[kind]:
            if isinstance(part, str):
                symbols += [f'"{word}"' for word in re.findall(r"\w+|\S=?", part)]
            else:
                symbols.append(_GRAMMAR.get(part.type) or f"[{part.name.upper()}]")
        lines.append(" ".join([*symbols, *["body"] * has_body(kind)]) + f" -> {rule_of(kind)}")
    return "".join(f"    | {line}\n" for line in lines)
