"""Matrix factorization beside LIBMF: how long each takes to the same error of the tests.

    python benchmarks/same_error.py --libmf libmf.so --ratings FILE power5M --threads 16 2 1 [--devices cpu cuda] \\
        [--as FILE] [--seconds 70] [--out FILE]

Ratings as in `factorization.py`; 16 factors. All programs (LIBMF, vgraph's, and vgraph's without biases, which LIBMF
does not have either) first go through 40 epochs with each of some rates, with the first number of `--threads`. Two
errors are asked for: the one that LIBMF has after 10 epochs at its best rate, and the least one that both LIBMF and
vgraph without biases come to. Each program takes the rate with which it is there in the fewest epochs, and is
timed with each number of threads: the epochs with the errors after each (of LIBMF the time of as many, from the
difference between long and short runs, since its runs begin with a copy), and the whole call from arrays to factors
(vgraph's builds its graph, and makes its plan). `--as`: rates, epochs and errors of the rows of a file. Medians of
`--turns`. Epochs on a GPU go in another order, so they are counted anew.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from factorization import LIBMF, load, most_at_a_vertex
from harness import RESULTS, write_results

import vgraph as vg

FACTORS, EPOCHS = 16, 40
OURS = (0.003, 0.01, 0.03, 0.1)
RATES = {"vgraph": OURS, "vgraph, no biases": OURS, "LIBMF": (0.05, 0.1, 0.2, 0.4)}


@dataclass(frozen=True)
class Row:
    """A program on its way to an error."""

    ratings: str
    count: int
    d_max: int
    target: float
    """The error of the tests that it was to have."""
    program: str
    device: str
    threads: int
    rate: float
    epochs: int
    milliseconds: float
    """Of these epochs."""
    steps: float
    """Milliseconds of their steps alone, without errors."""
    whole: float
    """Milliseconds from arrays to factors."""
    rmse: float
    """That it had behind them."""


def _ms(seconds: list[float]) -> float:
    """Their median, in ms."""
    return 1000 * float(np.median(seconds))


class Sides:
    """The programs on some ratings."""

    def __init__(self, library: str, graph: vg.Graph) -> None:
        self.peer, self.graph = LIBMF(library, graph), graph
        s, t, properties = graph.edges()
        self.made = lambda: vg.Graph.from_edges(s, t, num_vertices=graph.num_vertices, **properties)

    def ours(
        self, graph: vg.Graph, program: str, device: str, threads: int, rate: float, epochs: int
    ) -> vg.Result:
        on_cpus = {"threads": threads} if device == "cpu" else {}
        given = {"factors": FACTORS, "epochs": epochs, "rate": rate, "test": "test", "device": device}
        biases = program == "vgraph"
        return vg.run(vg.algorithms.matrix_factorization, graph, biases=biases, **given, **on_cpus)

    def curve(self, program: str, device: str, threads: int, rate: float, epochs: int) -> np.ndarray:
        """The tests' error after each epoch, until it grows beyond all bounds."""
        if program == "LIBMF":
            return self.peer.curve(FACTORS, threads, epochs, rate)
        try:
            return self.ours(self.graph, program, device, threads, rate, epochs).test_rmse
        except vg.AlgorithmError:
            return np.array([np.inf])

    def timed(self, row: Row, turns: int) -> Row:
        """With the row's rate and epochs, whatever its times."""
        if row.program == "LIBMF":
            few, more = row.epochs, row.epochs + 5
            runs = [
                [self.peer.run(FACTORS, row.threads, n, row.rate) for n in (few, more)] for _ in range(turns)
            ]
            whole = [one[0] for one, _ in runs]
            taken = (min(other[0] for _, other in runs) - min(whole)) / 5 * row.epochs
            times = (1000 * taken, 1000 * taken, _ms(whole), runs[0][0][1])
        else:
            rounds, whole, steps, errors = [], [], [], []
            given = row.program, row.device, row.threads, row.rate, row.epochs
            for _ in range(turns):
                begin = time.perf_counter()
                self.ours(self.made(), *given)
                whole.append(time.perf_counter() - begin)
                found = self.ours(self.graph, *given)
                rounds.append(found.stats.run_seconds)
                steps.append(sum(done.seconds for done in found.trace if done.label == "learn"))
                errors.append(float(found.test_rmse[-1]))
            times = (_ms(rounds), _ms(steps), _ms(whole), max(errors))
        return Row(*list(row.__dict__.values())[:9], *(round(x, 4) for x in times))


