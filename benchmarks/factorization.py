"""Matrix factorization under each schedule of conflicts, beside LIBMF; alternating least squares beside `implicit`.

    python benchmarks/factorization.py --ratings FILE kron16 road500x500 --rates 0.02 0.01 0.01 \\
        [--libmf libmf.so] [--implicit FILE] [--threads 1 2] [--turns 3] [--only locked] [--out FILE]
    python benchmarks/factorization.py --device cuda --ratings FILE power5M power50M --rates 0.02 0.05 0.05 \\
        --threads 16 --factors 16 32 64 128 [--libmf libmf.so] [--every]

`--ratings`: files that `vg.read_ratings` takes, or graphs of `graphs.py`, whose arcs are rated by their sources, with
products of 8 factors and noise; power5M has 5 million ratings of 20,000 items by 200,000 users, drawn by power laws,
and rmat5M those that are left of 5 million draws of an R-MAT matrix of 2**18 users and 2**14 items. 16 factors, 10
epochs, a tenth of the ratings for tests. For each schedule: seconds of its plan, the least time of an epoch over the
turns (`result.stats.run_seconds`; errors of training and test included), the tests' error. LIBMF
(github.com/cjlin1/libmf; its shared library) trains for 1 and for 11 epochs; the least times of both differ by ten.
`--implicit`, for those of the ratings: how long 10 epochs of implicit's AlternatingLeastSquares take (the least of the
turns, its own transpose included), and how long vgraph's take until the loss is as small; 16 and 64 factors, each
rating r counts 1 + r / 2; and the same of 20 epochs of its BayesianPersonalizedRanking and the tests' AUC, the other
items being popular ones for both. Ask for one thread of BLAS (OPENBLAS_NUM_THREADS=1), as implicit wants it.

With `--device cuda` times are those of an epoch's steps alone (the median of all but the first), the tests' error after
10 epochs beside them; LIBMF and locks on the CPU take the last of `--threads`. Of more than a million ratings only the
schedule that is chosen unasked is measured, without `--every`. Written to `factorization_gpu.json`.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cuda_graphs import QUADRANTS, draw, share
from graphs import make
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.compiler.backends.first_fit import first_fit
from vgraph.graph.conflicts import plan as plan_of

SCHEDULES = (
    *(vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID, vg.AGM_E, vg.SGM, vg.COLORED, vg.DIAGONAL),
    *(vg.blocked_diagonals(64, 64), vg.blocked_diagonals(1024, 1024)),
)
ON_GPUS = (vg.blocked_diagonals(), vg.COLORED, vg.SGM, vg.AGM_N, vg.EDGE_LOCKED)
"""The first is chosen unasked."""
EPOCHS = 10


@dataclass
class Row:
    """One program on some ratings: by descent under a schedule (or LIBMF), or by least squares until a loss."""

    ratings: str
    count: int
    d_max: int
    way: str
    factors: int
    threads: int
    plan_seconds: float
    phases: int
    epochs: int
    milliseconds: float
    """Of an epoch by descent, and of all of them by least squares."""
    quality: float
    """The tests' RMSE, or the loss."""


try:
    import cupy as xp
except ImportError:
    xp = np


def distinct(pairs: Any) -> Any:
    """Each once, sorted."""
    pairs = xp.sort(pairs)
    return pairs[xp.append(xp.asarray([True]), pairs[1:] != pairs[:-1])]


def on_host(values: Any) -> np.ndarray:
    """Where NumPy can read them."""
    return values if xp is np else values.get()


