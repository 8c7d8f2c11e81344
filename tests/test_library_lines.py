"""How long the library's files are, in lines of code: without docstrings, comments and blank lines."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import vgraph as vg

LIBRARY = Path(vg.algorithms.__file__).parent
LONG = 60
MOST_LONG = 5
"""Files that may be longer: a new one makes another shorter."""
MOST = 4256
"""Lines of all together."""
BLANK = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def lines_of_code(text: str) -> int:
    """The lines on which anything stands that is no docstring or comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {n for t in tokens if t.type not in BLANK for n in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        match node:
            case (
                ast.Module(body=[ast.Expr(ast.Constant(str())) as said, *_])
                | ast.FunctionDef(body=[ast.Expr(ast.Constant(str())) as said, *_])
                | ast.ClassDef(body=[ast.Expr(ast.Constant(str())) as said, *_])
            ):
                lines -= set(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    return len(lines)


def test_what_counts() -> None:
    assert (
        lines_of_code(
            '"""A file."""\n\n# why\nx = (\n    1\n)\n\ndef f():\n    """A function.\n\n    More."""\n    return x\n'
        )
        == 5
    )


def test_the_library_does_not_grow_longer() -> None:
    counts = {p.name: lines_of_code(p.read_text(encoding="utf-8")) for p in LIBRARY.glob("*.py")}
    del counts["__init__.py"]  # a list of names
    long = {name: n for name, n in sorted(counts.items(), key=lambda item: -item[1]) if n > LONG}
    assert len(long) <= MOST_LONG, long
    assert sum(counts.values()) <= MOST
