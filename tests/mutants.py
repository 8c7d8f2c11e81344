"""Mutation testing: small mistakes planted in the compiler, one at a time, and whether a default test fails.

    python -m tests.mutants --sample 300 --seed 1 --jobs 16 --out mutants.json

Each mutant changes one expression or one statement of effects, legality, axes, pieces, passes, backends, their prelude
or devices, in a copy of the repository, and runs tests there until the first that fails: those of its file, which take
seconds (`RELATED`), then those of `--tests`. A mutant survives if all pass: that some other default test would find it
is not counted. One that needs longer than `--timeout` is found, by whoever waits. With `--evenly` all files have about
equally many of them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from itertools import chain, islice, zip_longest
from pathlib import Path
from queue import SimpleQueue

from benchmarks.harness import environment

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vgraph"
# What decides whether a schedule is legal, what lowers it, what makes code of it, and what runs that.
MUTATED = (
    "compiler/analysis/effects.py",
    "compiler/ir/legality.py",
    "compiler/ir/verify*.py",
    "compiler/analysis/pieces.py",
    "compiler/axes/*.py",
    "compiler/passes/*.py",
    "compiler/backends/llvm/*.py",
    "compiler/backends/cuda/*.py",
    "compiler/backends/prelude/*.loops",
    "runtime/devices/*.py",
)
# The tests of a file's own subject, by the first pattern that it matches: they say soonest what is wrong.
RELATED = {
    "compiler/analysis/effects.py": "passes/test_effects passes/test_choices passes/test_double_buffer",
    "compiler/ir/*.py": "ir/test_verify",
    "compiler/analysis/pieces.py": "passes/test_pieces passes/test_choices",
    "compiler/axes/one_order.py": "passes/test_choices differential/test_deterministic",
    "compiler/axes/*.py": "passes/test_choices passes/test_space",
    "compiler/passes/choose_schedule.py": "passes/test_choices passes/test_user_passes runtime/test_explain",
    "compiler/passes/choose_per_round.py": "passes/test_per_round",
    "compiler/passes/lower_pull.py": "passes/test_per_round passes/test_lowering",
    "compiler/passes/double_buffer.py": "passes/test_double_buffer",
    "compiler/passes/simplify.py": "passes/test_simplify",
    "compiler/passes/claim_rounds.py": "passes/test_claim_rounds",
    "compiler/passes/requeue_changed.py": "passes/test_requeue",
    "compiler/passes/lower_queues.py": "passes/test_requeue order/test_queue",
    "compiler/passes/lower_ordered.py": "order/test_order",
    "compiler/passes/fix_order.py": "passes/test_fix_order differential/test_deterministic",
    "compiler/passes/insert_*.py": "passes/test_atomics passes/test_common passes/test_balance_load",
    "compiler/passes/*_co*.py": "passes/test_common",
    "compiler/passes/balance_load.py": "passes/test_lowering passes/test_balance_load",
    "compiler/passes/cut_loops.py": "passes/test_lowering passes/test_balance_load",
    "compiler/passes/pull_pieces.py": "passes/test_lowering passes/test_balance_load",
    "compiler/passes/lower_apply_scatter.py": "passes/test_phases",
    "compiler/passes/lower_gather_apply.py": "passes/test_phases",
    "compiler/passes/*.py": "passes/test_lowering passes/test_reverse passes/test_per_round",
    "compiler/backends/prelude/*.loops": "loops/test_prelude llvm/test_llvm_frontiers order/test_order",
    "compiler/backends/llvm/*.py": "llvm/test_llvm_kernels llvm/test_llvm_loops llvm/test_llvm_frontiers "
    "llvm/test_llvm_reductions llvm/test_llvm_arithmetic differential/test_vectors passes/test_lowering",
    "compiler/backends/cuda/*.py": "cuda/test_kernels cuda/test_cuda_text cuda/test_cuda_matrix",
    "runtime/devices/drafts.py": "runtime/test_drafts",
    "runtime/devices/c*.py": "runtime/test_drafts runtime/test_config runtime/test_code_keys runtime/test_cache "
    "passes/test_user_passes",
    "runtime/devices/threads.py": "runtime/test_threads runtime/test_interrupts",
    "runtime/devices/checked.py": "checked/test_checked",
    "runtime/devices/overlap.py": "api/test_overlap",
    "runtime/devices/gpu_sets.py": "cuda/test_gpu_sets",
    "runtime/devices/mixed_sets.py": "cuda/test_mixed_sets",
    "runtime/devices/*.py": "runtime/test_sets api/test_run",
}
# Then all of them: single passes first.
ORDER = ("tests/passes", "tests/errors", "tests/fuzz", "tests/ir", "tests/order", "tests/differential")

LATE = "the time"
"""What finds a mutant whose tests do not end."""

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
CALLED = {"any": "all", "all": "any", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """Bytes `start` to `stop` of the file, read as `before`, become `after`; `killed_by` is a test, or empty.

    `judgement`: why it may survive, written by whoever looked into it.
    """

    file: str
    line: int
    start: int
    stop: int
    before: str
    after: str
    killed_by: str = ""
    seconds: float = 0.0
    judgement: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before!r} -> {self.after!r}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in for the node: each a mistake that somebody could make."""
    match node:
        case ast.Compare(left, [operator], comparators) if type(operator) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(operator)]()], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
            yield from (ast.BoolOp(op, values[:at] + values[at + 1 :]) for at in range(len(values)))
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call(ast.Name(name), args, keywords) if name in CALLED:
            yield ast.Call(ast.Name(CALLED[name]), args, keywords)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue():
            yield ast.Pass()
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes under `node` but for annotations, decorators, messages of errors and assertions."""
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.AnnAssign)) and not getattr(
        node, "value", None
    ):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from looked_at(child)


def mutants(file: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    text = file.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for top in ast.parse(text).body:
        for node in looked_at(top):
            for changed in changes(node):
                start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
                stop = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
                after = ast.unparse(ast.fix_missing_locations(changed))
                if isinstance(changed, ast.expr) and not isinstance(
                    changed, (ast.Constant, ast.Name, ast.Call)
                ):
                    after = f"({after})"
                before = text[start:stop].decode()
                yield Mutant(str(file.relative_to(ROOT)), node.lineno, start, stop, before, after)  # type: ignore[attr-defined]


def related(file: str) -> list[str]:
    """The test files about a file."""
    path = Path(file).relative_to(PACKAGE.relative_to(ROOT)).as_posix()
    names = next(names for pattern, names in RELATED.items() if fnmatch(path, pattern))
    return [f"tests/{name}.py" for name in names.split()]


def failed(copy: Path, tests: list[str], timeout: float) -> str:
    """The first of the tests that fails in the copy; empty if none does."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    command.append("--hypothesis-profile=unshrunk")
    environment = os.environ | {"PYTHONPATH": str(copy), "VGRAPH_CACHE_DIR": str(copy / ".cache")}
    try:
        done = subprocess.run(
            [*command, *tests], cwd=copy, env=environment, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return LATE
    if not done.returncode:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0] if lines else (done.stdout + done.stderr)[-200:]


