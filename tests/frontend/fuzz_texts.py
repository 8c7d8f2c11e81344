"""Mutated texts for everything that reads text but files: operators and algorithms, textual IR, schedules.

    python tests/frontend/fuzz_texts.py 60

tries random mutations for so many seconds. Whatever a text is, it is read, or refused by a `vg.VGraphError`.
"""

from __future__ import annotations

import io
import linecache
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import vgraph as vg
from vgraph.cli.inputs import parse_schedule
from vgraph.compiler.frontend import build_program
from vgraph.compiler.frontend.parser import parse
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.verify import VerifyError, verify
from vgraph.errors import InternalError
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.prepare import prepare
from vgraph.source import SourceFile

Edit = tuple[int, int, int]
"""Which token, what to do with it, and with which word of the pool."""

NAME = "<fuzz>"
HERE = Path(__file__).parent
_TOKEN = re.compile(r"\w+|\n *|[ \t]+|.", re.DOTALL)
ODD = [
    "0", "-1", "2**63", "1e400", "0x", "9" * 5000, "1_0", "1j", "\u00aa", "\ufb01", "\x00", "\t", "\\", "'", '"""', "#",
    "(", ")", "[", "]", "{", "}", ":", ";", ",", ".", "@", "=", "==", ":=", "->", "...", "*", "**", "//", "<<", "~",
    "not", "in", "is", "and", "or", "if", "else", "elif", "for", "while", "def", "class", "lambda", "return", "break",
    "pass", "None", "True", "vg", "graph", "src", "dst", "edge", "v", "x", "self", "__class__", "print", "range", "min",
    "async", "await", "yield", "global", "del", "import", "try", "with", "match", "\n", "\n    ", "\n        ",
]  # fmt: skip
"""Words that grammars stumble over."""


def tokens(text: str) -> list[str]:
    """Words, blanks and signs; joined, they are the text."""
    return _TOKEN.findall(text)


def mutated(text: str, edits: Sequence[Edit], pool: Sequence[str]) -> str:
    """`text` with tokens removed, doubled, exchanged, replaced, or put in, or cut where one stands."""
    words = tokens(text)
    for place, action, other in edits:
        at = place % (len(words) + 1)
        word = pool[other % len(pool)]
        match action % 6:
            case 0:
                words[at : at + 1] = []
            case 1:
                words[at:at] = words[at : at + 1 + other % 8]
            case 2:
                words[at : at + 1] = [word]
            case 3:
                words[at:at] = [word]
            case 4:
                till = other % (len(words) + 1)
                words[at : at + 1], words[till : till + 1] = words[till : till + 1], words[at : at + 1]
            case 5:
                words[at : at + other % 12] = []
    return "".join(words)


# --- what reads texts -----------------------------------------------------------------------------------------


def read_function(text: str) -> None:
    """The grammar of operators, helpers and algorithms; Python itself need not take the text."""
    try:
        parse(SourceFile(NAME, text), defaults=True)
    except SyntaxError:  # Python reads literals, and it has read all functions that there are
        if _code(text) is not None:
            raise


def _code(text: str) -> CodeType | None:
    """A module of Python, compiled; None if it is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(text, NAME, "exec")
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
            return None


@cache
def graph() -> vg.Graph:
    """A graph with properties of several types."""
    made = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], weight=[1.0, 2.0, 3.0, 4.0], length=[1, 2, 3, 4])
    return made.with_vertex_property("given", [1, 2, 3, 4])


def read_program(text: str) -> None:
    """A module of Python with algorithms: the whole frontend and the verifier."""
    code = _code(text)
    if code is None:
        return
    linecache.cache[NAME] = (len(text), None, io.StringIO(text, newline=None).readlines(), NAME)
    scope: dict[str, Any] = {"__name__": "fuzzed"}
    try:
        exec(code, scope)
    except vg.VGraphError:
        raise
    except Exception:
        return  # an error of Python's in the module's own statements
    for algorithm in [value for value in scope.values() if isinstance(value, AlgorithmDef)]:
        try:
            signature = prepare(algorithm, graph(), {}, incomplete=True).signature
        except vg.VGraphError:
            raise
        except Exception as error:
            if any(frame.filename == NAME for frame in traceback.extract_tb(error.__traceback__)):
                continue  # an error of Python's in a check or a preparation of the algorithm's
            raise
        verify(build_program(algorithm, signature))


def read_ir(text: str) -> None:
    """Textual IR; what is read and verified prints so that it is read as the same."""
    program = parse_program(text)
    try:
        verify(program, program.level)
    except VerifyError:  # a rule of the IR
        return
    again = print_program(program)
    assert print_program(parse_program(again)) == again, "the text of a program is not read as it is printed"


def read_schedule(text: str) -> None:
    """Schedules of the command line, one label a line; what is read prints so that it is read as the same."""
    schedule = parse_schedule(text.split("\n"))
    assert schedule is not None
    if schedule.labels and not any(c in label for label in schedule.labels for c in ":\n"):
        rows = [row for row in str(schedule).split("\n") if not row.endswith(": auto")]
        if len(rows) == len(schedule.labels):
            assert parse_schedule(rows) == schedule, "a schedule is not read as it is printed"


# --- what they begin with -------------------------------------------------------------------------------------

PROGRAM = """import vgraph as vg

