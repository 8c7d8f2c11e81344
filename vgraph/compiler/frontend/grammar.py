"""Text to trees by the grammar's tables, which `tables.py` makes of `operator.lark`.

Lark computes the tables; what runs them here is a scanner, Python's indentation and an LALR(1) automaton, so that a
compile neither imports Lark nor makes its objects (30 ms of a cold compile).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).with_name("operator.tables")
_TAB = 8

Place = tuple[int, int]
"""Line and column, from 1."""


class Unexpected(Exception):
    """Text that the grammar does not have, where it begins: `word` is none for a character of no word at all."""

    def __init__(self, at: Place, word: str = "") -> None:
        super().__init__(at, word)
        self.line, self.column = at
        self.word = word


class Token(str):
    """A word of the text; `data` is its kind."""

    __slots__ = ("data", "end", "inside", "start")

    def __new__(cls, data: str, text: str, start: Place, end: Place) -> Token:
        """Make one."""
        made = super().__new__(cls, text)
        made.data, made.start, made.end = data, start, end
        made.inside = (start, end)
        return made

    data: str
    start: Place
    end: Place
    inside: tuple[Place, Place]


class Tree:
    """What a rule has put together: `start` and `end` are its own, `inside` with parentheses that are left out."""

    __slots__ = ("children", "data", "end", "inside", "start")

    def __init__(
        self, data: str, children: list[Tree | Token | None], inside: tuple[Place, Place] | None
    ) -> None:
        self.data, self.children, self.inside = data, children, inside
        self.start, self.end = inside or ((1, 1), (1, 1))


class Rule(NamedTuple):
    """How children become a tree: `kept` are those that stay, whether their own children take their place, and how
    many absent ones stand before; `absent` stand at the end. `single`: an only child is not wrapped; `bare`: it has but
    one, as where an expression has no operator of some level."""

    origin: str
    length: int
    name: str
    kept: list[tuple[int, bool, int]]
    absent: int
    single: bool
    bare: bool


class States(dict[int, dict[str, int]]):
    """What is done in a state by the kind of the next word or rule: the next state, or the complement of a rule's
    number. A state's row is read when it is first reached."""

    def __init__(self, kinds: list[str], rows: list[str]) -> None:
        self._kinds, self._rows = kinds, rows

    def __missing__(self, state: int) -> dict[str, int]:
        numbers = [int(word) for word in self._rows[state].split()]
        row = {self._kinds[kind]: to for kind, to in zip(numbers[::2], numbers[1::2], strict=True)}
        self[state] = row
        return row


class Grammar(NamedTuple):
    """The tables: `words` are the kinds of keywords and signs."""

    match: Callable[[str, int], re.Match[str] | None]
    words: dict[str, str]
    ignored: frozenset[str]
    rules: list[Rule]
    states: States
    first: int
    last: int


@cache
def grammar() -> Grammar:
    """The grammar of the language."""
    made = json.loads(zlib.decompress(TABLES.read_bytes()))
    return Grammar(
        re.compile(made["pattern"]).match,
        made["words"],
        frozenset(made["ignored"]),
        [Rule(*rule) for rule in made["rules"]],
        States(made["kinds"], made["rows"]),
        made["first"],
        made["last"],
    )


def parse(text: str) -> Tree:
    """The tree of a function; its first line may be indented, as long as the others are so, too. Raises Unexpected."""
    margin = text[: len(text) - len(text.lstrip())]
    tokens = _indented(_tokens(f"{text.rstrip()}\n{margin}"), _width(margin))
    _, _, _, rules, states, first, last = grammar()
    path, values = [first], list[Tree | Token | None]()
    for token in tokens:
        while True:
            action = states[path[-1]].get(token.data)
            if action is None:
                raise Unexpected(token.start, token)
            if action >= 0:
                path.append(action)
                values.append(token)
                break
            rule = rules[~action]
            if rule.bare:
                path[-1] = states[path[-2]][rule.origin]
                continue
            place = len(path) - rule.length
            made = _reduced(rule, values[place - 1 :])
            del path[place:], values[place - 1 :]
            path.append(states[path[-1]][rule.origin])
            values.append(made)
            if path[-1] == last and token.data == "$END":
                assert isinstance(made, Tree)
                return made
    raise AssertionError("the last token is the end of the text")


def _reduced(rule: Rule, parts: list[Tree | Token | None]) -> Tree | Token | None:
    children = list[Tree | Token | None]()
    for index, opened, absent in rule.kept:
        if absent:
            children += [None] * absent
        part = parts[index]
        if opened:
            assert isinstance(part, Tree)
            children += part.children
        else:
            children.append(part)
    children += [None] * rule.absent
    places = [part.inside for part in parts if part is not None and part.inside is not None]
    inside = (places[0][0], places[-1][1]) if places else None
    if not (rule.single and len(children) == 1):
        return Tree(rule.name, children, inside)
    only = children[0]
    if isinstance(only, Tree):
        only.inside = inside
    return only


def _tokens(text: str) -> Iterator[Token]:
    found = grammar()
    at, line, began = 0, 1, -1  # where the line began, less one
    while at < len(text):
        match = found.match(text, at)
        if match is None or match.end() == at:
            raise Unexpected((line, at - began))
        word, kind = match[0], match.lastgroup
        start = (line, at - began)
        at = match.end()
        if "\n" in word:
            line += word.count("\n")
            began = match.start() + word.rindex("\n")
        if kind is None or kind == "NAME":
            kind = found.words.get(word, "NAME")
        if kind not in found.ignored:
            yield Token(kind, word, start, (line, at - began))


def _indented(tokens: Iterator[Token], margin: int) -> Iterator[Token]:
    """With marks where Python's indentation begins and ends, and one for the end of the text."""
    depth, levels, token = 0, [margin], None
    for token in tokens:
        if token.data != "_NEWLINE":
            depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
            yield token
            continue
        if depth:
            continue
        yield token
        indent = token.rpartition("\n")[2]
        if _width(indent) > levels[-1]:
            levels.append(_width(indent))
            yield Token("_INDENT", indent, token.start, token.end)
        while _width(indent) < levels[-1]:
            levels.pop()
            yield Token("_DEDENT", indent, token.start, token.end)
        if _width(indent) != levels[-1]:
            raise Unexpected((1, 1))
    assert token is not None
    for _ in levels[1:]:
        yield Token("_DEDENT", "", token.start, token.end)
    yield Token("$END", "", token.start, token.end)


def _width(indent: str) -> int:
    return indent.count(" ") + indent.count("\t") * _TAB
