"""Make a failure small: fewer statements, simpler expressions, a smaller graph, a plainer way to run."""

from __future__ import annotations

import ast
import copy
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace

from vgraph.refusals.base import Refusal

from .runs import Difference, Outcome, Runs, Subject, Way, compare

SHAPES = ((1, 0), (1, 3), (2, 1), (2, 3), (3, 4), (5, 7), (9, 40), (30, 60), (150, 400))


def with_way(text: str, way: Way | None) -> str:
    """The text of a program for the corpus: its docstring says in which way it failed."""
    given = {k: v for k, v in asdict(way).items() if v != getattr(Way("", 1), k)} if way else {}
    return text.replace('\n"""', f'\nway: {json.dumps(given)}\n"""', 1) if way else text


def failure(text: str, seed: int, way: Way | None, shape: tuple[int, int]) -> str | None:
    """What goes wrong with a program in one way on one graph; None if nothing does, or the program is refused."""
    try:
        subject = Subject(text, seed)
        expected: Outcome = subject.expected(subject.graph(shape))
    except Refusal:
        return None
    except Exception as error:
        return f"the reference: {type(error).__name__}" if way is None else None
    if way is None:
        return None
    try:
        compare(Runs(subject, way), shape, expected)
    except Difference as found:
        return found.message.split(":")[0] if "Error" in found.message.split(":")[0] else "differs"
    except Refusal:
        return None
    except Exception as error:
        return type(error).__name__
    return None


def shrink(
    text: str, seed: int, found: Difference, seconds: float = 90.0
) -> tuple[str, Way | None, tuple[int, int]]:
    """A small text that fails as the given one does, the way and the graph on which it does."""
    end = time.monotonic() + seconds
    head, tree = f'"""{text.split(chr(34) * 3)[1]}"""\n\n', ast.parse(text)
    way, shape = found.way, found.shape
    kind = failure(text, seed, way, shape)
    if kind is None:
        return text, way, shape

    def fails(changed: ast.Module, w: Way | None = way, s: tuple[int, int] = shape) -> bool:
        return failure(_text(head, changed), seed, w, s) == kind

    for smaller in SHAPES[: SHAPES.index(shape)] if shape in SHAPES else ():
        if fails(tree, way, smaller):
            shape = smaller
            break
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for plainer in _plainer(way):
            if fails(tree, plainer, shape):
                way, progress = plainer, True
                break
        position = 0
        while time.monotonic() < end:
            changed = _change(tree, position)
            if changed is None:
                break
            if fails(changed, way, shape):
                tree, progress = changed, True
            else:
                position += 1
    return _text(head, tree), way, shape


def _text(head: str, tree: ast.Module) -> str:
    body = ast.unparse(ast.Module(tree.body[1:], []))
    return f"{head}{body}\n"


def _plainer(way: Way | None) -> Iterator[Way]:
    """Ways with one thing less."""
    if way is None:
        return
    for label, options in way.schedule.items():
        rest = {k: v for k, v in way.schedule.items() if k != label}
        yield replace(way, schedule=rest)
        for axis in options:
            fewer = {k: v for k, v in options.items() if k != axis}
            yield replace(way, schedule={**rest, label: fewer})
    for threads in (1, 2):
        if way.device != "cuda" and threads < way.threads:
            yield replace(way, threads=threads)
    if way.opt:
        yield replace(way, opt=0)


def _change(tree: ast.Module, position: int) -> ast.Module | None:
    """The tree with the change of that number made; None where there are no more."""
    for number, (path, new) in enumerate(_changes(tree)):
        if number == position:
            changed = copy.deepcopy(tree)
            _put(changed, path, copy.deepcopy(new))
            return changed
    return None


Path = tuple[tuple[str, int | None], ...]


def _put(tree: ast.AST, path: Path, new: list[ast.stmt] | ast.AST) -> None:
    """Put `new` in the place that a path leads to; a list takes the place of a statement in its body."""
    at: ast.AST = tree
    for name, index in path[:-1]:
        value = getattr(at, name)
        at = value if index is None else value[index]
    name, index = path[-1]
    if index is None:
        setattr(at, name, new)
    elif isinstance(new, list):
        getattr(at, name)[index : index + 1] = new
    else:
        getattr(at, name)[index] = new


def _changes(tree: ast.Module) -> Iterator[tuple[Path, list[ast.stmt] | ast.AST]]:
    """All single simplifications, large ones first."""
    nodes = list(_nodes(tree, ()))
    for path, node in nodes:
        if isinstance(node, ast.stmt) and path and len(path) > 0:
            body = getattr(_at(tree, path[:-1]), path[-1][0])
            if len(body) > 1 and not isinstance(node, ast.Return):
                yield path, []
            for inner in (getattr(node, "body", None), getattr(node, "orelse", None)):
                if isinstance(node, ast.If | ast.For | ast.While) and inner:
                    yield path, inner
            if isinstance(node, ast.If) and node.orelse:
                yield path, [ast.If(node.test, node.body, [])]
    for path, node in nodes:
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            for k in range(len(node.elts)):
                yield path, ast.Tuple(node.elts[:k] + node.elts[k + 1 :], ast.Load())
        elif isinstance(node, ast.expr) and not isinstance(node, ast.Name | ast.Constant | ast.Tuple):
            if path[-1][0] == "func":
                continue
            yield from ((path, inner) for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr))
            yield from ((path, ast.Constant(value)) for value in (0, 1, True))


def _at(tree: ast.AST, path: Path) -> ast.AST:
    for name, index in path:
        value = getattr(tree, name)
        tree = value if index is None else value[index]
    return tree


def _nodes(node: ast.AST, path: Path) -> Iterator[tuple[Path, ast.AST]]:
    yield path, node
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _nodes(value, (*path, (name, None)))
        elif isinstance(value, list):
            for k, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _nodes(item, (*path, (name, k)))
