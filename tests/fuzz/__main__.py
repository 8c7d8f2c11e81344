"""`python -m tests.fuzz --programs 1000`: run random programs, print what differs, and counts.

Each program runs on the reference, on the interpreter at several levels, on the CPU with one and more threads under
random legal schedules, and every `--cuda`-th on the emulated GPU. `--shrink` makes failures small, as texts of
`tests/fuzz/corpus`. Programs run in processes of `--chunk` programs each, `--jobs` of them at a time: LLVM
keeps some memory of each, and a program that crashes its process, or never ends, takes no others with it.

The exit status is 1 if anything differs, or if the language refuses more programs than the writers of random programs
get wrong: what is refused is not compared.
"""

from __future__ import annotations

import argparse
import faulthandler
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from vgraph.cpus import available_cpus
from vgraph.refusals.base import Refusal

from .programs import program_text
from .runs import Difference, Subject, check, no_emulation
from .shrink import shrink, with_way

STUCK = 300.0
"""Seconds after which a program is given up, with its process."""
REFUSED = 0.1
"""So many of the programs may be refused."""


def outcome_of(seed: int, cuda: bool, small: bool) -> tuple[str, int]:
    """What became of the program of a seed, and how many runs of it were compared; what differs is printed."""
    text = program_text(seed)
    try:
        subject = Subject(text, seed)
        return "the same", check(subject, cuda=cuda, large=seed % 4 == 0)
    except Refusal as refusal:
        return f"refused: {type(refusal).__name__}", 0
    except Difference as found:
        where = str(found)
        if small:
            smaller, way, shape = shrink(text, seed, found)
            where = f"{found.message}\n  graph {shape}\n{with_way(smaller, way)}"
        print(f"seed {seed} differs: {where}", flush=True)
        return "differ", 0


def here(seeds: range, given: argparse.Namespace) -> bool:
    """Run programs in this process; whether none differs. A line before and after each says how far it got."""
    right = True
    for seed in seeds:
        faulthandler.dump_traceback_later(STUCK, exit=True)
        print(f"begin {seed}", flush=True)
        cuda = bool(given.cuda) and seed % given.cuda == 0
        outcome, compared = outcome_of(seed, cuda, given.shrink)
        print(f"end {compared} {outcome}", flush=True)
        right = right and outcome != "differ"
        if given.first and not right:
            break
    return right


def elsewhere(seeds: range, given: argparse.Namespace) -> tuple[Counter[str], list[int]]:
    """Run programs in processes of their own: counts of outcomes, and the seeds that failed."""
    counts: Counter[str] = Counter()
    failed: list[int] = []
    while seeds:
        options = [f"--programs={len(seeds)}", f"--seed={seeds.start}", f"--cuda={given.cuda}", "--here"]
        command = [sys.executable, "-m", __spec__.parent, *options, *(["--shrink"] if given.shrink else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        at, ended = None, False
        for line in done.stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word == "begin":
                at, ended = int(rest), False
            elif word == "end":
                compared, _, outcome = rest.partition(" ")
                counts[outcome] += 1
                counts["comparisons"] += int(compared)
                failed += [at] if outcome == "differ" else []
                ended = True
            else:
                print(line, flush=True)
        if at is None:
            raise SystemExit(done.stderr)
        if not ended:
            print(f"seed {at}: exit status {done.returncode}\n{done.stderr[-3000:]}", flush=True)
            counts["crashed"] += 1
            failed.append(at)
        seeds = range(at + 1, seeds.stop)
    return counts, failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument(
        "--cuda",
        type=int,
        default=20,
        metavar="N",
        help="every N-th program on the emulated GPU, too; 0: none",
    )
    parser.add_argument("--shrink", action="store_true", help="make failures small")
    parser.add_argument("--chunk", type=int, default=100, help="programs of a process")
    parser.add_argument("--jobs", type=int, default=available_cpus(), help="processes at a time")
    parser.add_argument("--here", action="store_true", help="all in this process")
    parser.add_argument("--first", action="store_true", help="end a process at the first that differs")
    given = parser.parse_args()
    end = given.seed + given.programs
    if given.here:
        return int(not here(range(given.seed, end), given))
    start = time.perf_counter()
    if given.cuda and no_emulation():
        print(f"nothing runs on the emulated GPU: {no_emulation()}")
        given.cuda = 0
    size = min(given.chunk, -(-given.programs // given.jobs))
    chunks = [range(first, min(first + size, end)) for first in range(given.seed, end, size)]
    counts: Counter[str] = Counter()
    failed: list[int] = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for counted, seeds in pool.map(lambda seeds: elsewhere(seeds, given), chunks):
            counts += counted
            failed += seeds
    compared = counts.pop("comparisons", 0)
    refused = sum(number for what, number in counts.items() if what.startswith("refused"))
    print("; ".join(f"{number:,} {what}" for what, number in counts.most_common()))
    print(f"{counts.total():,} programs, {compared:,} comparisons, {len(failed):,} differences", end="")
    print(f" in {time.perf_counter() - start:.0f} s" + (f"; seeds {failed}" if failed else ""))
    return int(bool(failed) or refused > REFUSED * counts.total())


if __name__ == "__main__":
    sys.exit(main())