def targets(sides: Sides, head: tuple[Any, ...], threads: int, epochs: int) -> list[Row]:
    """Both errors, each with the programs' best rates and the epochs that these take."""
    curves = {
        (program, rate): sides.curve(program, "cpu", threads, rate, epochs)
        for program, rates in RATES.items()
        for rate in rates
    }
    for (program, rate), curve in curves.items():
        shown = " ".join(f"{x:.4f}" for x in curve[[*range(0, curve.size, 3)]])
        print(
            head[0], program, rate, f"least {curve.min():.4f} after {curve.argmin() + 1}:", shown, flush=True
        )
    least = [min(c.min() for (who, _), c in curves.items() if who == p) for p in RATES if p != "vgraph"]
    first = min(float(c[min(9, c.size - 1)]) for (who, _), c in curves.items() if who == "LIBMF")
    rows = []
    for target in sorted({first, max(least)}, reverse=True):
        for program in RATES:
            there = {
                rate: int(np.argmax(c <= target + 5e-5)) + 1
                for (who, rate), c in curves.items()
                if who == program and c.min() <= target + 5e-5
            }
            if there:
                rate = min(there, key=lambda rate: there[rate])
                rows.append(
                    Row(*head, round(target, 4), program, "cpu", threads, rate, there[rate], 0, 0, 0, 0)
                )
    return rows


def main() -> None:
    """Measure, print, write `results/same_error.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libmf", required=True, help="the library libmf.so")
    parser.add_argument("--ratings", nargs="+", required=True)
    parser.add_argument("--threads", nargs="+", type=int, default=[2, 1])
    parser.add_argument("--devices", nargs="+", default=["cpu"])
    parser.add_argument("--as", dest="like", type=Path, help="rates, epochs and errors of this file")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "same_error.json")
    options = parser.parse_args()
    known = [Row(**row) for row in json.loads(options.like.read_text())["rows"]] if options.like else []
    start, rows = time.perf_counter(), list[Row]()
    for given in options.ratings:
        name, graph = load(given, options.cache)
        print(name, f"made at {time.perf_counter() - start:.1f} s", flush=True)
        sides, head = Sides(options.libmf, graph), (name, graph.num_edges, most_at_a_vertex(graph))
        asked = [row for row in known if row.ratings == name and row.threads == known[0].threads]
        asked = asked or targets(sides, head, options.threads[0], options.epochs)
        for one in asked:
            if one.device != "cpu":
                continue
            for device, threads in [("cuda", 0)] * ("cuda" in options.devices) + [
                ("cpu", threads) for threads in options.threads if "cpu" in options.devices
            ]:
                if time.perf_counter() - start > options.seconds or (device, one.program) == (
                    "cuda",
                    "LIBMF",
                ):
                    continue
                epochs = one.epochs
                if device == "cuda":
                    curve = sides.curve(one.program, device, 0, one.rate, 2 * epochs + 2)
                    epochs = (
                        int(np.argmax(curve <= one.target + 5e-5)) + 1
                        if min(curve) <= one.target
                        else curve.size
                    )
                row = Row(*head, one.target, one.program, device, threads, one.rate, epochs, 0, 0, 0, 0)
                rows.append(sides.timed(row, options.turns))
                print(*rows[-1].__dict__.values(), f"at {time.perf_counter() - start:.1f} s", flush=True)
        write_results(options.out, rows)


if __name__ == "__main__":
    main()
