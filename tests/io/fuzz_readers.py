"""Mutated graph files, of every format: each gives a graph or a VGraphError, quickly and in little memory.

What numbers are read many at a time is read a line at a time as well, and must give the same.

    python tests/io/fuzz_readers.py --mutations 20000 --seed 1

Valid files are mutated as bytes, as numbers and lines, as members of archives, before and after compression, and read
in a process of their own, whose end (a crash), silence (a hang) and memory are watched. Counts are printed; what went
wrong is kept in `--keep`, one folder for each, and ends the script with 1. The same seed gives the same files.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from mutated_files import Files, mutation, seeds

from vgraph.errors import VGraphError
from vgraph.graph import Graph, arrays
from vgraph.io import lists, read, streams, table

MEMORY = 1 << 28
"""Bytes that readers are told the machine has."""
SLACK = 1 << 28
"""Bytes that they may need beyond: NumPy's and SciPy's code, buffers, what was freed but not given back."""
BLOCKS = (streams.BLOCK, streams.BLOCK, 64, 11)
"""How many bytes are read at a time."""
SILENCE = 60.0
"""Seconds for one file, far beyond what the largest needs on a busy machine."""

# --- reading ----------------------------------------------------------------------------------------------


def outcome(folder: Path, files: Files, options: dict[str, Any], block: int = streams.BLOCK) -> str:
    """Read the first of `files`: "graph" or the name of the VGraphError; anything else is raised.

    `block`: how many bytes are read at a time.
    """
    for name, data in files.items():
        (folder / name).write_bytes(data)
    path = folder / next(iter(files))
    try:
        with patched(streams, BLOCK=block):
            fast = _read(path, options)
            with patched(table, scan=lambda *_, **__: None), patched(lists, scan=lambda *_, **__: None):
                slow = _read(path, options)
    finally:
        for name in files:
            (folder / name).unlink()
    if isinstance(fast, Graph) and isinstance(slow, Graph):
        check(fast)
        assert pickle.dumps(fast) == pickle.dumps(slow), "read line by line, it is another graph"
        return "graph"
    assert str(fast) == str(slow), f"read line by line: {slow}"
    assert str(fast), "an error says what is wrong"
    return type(fast).__name__


def _read(path: Path, options: dict[str, Any]) -> Graph | VGraphError:
    try:
        return read(path, **options)
    except VGraphError as error:
        return error


@contextmanager
def patched(module: ModuleType, **names: Any) -> Iterator[None]:
    """Other values for names of a module."""
    before = {name: getattr(module, name) for name in names}
    vars(module).update(names)
    try:
        yield
    finally:
        vars(module).update(before)


def check(graph: Graph) -> None:
    """That what native code relies on holds."""
    offsets, columns = graph.out.row_offsets, graph.out.column_indices
    assert offsets.size == graph.num_vertices + 1
    assert offsets[0] == 0
    assert offsets[-1] == columns.size
    assert (np.diff(offsets.astype(np.int64)) >= 0).all()
    assert columns.max(initial=0) < max(graph.num_vertices, 1)
    for values in (offsets, columns, *graph.edge_properties.values(), *graph.vertex_properties.values()):
        assert not values.flags.writeable
    assert all(len(values) == columns.size for values in graph.edge_properties.values())
    assert all(len(values) == graph.num_vertices for values in graph.vertex_properties.values())


# --- the watched process ----------------------------------------------------------------------------------


def _serve(pipe: Connection, seed: int, start: int, stop: int) -> None:
    """Read the mutations `start` .. `stop`; before each its number is sent, behind it what came out."""
    arrays.memory = lambda: MEMORY  # type: ignore[assignment]
    cases = seeds()
    with tempfile.TemporaryDirectory() as name:
        for index in range(start, stop):
            rng = random.Random(f"{seed} {index}")
            files, options = mutation(rng, cases)
            pipe.send(("begins", index))
            try:
                result = outcome(Path(name), files, options, rng.choice(BLOCKS))
            except Exception:
                pipe.send(("failed", traceback.format_exc()))
            else:
                pipe.send(("done", result))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            if peak > MEMORY + SLACK:
                pipe.send(("failed", f"{peak >> 20} MiB of memory"))
                return
    pipe.send(("ends", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))


def run(seed: int, start: int, stop: int) -> Iterator[tuple[str, Any]]:
    """What came of the mutations `start` .. `stop`: ("done", outcome), ("failed", (number, why)), ("peak", MiB)."""
    context = multiprocessing.get_context("spawn")
    while start < stop:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(theirs, seed, start, stop), daemon=True)
        process.start()
        theirs.close()
        index = start
        try:
            while True:
                if not ours.poll(SILENCE):
                    yield "failed", (index, f"nothing for {SILENCE:.0f} seconds: a hang")
                    break
                kind, what = ours.recv()
                if kind == "begins":
                    index = what
                elif kind == "failed":
                    yield kind, (index, what)
                elif kind == "done":
                    yield kind, what
                else:
                    yield "peak", what
                    return
        except EOFError:
            process.join()
            if process.exitcode:
                yield "failed", (index, f"the process ended with {process.exitcode}: a crash")
        finally:
            process.kill()
            process.join()
        start = index + 1


def main(arguments: list[str]) -> int:
    """The script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    failures: list[tuple[int, str]] = []
    began, peak = time.monotonic(), 0
    for kind, what in run(given.seed, 0, given.mutations):
        if kind == "done":
            counts[what] += 1
        elif kind == "peak":
            peak = what
        else:
            failures.append(what)
            print(f"mutation {what[0]}: {what[1]}", flush=True)
    cases = seeds()
    for index, why in failures:
        files, options = mutation(random.Random(f"{given.seed} {index}"), cases)
        folder = given.keep / f"{given.seed}-{index}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        (folder / "why.txt").write_text(f"read({next(iter(files))!r}, **{options!r})\n{why}\n")
    print(
        f"{given.mutations} mutations of {len(cases)} valid cases, seed {given.seed}, {time.monotonic() - began:.0f} s"
    )
    for name, count in counts.most_common():
        print(f"  {count:7} {name}")
    print(f"  {len(failures):7} failed; largest process {peak} MiB")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