def tried(mutant: Mutant, copy: Path, tests: list[str], timeout: float) -> Mutant:
    """The mutant with the test that found it; the copy is as it was afterwards."""
    file = copy / mutant.file
    text = file.read_bytes()
    file.write_bytes(text[: mutant.start] + mutant.after.encode() + text[mutant.stop :])
    started = time.monotonic()
    try:
        found = failed(copy, related(mutant.file), timeout) or (failed(copy, tests, timeout) if tests else "")
    finally:
        file.write_bytes(text)
    return replace(mutant, killed_by=found, seconds=round(time.monotonic() - started, 1))


def sample(found: dict[Path, list[Mutant]], count: int, seed: int, *, evenly: bool) -> list[Mutant]:
    """At most `count` of the mutants of files; `evenly`: of each file in turn."""
    rng = random.Random(seed)
    if not evenly:
        every = list(chain.from_iterable(found.values()))
        return rng.sample(every, min(count, len(every)))
    shuffled = [rng.sample(row, len(row)) for row in found.values()]
    turns = zip_longest(*rng.sample(shuffled, len(shuffled)))
    return list(islice((m for turn in turns for m in turn if m is not None), count))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=100, help="mutants tried (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: 0)")
    parser.add_argument("--evenly", action="store_true", help="equally many of each file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds for a mutant (default: 900)")
    parser.add_argument("--minutes", type=float, default=600.0, help="no mutant is begun later than this")
    parser.add_argument("--files", nargs="*", help="only mutants of these files")
    parser.add_argument(
        "--tests",
        nargs="*",
        default=list(ORDER),
        help="what is run after the tests of its file (default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, help="a JSON file for what was found")
    given = parser.parse_args()

    files = sorted(file for pattern in MUTATED for file in PACKAGE.glob(pattern))
    if given.files:
        files = [ROOT / file for file in given.files]
    every = {file: list(mutants(file)) for file in files}
    chosen = sample(every, given.sample, given.seed, evenly=given.evenly)
    print(f"{sum(map(len, every.values()))} mutants of {len(files)} files, {len(chosen)} tried", flush=True)

    until = time.monotonic() + given.minutes * 60
    done: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(given.jobs):
            copy = Path(folder) / str(job)
            shutil.copytree(
                ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", "shared", "results")
            )
            copies.put(copy)

        def one(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                if time.monotonic() < until:
                    done.append(
                        tried(mutant, copy, given.tests, min(given.timeout, until + 60 - time.monotonic()))
                    )
                    print(
                        f"{'killed  ' if done[-1].killed_by else 'SURVIVED'} {done[-1].seconds:6} s  {mutant}",
                        flush=True,
                    )
            finally:
                copies.put(copy)

        list(pool.map(one, chosen))
    survivors = [mutant for mutant in done if not mutant.killed_by]
    late = sum(mutant.killed_by == LATE for mutant in done)
    print(f"{len(done) - len(survivors)} of {len(done)} killed, {late} of them by the time")
    if given.out:
        method = {"sample": given.sample, "seed": given.seed, "evenly": given.evenly, "tests": given.tests}
        counts = {"tried": len(done), "killed": len(done) - len(survivors)}
        found = {**environment(), "method": method, **counts, "rows": [asdict(mutant) for mutant in done]}
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
