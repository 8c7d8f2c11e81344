"""The grammar's tables: up to date, and what runs them makes of a text what Lark makes of it."""

from __future__ import annotations

import functools
import json
import textwrap
import zlib

import pytest
from lark import Lark, LarkError, Tree
from lark import Token as LarksToken

from vgraph.compiler.frontend import grammar, tables
from vgraph.compiler.frontend.grammar import Token, Unexpected

HELP = "run python -m vgraph.compiler.frontend.tables"

FUNCTIONS = [
    '''
    @vg.algorithm(1, *two, **three, k=4)
    async def f(v: int, w=2, *rest: int, **more: str) -> None:
        """A text,
        of two lines."""
        a, b = c = v.x[1:2], u[::3], w[k, 1]; a[i].b += -1 ** ~2 if not x and y or z else (3 @ w + 1) // 5 % 0x1F << 1
        p = x | y & z ^ 1e-3, 2.5j  # a remark
        # another, less indented
      # and less than that

        if a < b <= c == d != e > f >= g in h not in i is j is not k:
            pass
        elif (u := v): return
        else:
            for i, (j) in enumerate(x): break
            else: continue
        async for v in [1, 2,]:
            print()
        while True:
            q = [v(w) for v in range(3) if v if w], sum(a async for a in b), ()
        return None, False, ..., "a" 'b' r"""c""", \\
            []
    ''',
    '''
    def f(*, a, /, b):
        x: int = 3
        x: y
        del a, b
        raise E from e; raise
        assert a, b
        import a.b as c, d
        from .a import (b, c as d,)
        from ... import *
        global a, b
        nonlocal c
        yield from x
        z = yield a, b
        {**a, b: c, }; {a, *b}; {x for x in y}; {k: v for k, v in x}; (yield); [x for x in y]
        await f(lambda: 1, key=lambda x, y=2: x); g(); [*a]; {}
        def g(): pass
        try: pass
        except: pass
        except E as e: pass
        else: pass
        finally: pass
        try:
            pass
        finally: pass
        async with a as b, c: pass
        @d
        class C(D, e=f): pass
        class E:
            pass
    ''',
    "@a\ndef f(): return -x.y ** 2",
]  # fmt: skip
FAULTS = [
    "def f(v):\n    match v:\n        case 1: pass",
    "def f(v):\n    a = $",
    "def f(v):\n    a = (1,\n",
    "def f(v):\n    a b",
    "def f(v):\npass",
    "def f(v):\n        a\n    b",
    "def f(v) -> :\n    a",
    "f = 1",
]


@functools.cache
def larks() -> Lark:
    return tables.lark()


def written(tree: Tree[LarksToken] | LarksToken | None) -> object:
    """A tree of Lark's as nested tuples."""
    if isinstance(tree, LarksToken):
        return tree.type, str(tree), (tree.line, tree.column), (tree.end_line, tree.end_column)
    if tree is None:
        return None
    m = tree.meta
    at = ((1, 1), (1, 1)) if m.empty else ((m.line, m.column), (m.end_line, m.end_column))
    return str(tree.data), *at, [written(child) for child in tree.children]  # type: ignore[arg-type]


def own(tree: grammar.Tree | Token | None) -> object:
    """The same of a tree of ours."""
    if isinstance(tree, Token):
        return tree.data, str(tree), tree.start, tree.end
    return tree and (tree.data, tree.start, tree.end, [own(child) for child in tree.children])


def test_tables_are_those_of_the_grammar() -> None:
    held = json.loads(zlib.decompress(grammar.TABLES.read_bytes()))
    assert held["source"] == tables.digest(), HELP


def test_trees_are_larks(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[grammar.Rule] = set()

    def spy(rule: grammar.Rule, *rest: object) -> object:
        used.add(rule._replace(kept=()))
        return reduced(rule, *rest)  # type: ignore[arg-type]

    reduced = grammar._reduced
    monkeypatch.setattr(grammar, "_reduced", spy)
    for text in FUNCTIONS:
        text = textwrap.dedent(text).strip()
        assert own(grammar.parse(text)) == written(larks().parse(text + "\n"))
    missing = {rule.origin for rule in grammar.grammar().rules if not rule.bare} - {
        rule.origin for rule in used
    }
    assert not missing, "add a text that needs them to FUNCTIONS"


@pytest.mark.parametrize("text", FAULTS)
def test_faults_are_where_lark_finds_them(text: str) -> None:
    with pytest.raises(LarkError) as theirs:
        larks().parse(text + "\n")
    with pytest.raises(Unexpected) as ours:
        grammar.parse(text)
    place = getattr(theirs.value, "line", 1), getattr(theirs.value, "column", 1)
    assert (ours.value.line, ours.value.column) == place
    assert ours.value.word == str(getattr(theirs.value, "token", ""))


def test_a_function_may_be_indented() -> None:
    text = "def f(v):\n    if v:\n        a\n    b\n"
    for margin in ("    ", "\t", "\t  "):
        inner = textwrap.indent(text, margin)
        kinds = [str(t.data) for t in _trees(grammar.parse(inner))]
        assert kinds == [str(t.data) for t in _trees(grammar.parse(text))]


def _trees(tree: grammar.Tree) -> list[grammar.Tree]:
    found = [tree]
    for child in tree.children:
        found += _trees(child) if isinstance(child, grammar.Tree) else []
    return found
