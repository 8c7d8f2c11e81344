"""Search for the fastest legal schedule of a program on a graph, by measuring.

From the default one axis at a time is changed, at the traversals that take most of the time first; then what won is
combined (coordinate descent); then schedules are drawn at random. What cannot win is stopped early. In the end the best
run in turns with the default, so that neither noise nor a slow moment of the machine picks a loser.
"""

from __future__ import annotations

import functools
import math
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from vgraph.cache import cache_key, key_text
from vgraph.compiler.frontend import source_parts
from vgraph.errors import ParameterError, VGraphError
from vgraph.records import dataclass
from vgraph.runtime import policy
from vgraph.runtime.devices.compiled import own_passes, pass_marks
from vgraph.runtime.devices.cpu import CPU
from vgraph.runtime.executor import Job, execute, signature_of
from vgraph.runtime.tuning.outcome import Trial, Tuning, TuningProgress, describe
from vgraph.runtime.tuning.space import Space, bucket_widths, change
from vgraph.runtime.tuning.table import Row, default_table, schedule_from_json, schedule_to_json, today
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.progress import Progress
    from vgraph.runtime.result import Result

Run = Callable[[Schedule, "Callable[[Progress], None] | None"], "Result"]
"""Runs the program once; the function given is called about ten times a second, and may stop it by an exception."""

HOPELESS: Final = 1.3
"""A schedule whose best run takes so many times the best run of the fastest is not measured further."""
FORGET: Final = 1.5
"""One that was so many times slower than the default in an earlier tuning is not measured again."""
GAIN: Final = 0.97
"""To be taken, a schedule takes at most this part of the time of what it replaces: less is noise."""
RUNS: Final = (3, 9)
"""Least and most timed runs of a schedule, beside the first, which warms up."""
ENOUGH_SECONDS: Final = 0.05
"""Time of measuring after which the least number of runs will do."""
FINALISTS: Final = 3
FINAL_ROUNDS: Final = (5, 15)
FINAL_SHARE: Final = 0.25
"""Part of the budget kept for the end."""
IDLE: Final = 20
"""Draws with nothing new after which there are no more."""

