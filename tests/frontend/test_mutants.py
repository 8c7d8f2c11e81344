"""Programs with parts exchanged or left out: each is compiled to valid IR or refused, never an internal error."""

from __future__ import annotations

import ast
import copy
import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import language_programs as programs
import numpy as np
import pytest
from test_language_programs import CASES, build

from vgraph.errors import Diagnostic, ParameterError
from vgraph.language.decorators import AlgorithmDef

TEXT = Path(programs.__file__).read_text(encoding="utf-8")


def is_read(node: ast.AST) -> bool:
    """Whether a node is an expression that may be exchanged."""
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


class Mutator(ast.NodeTransformer):
    """Exchanges some expressions by others of the same function (now and then of another) and drops some statements."""

    def __init__(self, seed: int, rate: float) -> None:
        self.random = random.Random(seed)
        self.rate = rate
        self.all = self.parts(ast.parse(TEXT))
        self.own: tuple[list[ast.AST], list[ast.AST]] = ([], [])

    def parts(self, tree: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
        """The expressions and the statements of a tree."""
        nodes = list(ast.walk(tree))
        statements = (ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Return, ast.Expr)
        return [n for n in nodes if is_read(n)], [n for n in nodes if isinstance(n, statements)]

    def other(self, kind: int) -> ast.AST:
        """A part to put in the place of another."""
        pool = self.own if self.own[kind] and self.random.random() < 0.9 else self.all
        return copy.deepcopy(self.random.choice(pool[kind]))

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.FunctionDef):
            outer, self.own = self.own, self.parts(node)
            node.body = [self.visit(s) for s in node.body]
            self.own = outer
            return node
        if self.own[0] and self.random.random() < self.rate:
            if is_read(node):
                return self.other(0)
            if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef):
                return ast.Pass() if self.random.random() < 0.3 else self.other(1)
        return self.generic_visit(node)


def mutant(seed: int, folder: Path) -> ModuleType:
    """The module of programs with some parts exchanged."""
    tree = Mutator(seed, (0.003, 0.01, 0.03)[seed % 3]).visit(ast.parse(TEXT))
    path = folder / f"mutant_{seed}.py"
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcomes(seed: int, folder: Path) -> list[str]:
    """What becomes of each algorithm of a mutant: its refusal's class, or `valid`."""
    try:
        module = mutant(seed, folder)
    except (SyntaxError, TypeError, NameError):  # not Python any more
        return []
    found = []
    for name, values in {**CASES, "constants": {"preference": np.zeros(3)}}.items():
        definition = getattr(module, name, None)
        if not isinstance(definition, AlgorithmDef):
            continue
        try:
            build(definition, directed=bool(seed % 2), **values)
            found.append("valid")
        except (Diagnostic, ParameterError) as refusal:
            found.append(str(refusal) and type(refusal).__name__)
    return found


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_mutants_are_compiled_or_refused(start: int, tmp_path: Path) -> None:
    found = [o for seed in range(start, start + 20) for o in outcomes(seed, tmp_path)]
    assert "valid" in found
    assert len(set(found)) > 8