def power(users: int, items: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Who rated what, each pair once: both are drawn by power laws, the most at an item about 0.2 % of all."""

    def drawn(n: int, falling: float, flat: int, stream: int) -> Any:
        weight = (xp.arange(n) + flat) ** -falling
        bounds = (xp.cumsum(weight / weight.sum()) * 2**32).astype(xp.uint64)
        who = xp.argsort(draw(xp, stream << 48, n))
        return who[xp.minimum(xp.searchsorted(bounds, draw(xp, stream << 56, 5 * count // 4)), n - 1)]

    pairs = distinct(drawn(users, 0.6, 50, 1).astype(xp.int64) * items + drawn(items, 0.8, 30, 2))
    pairs = pairs[xp.sort(xp.argsort(draw(xp, 3 << 56, pairs.size))[:count])]
    return on_host(pairs // items), on_host(pairs % items)


def rmat(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the distinct ones of so many draws from an R-MAT matrix of 2**18 x 2**14, whose ids are shuffled."""
    a, b, c = (share(q) for q in QUADRANTS)
    s, t = xp.zeros((2, count), xp.int64)
    for bit in range(18):
        drawn = draw(xp, (bit + 4) << 48, count)
        down = drawn >= b
        s = 2 * s + down
        if bit < 14:
            t = 2 * t + (((drawn >= a) & ~down) | (drawn >= c))
    rng = np.random.default_rng(1)
    users, items = (xp.asarray(rng.permutation(1 << bits)) for bits in (18, 14))
    pairs = distinct(users[s] << 14 | items[t])
    return on_host(pairs >> 14), on_host(pairs & (1 << 14) - 1)


def load(name: str, cache: Path) -> tuple[str, vg.Graph]:
    """Ratings with tests, by their name or file, given by lot."""
    path, rng = Path(name), np.random.default_rng(2)
    if path.exists():
        graph = vg.read_ratings(path)
        name = path.parent.name if path.stem.startswith("ratings") else path.stem
    else:
        if found := re.fullmatch(r"power(\d+)M", name):
            count = int(found[1]) * 10**6
            s, t = power(count // 25, count // 250, count)
        elif found := re.fullmatch(r"rmat(\d+)M", name):
            s, t = rmat(int(found[1]) * 10**6)
        else:
            stored = make(name, cache)
            s = np.repeat(np.arange(stored.row_offsets.size - 1), np.diff(stored.row_offsets))
            t = stored.column_indices
        taste = xp.asarray(rng.normal(size=(2, max(s.max(), t.max()) + 1, 8)).astype(np.float32))
        values = np.empty(s.size, np.float32)
        for k in range(0, s.size, 1 << 20):
            part = slice(k, k + (1 << 20))
            values[part] = on_host(3 + (taste[0, s[part]] * taste[1, t[part]]).sum(1) / 3)
        graph = vg.from_ratings(s, t, values + rng.normal(scale=0.3, size=s.size).astype(np.float32))
    s, t, properties = graph.edges()
    test, lot = np.random.default_rng(0).random(s.size) < 0.1, np.random.default_rng(1).permutation(s.size)
    values = properties["rating"][lot]
    learned = vg.Graph.from_edges(
        s[lot], t[lot], num_vertices=graph.num_vertices, rating=values, test=test[lot]
    )
    return name.partition(".")[0], learned


def most_at_a_vertex(graph: vg.Graph) -> int:
    """The most ratings that touch a user or an item."""
    return int(max(graph.out_degree.max(), graph.in_degree.max()))


class _Node(ctypes.Structure):
    _fields_ = (("u", ctypes.c_int), ("v", ctypes.c_int), ("r", ctypes.c_float))


class _Problem(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("m", "n")),
        ("nnz", ctypes.c_longlong),
        ("nodes", ctypes.POINTER(_Node)),
    )


class _Parameter(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("fun", "k", "threads", "bins", "iterations")),
        *((name, ctypes.c_float) for name in ("p1", "p2", "q1", "q2", "eta", "alpha", "c")),
        *((name, ctypes.c_bool) for name in ("nmf", "quiet", "copy")),
    )


