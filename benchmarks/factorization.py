"""Matrix factorization under each schedule of conflicts, beside LIBMF; alternating least squares beside `implicit`.

    python benchmarks/factorization.py --ratings FILE kron16 road500x500 --rates 0.02 0.01 0.01 \\
        [--libmf mf-train] [--implicit FILE] [--threads 1 2] [--turns 3] [--only locked] [--out FILE]

`--ratings`: files that `vg.read_ratings` takes, or graphs of `graphs.py`, whose arcs are rated by their sources, with
products of 8 factors and noise. 16 factors, 10 epochs, a tenth of the ratings for tests. For each schedule: seconds of
its plan, the least time of an epoch over the turns (`result.stats.run_seconds`; errors of training and test included),
the tests' error. LIBMF (github.com/cjlin1/libmf) runs as a program, for 1 and for 11 epochs; the least times of both
differ by ten. `--implicit`, for those of the ratings: how long 10 epochs of implicit's AlternatingLeastSquares take
(the least of the turns, its own transpose included), and how long vgraph's take until the loss is as small; 16 and 64
factors, each rating r counts 1 + r / 2; and the same of 20 epochs of its BayesianPersonalizedRanking and the tests'
AUC, the other items being popular ones for both. Ask for one thread of BLAS (OPENBLAS_NUM_THREADS=1), as implicit wants
it.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from graphs import make
from harness import RESULTS, write_results

import vgraph as vg
from vgraph.compiler.backends.first_fit import first_fit
from vgraph.graph.conflicts import plan as plan_of

SCHEDULES = (
    *(vg.SEQUENTIAL, vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID, vg.AGM_E, vg.SGM, vg.COLORED, vg.DIAGONAL),
    *(vg.blocked_diagonals(64, 64), vg.blocked_diagonals(1024, 1024)),
)
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


def load(name: str, cache: Path) -> tuple[str, vg.Graph]:
    """Ratings with tests, by their name or file."""
    path = Path(name)
    if path.exists():
        graph, name = (
            vg.read_ratings(path),
            path.parent.name if path.stem.startswith("ratings") else path.stem,
        )
    else:
        stored, rng = make(name, cache), np.random.default_rng(2)
        s = np.repeat(np.arange(stored.row_offsets.size - 1), np.diff(stored.row_offsets))
        t, taste = stored.column_indices, rng.normal(size=(2, s.max() + 1, 8))
        values = 3 + np.einsum("ek,ek->e", taste[0, s], taste[1, t]) / 3 + rng.normal(scale=0.3, size=s.size)
        graph = vg.from_ratings(s, t, values.astype(np.float32))
    return name.partition(".")[0], graph.with_edge_property(
        "test", np.random.default_rng(0).random(graph.num_arcs) < 0.1
    )


def most_at_a_vertex(graph: vg.Graph) -> int:
    """The most ratings that touch a user or an item."""
    return int(max(graph.out_degree.max(), graph.in_degree.max()))


def written(graph: vg.Graph, folder: Path) -> None:
    """Ratings to learn from and to test with, as LIBMF reads them, in an order by lot."""
    s, t, properties = graph.edges()
    order = np.random.default_rng(1).permutation(s.size)
    rows = np.c_[s, t.astype(np.int64) - int(t.min()), properties["rating"]][order]
    for name, part in (("learn", ~properties["test"][order]), ("test", properties["test"][order])):
        np.savetxt(folder / name, rows[part], fmt=("%d", "%d", "%.6g"))


def libmf(program: str, folder: Path, threads: int, epochs: int) -> tuple[float, float]:
    """Seconds of the whole call, and the tests' error at its end."""
    options = f"-k 16 -t {epochs} -r 0.05 -l2 0.05 -s {threads} -p {folder / 'test'}".split()
    start = time.perf_counter()
    call = [program, *options, str(folder / "learn"), str(folder / "model")]
    lines = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()
    return time.perf_counter() - start, float(lines[-1].split()[2])


def by_descent(
    name: str, graph: vg.Graph, threads: int, rate: float, options: argparse.Namespace
) -> Iterator[Row]:
    """Each schedule, and LIBMF, in turns."""
    best: dict[str, Row] = {}
    head, schedules = (
        (name, graph.num_edges, most_at_a_vertex(graph)),
        [c for c in SCHEDULES if options.only in str(c)],
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if options.libmf:
            written(graph, folder)
        for _ in range(options.turns):
            for conflict in schedules:
                schedule = vg.Schedule().at("learn", conflict=conflict)
                given = {"rate": rate, "test": "test", "threads": threads, "schedule": schedule}
                result = vg.run(vg.algorithms.matrix_factorization, graph, **given)
                plan = sum(layout.seconds for layout in result.stats.layouts)
                took, rmse = 1000 * result.stats.run_seconds / EPOCHS, float(result.test_rmse[-1])
                phases = plan_of(graph, conflict.key, first_fit).num_phases if conflict.key else 0
                row = Row(*head, str(conflict), 16, threads, round(plan, 3), phases, EPOCHS, took, rmse)
                best[row.way] = min(best.get(row.way, row), row, key=lambda row: row.milliseconds)
            for epochs in (1, 11) if options.libmf else ():
                took, rmse = libmf(options.libmf, folder, threads, epochs)
                row = Row(*head, f"LIBMF {epochs}", 16, threads, 0.0, 0, EPOCHS, 100 * took, rmse)
                best[row.way] = min(best.get(row.way, row), row, key=lambda row: row.milliseconds)
    if options.libmf:
        one, more = best.pop("LIBMF 1"), best.pop("LIBMF 11")
        more.way, more.milliseconds = "LIBMF", more.milliseconds - one.milliseconds
        best["LIBMF"] = more
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
    """Measure, print, write `results/factorization.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", nargs="+", required=True)
    parser.add_argument("--libmf", help="the program mf-train")
    parser.add_argument("--implicit", nargs="*", default=())
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rates", nargs="+", type=float, required=True, help="for each of the ratings")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="schedules whose names contain this")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--out", type=Path, default=RESULTS / "factorization.json")
    options = parser.parse_args()
    rows: list[Row] = []
    for given, rate in zip(options.ratings, options.rates, strict=True):
        name, graph = load(given, options.cache)
        for threads in options.threads:
            rows += by_descent(name, graph, threads, rate, options)
            for factors in (16, 64) if given in options.implicit else ():
                rows += by_least_squares(name, graph, threads, factors, options.turns)
            if given in options.implicit:
                rows += by_pairs(name, graph, threads, options.turns)
            for row in rows[-(len(SCHEDULES) + 5) :]:
                print(*row.__dict__.values(), flush=True) if row.threads == threads else None
        write_results(options.out, rows)


if __name__ == "__main__":
    main()
