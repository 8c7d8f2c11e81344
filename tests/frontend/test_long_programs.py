"""Long and deep programs: the work of compiling grows with the length of the text, and what is too much is refused."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.effort import Effort, Level, effort_for
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import Signature, argument_types, build_program
from vgraph.compiler.frontend.unit import Names
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.types import Target
from vgraph.config import scope
from vgraph.language.decorators import AlgorithmDef
from vgraph.refusals.limits import InlinedTooOften, TooDeep
from vgraph.runtime.devices.cpu import backend

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GRAPH = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], directed=True)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("long_programs")


def compile_text(main: AlgorithmDef, directed: bool = True) -> str:
    """Everything but LLVM."""
    program = build_program(main, Signature(Target(), {}, {}, {}, directed, argument_types(main, {})))
    context = Context(vg.Schedule(), 0, Facts(), abilities=backend().abilities)
    return backend().emit(PassManager(context).run(program, PIPELINE)).text


def steps(function: Callable[[], Any]) -> int:
    """Lines of vgraph's own code that a call runs: what it costs, the same on every machine."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        if "/vgraph/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "kind", ["statements", "branches", "calls", "loops", "properties", "applies", "driver"]
)
def test_the_work_is_linear_in_the_text(programs: ModuleType, tmp_path: Path, kind: str) -> None:
    mains = [programs.load(programs.KINDS[kind](n), tmp_path) for n in (8, 16, 32)]
    compile_text(mains[0])  # imports, and what is kept for all programs
    few, some, many = (steps(lambda main=main: compile_text(main)) for main in mains)
    # twice as much more text is twice as much more work, and a little for sets that grow
    assert many - some < 2.2 * (some - few)


def test_a_name_is_found_at_once() -> None:
    """However often a helper's variable, which is called the same in each of its calls, needs a new one."""
    names = Names()
    first = steps(lambda: [names.fresh("x") for _ in range(100)])
    assert steps(lambda: [names.fresh("x") for _ in range(100)]) < 1.1 * first
    assert len(names.taken) == 200


def test_the_text_is_linear(programs: ModuleType, tmp_path: Path) -> None:
    few, some, many = (
        len(compile_text(programs.load(programs.properties(n), tmp_path))) for n in (40, 80, 160)
    )
    assert many - some < 2.2 * (some - few)


def test_many_properties(programs: ModuleType, tmp_path: Path) -> None:
    """More arrays than have alias scopes, and than there were numbers for their metadata."""
    text = compile_text(programs.load(programs.properties(340), tmp_path))
    assert jit.compile_ir(text, opt=0)
    result = vg.run(programs.load(programs.properties(70), tmp_path), GRAPH, device="cpu", threads=1)
    assert [result.p2.tolist(), result.p70.tolist()] == [[2, 2, 2, 2], [70, 70, 70, 70]]


def test_helpers_that_double(programs: ModuleType, tmp_path: Path) -> None:
    few = programs.load(programs.helpers(6), tmp_path)
    expected = vg.run(few, GRAPH, device="python").x
    np.testing.assert_array_equal(vg.run(few, GRAPH, device="cpu", threads=1).x, expected)
    with pytest.raises(InlinedTooOften, match="calls of `h1` make"):
        vg.run(programs.load(programs.helpers(30), tmp_path), GRAPH)


def test_returns_that_double(tmp_path: Path, programs: ModuleType) -> None:
    """Each such `if` makes two ways through what follows it."""
    ifs = "".join(f"    if x > {i}:\n        if x > {2 * i}:\n            return {i}\n" for i in range(40))
    helper = f"@vg.function\ndef h(x):\n{ifs}    return 0\n"
    text = f"import vgraph as vg\n{helper}\n@vg.operator\ndef visit(v):\n    v.x = h(v.x)\n{ALGORITHM}"
    with pytest.raises(InlinedTooOften, match="calls of `h`"):
        vg.run(programs.load(text, tmp_path), GRAPH)


# --- depth ----------------------------------------------------------------------------------------------------

ALGORITHM = """
@vg.algorithm
def main(graph, k=3):
    x = graph.vertex_property(vg.int64, fill=1)
    b = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return x, b
"""