class LIBMF:
    """LIBMF on some ratings, in the order in which they were given; its library is called, so that no text is read."""

    def __init__(self, path: str, graph: vg.Graph) -> None:
        self.library = ctypes.CDLL(path)
        self.library.mf_get_default_param.restype = _Parameter
        self.library.mf_train.argtypes = (ctypes.POINTER(_Problem), _Parameter)
        self.library.mf_train.restype = ctypes.c_void_p
        self.library.mf_train_with_validation.argtypes = (
            *(ctypes.POINTER(_Problem), ctypes.POINTER(_Problem), _Parameter),
        )
        self.library.mf_train_with_validation.restype = ctypes.c_void_p
        self.library.calc_rmse.argtypes = (ctypes.POINTER(_Problem), ctypes.c_void_p)
        self.library.calc_rmse.restype = ctypes.c_double
        s, t, properties = graph.edges()
        ratings = np.empty(s.size, [("u", np.int32), ("v", np.int32), ("r", np.float32)])
        ratings["u"], ratings["v"], ratings["r"] = s, t.astype(np.int64) - int(t.min()), properties["rating"]
        self.sizes = int(ratings["u"].max()) + 1, int(ratings["v"].max()) + 1
        test = properties["test"]
        self.learned, self.tested = ratings[~test], ratings[test]

    def problem(self, ratings: np.ndarray) -> _Problem:
        return _Problem(*self.sizes, ratings.size, ratings.ctypes.data_as(ctypes.POINTER(_Node)))

    def given(self, factors: int, threads: int, epochs: int) -> _Parameter:
        """What it is called with."""
        given = self.library.mf_get_default_param()
        given.k, given.threads, given.iterations = factors, threads, epochs
        given.bins, given.p2, given.q2, given.quiet = max(20, 2 * threads + 1), 0.05, 0.05, True
        return given

    def problems(self) -> tuple[_Problem, _Problem]:
        """What is learned from, and what it is tested with."""
        return self.problem(self.learned), self.problem(self.tested)

    def curve(self, factors: int, threads: int, epochs: int, rate: float) -> np.ndarray:
        """The tests' error after each epoch, as it prints them."""
        given = self.given(factors, threads, epochs)
        given.quiet, given.eta = False, rate
        learned, tested = self.problems()
        sys.stdout.flush()
        with tempfile.TemporaryFile() as said:
            kept = os.dup(1)
            os.dup2(said.fileno(), 1)
            try:
                self.library.mf_train_with_validation(ctypes.byref(learned), ctypes.byref(tested), given)
            finally:
                os.dup2(kept, 1)
                os.close(kept)
            said.seek(0)
            lines = [line.split() for line in said.read().decode().splitlines()]
        return np.array([float(words[2]) for words in lines if words and words[0].isdigit()])

    def run(self, factors: int, threads: int, epochs: int, rate: float = 0.1) -> tuple[float, float]:
        """Seconds of the training, and the tests' error at its end."""
        learned, tested, given = *self.problems(), self.given(factors, threads, epochs)
        given.eta = rate
        start = time.perf_counter()
        model = self.library.mf_train(ctypes.byref(learned), given)
        took = time.perf_counter() - start
        rmse = self.library.calc_rmse(ctypes.byref(tested), model)
        self.library.mf_destroy_model(ctypes.byref(ctypes.c_void_p(model)))
        return took, rmse


def seconds_of(result: vg.Result, device: str) -> float:
    """Of an epoch: of all that is done in it, or on a GPU of the steps alone."""
    if device == "cpu":
        return result.stats.run_seconds / EPOCHS
    return float(np.median([done.seconds for done in result.trace if done.label == "learn"][1:]))


