"""Tuning: what is searched, what is stopped, what is chosen, and what is kept."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import vgraph as vg
from vgraph.cache import CacheWarning
from vgraph.config import scope
from vgraph.graph import Graph
from vgraph.runtime import policy
from vgraph.runtime.prepare import prepare
from vgraph.runtime.tuning import autotune as module
from vgraph.runtime.tuning import table as tuning_table
from vgraph.runtime.tuning.autotune import FORGET, RUNS, Search, conditions, seconds_of
from vgraph.runtime.tuning.outcome import Trial, Tuning, describe
from vgraph.runtime.tuning.space import Space, bucket_widths
from vgraph.runtime.tuning.table import (
    Row,
    TuningTable,
    default_table,
    schedule_from_json,
    schedule_to_json,
    today,
)

ROOT = Path(__file__).parents[2]
SSSP = vg.algorithms.sssp


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def graph():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 200, (2, 1500))
    return Graph.from_edges(src, dst, num_vertices=200, weight=rng.integers(1, 9, 1500).astype(np.int32))


def job(graph, algorithm=SSSP, threads=2):
    return prepare(algorithm, graph, {}, threads=threads, incomplete=True)


@pytest.fixture
def space(graph):
    return Space(job(graph), axes=AXES)


AXES = ("drive", "direction", "frontier", "sync")
"""A small space, in which a search ends soon."""


class Clock:
    """Stands for the machine: `cost` gives the seconds of a schedule's next run, and nothing else takes time."""

    def __init__(self, monkeypatch, cost):
        self.now, self.cost, self.ran = 0.0, cost, []
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)

    def run(self, schedule, guard):
        seconds = self.cost(schedule)
        self.ran.append(describe(schedule))
        for step in range(int(seconds / 0.1)):
            self.now += 0.1
            if guard is not None:
                guard(SimpleNamespace(elapsed=0.1 * (step + 1)))
        self.now += seconds % 0.1
        trace = [SimpleNamespace(label="relax", seconds=seconds)]
        return SimpleNamespace(stats=SimpleNamespace(run_seconds=seconds, prepare_seconds=0.0), trace=trace)


def search_with(clock, space, budget=1e6, **options):
    kept = []
    given = {"record": lambda trial, default: kept.append(trial), "report": None}
    given |= {"known": {}, "first": [], "chosen": vg.Schedule()}
    search = Search(clock.run, space, budget, 0, **(given | options))
    search.kept = kept
    return search


def asks(schedule, **wanted):
    options = schedule.labels.get("relax")
    return options is not None and all(getattr(options, name) == value for name, value in wanted.items())


# --- the search -----------------------------------------------------------------------------------------------


def test_changes_that_win_alone_are_combined(space, monkeypatch):
    def cost(schedule):
        seconds = 1.0
        seconds *= 0.8 if asks(schedule, drive=vg.TOPOLOGY) else 1.0
        seconds *= 0.7 if asks(schedule, sync=vg.BSP) else 1.0
        return seconds * (2.0 if asks(schedule, direction=vg.PULL) else 1.0)

    search = search_with(Clock(monkeypatch, cost), space)
    assert search.go()
    schedule, best, default = search.finish()
    assert asks(schedule, drive=vg.TOPOLOGY, sync=vg.BSP)
    assert (best, default) == (pytest.approx(0.56), 1.0)
    assert space.meaning(schedule) is not None
    names = [describe(t.schedule) for t in search.tried]
    assert len(names) == len(set(names))
    assert [t.schedule for t in search.kept] == [t.schedule for t in search.tried]
    assert all(space.meaning(t.schedule) is not None for t in search.tried)


def test_a_combination_of_which_no_part_wins_alone_is_found_by_drawing(space, monkeypatch):
    def cost(schedule):
        return 0.5 if asks(schedule, drive=vg.TOPOLOGY, sync=vg.BSP) else 2.0 if schedule.labels else 1.0

    search = search_with(Clock(monkeypatch, cost), space)
    search.go()
    schedule, best, _ = search.finish()
    assert asks(schedule, drive=vg.TOPOLOGY, sync=vg.BSP)
    assert best == 0.5


def test_the_default_stays_where_nothing_is_clearly_faster(space, monkeypatch):
    search = search_with(Clock(monkeypatch, lambda schedule: 0.99 if schedule.labels else 1.0), space)
    assert search.go()
    assert search.finish() == (vg.Schedule(), 1.0, 1.0)