def _operator(body: str, before: str = "") -> str:
    return f"import vgraph as vg\n\n{before}\n@vg.operator\ndef visit(v):\n{body}\n{ALGORITHM}"


def _driver(body: str) -> str:
    head = "    x = graph.vertex_property(vg.int64, fill=1)\n    a = k\n    b = k > 1\n"
    return f"import vgraph as vg\n\n@vg.algorithm\ndef main(graph, k=3):\n{head}{body}\n    return x, a, b\n"


def _chain(n: int) -> str:
    more = "\n".join(f"@vg.function\ndef h{i}(x):\n    return h{i - 1}(x) + {i}\n" for i in range(1, n))
    return _operator(f"    v.x = h{n - 1}(v.x)", f"@vg.function\ndef h0(x):\n    return x\n\n{more}")


def _performed(n: int) -> str:
    more = "\n".join(f"@vg.function\ndef h{i}(v):\n    h{i - 1}(v)\n" for i in range(1, n))
    return _operator(f"    h{n - 1}(v)", f"@vg.function\ndef h0(v):\n    v.x = 1\n\n{more}")


def _elifs(n: int, name: str) -> str:
    more = "\n".join(f"    elif {name} == {i}:\n        {name} = 2" for i in range(1, n))
    return f"    if {name} == 0:\n        {name} = 1\n{more}"