def by_descent(
    name: str, graph: vg.Graph, threads: int, rate: float, factors: int, options: argparse.Namespace
) -> Iterator[Row]:
    """Each schedule, and LIBMF, in turns."""
    best: dict[str, Row] = {}
    head = name, graph.num_edges, most_at_a_vertex(graph)
    few = factors > 16 or (graph.num_edges > 10**6 and not options.every)
    some = SCHEDULES if options.device == "cpu" else ON_GPUS[:1] if few else ON_GPUS
    ways = [(options.device, c) for c in some if options.only in str(c)]
    ways += [("cpu", vg.EDGE_LOCKED)] if options.device != "cpu" and factors == 16 else []
    peer = LIBMF(options.libmf, graph) if options.libmf else None

    def note(way: str, plan: float, phases: int, seconds: float, rmse: float) -> None:
        row = Row(*head, way, factors, threads, round(plan, 3), phases, EPOCHS, 1000 * seconds, rmse)
        best[way] = min(best.get(way, row), row, key=lambda row: row.milliseconds)

    for _ in range(options.turns):
        for device, conflict in ways:
            schedule = vg.Schedule().at("learn", conflict=conflict)
            given = {"rate": rate, "test": "test", "factors": factors, "device": device, "schedule": schedule}
            on_cpus = {"threads": threads} if device == "cpu" else {}
            phases = plan_of(graph, conflict.key, first_fit).num_phases if conflict.key else 0
            if phases > 100_000:
                continue  # a barrier each
            result = vg.run(vg.algorithms.matrix_factorization, graph, **given, **on_cpus)
            way = str(conflict) if device == options.device else f"{conflict} ({device})"
            plan = sum(layout.seconds for layout in result.stats.layouts if layout.name == conflict.key)
            note(way, plan, phases, seconds_of(result, device), float(result.test_rmse[-1]))
        for epochs in (1, 1 + EPOCHS) if peer else ():
            took, rmse = peer.run(factors, threads, epochs)
            note(f"LIBMF {epochs}", 0.0, 0, took / EPOCHS, rmse)
    if peer:
        one, more = best.pop("LIBMF 1"), best.pop(f"LIBMF {1 + EPOCHS}")
        best["LIBMF"] = replace(more, way="LIBMF", milliseconds=more.milliseconds - one.milliseconds)
    yield from best.values()


def by_least_squares(name: str, graph: vg.Graph, threads: int, factors: int, turns: int) -> Iterator[Row]:
    """implicit's epochs, and as many of vgraph's as come to the same loss."""
    from implicit.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    s, t, properties = graph.edges()
    rating = abs(properties["rating"]).astype(np.float32)
    users = int(t.min())
    things = t.astype(np.int64) - users
    graph = graph.with_edge_property("rating", rating)
    matrix = csr_matrix((1 + rating / 2, (s, things)))
    head, best, losses = (name, graph.num_edges, most_at_a_vertex(graph)), [np.inf, np.inf], []

    def run(epochs: int) -> vg.Result:
        given = {"factors": factors, "confidence": 0.5, "epochs": epochs, "threads": threads}
        return vg.run(vg.algorithms.alternating_least_squares, graph, **given)

    epochs = 0
    for turn in range(turns):
        model = AlternatingLeastSquares(
            factors=factors, regularization=0.05, iterations=EPOCHS, num_threads=threads, random_state=turn
        )
        start = time.perf_counter()
        model.fit(matrix, show_progress=False)
        best[0] = min(best[0], time.perf_counter() - start)
        p, q = model.user_factors.astype(float), model.item_factors.astype(float)
        x, c = np.einsum("ek,ek->e", p[s], q[things]), 1 + rating.astype(float) / 2
        size = 0.05 * ((p**2).sum() + (q**2).sum())
        losses.append(((p.T @ p) * (q.T @ q)).sum() + (c * (1 - x) ** 2 - x**2).sum() + size)
        epochs = epochs or 1 + int(np.argmax(run(3 * EPOCHS).loss <= losses[0]))
        found = run(epochs)
        best[1] = min(best[1], found.stats.run_seconds)
    figures = (EPOCHS, best[0], losses[0]), (epochs, best[1], float(found.loss[-1]))
    for way, (count, took, loss) in zip(("implicit", "vgraph"), figures, strict=True):
        yield Row(*head, f"least squares, {way}", factors, threads, 0.0, 0, count, 1000 * took, loss)


