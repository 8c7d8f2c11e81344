"""The tables of the language's grammar: `python -m vgraph.compiler.frontend.tables` writes them beside it.

Lark computes them; `grammar.py` runs them. They are JSON, and part of the package.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgraph.compiler.frontend.grammar import TABLES

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule

SOURCE = Path(__file__).with_name("operator.lark")


def lark() -> Lark:
    """Lark's own parser of the grammar."""
    from lark import Lark
    from lark.indenter import PythonIndenter

    text = SOURCE.read_text("utf-8")
    return Lark(text, parser="lalr", lexer="basic", postlex=PythonIndenter(), propagate_positions=True)


def digest() -> str:
    """Of the grammar's text: tables hold that of the text they are of."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def build() -> bytes:
    """The tables, packed."""
    made: Any = lark().parser  # its tables have no public names
    automaton, lexer = made.parser._parse_table, made.lexer.lexer
    states = sorted(automaton.states)
    numbers = {state: number for number, state in enumerate(states)}
    rules: dict[Rule, int] = {}
    kinds: dict[str, int] = {}
    rows = []
    for state in states:
        row: list[int] = []
        for kind, (action, to) in sorted(automaton.states[state].items()):
            shift = action.name == "Shift"
            row.append(kinds.setdefault(kind, len(kinds)))
            row.append(numbers[to] if shift else ~rules.setdefault(to, len(rules)))
        rows.append(" ".join(map(str, row)))
    tables = {
        "source": digest(),
        **_scanner(lexer),
        "rules": [_rule(rule) for rule in rules],
        "kinds": list(kinds),
        "rows": rows,
        "first": numbers[automaton.start_states["start"]],
        "last": numbers[automaton.end_states["start"]],
    }
    return zlib.compress(json.dumps(tables, separators=(",", ":")).encode(), 9)


def _scanner(lexer: Any) -> dict[str, Any]:
    """One pattern, in Lark's order of terminals, without the keywords, which are names at first."""
    words = {t.pattern.value: t.name for t in lexer.terminals if t.pattern.type == "str"}
    parts: list[str] = []
    for is_sign, run in groupby(lexer.scanner.terminals, key=lambda t: t.pattern.type == "str"):
        terminals = list(run)
        if is_sign:
            parts.append("|".join(re.escape(t.pattern.value) for t in terminals))
        else:
            parts += [f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals]
    return {"pattern": "|".join(parts), "words": words, "ignored": sorted(lexer.ignore_types)}


def _rule(rule: Rule) -> tuple[Any, ...]:
    """As `grammar.Rule`."""
    kept: list[tuple[int, bool, int]] = []
    absent = 0
    empty = iter(rule.options.empty_indices or [False] * len(rule.expansion))
    for index, symbol in enumerate(rule.expansion):
        while next(empty):
            absent += 1
        if rule.options.keep_all_tokens or not getattr(symbol, "filter_out", False):
            kept.append((index, not symbol.is_term and symbol.name.startswith("_"), absent))
            absent = 0
    absent += sum(empty)
    name = rule.alias or rule.origin.name
    single = rule.options.expand1 and not rule.alias
    bare = single and kept == [(0, False, 0)] and len(rule.expansion) == 1 and not absent
    return rule.origin.name, len(rule.expansion), name, kept, absent, single, bare


def main() -> None:
    """Write the tables beside the grammar."""
    TABLES.write_bytes(build())


if __name__ == "__main__":
    main()
