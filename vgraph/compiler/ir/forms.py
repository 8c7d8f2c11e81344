"""Forms: the text of a node, which its class declares once; printer, grammar and parser follow from it.

`push {frontier} {vertex} {layout}( {dedupe})?( {atomic})?` names fields in braces; how a field is written and read
follows from its type. What stands in `( ... )?` is left out where its fields are at rest, which is their default, or
else False or None; `{label:op}` is at rest where it is what `op` is. `( ... |id)?` puts `id` in that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import WORDS
from vgraph.compiler.ir.node import Held, fields_of


class Hole(NamedTuple):
    """A field in a form: `way` says how it is written and read, `words` are those it may be."""

    name: str
    field: Held
    way: str
    words: tuple[str, ...]
    like: str
    """The field that has its value at rest, if there is one."""


class Choice(NamedTuple):
    """Parts that are left out where all `fields` in them are at rest, and those that are there instead."""

    parts: tuple[Part, ...]
    other: tuple[Part, ...]
    fields: tuple[tuple[str, str, object], ...]

    def rests(self, values: dict[str, Any]) -> bool:
        """Whether `other` is written."""
        return all([values[name] == (values[like] if like else rest) for name, like, rest in self.fields])


Part = str | Hole | Choice
_CHOICE: Final = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)\?")
_HOLE: Final = re.compile(r"\{(\w+:?\w*)\}")
_WAYS: Final = {"Else", "Text", "Type", "Word", "ApplySchedule", "Balance"}
"""Types that are written in a way of their own; others as what they stand for."""
_SYMBOLS: Final = {
    "str": "NAME", "Word": "NAME", "Text": "NAME", "int": "INT", "Type": "type", "Expr": "expr", "Domain": "domain",
    "Body": "body", "Else": "(body | if)", "ApplySchedule": "schedule", "Balance": "SETTING",
}  # fmt: skip


def _hole(kind: type[ir.Node], text: str) -> Hole:
    name, _, like = text.partition(":")
    field = next(f for f in fields_of(kind) if f.name == name)
    words: tuple[str, ...] = ()
    if field.meaning is bool:
        words = (name,)
    elif isinstance(field.meaning, type) and issubclass(field.meaning, Enum):
        words = tuple(member.value for member in field.meaning if member is not field.rest)
    else:
        words = WORDS.get(field.type, ())
    means = "Body" if field.meaning == ir.Body else getattr(field.meaning, "__name__", "")
    return Hole(name, field, "words" if words else field.type if field.type in _WAYS else means, words, like)


def _cut(kind: type[ir.Node], form: str) -> tuple[Part, ...]:
    """The form, or a piece of it, in parts."""
    found: list[Part] = []
    for i, text in enumerate(_CHOICE.split(form)):
        if i % 2:
            inside, _, other = text.partition("|")
            parts = _cut(kind, inside)
            fields = tuple((hole.name, hole.like, hole.field.rest) for hole in holes(parts))
            found.append(Choice(parts, _cut(kind, other), fields))
        else:
            found += [_hole(kind, x) if j % 2 else x for j, x in enumerate(_HOLE.split(text))]
    return tuple(part for part in found if part != "")


def holes(parts: tuple[Part, ...]) -> Iterator[Hole]:
    """The fields that are named where no choice with something instead is at rest."""
    for part in parts:
        if isinstance(part, Hole):
            yield part
        elif isinstance(part, Choice):
            yield from holes(part.parts)


FORMS: Final[dict[type[ir.Node], tuple[Part, ...]]] = {
    kind: _cut(kind, kind.form)
    for kind in vars(ir).values()
    if isinstance(kind, type) and issubclass(kind, ir.Node) and kind.form
}
"""The forms of all classes that have one."""
_CALL: Final = re.compile(r"(?=[\w{])(\w*)[\w.{}]*\(")
CALLS: Final[dict[str, Any]] = {
    m[1]: kind for kind in FORMS if issubclass(kind, ir.Expr) and (m := _CALL.match(kind.form)) and m[1]
}
"""Expressions by the word before their parentheses: none of them is a keyword."""


# --- grammar ------------------------------------------------------------------------------------------------


def _either(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """The form with each choice that has something instead made."""
    for i, part in enumerate(parts):
        if isinstance(part, Choice) and part.other:
            for made in (part.parts, part.other):
                yield from _either((*parts[:i], *made, *parts[i + 1 :]))
            return
    yield parts


def _rules() -> Iterator[tuple[str, type[ir.Node], tuple[Part, ...]]]:
    for kind, form in FORMS.items():
        # `f = levels[i]` reads as an `Assign`; calls are told apart by name, not by the grammar.
        if kind is not ir.ListGet and not (issubclass(kind, ir.Expr) and _CALL.match(kind.form)):
            name = re.sub(r"(?<!^)([A-Z])", r"_\1", kind.__name__).lower()
            for i, parts in enumerate(_either(form)):
                yield name + "_or" * i, kind, parts


RULES: Final = {name: (kind, parts) for name, kind, parts in _rules()}
"""The rules of the grammar by name: the class, and the form with its choices made."""


def grammar() -> str:
    """The rules `statement`, `declaration` and `operation`, one for each form, and those that these name."""
    rules: dict[str, str] = {}
    groups = {"statement": ir.Stmt, "operation": ir.Expr, "domain": ir.Domain, "declaration": ir.Node}
    alternatives: dict[str, list[str]] = {f"?{group}": [] for group in groups}
    for name, (kind, parts) in RULES.items():
        group = next(group for group, base in groups.items() if issubclass(kind, base))
        alternatives[f"?{group}"].append(name)
        rules[name] = _symbols(parts, rules)
    rules |= {group: " | ".join(names) for group, names in alternatives.items()}
    return "".join(f"{name}: {text}\n" for name, text in rules.items())


def _symbols(parts: tuple[Part, ...], rules: dict[str, str], *, inside: bool = False) -> str:
    """What stands for `parts` in a rule; the rules for words and choices, which others share, come to `rules`."""
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            found += [f'"{word}"' for word in re.findall(r"\w+|->|\[\[|\S", part)]
        elif isinstance(part, Hole):
            symbol = (
                _SYMBOLS.get(part.way)
                or (part.name if part.field.meaning is bool else part.field.type).lower()
            )
            if part.words:
                rules[f"!?{symbol}"] = " | ".join(f'"{word}"' for word in part.words)
            found.append(f"{symbol.lower()}s" if part.field.many else symbol)
        else:
            text = f"[{_symbols(part.parts, rules, inside=True)}]"
            # What may be left out at the start is no rule: a parser cannot know yet whether it was.
            if found and not inside:
                names = {text: name for name, text in rules.items() if name.startswith("_")}
                name = names.get(text, f"_choice_{len(names)}")
                rules[name] = text
                text = name
            found.append(text)
    return " ".join(found)


# --- reserved words -----------------------------------------------------------------------------------------


def _first_words(parts: tuple[Part, ...]) -> Iterator[str]:
    """The words that may begin `parts`."""
    for part in parts:
        if isinstance(part, Choice):
            yield from _first_words(part.parts)
            if part.other:
                yield from _first_words(part.other)
                return
            continue
        yield from re.findall(r"^\w+", part) if isinstance(part, str) else part.words
        return


def reserved() -> Iterator[str]:
    """Words that begin a statement or an expression, or stand behind `x =`: they are no names without quotes."""
    for kind, parts in RULES.values():
        if issubclass(kind, ir.Stmt | ir.Expr):
            yield from _first_words(parts)
            for i, part in enumerate(parts):
                if isinstance(part, str):
                    yield from re.findall(r"= (\w+)", part)
                    if part.endswith("= "):
                        yield from _first_words(parts[i + 1 :])
