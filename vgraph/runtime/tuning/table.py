"""What tuning has measured, kept from one run of Python to the next.

A file of JSON lines in the cache's folder: a line for each schedule measured, and one for each that was chosen, signed
as the cache's entries are. Lines are only added, under a lock, so that several processes may tune at once. Nothing
about the table can make tuning fail: what is wrong with it is a `CacheWarning`.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from vgraph import config, private
from vgraph.cache import CacheWarning, places
from vgraph.records import dataclass
from vgraph.schedule import Options, Schedule

LIMIT: Final = 4 << 20
"""Bytes from which on old measurements are forgotten; what was chosen last for each key stays."""
_FILE: Final = "tuning.jsonl"
_KINDS: Final = ("measured", "chosen")
_PURPOSE: Final = "tuning row"


@dataclass(frozen=True)
class Row:
    """One line: `schedule` (options by label, as JSON) took `seconds` where the default took `default_seconds`."""

    key: str
    kind: str
    schedule: Mapping[str, Mapping[str, Any]]
    seconds: float
    default_seconds: float
    runs: int
    about: Mapping[str, Any]
    """What the key was made of, and the date, for people who look into the file."""

    @property
    def ratio(self) -> float:
        """Time in units of the default's, measured at the same occasion."""
        return self.seconds / self.default_seconds


def schedule_to_json(schedule: Schedule) -> dict[str, dict[str, Any]]:
    """A schedule as `schedule_from_json` takes it."""
    return {label: options.to_json() for label, options in schedule.labels.items()}


def schedule_from_json(rows: Mapping[str, Mapping[str, Any]]) -> Schedule | None:
    """The schedule; None if it says what this vgraph does not understand."""
    try:
        return Schedule({label: Options.from_json(row) for label, row in rows.items()})
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


class TuningTable:
    """The table in one folder, signed with the key in `key_file`; safe for several threads and processes."""

    def __init__(self, directory: Path, key_file: Path | None = None) -> None:
        self.directory = directory
        self.file = directory / _FILE
        self._signer = private.Signer(key_file or config.key_file())

    def rows(self, key: str) -> list[Row]:
        """The lines of `key`, in the order in which they were written."""
        try:
            with self._locked(fcntl.LOCK_SH):
                rows, damaged = self._read()
            if damaged:
                with self._locked(fcntl.LOCK_EX):
                    rows = self._set_damage_aside()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as fault:
            _warn(f"cannot read {self.file}: {fault.strerror or fault}")
            return []
        return [row for row in rows if row.key == key]

    def add(self, row: Row) -> None:
        """Write a line at the end."""
        try:
            line = self._line(row)
            private.make_folder(self.directory)
            with self._locked(fcntl.LOCK_EX):
                if self.file.exists() and self.file.stat().st_size > LIMIT:
                    self._forget()
                handle = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
                with open(handle, "ab", buffering=0) as file:
                    size = os.fstat(handle).st_size
                    if size and os.pread(handle, 1, size - 1) != b"\n":  # a process was killed while it wrote
                        line = b"\n" + line
                    file.write(line)
        except OSError as fault:
            _warn(f"what tuning measures cannot be kept in {self.directory}: {fault.strerror or fault}")

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        handle = os.open(self.directory / "tuning.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, how)
            yield
        finally:
            os.close(handle)

    def _read(self) -> tuple[list[Row], bool]:
        """All lines that can be read, and whether there are others."""
        if not self.file.exists():
            return [], False
        found = [self._parse(line) for line in private.read(self.file).splitlines()]
        rows = [row for row in found if row is not None]
        return rows, len(rows) < len(found)

    def _set_damage_aside(self) -> list[Row]:
        rows, damaged = self._read()
        if damaged:  # unless another process has been here in the meantime
            aside = self.file.with_suffix(".damaged")
            os.replace(self.file, aside)
            self._write(rows)
            _warn(
                f"{self.file} was damaged, or is not signed with the key in {self._signer.file}; it is now {aside}, "
                "and what could be read of it is kept"
            )
        return rows

    def _forget(self) -> None:
        """Keep what was chosen last for each key, and the newer half of the measurements."""
        rows, _ = self._read()
        chosen = {row.key: row for row in rows if row.kind == "chosen"}
        measured = [row for row in rows if row.kind == "measured"]
        self._write([*chosen.values(), *measured[len(measured) // 2 :]])

    def _write(self, rows: Sequence[Row]) -> None:
        private.write(self.file, b"".join(map(self._line, rows)))

    def _line(self, row: Row) -> bytes:
        """A row with its MAC, as a line. Raises OSError where there is no key."""
        fields = asdict(row)
        mac = self._signer.mac(_PURPOSE, json.dumps(fields).encode())
        return json.dumps({**fields, "mac": mac.hex()}).encode() + b"\n"

    def _parse(self, line: bytes) -> Row | None:
        """The row that a signed line says, or None. Raises OSError where there is no key."""
        try:
            fields = json.loads(line)
            mac = bytes.fromhex(fields.pop("mac"))
            good = self._signer.signed(mac, _PURPOSE, json.dumps(fields).encode())
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return None
        return _row(fields) if good else None


def _row(fields: Mapping[str, Any]) -> Row | None:
    """The row of these fields, or None if they are not those of a row."""
    try:
        row = Row(**fields)
        times = (row.seconds, row.default_seconds)
        good = all(isinstance(t, float) and 0 < t < float("inf") for t in times) and isinstance(row.runs, int)
        good = good and row.kind in _KINDS and isinstance(row.key, str) and isinstance(row.about, dict)
        good = good and all(isinstance(options, dict) for options in row.schedule.values())
    except (ValueError, TypeError, AttributeError):
        return None
    return row if good else None


def today() -> str:
    """The date and time for `Row.about`."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _warn(text: str) -> None:
    warnings.warn(text, CacheWarning, stacklevel=3)


@functools.lru_cache(maxsize=8)
def _table_at(directory: Path, key_file: Path) -> TuningTable:
    return TuningTable(directory, key_file)


def default_table() -> TuningTable | None:
    """The table beside the cache of code; None where there is no cache."""
    found = places()
    return None if found is None else _table_at(*found)