def test_luck_in_the_search_does_not_win_the_final(space, monkeypatch):
    ran = {}

    def cost(schedule):
        ran[describe(schedule)] = ran.get(describe(schedule), 0) + 1
        lucky = asks(schedule, sync=vg.BSP) and ran[describe(schedule)] <= RUNS[1] + 1
        return 0.01 * (0.5 if lucky else 1.2 if schedule.labels else 1.0)

    search = search_with(Clock(monkeypatch, cost), space)
    search.go()
    assert asks(search.best.schedule, sync=vg.BSP)
    schedule, best, default = search.finish()
    assert (schedule, best, default) == (vg.Schedule(), 0.01, 0.01)
    loser = next(t for t in search.tried if t.schedule == search.best.schedule)
    assert loser.seconds == pytest.approx(0.012)  # the table shows what the final found


@pytest.mark.parametrize("noise", [1.3, 3.0])
def test_the_choice_is_never_slower_by_its_own_records(space, monkeypatch, noise):
    rng = random.Random(7)
    true = {}

    def cost(schedule):
        name = describe(schedule)
        return true.setdefault(name, rng.uniform(0.8, 1.5)) * rng.uniform(1, noise)

    for _ in range(10):
        true.clear()
        search = search_with(Clock(monkeypatch, cost), space)
        search.go()
        schedule, best, default = search.finish()
        assert best <= default
        assert schedule.labels or best == default


def test_what_cannot_win_is_stopped_early(space, monkeypatch):
    clock = Clock(monkeypatch, lambda schedule: 60.0 if schedule.labels else 0.03)
    search = search_with(clock, space)
    search.go()
    slow = search.tried[1:]
    assert slow
    assert all(t.status == "stopped" and t.runs <= 1 and t.seconds >= 0.1 for t in slow)
    assert clock.now < 2.0 * len(slow)  # none ran its 60 seconds


def test_somewhat_slower_ones_are_given_two_runs(space, monkeypatch):
    search = search_with(Clock(monkeypatch, lambda schedule: 0.2 if schedule.labels else 0.1), space)
    search.go()
    assert {(t.status, t.runs) for t in search.tried[1:]} == {("stopped", 2)}


def test_a_short_budget_still_measures_the_default(space, monkeypatch):
    search = search_with(Clock(monkeypatch, lambda schedule: 5.0), space, budget=1.0)
    assert not search.go()
    assert search.finish() == (vg.Schedule(), 5.0, 5.0)
    assert [t.schedule for t in search.tried] == [vg.Schedule()]


def test_the_budget_is_kept(space, monkeypatch):
    clock = Clock(monkeypatch, lambda schedule: 0.4 if schedule.labels else 0.5)
    search = search_with(clock, space, budget=10.0)
    assert not search.go()
    search.finish()
    assert clock.now < 15.0


def test_a_schedule_that_fails_is_noted_and_left(space, monkeypatch):
    def cost(schedule):
        if asks(schedule, sync=vg.BSP):
            raise vg.DeviceError("out of memory: too large\nmore")
        return 1.0

    search = search_with(Clock(monkeypatch, cost), space)
    search.go()
    failed = [t for t in search.tried if t.status == "failed"]
    assert failed
    assert all(t.note == "out of memory: too large" and math.isinf(t.seconds) for t in failed)


def test_a_default_that_fails_is_the_users_error(space, monkeypatch):
    def cost(schedule):
        raise vg.AlgorithmError("negative cycle")

    with pytest.raises(vg.AlgorithmError, match="negative cycle"):
        search_with(Clock(monkeypatch, cost), space).go()


def test_what_was_slow_before_is_not_measured_again(space, monkeypatch):
    slow = vg.Schedule().at("relax", sync=vg.BSP)
    fast = vg.Schedule().at("relax", drive=vg.TOPOLOGY)
    clock = Clock(monkeypatch, lambda schedule: 1.0)
    search = search_with(
        clock, space, known={describe(slow): FORGET + 0.5, describe(fast): 0.9}, first=[fast]
    )
    search.go()
    assert next(t for t in search.tried if t.schedule == slow) == Trial(slow, FORGET + 0.5, 0, "remembered")
    assert describe(slow) not in clock.ran
    assert search.tried[1].schedule == fast