def by_pairs(name: str, graph: vg.Graph, threads: int, turns: int) -> Iterator[Row]:
    """implicit's 20 epochs of ranking, and as many of ours as come to the same AUC; the others are popular ones."""
    from implicit.bpr import BayesianPersonalizedRanking
    from scipy.sparse import csr_matrix

    s, t, properties = graph.edges()
    users, size, test = int(t.min()), graph.num_vertices, properties["test"]
    things, rng = t.astype(np.int64) - users, np.random.default_rng(1)
    known = vg.Graph.from_edges(s[~test], t[~test], num_vertices=size)
    matrix = csr_matrix(
        (np.ones((~test).sum(), np.float32), (s[~test], things[~test])), (users, size - users)
    )
    taken = np.unique(s.astype(np.int64) * size + things)
    u, i = np.repeat(s[test].astype(np.int64), 10), np.repeat(things[test], 10)
    other = rng.choice(things[~test], u.size)
    apart = ~np.isin(u * size + other, taken)
    u, i, other = u[apart], i[apart], other[apart]

    def auc(p: np.ndarray, q: np.ndarray) -> float:
        return float(np.mean(np.einsum("ek,ek->e", p[u], q[i] - q[other]) > 0))

    def run(epochs: int) -> tuple[float, float]:
        given = {"users": users, "epochs": epochs, "threads": threads, "popular": True}
        found = vg.run(vg.algorithms.bayesian_personalized_ranking, known, **given)
        ones = np.ones((users, 1), np.float32)
        factors = np.c_[found.user_factors, ones], np.c_[found.item_factors, found.item_bias]
        return found.stats.run_seconds, auc(*factors)

    head, best, epochs, quality = (
        (name, graph.num_edges, most_at_a_vertex(graph)),
        [np.inf, np.inf],
        0,
        [0.0, 0.0],
    )
    for turn in range(turns):
        model = BayesianPersonalizedRanking(
            factors=15,
            learning_rate=0.05,
            regularization=0.01,
            iterations=20,
            num_threads=threads,
            random_state=turn,
        )
        start = time.perf_counter()
        model.fit(matrix, show_progress=False)
        best[0] = min(best[0], time.perf_counter() - start)
        if not epochs:
            quality[0] = auc(model.user_factors, model.item_factors)
            epochs = next((n for n in (10, 15, 20, 25, 30, 40, 60) if run(n)[1] >= quality[0]), 80)
        took, quality[1] = run(epochs)
        best[1] = min(best[1], took)
    for way, count, k in (("implicit", 20, 0), ("vgraph", epochs, 1)):
        yield Row(*head, f"ranking, {way}", 16, threads, 0.0, 0, count, 1000 * best[k], quality[k])


def main() -> None:
    """Measure, print, write `results/factorization.json`, or `factorization_gpu.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", nargs="+", required=True)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--factors", nargs="+", type=int, default=[16])
    parser.add_argument("--libmf", help="the library libmf.so")
    parser.add_argument("--implicit", nargs="*", default=())
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rates", nargs="+", type=float, required=True, help="for each of the ratings")
    parser.add_argument("--every", action="store_true", help="all schedules on many ratings, too")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="schedules whose names contain this")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    out = options.out or RESULTS / f"factorization{'_gpu' * (options.device == 'cuda')}.json"
    rows: list[Row] = []
    for given, rate in zip(options.ratings, options.rates, strict=True):
        name, graph = load(given, options.cache)
        for threads in options.threads:
            for factors in options.factors:
                rows += by_descent(name, graph, threads, rate, factors, options)
            for factors in (16, 64) if given in options.implicit else ():
                rows += by_least_squares(name, graph, threads, factors, options.turns)
            if given in options.implicit:
                rows += by_pairs(name, graph, threads, options.turns)
            for row in rows[-(4 * len(SCHEDULES) + 5) :]:
                print(*row.__dict__.values(), flush=True) if row.threads == threads else None
        write_results(out, rows)


if __name__ == "__main__":
    main()
