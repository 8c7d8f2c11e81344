"""The other side: programs with GAP's command line, and Python libraries, each in a process of its own.

Nothing here fetches or builds a peer. One that is not there, or fails, is named and left out.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import graphs
import libraries
from tasks import SOURCES

TRIAL = re.compile(r"^Trial Time:\s*([0-9.]+)\s*$", re.MULTILINE)
LOAD = 120.0
"""Seconds for a library to load, and to make what an algorithm needs."""
GRACE = 2.0
"""Seconds after the limit until a process that has heard no alarm is ended."""
LIBRARIES = tuple(libraries.FILES)
SERIAL = ("numba", "scipy", "igraph", "networkx")


class PeerError(RuntimeError):
    """A peer failed or printed no times."""


class TooLateError(PeerError):
    """A peer took longer than it may."""


@dataclass(frozen=True)
class Program:
    """A native program with GAP's options (-f graph -n trials -r source) and output ("Trial Time: s")."""

    label: str
    path: Path
    weighted: bool = False
    from_source: bool = False
    arguments: tuple[str, ...] = ()

    def run(
        self, data: graphs.GraphData, cache: Path, threads: int, trials: int, warm: int = 1
    ) -> list[float]:
        """Seconds of `trials` trials after `warm` that warm up; reading the file is not in them."""
        file = graphs.gap_file(data, cache, weighted=self.weighted)
        command = [str(self.path), "-f", str(file), "-n", str(warm + trials), *self.arguments]
        if self.from_source:
            command += ["-r", str(data.source)]
        settings = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run(command, capture_output=True, text=True, env=settings)
        seconds = [float(found) for found in TRIAL.findall(done.stdout)]
        if done.returncode or len(seconds) != warm + trials:
            raise PeerError(
                f"{' '.join(command)}: exit {done.returncode}, {len(seconds)} times\n{done.stderr}"
            )
        return seconds[warm:]


def gap(folder: Path, case: str, *, delta: int, rounds: int) -> list[Program]:
    """The GAP programs for one of our cases, and those written by hand that stand beside them.

    GAP's bfs is direction-optimising; pr_spmv keeps rounds apart as vgraph does, with ranks of 32 bits; `pr_spmv64` is
    the same program with ranks of 64 (`cpu_table.py` makes it). Its cc is Afforest. Its sssp is delta-stepping. Its tc
    relabels by degree where that pays, within the time. It has no k-core: `kcore` is one thread's,
    by hand (`handwritten/kcore.cc`).
    """
    fixed = ("-i", str(rounds), "-t", "0")
    programs = {
        "bfs": [Program("GAP bfs", folder / "bfs", from_source=True)],
        "sssp": [
            Program(
                "GAP sssp", folder / "sssp", weighted=True, from_source=True, arguments=("-d", str(delta))
            )
        ],
        "pagerank 32-bit": [Program("GAP pr_spmv", folder / "pr_spmv", arguments=fixed)],
        "pagerank 64-bit": [Program("GAP pr_spmv, 64-bit", folder / "pr_spmv64", arguments=fixed)],
        "cc": [Program("GAP cc", folder / "cc")],
        "triangles": [Program("GAP tc", folder / "tc")],
        "betweenness": [Program("GAP bc", folder / "bc", from_source=True, arguments=("-i", str(SOURCES)))],
        "kcore": [Program("serial k-core", folder / "kcore")],
    }
    return programs.get(case, [])


def version(python: Path, library: str) -> str:
    """The version of a library in an interpreter, "missing" without one."""
    program = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    command = [str(python), "-c", program, libraries.FILES[library][2]]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return "missing"
    return done.stdout.strip() if done.returncode == 0 else "missing"


class Library:
    """A Python library in a process of its own, which holds a graph and times what it is asked to.

    `python` is the interpreter that has it, `graph` a file of `GraphData`. The process starts at the first request, and
    again at the one after it had to be ended. A run of more than `limit` seconds is too long: an alarm in the process
    ends it, or, where compiled code would not bear that, the end of the process does. `environment`: variables for it.
    """

    def __init__(
        self,
        python: Path,
        library: str,
        graph: Path,
        threads: int,
        limit: float | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.limit, self._environment = library, limit, environment or {}
        self._command = [str(python), str(Path(__file__).with_name("python_peers.py")), library]
        self._command += [str(graph), str(threads)]
        self._threads = str(threads)
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes]
        self._read = b""  # of its output, not yet handed on

    def run(self, algorithm: str, trials: int, warm: int = 1) -> list[float]:
        """Seconds of `trials` runs after `warm` that warm up. Raises PeerError, as `runs` does."""
        return self.runs(algorithm, warm + trials)[warm:]

    def runs(self, algorithm: str, count: int) -> list[float]:
        """Seconds of `count` runs. Raises TooLateError, and PeerError where the library or the algorithm is missing."""
        process = self._process or self._start()
        assert process.stdin is not None
        request = {"algorithm": algorithm, "runs": count, "limit": self.limit}
        with suppress(BrokenPipeError):  # it has ended: there will be no answer
            process.stdin.write(json.dumps(request).encode() + b"\n")
        self._answer(algorithm, LOAD if self.limit is not None else None)
        answer = self._answer(algorithm, None if self.limit is None else self.limit * count + GRACE)
        seconds: list[float] = answer["seconds"]
        return seconds

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._errors.close()
            self._process, self._read = None, b""

    def _start(self) -> subprocess.Popen[bytes]:
        limits = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "VGRAPH_THREADS"), self._threads)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads fills up
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env={**os.environ, **limits, **self._environment},
            )
        except OSError as error:
            self._errors.close()
            raise PeerError(f"{self.name}: {error}") from error
        return self._process

    def _answer(self, algorithm: str, seconds: float | None) -> dict[str, Any]:
        """The next line that the process says, if it comes within so many seconds."""
        try:
            line = self._line(seconds)
        except TimeoutError:
            self.close()
            limit = LOAD if seconds == LOAD else self.limit
            raise TooLateError(f"{self.name} {algorithm}: more than {limit:g} s") from None
        if not line:
            self._errors.seek(0)
            last = self._errors.read().decode().strip().splitlines()[-1:] or ["it ended"]
            self.close()
            raise PeerError(f"{self.name} {algorithm}: {last[0]}")
        answer: dict[str, Any] = json.loads(line)
        if "late" in answer:
            raise TooLateError(f"{self.name} {algorithm}: {answer['late']}")
        if "error" in answer:
            raise PeerError(f"{self.name} {algorithm}: {answer['error']}")
        return answer

    def _line(self, seconds: float | None) -> bytes:
        """A line of its output, nothing if it has ended. Raises TimeoutError after so many seconds without one."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._read:
            if not select.select([pipe], [], [], seconds)[0]:
                raise TimeoutError
            more = os.read(pipe, 1 << 16)
            if not more:
                return b""
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line
