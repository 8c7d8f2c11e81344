"""`library.py` in lanes: its cases, a few at a time, side by side on cores that no other lane uses.

    python benchmarks/library_lanes.py --lanes 7 --seconds 180 --graphs email-Enron,USA-road-NY \\
        --peer igraph=PYTHON --first networkx=PYTHON -- OPTIONS

OPTIONS are further ones of `library.py` for every lane, which has `--width` cores. A library given by `--first` is
asked on the first graph only. The rows of all lanes are one file, in the order in which `library.py` would have
measured them; cases that no lane has begun after `--seconds` are left out, and such as take over 40 seconds more. Cases
whose process fails before the first of them is measured are begun a second time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
import library

MORE = 40.0
"""Seconds after which what has been begun is ended; rows that are done by then count."""
CASES = 7
"""Of a graph, that a lane measures in one process: the peers read the graph anew for the next."""
LIBRARY_PY = str(Path(__file__).with_name("library.py"))


def work_of(graphs: Sequence[str], folder: Path) -> list[tuple[str, list[str], Path]]:
    """What is to be done, in pieces: graph, cases, file of the result. Neighbors in the list are not in one piece."""
    pieces = []
    for graph in graphs:
        names = [case.name for case in library.cases_of(graph)]
        step = -(-len(names) // CASES)
        pieces += [(graph, names[k::step], folder / f"{graph}-{k}.json") for k in range(step)]
    return pieces


def main() -> None:
    """Measure, and put the rows together."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with the graphs")
    parser.add_argument("--graphs", default="email-Enron,facebook-combined,USA-road-NY,cnr-2000")
    parser.add_argument("--lanes", type=int, default=7)
    parser.add_argument("--width", type=int, default=2, help="cores of a lane")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which nothing more is begun")
    parser.add_argument("--peer", action="append", default=[], metavar="LIBRARY=PYTHON")
    parser.add_argument("--first", action="append", default=[], metavar="LIBRARY=PYTHON")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "library.json")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    start, graphs = time.monotonic(), options.graphs.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        read = ThreadPoolExecutor(1)
        there = {graph: read.submit(library.read, graph, options.data, Path(temporary)) for graph in graphs}
        pieces = work_of(graphs, Path(temporary))
        left, again = pieces[::-1], list[tuple[str, list[str], Path]]()

        def lane(number: int) -> None:
            cores = f"{number * options.width}-{(number + 1) * options.width - 1}"
            while left and time.monotonic() - start < options.seconds:
                graph, cases, file = left.pop()
                there[graph].result()
                peers = [*options.peer, *(options.first if graph == graphs[0] else ())]
                command = [
                    "taskset",
                    "-c",
                    cores,
                    sys.executable,
                    "-X",
                    "faulthandler",
                    LIBRARY_PY,
                    *options.options,
                ]
                command += ["--graphs", graph, "--cases", ",".join(cases), "--out", str(file)]
                command += ["--data", str(options.data), "--cache", temporary]
                command += ["--threads", str(options.width)]
                command += [word for peer in peers for word in ("--peer", peer)]
                rest = options.seconds + MORE - (time.monotonic() - start)
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=rest)
                except subprocess.TimeoutExpired:
                    continue
                if done.returncode:
                    said = done.stderr.strip().splitlines()[-1:]
                    print(f"{graph} {cases}: exit {done.returncode}, {said}", file=sys.stderr)
                    if not file.exists() and (graph, cases, file) not in again:
                        again.append((graph, cases, file))
                        left.append((graph, cases, file))

        lanes = [threading.Thread(target=lane, args=(k,)) for k in range(options.lanes)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()
        parts = [json.loads(file.read_text()) for _, _, file in pieces if file.exists()]
    if not parts:
        sys.exit("no row was measured in the time")
    order = [(graph, case.name) for graph in graphs for case in library.cases_of(graph)]
    rows = [row for part in parts for row in part["rows"]]
    rows.sort(key=lambda row: order.index((row["graph"], row["case"])))
    more = {name: parts[0][name] for name in ("method", "libraries", "lines")}
    more["method"] |= {"lanes": options.lanes, "cores_of_a_lane": options.width}
    harness.write_results(options.out, rows, **more)
    print(
        f"{len(rows)} of {len(order)} rows in {time.monotonic() - start:.0f} s; not begun: {len(left)} pieces"
    )


if __name__ == "__main__":
    main()
