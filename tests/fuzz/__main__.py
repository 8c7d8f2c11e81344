"""`python -m tests.fuzz --programs 1000`: run random programs, print what differs, and counts.

Each program runs on the reference, on the interpreter at several levels, on the CPU with one and more threads under
random legal schedules, and with `--cuda N` every N-th on the emulated GPU. `--shrink` makes failures small, as texts of
`tests/fuzz/corpus`. Many programs run in processes of `--chunk` programs each, `--jobs` of them at a time: LLVM
keeps some memory of each, and one that crashes takes no others with it.
"""

from __future__ import annotations

import argparse
import faulthandler
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from vgraph.refusals.base import Refusal

from .programs import program_text
from .runs import Difference, Subject, check
from .shrink import shrink, with_way

STUCK = 300.0
"""Seconds after which a program is given up, with its process."""


def outcome_of(seed: int, cuda: bool, small: bool) -> str:
    """What became of the program of a seed: "the same", "refused: ..." or "differs: ..."."""
    text = program_text(seed)
    try:
        subject = Subject(text, seed)
        check(subject, cuda=cuda, large=seed % 4 == 0)
    except Refusal as refusal:
        return f"refused: {type(refusal).__name__}"
    except Difference as found:
        if not small:
            return f"differs: {found}"
        smaller, way, shape = shrink(text, seed, found)
        return f"differs: {found.message}\n  graph {shape}\n{with_way(smaller, way)}"
    return "the same"


def here(seeds: range, cuda: int, small: bool) -> Counter[str]:
    """Run programs in this process."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        faulthandler.dump_traceback_later(STUCK, exit=True)
        outcome = outcome_of(seed, bool(cuda) and seed % cuda == 0, small)
        if outcome.startswith("differs"):
            print(f"seed {seed} {outcome}", flush=True)
        counts[outcome if outcome.startswith("refused") else outcome.split(":")[0]] += 1
    return counts


def elsewhere(seeds: range, cuda: int, small: bool) -> Counter[str]:
    """Run programs in a process of their own; one that crashes is a difference."""
    options = [f"--programs={len(seeds)}", f"--seed={seeds.start}", f"--cuda={cuda}", f"--chunk={len(seeds)}"]
    command = [sys.executable, "-m", __spec__.parent, *options, *(["--shrink"] if small else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    counts: Counter[str] = Counter()
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "count":
            number, _, what = rest.partition(" ")
            counts[what] += int(number)
        else:
            print(line, flush=True)
    if done.returncode not in (0, 1):
        counts["crashed"] += 1
        print(
            f"seeds {seeds.start} to {seeds.stop - 1}: exit status {done.returncode}\n{done.stderr[-3000:]}",
            flush=True,
        )
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument(
        "--cuda", type=int, default=0, metavar="N", help="every N-th program on the emulated GPU, too"
    )
    parser.add_argument("--shrink", action="store_true", help="make failures small")
    parser.add_argument("--chunk", type=int, default=250, help="programs of a process")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    given = parser.parse_args()
    start = time.perf_counter()
    end = given.seed + given.programs
    chunks = [range(first, min(first + given.chunk, end)) for first in range(given.seed, end, given.chunk)]
    counts: Counter[str] = Counter()
    if len(chunks) == 1:
        counts = here(chunks[0], given.cuda, given.shrink)
    else:
        with ThreadPoolExecutor(given.jobs) as pool:
            for found in pool.map(lambda seeds: elsewhere(seeds, given.cuda, given.shrink), chunks):
                counts += found
    for what, number in counts.most_common():
        print(f"count {number} {what}")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return int(any(what in ("differs", "crashed") for what in counts))


if __name__ == "__main__":
    sys.exit(main())