@pytest.mark.parametrize(
    ("budget", "seconds", "stays"),
    [(7.0, 0.41, True), (1.0, 0.41, True), (100.0, 0.41, True), (7.0, 1.1, False), (100.0, 1.1, False)],
)
def test_what_was_chosen_before_stays_until_it_is_found_slower(space, monkeypatch, budget, seconds, stays):
    """In 7 seconds it is tried, but not run in turns with the default; in one it is not even tried."""
    good = vg.Schedule().at("relax", sync=vg.BSP)
    clock = Clock(monkeypatch, lambda schedule: seconds if asks(schedule, sync=vg.BSP) else 1.0)
    search = search_with(clock, space, budget, known={describe(good): 0.41}, chosen=good)
    search.go()
    assert (good in [t.schedule for t in search.tried]) == (budget > 1)
    schedule, best, default = search.finish()
    assert (schedule == good) == stays
    assert best == (pytest.approx(0.41) if stays else default)


def test_a_last_choice_that_is_illegal_by_now_is_dropped(space, monkeypatch):
    old = vg.Schedule().at("gone", sync=vg.BSP)
    search = search_with(
        Clock(monkeypatch, lambda schedule: 1.0), space, 1.0, known={describe(old): 0.4}, chosen=old
    )
    search.go()
    assert search.finish() == (vg.Schedule(), 1.0, 1.0)


def test_a_short_tuning_does_not_forget_what_a_long_one_chose(graph, folder):
    good = vg.Schedule().at("relax", sync=vg.BSP)
    key, about = conditions(job(graph, threads=1))
    table = default_table()
    table.add(Row(key, "chosen", schedule_to_json(good), 0.41, 1.0, 9, {**about, "date": today()}))
    assert vg.tuned(SSSP, graph, threads=1) == good
    tuning = vg.autotune(SSSP, graph, 1e-6, source=0, threads=1)
    assert tuning.schedule == good
    assert tuning.speedup == pytest.approx(1 / 0.41)
    assert vg.tuned(SSSP, graph, threads=1) == good


def test_schedules_that_come_to_the_same_code_are_tried_once(graph):
    space = Space(job(graph, vg.algorithms.pagerank))
    plain, other = vg.Schedule(), vg.Schedule().at("begin", sync=vg.ASYNC)
    assert space.meaning(plain) != space.meaning(other)
    assert space.code(plain) == space.code(other)


def test_schedules_are_shown_without_what_goes_without_saying(space):
    samples = list(space.samples(3))[:20]
    assert samples == list(space.samples(3))[:20] != list(space.samples(4))[:20]
    for schedule in samples:
        meaning, short = space.meaning(schedule), space.shortest(schedule)
        assert meaning is not None
        assert space.meaning(short) == meaning
        for label, options in short.labels.items():
            for name in options.given():
                assert space.meaning(short.at(label, **{name: vg.AUTO})) != meaning


def test_widths_of_buckets_are_tried_around_the_guess(graph):
    mean = graph.edge_properties["weight"].mean()
    guess = policy.DELTA_FACTOR * mean * 200 / graph.num_arcs
    widths = bucket_widths(graph)
    assert widths == tuple(sorted({float(max(1, round(guess * k))) for k in (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)}))
    whole = bucket_widths(graph.with_edge_property("weight", np.full(graph.num_edges, 0.5)))
    assert whole == pytest.approx(
        [policy.DELTA_FACTOR / 2 * 200 / graph.num_arcs * k for k in (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)], rel=0.01
    )
    assert bucket_widths(Graph.from_edges([0], [1])) == ()
    assert bucket_widths(graph.with_edge_property("weight", np.zeros(graph.num_edges))) == ()
    space = Space(job(graph), widths)
    assert {vg.delta_stepping(w) for w in widths} <= set(space.values("order"))


# --- as a whole -----------------------------------------------------------------------------------------------


def test_what_was_tuned_on_a_prepared_graph_is_found_again(graph):
    for algorithm, given in (
        (vg.algorithms.betweenness, {"sources": [0]}),
        (vg.algorithms.triangle_count, {}),
    ):
        assert vg.tuned(algorithm, graph, threads=1) is None
        tuning = vg.autotune(algorithm, graph, "300ms", threads=1, **given)
        assert vg.tuned(algorithm, graph, threads=1) == tuning.schedule


