"""What compiled code is kept under: the contents of vgraph's files, then the text that the compiler made."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from library_arguments import NAMES

import vgraph
import vgraph.algorithms
from vgraph import stamp
from vgraph.cache import key_text
from vgraph.compiler.facts import Facts

PACKAGE = Path(vgraph.__file__).parent
PROGRAM = """
import sys
import vgraph as vg

graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[1, 2, 3])
result = vg.run(vg.algorithms.sssp, graph, source=0, threads=1)
assert result.dist.tolist() == [0, 1, 3, 6]
lowered, compiled = "vgraph.compiler.passes" in sys.modules, "llvmlite" in sys.modules
print("compiled" if compiled else "lowered" if lowered else "loaded", result.stats.cached)
"""


class Copy:
    """A vgraph of its own, with a cache that is shared."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.package, self.cache, self.seed = root / "vgraph", cache, 0
        for file in PACKAGE.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and "data" not in file.parts:
                copy = self.package / file.relative_to(PACKAGE)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)  # dates are those of now

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a file of the package."""
        text = (self.package / name).read_text("utf-8")
        assert old in text
        (self.package / name).write_text(text.replace(old, new, 1), "utf-8")

    def run(self) -> str:
        """How far a new process has to go for the program, and what it says of the cache."""
        self.seed += 1
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",  # Python itself goes by sizes and dates
            "PYTHONHASHSEED": str(self.seed),
            "VGRAPH_CACHE_DIR": str(self.cache),
        }
        environment.pop("VGRAPH_NO_CACHE", None)
        command = [sys.executable, "-W", "error", "-c", PROGRAM]
        done = subprocess.run(
            command, env=environment, cwd=self.package.parent, capture_output=True, text=True, check=False
        )
        assert not done.stderr
        return done.stdout.strip()


def test_only_what_changes_the_text_compiles_again(tmp_path):
    first = Copy(tmp_path / "first", tmp_path / "cache")
    assert first.run() == "compiled False"
    assert first.run() == "loaded True"

    again = Copy(tmp_path / "again", tmp_path / "cache")  # as a new installation, with dates of its own
    assert again.run() == "loaded True"
    again.edit("compiler/ir/verify.py", '"""', '"""To begin with: ')  # no program is another one
    assert again.run() == "lowered True"

    file = again.package / "compiler/backends/llvm/backend.py"
    before = file.stat()
    again.edit("compiler/backends/llvm/backend.py", '"; " + program', '";!" + program')
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # its size and its date are what they were
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert again.run() == "compiled False"


@pytest.mark.parametrize(
    "name", [f"compiler/backends/{name}" for name in ("jit.py", "effort.py", "cuda/nvrtc.py")]
)
def test_how_text_becomes_code_is_in_the_key_of_code(name):
    from vgraph.compiler.backends import jit
    from vgraph.compiler.backends.cuda import nvrtc

    text = (PACKAGE / name).read_text("utf-8")
    assert text in {*jit.object_parts("text"), *nvrtc.cubin_parts("text")}


def test_what_the_compiler_reads_of_vgraph_is_in_the_key():
    """All that it imports but what holds a user's graph, and the texts of errors."""
    stamped = {Path(path) for path in stamp._own_files(str(PACKAGE))}
    modules = {
        name
        for path in stamped
        if path.suffix == ".py" and path.parent != PACKAGE and path.name != "plan.py"
        for name in re.findall(r"^ *from (vgraph\.[\w.]+) import", path.read_text("utf-8"), re.MULTILINE)
    }
    left_out = {name for name in modules if not stamped & set(files_of(name))}
    assert {name for name in left_out if not name.startswith("vgraph.refusals.")} <= {
        "vgraph.graph", "vgraph.graph.arrays", "vgraph.graph.build", "vgraph.graph.graph", "vgraph.graph.members",
        "vgraph.graph.prepared", "vgraph.graph.topology",
    }  # fmt: skip


def files_of(module: str) -> tuple[Path, Path]:
    place = PACKAGE.parent.joinpath(*module.split("."))
    return place.with_suffix(".py"), place / "__init__.py"


KEYS = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
import numpy as np
from library_arguments import NAMES, arguments_for, graph_for
import vgraph as vg
from vgraph.runtime.devices.compiled import CompiledRunner

class Found(Exception):
    pass

def found(runner, job, key):
    raise Found(key)

CompiledRunner._compile = found
ends = np.random.default_rng(3).integers(0, 24, (2, 90))
for name in NAMES:
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, vg.Graph.from_edges(*ends, num_vertices=24, weight=np.ones(90, np.int32)))
    try:
        vg.run(algorithm, graph, threads=2, **arguments_for(algorithm, graph))
    except Found as key:
        print(name, key)
"""


def test_keys_are_the_same_in_every_process():
    """Sets and dictionaries of one process have another order in the next."""
    code = KEYS.format(tests=str(Path(__file__).parents[1]), root=str(PACKAGE.parent))
    runs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "VGRAPH_NO_CACHE": "1"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append(done.stdout.splitlines())
    assert len(runs[0]) == len(NAMES)
    assert runs[0] == runs[1]


def test_a_key_tells_values_apart_whose_repr_an_interrupt_has_broken():
    """An interrupt inside `repr` of a standard dataclass leaves a note that it is being written: "..." from then on."""

    @dataclasses.dataclass(frozen=True)
    class Value:
        name: str

    one, other = Value("i32"), Value("f64")
    running = next(c.cell_contents for c in Value.__repr__.__closure__ if isinstance(c.cell_contents, set))
    notes = {(id(value), threading.get_ident()) for value in (one, other)}
    running |= notes
    try:
        assert repr(one) == repr(other) == "..."
        assert key_text({"x": (one,)}) != key_text({"x": (other,)})
    finally:
        running -= notes
    assert key_text([one, 2, {"a": 1}]) == key_text([Value("i32"), 2, {"a": 1}])
    assert key_text(Facts(True)) != key_text(Facts(False))
