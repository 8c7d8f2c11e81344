"""The other side: programs with GAP's command line, and Python libraries, each in a process of its own.

Nothing here fetches or builds a peer. One that is not there, or fails, is named and left out.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import graphs

TRIAL = re.compile(r"^Trial Time:\s*([0-9.]+)\s*$", re.MULTILINE)
SOURCES = 4  # of betweenness: the graph's source, so many times over
LIBRARIES = (
    "graphblas",
    "networkit",
    "numba",
    "scipy",
    "igraph",
    "networkx",
    "networkx-vgraph",
    "networkx-vgraph-cached",
)
SERIAL = ("numba", "scipy", "igraph", "networkx")


class PeerError(RuntimeError):
    """A peer failed or printed no times."""


@dataclass(frozen=True)
class Program:
    """A native program with GAP's options (-f graph -n trials -r source) and output ("Trial Time: s")."""

    label: str
    path: Path
    weighted: bool = False
    from_source: bool = False
    arguments: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        return self.path.is_file() and os.access(self.path, os.X_OK)

    def run(self, data: graphs.GraphData, cache: Path, threads: int, trials: int) -> list[float]:
        """Seconds of `trials` trials after one that warms up; reading the file is not in them."""
        file = graphs.gap_file(data, cache, weighted=self.weighted)
        command = [str(self.path), "-f", str(file), "-n", str(trials + 1), *self.arguments]
        if self.from_source:
            command += ["-r", str(data.source)]
        settings = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run(command, capture_output=True, text=True, env=settings)
        seconds = [float(found) for found in TRIAL.findall(done.stdout)]
        if done.returncode or len(seconds) != trials + 1:
            raise PeerError(
                f"{' '.join(command)}: exit {done.returncode}, {len(seconds)} times\n{done.stderr}"
            )
        return seconds[1:]


def gap(folder: Path, algorithm: str, *, delta: int, rounds: int) -> list[Program]:
    """The GAP programs for one of our algorithms; the first is the one that does the same work.

    GAP's bfs is direction-optimising and its pr updates in place; pr_spmv keeps rounds apart as vgraph does.
    Its cc is Afforest, cc_sv is Shiloach-Vishkin. Its sssp is delta-stepping. Its tc relabels by degree where that
    pays, within the time. It has no k-core.
    """
    fixed = ("-i", str(rounds), "-t", "0")
    programs = {
        "bfs": [Program("GAP bfs", folder / "bfs", from_source=True)],
        "sssp": [
            Program(
                "GAP sssp", folder / "sssp", weighted=True, from_source=True, arguments=("-d", str(delta))
            )
        ],
        "pagerank": [
            Program("GAP pr_spmv", folder / "pr_spmv", arguments=fixed),
            Program("GAP pr", folder / "pr", arguments=fixed),
        ],
        "cc": [Program("GAP cc", folder / "cc"), Program("GAP cc_sv", folder / "cc_sv")],
        "triangles": [Program("GAP tc", folder / "tc")],
        "betweenness": [Program("GAP bc", folder / "bc", from_source=True, arguments=("-i", str(SOURCES)))],
    }
    return programs.get(algorithm, [])


class Library:
    """A Python library in a process of its own, which holds the graph and times what it is asked to.

    `python` is the interpreter that has the library. Raises PeerError where the library or the algorithm is missing,
    and where an answer takes more than `limit` seconds.
    """

    def __init__(
        self,
        python: Path,
        library: str,
        algorithm: str,
        data: Path,
        threads: int,
        rounds: int,
        limit: float | None = None,
    ) -> None:
        command = [str(python), str(Path(__file__).with_name("python_peers.py")), library, algorithm]
        command += [str(data), str(threads), str(rounds), str(SOURCES)]
        settings = {**os.environ, "OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
        self.name, self.limit = f"{library} {algorithm}", limit
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=settings,
            )
        except OSError as error:
            raise PeerError(f"{self.name}: {error}") from error
        self._answer()

    def run(self, trials: int) -> Sequence[float]:
        """Seconds of `trials` runs, after one that warms up."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{trials}\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> list[float]:
        assert self.process.stdout is not None
        ready = self.limit is None or select.select([self.process.stdout], [], [], self.limit)[0]
        if not ready:
            self.close()
            raise PeerError(f"{self.name}: no answer within {self.limit:g} s")
        line = self.process.stdout.readline()
        if not line:
            _, errors = self.process.communicate()
            last = errors.strip().splitlines()[-1:] or ["it ended"]
            raise PeerError(f"{self.name}: {last[0]}")
        seconds: list[float] = json.loads(line)
        return seconds

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()