LIMIT = 3


@vg.function
def cut(x, y):
    z = x * x - 1
    return z if z < y else y


@vg.operator
def relax(src, edge, dst):
    step = cut(src.near + edge.length, LIMIT)
    if edge.weight > 0.5 and not src.done:
        dst.near = min(dst.near, step)
        dst.sum += edge.weight


@vg.operator
def visit(v, graph):
    total = 0
    for u in v.out_neighbors:
        total += u.given
    if total > 1:
        graph.most = max(graph.most, total)
    v.done = total % 2 == 1


@vg.algorithm
def main(graph, rounds=2, start: vg.vertex = 0):
    near = graph.vertex_property(vg.int64, fill=vg.inf)
    sum = graph.vertex_property(vg.float64)
    done = graph.vertex_property(vg.bool_)
    graph.most = 0
    near[start] = 0
    frontier = graph.frontier(start)
    levels = [frontier]
    for _ in range(rounds):
        frontier = graph.edge_apply(relax, frontier, label="step")
        graph.vertex_apply(visit)
        levels.append(frontier)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    for level in reversed(levels):
        graph.edge_apply(relax, level, reverse=True)
    return near, sum, graph.most
"""

SCHEDULES = (
    "relax: direction=push, drive=data, order=delta(64)",
    "step: balance=split(4), frontier=bitmap, sync=async\nrelax: order=strict",
    "visit: segments=4, prefetch=8",
)


def functions() -> list[str]:
    """Texts of operators and algorithms."""
    return ["@vg" + part.rstrip() + "\n" for part in PROGRAM.split("@vg")[1:]]


@cache
def programs() -> tuple[str, ...]:
    """Modules with algorithms: one with much of the language, and those of the library."""
    library = sorted(Path(vg.algorithms.__file__).parent.glob("[a-z]*.py"))
    return PROGRAM, *(file.read_text(encoding="utf-8") for file in library if file.stat().st_size < 3000)


@cache
def ir_texts() -> tuple[str, ...]:
    """Programs at the levels that passes have goldens of."""
    golden = sorted((HERE.parent / "passes" / "golden").glob("*.ir"))
    stations = (re.split(r"^(?:#.*\n)+", file.read_text("utf-8"), flags=re.MULTILINE) for file in golden)
    return tuple(text for texts in stations for text in texts if 0 < len(text) < 6000)


KINDS: dict[str, tuple[Callable[[str], None], Callable[[], Sequence[str]]]] = {
    "function": (read_function, functions),
    "program": (read_program, programs),
    "ir": (read_ir, ir_texts),
    "schedule": (read_schedule, lambda: SCHEDULES),
}


@cache
def pool(kind: str) -> tuple[str, ...]:
    """The words that mutations take: those of the texts, and odd ones."""
    seeds = KINDS[kind][1]()
    return tuple(dict.fromkeys([*ODD, *(word for seed in seeds for word in tokens(seed) if word.strip())]))


def attempt(kind: str, text: str) -> bool:
    """Whether the text is read; any exception but a `vg.VGraphError` goes on, and so do our own bugs."""
    try:
        KINDS[kind][0](text)
    except InternalError:
        raise
    except vg.VGraphError as error:
        str(error)  # messages are made when they are shown
        return False
    return True


def main(seconds: float, seed: int) -> int:
    """Mutate for so long; the number of different failures."""
    rng, found, counts = random.Random(seed), {}, dict.fromkeys(KINDS, 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind = rng.choice(list(KINDS))
        text = rng.choice(KINDS[kind][1]())
        edits = [
            (rng.getrandbits(20), rng.getrandbits(20), rng.getrandbits(20)) for _ in range(rng.randint(1, 6))
        ]
        text = mutated(text, edits, pool(kind))
        counts[kind] += 1
        try:
            attempt(kind, text)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            key = (kind, type(error).__name__, frame.filename, frame.lineno)
            if key not in found or len(text) < len(found[key]):
                found[key] = text
    for key, text in found.items():
        print(key, repr(text) if key[0] != "program" else text, sep="\n")
    print(counts, f"{len(found)} failures")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(1, main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
