"""What tuning gives back: every schedule that was tried, the fastest, and how it compares with the default."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from vgraph.records import dataclass
from vgraph.runtime.result import duration
from vgraph.schedule import Schedule

SHOWN: Final = 20
"""Rows of the table when it is printed."""


@dataclass(frozen=True)
class Trial:
    """One schedule that was tried. `seconds` is the median over `runs`; infinity where there is none.

    status: "measured"; "stopped", when it was plain that it would not win (`seconds` is then judged by its shortest run
    against that of the fastest so far); "failed", with the error in `note`; "remembered", when an earlier tuning had
    found it slow (`seconds` is then scaled to the default's time of today).
    """

    schedule: Schedule
    seconds: float
    runs: int
    status: str
    note: str = ""

    def __str__(self) -> str:
        return describe(self.schedule)


@dataclass(frozen=True)
class Tuning:
    """The result of `vg.autotune`. Printing it prints a table, with `rich` where that is used to print.

    `schedule` is the fastest found, empty if nothing was clearly faster than the default; `best_seconds` and
    `default_seconds` are medians of runs that were made in turns. `tried` is in the order of the search.
    """

    algorithm: str
    schedule: Schedule
    default_seconds: float
    best_seconds: float
    tried: tuple[Trial, ...]
    elapsed: float
    """Seconds that the search took, compilation and all."""
    complete: bool
    """Whether the search ended by itself, before the budget did."""

    @property
    def speedup(self) -> float:
        """How many times faster than the default; 1 or more."""
        return self.default_seconds / self.best_seconds

    def summary(self) -> str:
        """The outcome in a line."""
        count = (
            f"{len(self.tried)} schedule{'s' if len(self.tried) > 1 else ''} tried in {self.elapsed:.3g} s"
        )
        if not self.schedule.labels and self._unsettled is not None:
            found = self._unsettled
            times = f"{duration(found.seconds)} instead of {duration(self.default_seconds)}"
            return f"{self.algorithm}: the default stays; {found} may be faster ({times}), give it more time; {count}"
        if not self.schedule.labels:
            return f"{self.algorithm}: nothing is faster than the default, {duration(self.default_seconds)}; {count}"
        times = f"{duration(self.best_seconds)} instead of {duration(self.default_seconds)}"
        return f"{self.algorithm}: {self.speedup:.2f} times as fast as the default ({times}); {count}"

    @property
    def _unsettled(self) -> Trial | None:
        """What was faster when it was tried, but not in runs in turns with the default, or not yet."""
        found = [t for t in self.tried if t.status == "measured" and t.seconds < 0.97 * self.default_seconds]
        return min(found, key=lambda t: t.seconds, default=None)

    def rows(self, limit: int | None = None) -> list[tuple[str, str, str, str]]:
        """Time, ratio to the default, runs and schedule of the trials, the fastest first, as texts."""
        order = sorted(self.tried, key=lambda t: (t.seconds, t.status))[:limit]
        found = []
        for t in order:
            known = math.isfinite(t.seconds)
            ratio = f"{t.seconds / self.default_seconds:.2f}" if known else ""
            bound = ">" if t.status == "stopped" else ""
            time = bound + duration(t.seconds) if known else t.status
            note = t.note or ("from an earlier tuning" if t.status == "remembered" else "")
            found.append((time, ratio, str(t.runs), f"{t} ({note})" if note else str(t)))
        return found

    def __str__(self) -> str:
        rows = [("time", "of default", "runs", "schedule"), *self.rows(SHOWN)]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [" ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
        more = [f"... and {len(self.tried) - SHOWN} slower"] if len(self.tried) > SHOWN else []
        return "\n".join([self.summary(), *lines, *more])

    __repr__ = __str__

    def __rich__(self) -> Any:
        """The table for `rich.print`."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=escape(self.summary()), title_justify="left")
        for name in ("time", "of default", "runs"):
            table.add_column(name, justify="right")
        table.add_column("schedule", overflow="fold")
        for row in self.rows(SHOWN):
            table.add_row(*map(escape, row))
        return table

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the fastest schedules and the default as bars; to a file if `path` is given.

        Returns the Matplotlib figure. Needs Matplotlib.
        """
        from vgraph.plot import plot_tuning

        return plot_tuning(self, path).figure


@dataclass(frozen=True)
class TuningProgress:
    """A glance at a search: schedules tried, the fastest and the default's time so far, seconds spent and to spend."""

    tried: int
    best_seconds: float
    default_seconds: float
    elapsed: float
    budget: float
    trying: str

    def __str__(self) -> str:
        gain = f"{self.default_seconds / self.best_seconds:.2f}x" if self.best_seconds > 0 else ""
        clock = f"{self.elapsed:.0f} of {self.budget:.0f} s"
        return f"{self.tried} tried, best {duration(self.best_seconds)} {gain}, {clock}"


def describe(schedule: Schedule) -> str:
    """A schedule in one line: `default`, or `relax: direction=pull; ...`."""
    return "; ".join(str(schedule).splitlines()) if schedule.labels else "default"