DEEP: dict[str, Callable[[int], str]] = {
    "additions": lambda n: _operator(f"    v.x = {' + '.join(['v.x'] * n)}"),
    "bits": lambda n: _operator(f"    v.x = {' | '.join(['v.x'] * n)}"),
    "powers": lambda n: _operator(f"    v.x = int({' ** '.join(['v.x'] * n)})"),
    "comparisons": lambda n: _operator(f"    v.b = {' < '.join(['v.x'] * n)}"),
    "ands": lambda n: _operator(f"    v.b = {' and '.join(['v.b'] * n)}"),
    "minuses": lambda n: _operator(f"    v.x = {'-' * n}v.x"),
    "nots": lambda n: _operator(f"    v.b = {'not ' * n}v.b"),
    "attributes": lambda n: _operator(f"    v.x = v{'.id' * n}"),
    "elifs": lambda n: _operator(_elifs(n, "v.x")),
    "helpers": _chain,
    "helpers as statements": _performed,
    "returns": lambda n: _operator(
        "    v.x = h(v.x)",
        "@vg.function\ndef h(x):\n"
        + "\n".join(f"    if x == {i}:\n        return {i}" for i in range(n))
        + "\n    return 0\n",
    ),
    "additions of the driver": lambda n: _driver(f"    a = {' + '.join(['a'] * n)}"),
    "elifs of the driver": lambda n: _driver(_elifs(n, "a")),
    "nots of the driver": lambda n: _driver(f"    b = {'not ' * n}b"),
}
NESTED: dict[str, Callable[[int], str]] = {  # Python takes up to 200 parentheses and 100 indentations
    "min": lambda n: _operator(f"    v.x = {'min(3, ' * n}v.x{')' * n}"),
    "abs": lambda n: _operator(f"    v.x = {'abs(' * n}v.x{')' * n}"),
    "parentheses": lambda n: _operator(f"    v.x = {'(1 + ' * n}v.x{')' * n}"),
    "choices": lambda n: _operator(f"    v.x = {'(1 if v.x > 2 else ' * n}3{')' * n}"),
    "and, or": lambda n: _operator(f"    v.b = {'(v.b and (v.b or ' * (n // 2)}v.b{'))' * (n // 2)}"),
    "blocks": lambda n: _operator(
        "\n".join(f"{' ' * (4 + i)}if v.x > 1:" for i in range(n // 2)) + f"\n{' ' * (5 + n // 2)}v.x = 2"
    ),
    "indices": lambda n: _driver(f"    a = {'x[' * n}0{']' * n}"),
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_too_deep_is_refused(programs: ModuleType, tmp_path: Path, name: str) -> None:
    main = programs.load(DEEP[name](600), tmp_path)
    with pytest.raises(TooDeep) as caught:
        vg.run(main, GRAPH, device="cpu")
    lines = str(caught.value).splitlines()
    assert len(lines) <= 10
    assert max(map(len, lines)) < 260


def test_every_way_in_refuses(programs: ModuleType, tmp_path: Path) -> None:
    main = programs.load(DEEP["additions"](1000), tmp_path)
    for call in (vg.explain, vg.autotune, lambda *a: vg.run(*a, device="python")):
        with pytest.raises(TooDeep):
            call(main, GRAPH)


@pytest.mark.parametrize("depths", [(60, 160), pytest.param(range(64, 200, 8), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*DEEP, *NESTED])
def test_what_is_deep_is_compiled_whole_or_refused(
    programs: ModuleType, tmp_path: Path, name: str, depths: Sequence[int]
) -> None:
    """At no depth does a stage behind the frontend run out of stack."""
    make = (DEEP | NESTED)[name]
    for depth in depths:
        with suppress(TooDeep) if depth > 60 else nullcontext():
            compile_text(programs.load(make(depth), tmp_path))


def test_a_caller_deep_in_the_stack(programs: ModuleType, tmp_path: Path) -> None:
    main = programs.load(DEEP["additions"](100), tmp_path)

    def call(frames: int) -> str:
        return compile_text(main) if frames == 0 else call(frames - 1)

    assert call(0)
    with pytest.raises(TooDeep):
        call(600)


# --- LLVM -----------------------------------------------------------------------------------------------------


def module(instructions: int, loops: int) -> str:
    """A function of so many instructions, with a branch backwards behind each `instructions / loops`."""
    lines = ["define void @f() {"]
    for k in range(loops):
        lines += [f"loop.{k}:", *["  %x = add i64 1, 2"] * (instructions // loops - 1)]
        lines.append(f"  br i1 %c, label %loop.{k}, label %loop.{k + 1}")
    return "\n".join([*lines, f"loop.{loops}:", "}"])


@pytest.mark.parametrize(
    ("instructions", "loops", "effort"),
    [
        (3000, 30, Effort(Level.ALL, True)),
        (3000, 2, Effort(Level.SOME, True)),
        (6000, 60, Effort(Level.ALL, False)),
        (6000, 1, Effort(Level.SOME, False)),
        (11_000, 110, Effort(Level.CLEAN, False)),
        (11_000, 1, Effort(Level.CLEAN, False)),
        (21_000, 210, Effort(Level.NOTHING, False)),
    ],
)
def test_effort(instructions: int, loops: int, effort: Effort) -> None:
    assert effort_for(module(instructions, loops)) == effort


def test_effort_follows_from_the_longest_function() -> None:
    assert effort_for(module(3000, 30) + "\n" + module(3000, 30)) == Effort(Level.ALL, True)
    assert effort_for(module(3000, 2) + "\n" + module(30, 30)) == Effort(Level.SOME, True)
    assert effort_for(module(6000, 60) + "\n" + module(30, 30)) == Effort(Level.ALL, False)


@pytest.mark.parametrize(("count", "level"), [(32, Level.CLEAN), (64, Level.NOTHING)])
def test_long_programs_give_what_they_mean(
    programs: ModuleType, tmp_path: Path, count: int, level: Level
) -> None:
    main = programs.load(programs.KINDS["applies"](count), tmp_path)
    effort = effort_for(compile_text(main))
    assert effort.level is level
    n = count // 2
    path = vg.Graph.from_edges(range(n), range(1, n + 1))
    with scope(opt=3):
        found = vg.run(main, path, threads=2)
    assert found.x.tolist() == vg.run(main, path, device="python").x.tolist()
    if level is Level.CLEAN:
        assert effort.note in vg.explain(main, path).reasons


@pytest.mark.parametrize("effort", [Effort(level, False) for level in Level] + [Effort(Level.SOME, True)])
def test_less_effort_is_said(effort: Effort) -> None:
    assert effort.note.startswith("long program: ")
    assert not Effort(Level.ALL, True).note


def test_the_library_gets_full_effort() -> None:
    longest = compile_text(vg.algorithms.biconnected_components, directed=False)
    assert effort_for(longest) == Effort(Level.ALL, True)