def test_autotune_gives_a_legal_schedule_that_is_not_slower(graph, folder):
    seen = []
    tuning = vg.autotune(SSSP, graph, "1500ms", source=0, threads=2, progress=seen.append)
    assert isinstance(tuning, Tuning)
    assert tuning.best_seconds <= tuning.default_seconds
    assert tuning.speedup >= 1
    assert tuning.tried[0].schedule == vg.Schedule()
    assert len(tuning.tried) == len(seen) + sum(t.status == "remembered" for t in tuning.tried)
    assert "tried, best" in str(seen[-1])
    want = vg.run(SSSP, graph, source=0).dist
    np.testing.assert_array_equal(vg.run(SSSP, graph, source=0, schedule=tuning.schedule).dist, want)
    assert vg.tuned(SSSP, graph, threads=2) == tuning.schedule
    assert vg.tuned(SSSP, graph, threads=1) is None
    rows = [json.loads(line) for line in (folder / "tuning.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["measured"] * (len(rows) - 1) + ["chosen"]
    assert rows[0]["about"]["algorithm"] == "sssp"
    text = str(tuning)
    assert text.startswith("sssp: ")
    assert "default" in text.splitlines()[1]
    again = vg.autotune(SSSP, graph, "1s", source=0, threads=2)
    assert again.best_seconds <= again.default_seconds
    chosen = [
        line for line in (folder / "tuning.jsonl").read_text().splitlines() if '"kind": "chosen"' in line
    ]
    assert len(chosen) == 2


def test_ctrl_c_keeps_what_was_measured(graph, folder):
    def interrupt(progress):
        if progress.tried == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vg.autotune(SSSP, graph, "60s", source=0, threads=1, progress=interrupt)
    rows = [json.loads(line) for line in (folder / "tuning.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["measured", "measured"]
    assert vg.tuned(SSSP, graph, threads=1) is None


def test_without_the_cache_nothing_is_kept(graph, folder):
    with scope(no_cache=True):
        vg.autotune(SSSP, graph, 0.2, source=0, threads=1)
        assert vg.tuned(SSSP, graph, threads=1) is None
    assert not (folder / "tuning.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("2 min", 120), ("500ms", 0.5), ("1h", 3600), ("1.5", 1.5), (3, 3.0), (0.5, 0.5)],
)
def test_budgets(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "bad", ["", "soon", "10 parsecs", "-1s", "0s", 0, -1, math.inf, math.nan, True, None, [1]]
)
def test_bad_budgets(bad, graph):
    with pytest.raises(vg.ParameterError, match="budget="):
        vg.autotune(SSSP, graph, bad, source=0)


def test_wrong_calls_are_told_as_by_run(graph):
    with pytest.raises(vg.ParameterError, match="source"):
        vg.autotune(SSSP, graph, "1s")
    with pytest.raises(vg.ParameterError, match="not an algorithm"):
        vg.autotune(len, graph)
    with pytest.raises(vg.ParameterError, match="not a vertex"):
        vg.autotune(SSSP, graph, "1s", source=10**6)
    with pytest.raises(vg.ParameterError, match="bfs counts hops"):
        vg.tuned(SSSP, Graph.from_edges([0], [1]))


# --- what it is valid for -------------------------------------------------------------------------------------


def test_the_key_depends_on_program_graph_machine_and_version(graph, monkeypatch):
    def key(definition=SSSP, g=graph, threads=2):
        return conditions(job(g, definition, threads))[0]

    keys = [key(), key(vg.algorithms.bfs), key(threads=1)]
    assert graph.in_ is not None  # the transpose is there now, and the graph is what it was
    assert key() == keys[0]
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 2000, (2, 1500))
    keys.append(key(g=Graph.from_edges(src, dst, num_vertices=2000, weight=np.ones(1500, np.int32))))
    keys.append(key(g=graph.with_edge_property("weight", np.ones(graph.num_edges))))
    monkeypatch.setattr(vg, "__version__", "9.9")
    keys.append(key())
    monkeypatch.undo()
    monkeypatch.setattr(module, "machine_name", lambda: "another")
    keys.append(key())
    monkeypatch.undo()
    with vg.schedule_pass(after="simplify", name="own")(lambda program, context: program):
        keys.append(key())
    assert len(set(keys)) == len(keys)
    more = np.concatenate([graph.edges()[0], [7]]), np.concatenate([graph.edges()[1], [9]])
    alike = Graph.from_edges(*more, num_vertices=203, weight=rng.integers(1, 9, 1501).astype(np.int32))
    assert key(g=alike) == key()


def test_nothing_is_kept_with_a_pass_that_has_no_fingerprint(graph, folder):
    thing = object()
    from vgraph.runtime.devices import compiled

    compiled._tell_uncached.cache_clear()
    with vg.schedule_pass(after="simplify", name="own")(lambda program, context: (thing, program)[1]):
        with pytest.warns(CacheWarning):
            assert conditions(job(graph, threads=1)) is None
        vg.autotune(SSSP, graph, 0.1, source=0, threads=1)
    assert not (folder / "tuning.jsonl").exists()


def test_a_choice_that_is_no_longer_legal_is_not_given(graph, folder):
    key, about = conditions(job(graph, threads=1))
    table = TuningTable(folder)

    def choose(schedule):
        table.add(Row(key, "chosen", schedule, 1.0, 2.0, 5, about))
        return vg.tuned(SSSP, graph, threads=1)

    legal = vg.Schedule().at("relax", sync=vg.BSP)
    assert choose(schedule_to_json(legal)) == legal
    assert choose(schedule_to_json(vg.Schedule().at("gone", sync=vg.BSP))) is None
    assert choose({"relax": {"deduplicate": "false", "order": "unordered"}}) is None
    assert choose({"relax": {"direction": "sideways"}}) is None
    assert choose({"relax": {"of_a_pass": 3}}) is None


# --- the table ------------------------------------------------------------------------------------------------


def row(key="k", seconds=1.0, kind="measured", **options):
    schedule = {"relax": options} if options else {}
    return Row(key, kind, schedule, seconds, 2.0, 3, {"algorithm": "sssp"})


def test_rows_come_back_by_key(folder):
    table = TuningTable(folder)
    assert table.rows("k") == []
    rows = [row(sync="bsp"), row("other"), row(seconds=0.5, kind="chosen")]
    for r in rows:
        table.add(r)
    assert TuningTable(folder).rows("k") == [rows[0], rows[2]]
    assert rows[2].ratio == 0.25
    schedule = vg.Schedule().at("relax", sync=vg.BSP, order=vg.delta_stepping(3), balance=vg.SPLIT(64))
    assert schedule_from_json(json.loads(json.dumps(schedule_to_json(schedule)))) == schedule


DAMAGE = {
    "no JSON": lambda sign: b"nonsense\n",
    "cut": lambda sign: sign(row())[:40],
    "binary": lambda sign: bytes(range(256)) + b"\n",
    "a list": lambda sign: b"[]\n",
    "fields": lambda sign: b'{"key": "k"}\n',
    "no MAC": lambda sign: json.dumps(row().__dict__).encode() + b"\n",
    "no text as MAC": lambda sign: json.dumps({**row().__dict__, "mac": 3}).encode() + b"\n",
    "a changed time": lambda sign: sign(row()).replace(b'"seconds": 1.0', b'"seconds": 0.1'),
    "nested": lambda sign: b"[" * 100_000 + b"\n",
    "no number": lambda sign: sign(replace(row(), seconds="1")),
    "infinite": lambda sign: sign(replace(row(), seconds=math.inf)),
    "kind": lambda sign: sign(replace(row(), kind="guessed")),
    "schedule": lambda sign: sign(replace(row(), schedule={"relax": 3})),
}
"""Lines that are no rows, made with what signs a row with this user's key."""


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_table_is_set_aside_and_the_rest_of_it_kept(folder, how):
    table = TuningTable(folder)
    table.add(row(sync="bsp"))
    with open(table.file, "ab") as file:
        file.write(DAMAGE[how](table._line))
    before = table.file.read_bytes()
    with pytest.warns(CacheWarning, match="was damaged"):
        assert table.rows("k") == [row(sync="bsp")]
    assert (folder / "tuning.damaged").read_bytes() == before
    table.add(row())
    assert table.rows("k") == [row(sync="bsp"), row()]


def test_rows_that_somebody_else_signed_are_set_aside(folder, tmp_path):
    TuningTable(folder, tmp_path / "theirs").add(row(seconds=0.001, kind="chosen"))
    with pytest.warns(CacheWarning, match="not signed"):
        assert TuningTable(folder, tmp_path / "mine").rows("k") == []


def test_a_line_that_was_cut_short_costs_that_line_only(folder):
    """By a process that was killed; the next one begins a line of its own, before anybody has read the table."""
    table = TuningTable(folder)
    table.add(row(sync="bsp"))
    table.file.write_bytes(table.file.read_bytes()[:-1] + b"\n" + table._line(row("lost"))[:50])
    table.add(row())
    with pytest.warns(CacheWarning, match="was damaged"):
        assert table.rows("k") == [row(sync="bsp"), row()]


@pytest.mark.parametrize("name", ["tuning.jsonl", "tuning.lock"])
def test_a_link_in_its_place_is_not_followed(folder, tmp_path, name):
    TuningTable(folder).add(row())
    (tmp_path / "precious").write_text("")
    (folder / name).unlink()
    (folder / name).symlink_to(tmp_path / "precious")
    with pytest.warns(CacheWarning, match="cannot be"):
        TuningTable(folder).add(row())
    assert (tmp_path / "precious").read_text() == ""


def test_a_table_that_cannot_be_kept_is_told(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    table = TuningTable(tmp_path / "file")
    assert table.rows("k") == []
    with pytest.warns(CacheWarning, match="cannot be kept"):
        table.add(row())


WRITER = """
import sys
from pathlib import Path
from vgraph.runtime.tuning.table import Row, TuningTable
table = TuningTable(Path(sys.argv[1]))
for i in range(100):
    table.add(Row("k", "measured", {"relax": {"word": sys.argv[2] * 500}}, float(i + 1), 1.0, 3, {}))
    assert len(table.rows("k")) > i
"""


def test_two_processes_at_once(folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", WRITER, str(folder)]
    both = [subprocess.Popen([*command, word], env=environment) for word in "ab"]
    assert [process.wait(600) for process in both] == [0, 0]
    rows = TuningTable(folder).rows("k")
    for word in "ab":
        own = [r.seconds for r in rows if r.schedule["relax"]["word"][0] == word]
        assert own == [float(i + 1) for i in range(100)]


def test_old_measurements_are_forgotten_and_choices_are_not(folder, monkeypatch):
    monkeypatch.setattr(tuning_table, "LIMIT", 20_000)
    table = TuningTable(folder)
    table.add(row("first", kind="chosen"))
    for i in range(400):
        table.add(row(seconds=float(i + 1)))
    assert table.file.stat().st_size < 30_000
    assert table.rows("first") == [row("first", kind="chosen")]
    assert table.rows("k")[-1].seconds == 400.0


# --- how it is shown ------------------------------------------------------------------------------------------


def example(count=30):
    fast = vg.Schedule().at("relax", order=vg.delta_stepping(16))
    tried = [Trial(vg.Schedule(), 1.0, 9, "measured"), Trial(fast, 0.25, 15, "measured")]
    tried += [Trial(vg.Schedule().at("relax", segments=k), 1.0 + k, 2, "stopped") for k in range(2, count)]
    tried.append(Trial(vg.Schedule().at("relax", vectorize=True), math.inf, 0, "failed", "no memory [1]"))
    return Tuning("sssp", fast, 1.0, 0.25, tuple(tried), 9.5, True)


def test_the_table_as_text():
    text = str(example()).splitlines()
    assert (
        text[0]
        == "sssp: 4.00 times as fast as the default (250 ms instead of 1 s); 31 schedules tried in 9.5 s"
    )
    assert text[1].split() == ["time", "of", "default", "runs", "schedule"]
    assert text[2].split() == ["250", "ms", "0.25", "15", "relax:", "order=delta(16)"]
    assert text[3].split() == ["1", "s", "1.00", "9", "default"]
    assert text[4].split()[0] == ">3"
    assert text[-1] == "... and 11 slower"
    assert "failed" in str(example(4))
    assert "(no memory [1])" in str(example(4))
    assert str(Tuning("bfs", vg.Schedule(), 1.0, 1.0, example().tried[:1], 1.0, True)).startswith(
        "bfs: nothing is faster than the default, 1 s; 1 schedule tried"
    )
    unsettled = str(replace(example(), schedule=vg.Schedule(), best_seconds=1.0)).splitlines()[0]
    assert unsettled.startswith(
        "sssp: the default stays; relax: order=delta(16) may be faster (250 ms instead of 1 s)"
    )


def test_the_table_by_rich():
    import io

    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=100).print(example(4))
    assert "4.00 times as fast" in out.getvalue()
    assert "no memory [1]" in out.getvalue()


def test_the_picture(tmp_path):
    figure = example().plot(tmp_path / "tuning.png")
    assert (tmp_path / "tuning.png").stat().st_size > 1000
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:2] == ["relax: order=delta(16)", "default"]
    assert len(names) == len(axes.patches) == 20
    assert [bar.get_width() for bar in axes.patches][:2] == [0.25, 1.0]
    assert (
        axes.patches[0].get_facecolor() != axes.patches[1].get_facecolor() != axes.patches[2].get_facecolor()
    )
    assert axes.patches[2].get_hatch()
    assert "time of a run" in axes.get_xlabel()
