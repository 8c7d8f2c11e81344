"""Each program in this folder is refused, with the message that lies beside it.

`main` of a program is compiled for a directed graph with vertex properties `height`, `feature` and `wide`, edge
properties `weight` and `length`, and `both` of either. `pytest --update-golden` accepts new messages.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from vgraph.compiler.frontend import Signature, argument_types, build_program
from vgraph.compiler.types import F32, F64, I32, I64, Target, Vector
from vgraph.language.decorators import AlgorithmDef
from vgraph.errors import Diagnostic
from vgraph import refusals
from vgraph.refusals import calls, driver, gathering, limits, names, programs, queues, syntax, types, writes
from vgraph.refusals.base import Refusal

HERE = Path(__file__).parent
PROGRAMS = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_"))


def compile_main(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"refused_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: AlgorithmDef = module.main
    given = {"source": 0} if "source" in main.signature.parameters else {}
    signature = Signature(
        Target(),
        {"height": F64, "feature": Vector(F32, 8), "wide": Vector(F32, 5000), "both": I32},
        {"weight": I32, "length": F64, "both": I32},
        {"weight": I64, "length": F64},
        getattr(module, "DIRECTED", True),
        argument_types(main, given),
    )
    build_program(main, signature)


@pytest.mark.parametrize("name", PROGRAMS)
def test_refusal(name: str, golden: Callable[[Path, str], None]) -> None:
    path = HERE / f"{name}.py"
    with pytest.raises(Diagnostic) as caught:
        compile_main(path)
    kind = type(caught.value).__name__
    golden(path.with_suffix(".err"), f"{kind}: {caught.value}\n".replace(str(path), f"{name}.py"))


def test_every_refusal_has_a_program() -> None:
    shown = {(HERE / f"{name}.err").read_text(encoding="utf-8").partition(":")[0] for name in PROGRAMS}
    modules = (calls, driver, gathering, limits, names, programs, queues, syntax, types, writes)
    classes = {
        name
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Refusal) and value.__module__ == module.__name__
    }
    assert classes - shown == set()
    assert shown <= classes


def test_refusals_are_given_what_their_texts_ask_for() -> None:
    """Where one is made its words are counted: they are checked by no type."""
    seen = set()
    for path in Path(refusals.__file__).parents[1].rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text))) if "refusals" in text else []
        known = {
            a.asname or a.name: getattr(importlib.import_module(n.module), a.name)
            for n in nodes
            if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("vgraph.refusals")
            for a in n.names
        }
        for n in (n for n in nodes if isinstance(n, ast.Call) and n.args):
            match ast.unparse(n.func).split("."):
                case ["refusals", module, name]:
                    refusal = getattr(importlib.import_module(f"vgraph.refusals.{module}"), name)
                case [name] if name in known:
                    refusal = known[name]
                case _:
                    continue
            if not (inspect.isclass(refusal) and issubclass(refusal, Refusal)):
                continue
            if any(isinstance(e, ast.Starred) for e in n.args):
                continue
            seen.add(refusal)
            given = {*refusal.holes()[: len(n.args) - 1], *(k.arg for k in n.keywords)}
            assert given | vars(refusal).keys() >= {*refusal.holes()}, (path, n.lineno)
            assert len(n.args) - 1 <= len(refusal.holes()), (path, n.lineno)
    assert len(seen) > 150
