"""The inner loops of PageRank's gather and SSSP's relaxation: as vgraph emits them, and as gcc compiles C by hand.

    python benchmarks/codegen.py [--form pull] [--gcc gcc] [--full]

For each form: the loop over arcs in machine code, how many instructions and loads it has, and for how many arcs.
A loop is what lies between a label and a jump back to it; the smallest one that has the form's marks counts: of a
relaxation, the way of an arc that improves nothing, if that is in one piece. Blocks that the compiler moved elsewhere,
since they are rarely run, are not in it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import vgraph as vg

HERE = Path(__file__).parent / "handwritten"
FLAGS = ("-O3", "-march=native", "-S", "-o", "-")
SUM = r"vaddss\s+\(%"


@dataclass(frozen=True)
class Form:
    """One way to run an operator: the schedule, whether one thread runs, the function by hand, marks of the loop."""

    algorithm: str
    label: str
    options: dict[str, object]
    threads: int
    function: str
    marks: tuple[str, ...]
    arcs: str
    """What stands once per arc in the loop (per 16 arcs: `vgatherdps`, and what names a `zmm` register)."""


_RELAX = (r"cmpl", r"addl")
_LOAD = r"(movl|vmovss|vmovd)\s+\(%\w+(,%\w+,4)?\), %"
_STORE = r"vmovss\s+%xmm\d+, \(%"
_GATHER_APPLY: dict[str, object] = {"phases": vg.GATHER_APPLY}
_ACTIVE: dict[str, object] = {"phases": vg.GATHER_APPLY, "drive": vg.TOPOLOGY}
FORMS = {
    "pagerank pull": Form("pagerank", "gather", {}, 1, "pull", (SUM,), r"vaddss"),
    "pagerank pull, prefetch": Form(
        "pagerank", "gather", {"prefetch": 32}, 1, "pull_prefetch", ("prefetcht0",), "prefetcht0"
    ),
    "pagerank pull, vectorize": Form(
        "pagerank", "gather", {"vectorize": True}, 1, "pull_vector", ("vgatherdps",), "vgatherdps"
    ),
    "pagerank pull, segments": Form(
        "pagerank", "gather", {"segments": 4}, 1, "pull_segment", (SUM,), r"vaddss"
    ),
    "pagerank push, 1 thread": Form(
        "pagerank", "gather", {"direction": vg.PUSH}, 1, "push", (r"vmovss\s+%xmm\d+, \(",), r"vaddss"
    ),
    "pagerank push": Form(
        "pagerank", "gather", {"direction": vg.PUSH}, 0, "push_atomic", ("lock", "vaddss", _LOAD), "lock"
    ),
    "pagerank gather-apply, gather": Form(
        "pagerank", "gather", _GATHER_APPLY, 1, "gather", (_LOAD, _STORE), _STORE
    ),
    "pagerank gather-apply, apply": Form("pagerank", "gather", _GATHER_APPLY, 1, "apply", (SUM,), r"vaddss"),
    "pagerank apply-scatter, scatter": Form(
        "pagerank", "gather", {"phases": vg.APPLY_SCATTER}, 1, "scatter", ("vaddss", _STORE), "vaddss"
    ),
    "sssp gather-apply, gather": Form(
        "sssp", "relax", _ACTIVE, 1, "gather", (r"\bbt|shrx|shrq", r"movl\s+%\w+, \(%"), r"movl\s+%\w+, \(%"
    ),
    "sssp gather-apply, apply": Form(
        "sssp", "relax", _ACTIVE, 1, "apply", (r"vpminsd.*zmm",), r"vpminsd.*zmm"
    ),
    "sssp push, 1 thread": Form("sssp", "relax", {"direction": vg.PUSH}, 1, "push", _RELAX, "addl"),
    "sssp push": Form("sssp", "relax", {"direction": vg.PUSH}, 0, "push_atomic", (*_RELAX, "lock"), "addl"),
    "sssp pull": Form(
        "sssp",
        "relax",
        {"direction": vg.PULL, "drive": vg.TOPOLOGY, "frontier": vg.BITMAP},
        1,
        "pull",
        (r"\bbt|shrx|shrq", "addl"),
        "addl",
    ),
}


def small_graph() -> vg.Graph:
    """Any graph will do: code does not depend on it."""
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 9, 600).astype(np.int32)
    return vg.Graph.from_edges(*rng.integers(0, 100, (2, 600)), num_vertices=100, weight=weight)


def ours(form: Form) -> str:
    """The assembly of vgraph's kernel."""
    given: dict[str, Any] = {"dtype": vg.float32} if form.algorithm == "pagerank" else {"source": 0}
    schedule = vg.Schedule().at(form.label, **form.options)
    algorithm = getattr(vg.algorithms, form.algorithm)
    found = vg.explain(
        algorithm, small_graph(), schedule, passes=False, assembly=True, threads=form.threads or 2, **given
    )
    return found.assembly


def by_hand(form: Form, gcc: str) -> str:
    """The assembly of one function of the C program."""
    command = [gcc, *FLAGS, str(HERE / f"{form.algorithm}.c")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    start = text.index(f"\n{form.function}:\n")
    return text[start : text.index(f".size\t{form.function},", start)]


def loops(assembly: str) -> Iterator[list[str]]:
    """Every loop, as its instructions and labels."""
    lines = [re.sub(r"\s*#.*", "", line).strip() for line in assembly.splitlines()]
    lines = [line for line in lines if line and (not line.startswith(".") or line.endswith(":"))]
    places = {line[:-1]: k for k, line in enumerate(lines) if line.endswith(":")}
    for k, line in enumerate(lines):
        jump = re.match(r"j\w+\s+(\S+)", line)
        if jump and places.get(jump[1], k) < k:
            yield lines[places[jump[1]] : k + 1]


def pick(assembly: str, marks: tuple[str, ...]) -> list[str]:
    """The smallest loop in which every mark occurs; no line if there is none."""
    fitting = [loop for loop in loops(assembly) if all(re.search(m, "\n".join(loop)) for m in marks)]
    return min(fitting, key=len, default=[])


def count(loop: list[str], arcs: str) -> tuple[int, int, int]:
    """Instructions, loads, arcs."""
    instructions = [line for line in loop if not line.endswith(":")]
    loads = [line for line in instructions if _loads(line)]
    per = sum(bool(re.match(arcs, line)) for line in instructions)
    return len(instructions), len(loads), per * (16 if "gather" in arcs or "zmm" in arcs else 1)


def _loads(line: str) -> bool:
    """Whether an instruction reads memory."""
    name, _, operands = line.partition("\t")
    if "(" not in operands or name.startswith(("lea", "prefetch", "nop")):
        return False
    stores = operands.endswith(")") and name.startswith(("mov", "vmov"))
    return not stores


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--form", default="", help="only forms whose names have this in them")
    parser.add_argument("--gcc", default="gcc")
    parser.add_argument("--full", action="store_true", help="the loops themselves, too")
    options = parser.parse_args(arguments)
    for name, form in FORMS.items():
        if options.form not in name:
            continue
        for side, text in (("vgraph", ours(form)), ("C", by_hand(form, options.gcc))):
            loop = pick(text, form.marks)
            instructions, loads, arcs = count(loop, form.arcs)
            print(f"{name:26} {side:7} {instructions:3} instructions, {loads:2} loads, {arcs:2} arcs")
            if options.full:
                print("\n".join("    " + line.expandtabs(8) for line in loop))


if __name__ == "__main__":
    main()
