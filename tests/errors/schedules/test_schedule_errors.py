"""Each program in this folder comes with a schedule that is refused, with the message that lies beside it.

A case is a file with an algorithm `main`, compiled for the same directed graph as the programs of the folder above, and
a function `schedule` that makes what is refused; `threads = 1` where it is refused for one thread, `device = "cuda"`
where it is refused there, `deterministic = True` where that refuses it. `pytest --update-golden` accepts new messages:
read them aloud, and see that the caret is under the line that forbids.
"""

from __future__ import annotations

import ast
import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import vgraph.compiler.axes
from vgraph.compiler.abilities import CPU, CPU_SET, CUDA, CUDA_SET
from vgraph.compiler.frontend import Signature, argument_types, build_program
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.types import F32, F64, I32, I64, Target, Vector
from vgraph.errors import Diagnostic, ScheduleError

HERE = Path(__file__).parent
CASES = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_"))
RESOLVERS = Path(vgraph.compiler.axes.__file__).parent
GRAPH = (
    {"height": F64, "feature": Vector(F32, 8), "both": I32},
    {"weight": I32, "length": F64, "both": I32},
    {"weight": I64, "length": F64},
    True,
)


def load(name: str, folder: Path = HERE) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"refused_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refused(name: str, folder: Path = HERE) -> ScheduleError:
    """The error of a case."""
    case = load(name, folder)
    given = {"source": 0} if "source" in case.main.signature.parameters else {}
    signature = Signature(Target(), *GRAPH, argument_types(case.main, given))
    program = build_program(case.main, signature)
    try:
        abilities = {"cpu": CPU, "cuda": CUDA, "set": CPU_SET, "cuda set": CUDA_SET}[
            getattr(case, "device", "cpu")
        ]
        threads, fixed = getattr(case, "threads", 0), getattr(case, "deterministic", False)
        context = Context(case.schedule(), threads, abilities=abilities, deterministic=fixed)
        PassManager(context).run(program, PIPELINE)
    except ScheduleError as error:
        return error
    raise AssertionError(f"{name}: the schedule is accepted")


@pytest.mark.parametrize("name", CASES)
def test_refusal(name: str, golden: Callable[[Path, str], None]) -> None:
    error = refused(name)
    text = f"{type(error).__name__}: {error}\n".replace(str(HERE / f"{name}.py"), f"{name}.py")
    golden(HERE / f"{name}.err", text)
    if isinstance(error, Diagnostic):
        assert error.span.source.line(error.span.line).strip()


@pytest.mark.parametrize("balance", ["SPLIT(4)", "WARP"])
def test_operators_alike_in_two_files_have_lines_of_their_own(balance: str, tmp_path: Path) -> None:
    text = (HERE / "balance_no_arcs.py").read_text(encoding="utf-8").replace("SPLIT(4)", balance)
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        (folder / "alike.py").write_text(text + 'device = "cuda"\n', encoding="utf-8")
        assert str(folder) in str(refused("alike", folder))


def rules() -> set[tuple[str, int]]:
    """Where the resolvers of the axes refuse: the file and the first line of each call."""
    found = set()
    for path in RESOLVERS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                refuses = node.func.attr == "refuse" and path.stem != "base"
                found |= {(path.name, node.lineno)} if refuses else set()
    return found


def test_every_rule_has_a_case() -> None:
    """Whoever adds a reason to refuse an option adds a program here that shows it."""
    shown = set()
    for name in CASES:
        frames = traceback.extract_tb(refused(name).__traceback__)
        shown |= {(Path(f.filename).name, f.lineno) for f in frames if Path(f.filename).parent == RESOLVERS}
    assert rules()
    assert sorted(rules() - shown) == []