_BUDGET: Final = re.compile(r"(\d+(?:\.\d*)?)\s*(ms|s|sec|min|m|h)?")
_UNITS: Final = {"ms": 1e-3, "": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def seconds_of(budget: str | float) -> float:
    """A budget in seconds: a number, or a text such as "10s", "500ms", "2min", "1h". Raises ParameterError."""
    if isinstance(budget, str):
        found = _BUDGET.fullmatch(budget.strip().lower())
        value = float(found[1]) * _UNITS[found[2] or ""] if found else math.nan
    else:
        number = isinstance(budget, int | float) and not isinstance(budget, bool)
        value = float(budget) if number else math.nan
    if not 0 < value < math.inf:
        raise ParameterError(f'budget={budget!r}: a time as "10s", "2min", or a number of seconds')
    return value


# --- what a tuning is valid for -------------------------------------------------------------------------------


def conditions(job: Job) -> tuple[str, dict[str, Any]] | None:
    """The key of the table for this program, graphs like this one and this machine, and what it is made of.

    Graphs are alike if their sizes and skews are, to a power of two, and the facts that the compiler knows of them.
    None where a pass of the user's has no fingerprint: what is measured with it is not kept.
    """
    marks = pass_marks(own_passes())
    if marks is None:
        return None
    source = cache_key(source_parts(job.algorithm))[:16]
    about = {
        "algorithm": job.algorithm.name,
        "source": source,
        "graph": features(job.graph),
        "machine": machine_name(),
        "threads": job.threads,
        "version": sys.modules["vgraph"].__version__,  # not imported: the package stands above its runtime
    }
    whole = (
        repr(sorted(about.items())),
        key_text(signature_of(job.graph, {})),
        CPU(job.threads).stamp(),
        *marks,
    )
    return cache_key(whole), about


def features(graph: Graph) -> str:
    """What schedules depend on, coarsely: sizes and the largest degree as powers of two, and the facts."""

    def power(value: float) -> int:
        return round(math.log2(value)) if value >= 1 else 0

    facts = {name: v for name, v in vars(policy.facts_of(graph)).items() if v}
    shown = [name if value is True else f"{name}={value}" for name, value in facts.items()]
    sizes = f"2^{power(graph.num_vertices)} vertices, 2^{power(graph.num_arcs)} arcs"
    return ", ".join([sizes, f"degree up to 2^{power(graph.max_degree)}", *shown])


@functools.cache
def machine_name() -> str:
    """The processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def remembered(job: Job) -> Schedule | None:
    """The schedule that was chosen last under these conditions, if it is legal still; else None."""
    table = default_table()
    known = conditions(job) if table is not None else None
    if table is None or known is None:
        return None
    rows = [row for row in table.rows(known[0]) if row.kind == "chosen"]
    schedule = schedule_from_json(rows[-1].schedule) if rows else None
    return schedule if schedule is not None and Space(job).meaning(schedule) is not None else None


# --- the search -----------------------------------------------------------------------------------------------


class _StopRunError(Exception):
    """Raised by the guard of a run that takes too long."""


class _BudgetSpentError(Exception):
    """There is no time for another schedule."""


@dataclass
class Search:
    """One search: what was tried, what is best so far, and the clock."""

    run: Run
    space: Space
    budget: float
    seed: int
    record: Callable[[Trial, float], None]
    report: Callable[[TuningProgress], None] | None
    known: Mapping[str, float]
    """Times of schedules in units of the default's, from earlier tunings, by `describe`."""
    first: list[Schedule]
    """Schedules to try before all others."""
    chosen: Schedule
    """What the last tuning chose; empty if it chose the default, or there was none."""

    def __post_init__(self) -> None:
        self.start = time.perf_counter()
        self.tried: list[Trial] = []
        self.seen: set[object] = set()
        self.best = Trial(Schedule(), math.inf, 0, "measured")
        self.default = self.best
        self.least = math.inf  # the shortest run of the best
        self.weights: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.start

    def go(self) -> bool:
        """Search until there is nothing left, or no time: whether the former."""
        self.default, self.least = self._measure(Schedule())
        self.best = self.default
        self.seen |= {self.space.meaning(Schedule()), self.space.code(Schedule())}
        self._keep(self.default)
        try:
            for schedule in (self.chosen, *self.first):
                self.attempt(schedule)
            changes = self._one_at_a_time()
            self._combine(changes)
            idle = 0
            for schedule in self.space.samples(self.seed):
                before = self.best
                idle = idle + 1 if self.attempt(schedule) is None else 0
                if self.best is not before:
                    self._combine(changes)
                if idle == IDLE:
                    break
        except _BudgetSpentError:
            return False
        return True

    def _one_at_a_time(self) -> list[tuple[float, str, str, object]]:
        """Every change of one axis, with its time, the fastest first."""
        found: dict[tuple[str, str, object], float] = {}
        for label in sorted(self.space.labels, key=lambda name: -self.weights.get(name, 0.0)):
            for axis, value, schedule in self.space.single(label):
                trial = self.attempt(schedule)
                found[label, axis, value] = math.inf if trial is None else trial.seconds
        rows = [(time, *change) for change, time in found.items()]
        return sorted(rows, key=lambda row: row[0])

    def _combine(self, changes: list[tuple[float, str, str, object]]) -> None:
        """Add changes to the best as long as one of them makes it faster."""
        improved = True
        while improved:
            improved = False
            for _, label, axis, value in changes:
                before = self.best
                self.attempt(change(before.schedule, label, axis, value))
                improved = improved or self.best is not before

    def attempt(self, schedule: Schedule) -> Trial | None:
        """Measure a schedule, unless it is not legal or means what another one did; None then."""
        if self.elapsed > self.budget * (1 - FINAL_SHARE):
            raise _BudgetSpentError
        meaning = self.space.meaning(schedule)
        if meaning is None or meaning in self.seen:
            return None
        self.seen.add(meaning)
        schedule = self.space.shortest(schedule)
        ratio = self.known.get(describe(schedule), 0.0)
        if ratio >= FORGET:
            trial = Trial(schedule, ratio * self.default.seconds, 0, "remembered")
            self.tried.append(trial)
            return trial
        code = self._code(schedule)
        if code in self.seen:
            return None
        self.seen.add(code)
        trial, least = self._measure(schedule)
        self._keep(trial)
        if trial.status == "measured" and max(least / self.least, trial.seconds / self.best.seconds) < GAIN:
            self.best, self.least = trial, least
        return trial

    def _code(self, schedule: Schedule) -> str:
        try:
            return self.space.code(schedule)
        except VGraphError:
            return describe(schedule)  # the run will tell what is wrong

    def _keep(self, trial: Trial) -> None:
        self.tried.append(trial)
        self.record(trial, self.default.seconds)
        if self.report is not None:
            best, default = self.best.seconds, self.default.seconds
            shown = describe(trial.schedule)
            self.report(TuningProgress(len(self.tried), best, default, self.elapsed, self.budget, shown))

    def _measure(self, schedule: Schedule) -> tuple[Trial, float]:
        """The median of several runs after one that warms up, and the least; stopped early if it cannot win."""
        limit = HOPELESS * self.least
        times: list[float] = []
        first = math.inf
        try:
            warm = self.run(schedule, self._guard(limit))
            for r in warm.trace if not self.weights else ():
                self.weights[r.label] = self.weights.get(r.label, 0.0) + r.seconds
            first = warm.stats.run_seconds
            hopeless = first > max(3 * limit, _SHORT)
            while not hopeless and not self._enough(times):
                times.append(time_of(self.run(schedule, self._guard(limit))))
                hopeless = min(times) > (limit if len(times) > 1 else 3 * limit)
        except _StopRunError:
            times.append(max(3 * limit, _PATIENCE))
            hopeless = True
        except VGraphError as error:
            if math.isinf(limit):
                raise  # the default itself
            failed = Trial(schedule, math.inf, len(times), "failed", str(error).partition("\n")[0])
            return failed, math.inf
        if hopeless:
            least = min(times, default=first)
            median = least / self.least * self.best.seconds  # shortest runs compare with shortest runs only
            return Trial(schedule, median, len(times), "stopped"), least
        return Trial(schedule, statistics.median(times), len(times), "measured"), min(times)

    def _enough(self, times: list[float]) -> bool:
        least, most = RUNS
        if len(times) < 1:
            return False
        late = self.elapsed + times[-1] > self.budget
        return late or len(times) >= most or (len(times) >= least and sum(times) >= ENOUGH_SECONDS)

    def _guard(self, limit: float) -> Callable[[Progress], None] | None:
        """Stops a run of which it is plain that it takes too long, or for which there is no time."""
        if math.isinf(limit):
            return None
        longest = max(3 * limit, _PATIENCE)

        def stop(progress: Progress) -> None:
            if self.elapsed > self.budget:
                raise _BudgetSpentError
            if progress.elapsed > longest:
                raise _StopRunError

        return stop

    def finish(self) -> tuple[Schedule, float, float]:
        """The schedule to choose, its time and the default's, from runs in turns."""
        good = [t for t in self.tried if t.status == "measured" and t.seconds < self.default.seconds]
        finalists = sorted(good, key=lambda t: t.seconds)[:FINALISTS]
        rows: list[list[float]] = []
        least, most = FINAL_ROUNDS
        while finalists and len(rows) < most:
            spent = sum(rows[-1]) if rows else sum(t.seconds for t in (self.default, *finalists))
            if self.elapsed + spent > self.budget * (1.0 if len(rows) >= least else 1.5):
                break
            order = [self.default, *finalists]
            shift = len(rows) % len(order)
            times = {id(t): time_of(self.run(t.schedule, None)) for t in order[shift:] + order[:shift]}
            rows.append([times[id(t)] for t in order])
        return self._verdict(finalists, rows)

    def _verdict(self, finalists: list[Trial], rows: list[list[float]]) -> tuple[Schedule, float, float]:
        if len(rows) < FINAL_ROUNDS[0]:
            return self._undecided()
        default, *medians = (statistics.median(column) for column in zip(*rows, strict=True))
        for trial, median in zip([self.default, *finalists], [default, *medians], strict=True):
            place = next(i for i, t in enumerate(self.tried) if t is trial)
            self.tried[place] = replace(trial, seconds=median, runs=len(rows))
        best = min(range(len(finalists)), key=lambda i: medians[i])
        wins = sum(row[best + 1] < row[0] for row in rows)
        if medians[best] > GAIN * default or 3 * wins < 2 * len(rows):
            return Schedule(), default, default
        return finalists[best].schedule, medians[best], default

    def _undecided(self) -> tuple[Schedule, float, float]:
        """Without runs in turns the last choice stands, unless it was slower today; else the default."""
        default, meaning = self.default.seconds, self.space.meaning(self.chosen)
        found = [t.seconds for t in self.tried if self.space.meaning(t.schedule) == meaning]
        if not found and meaning is not None:
            found = [self.known[describe(self.chosen)] * default]
        if found and found[0] < default:
            return self.chosen, found[0], default
        return Schedule(), default, default


_SHORT: Final = 0.02
"""Seconds below which a first run says nothing."""
_PATIENCE: Final = 0.2
"""Seconds that every run may take: the guard looks ten times a second."""


def time_of(result: Result) -> float:
    """What is compared: the time in native code, and that of its preparation."""
    return result.stats.run_seconds + result.stats.prepare_seconds


def tune(job: Job, *, budget: float, seed: int, report: Callable[[TuningProgress], None] | None) -> Tuning:
    """`vg.autotune` with everything checked."""
    runner, table = CPU(job.threads), default_table()

    def run(schedule: Schedule, guard: Callable[[Progress], None] | None) -> Result:
        return execute(replace(job, schedule=schedule), runner, guard)

    space = Space(job, bucket_widths(job.graph))
    valid = conditions(job) if table is not None else None

    def record(trial: Trial, default: float, kind: str = "measured") -> None:
        if table is None or valid is None or not math.isfinite(trial.seconds):
            return
        key, about = valid
        made = schedule_to_json(trial.schedule)
        table.add(Row(key, kind, made, trial.seconds, default, trial.runs, {**about, "date": today()}))

    rows = table.rows(valid[0]) if table is not None and valid is not None else []
    search = Search(run, space, budget, seed, record, report, *_earlier(rows))
    complete = search.go()
    schedule, best, default = search.finish()
    record(Trial(schedule, best, 1, "measured"), default, "chosen")
    tried = tuple(search.tried)
    return Tuning(job.algorithm.name, schedule, default, best, tried, search.elapsed, complete)


def _earlier(rows: list[Row]) -> tuple[dict[str, float], list[Schedule], Schedule]:
    """From earlier tunings: times in units of the default's, by `describe`; what was fast; the last choice."""
    known: dict[str, float] = {}
    good: dict[str, tuple[float, Schedule]] = {}
    chosen = Schedule()
    for row in rows:
        schedule = schedule_from_json(row.schedule)
        if row.kind == "chosen":
            chosen = schedule or Schedule()
        if schedule is not None and schedule.labels:
            name = describe(schedule)
            known[name] = row.ratio
            good[name] = (row.ratio, schedule)
    fast = sorted((ratio, name) for name, (ratio, _) in good.items() if ratio < GAIN)
    return known, [good[name][1] for _, name in fast[: 2 * FINALISTS]], chosen
