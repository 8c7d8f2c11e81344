"""The fuzzer finds mistakes that are planted in vgraph: in the analyses, the passes and both backends."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vgraph

PROGRAMS = 400
"""So many programs find each."""

CPU = {
    "statements after a claim are forgotten": (
        "compiler/analysis/effects.py",
        "    if len(body) != 1:\n",
        "    if not body:\n",
    ),
    "a condition may depend on what is updated": (
        "compiler/analysis/effects.py",
        '                return "a condition depends on an updated property"\n',
        "                pass\n",
    ),
    "only the frontier is copied": (
        "compiler/passes/double_buffer.py",
        "frontier = n.frontier if isinstance(n, ir.EdgeApply) and at_src else None",
        "frontier = n.frontier",
    ),
    "what is carried from arc to arc is read in a piece": (
        "compiler/analysis/pieces.py",
        "            if isinstance(n, ir.Var) and n.name in found:\n",
        "            if False:\n",
    ),
    "reductions into other vertices are not atomic": (
        "compiler/passes/insert_atomics.py",
        '                return ir.with_fields(n, {"atomic": True})\n',
        '                return ir.with_fields(n, {"atomic": False})\n',
    ),
    "vertices enter a queue that have left it": (
        "compiler/passes/lower_queues.py",
        'inside = ir.Unary("not", ir.Load(queue.taken, ir.Var(v, VID), BOOL))',
        "inside = ir.Load(queue.taken, ir.Var(v, VID), BOOL)",
    ),
    "unsigned integers are compared as signed ones": (
        "compiler/backends/llvm/arithmetic.py",
        '"s" if is_signed(t) else "u"\n    return f.op(f"icmp',
        '"s"\n    return f.op(f"icmp',
    ),
    "quotients are not rounded down": (
        "compiler/backends/llvm/arithmetic.py",
        'adjust = f.op(f"and {flags} {inexact}, {signs}")',
        'adjust = f.op(f"and {flags} {inexact}, false")',
    ),
    "signs are not shifted": (
        "compiler/backends/llvm/arithmetic.py",
        '"ashr" if is_signed(t) else "lshr"',
        '"lshr"',
    ),
}
CUDA = {
    "floats become integers as C++ does it": (
        "compiler/backends/cuda/expressions.py",
        "    if is_bool(to) or (is_real(source) and not is_real(to)):\n",
        "    if is_bool(to):\n",
    ),
    "the product of bools is their sum": (
        "compiler/backends/cuda/expressions.py",
        '"*": "({a} && {b})", "&": "({a} && {b})"',
        '"*": "({a} && {b})", "&": "({a} || {b})"',
    ),
    "or is evaluated as and": (
        "compiler/backends/cuda/expressions.py",
        "{'&&' if n.op == 'and' else '||'}",
        "&&",
    ),
}


def found(folder: Path, plant: tuple[str, str, str], *options: str) -> bool:
    """Whether random programs differ, or crash, with a copy of vgraph in which a text is replaced."""
    where, before, after = plant
    copy = folder / "vgraph"
    shutil.copytree(Path(vgraph.__file__).parent, copy)
    text = (copy / where).read_text()
    assert text.count(before) == 1
    (copy / where).write_text(text.replace(before, after))
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[2])])
    command = [sys.executable, "-m", "tests.fuzz", "--here", "--first", f"--programs={PROGRAMS}", *options]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    print(lines[-3:], done.stderr[-500:])
    assert lines
    assert lines[0] == "begin 0", done.stderr
    return done.returncode != 0


def test_what_is_replaced_is_there() -> None:
    for where, before, _ in (*CPU.values(), *CUDA.values()):
        assert (Path(vgraph.__file__).parent / where).read_text().count(before) == 1, (where, before)


@pytest.mark.slow
@pytest.mark.parametrize("plant", CPU.values(), ids=CPU)
def test_found(plant: tuple[str, str, str], tmp_path: Path) -> None:
    assert found(tmp_path, plant, "--cuda=0")


@pytest.mark.slow
@pytest.mark.parametrize("plant", CUDA.values(), ids=CUDA)
def test_found_on_the_emulated_gpu(plant: tuple[str, str, str], tmp_path: Path) -> None:
    assert found(tmp_path, plant, "--cuda=1")
