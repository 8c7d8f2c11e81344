"""The cache on a broken or full disk, in processes that are killed, and in many processes at once.

Whatever happens, results are right, and there is a `CacheWarning` at most.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults import Faults, fail, fail_half_way
from small_run import run_as_a_new_process

from vgraph import cache, private
from vgraph.cache import CacheWarning, ObjectCache, cache_key, cached_object
from vgraph.config import scope
from vgraph.runtime.tuning import table as tuning_table
from vgraph.runtime.tuning.table import Row, TuningTable

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PARTS = ("kernel", "text")
CODE = bytes(range(256)) * 40


@contextmanager
def injected(monkeypatch, at, how):
    """The fault in all code of the cache; the warnings inside are `CacheWarning`s."""
    faults = Faults(at, how)
    with warnings.catch_warnings(record=True) as seen, monkeypatch.context() as patch:
        warnings.simplefilter("always")
        for module in (cache, private, tuning_table):
            patch.setattr(module, "os", faults.into(module.os))
        patch.setattr(tuning_table, "fcntl", faults.into(tuning_table.fcntl))
        yield faults
    assert {w.category for w in seen} <= {CacheWarning}


@pytest.mark.parametrize("how", [fail, fail_half_way])
@pytest.mark.parametrize("kept", [False, True], ids=["empty", "warm"])
def test_each_system_call_of_an_access_fails_once(tmp_path, monkeypatch, how, kept):
    for at in itertools.count():
        place = tmp_path / str(at)
        with scope(cache_dir=place / "cache", key_file=place / "state" / "key", no_cache=False):
            if kept:
                cached_object(PARTS, lambda: CODE)
                cache._cache_at.cache_clear()
            with injected(monkeypatch, at, how) as faults:
                assert cached_object(PARTS, lambda: CODE)[0] == CODE
            cache._cache_at.cache_clear()
            # the next process finds nothing broken, and then what this one leaves
            assert cached_object(PARTS, lambda: CODE)[0] == CODE
            assert cached_object(PARTS, lambda: CODE) == (CODE, True)
        if not faults.happened:
            break
    assert at > (6 if kept else 20)


def row(seconds=1.0):
    return Row("k", "measured", {}, seconds, 2.0, 3, {})


@pytest.mark.parametrize("how", [fail, fail_half_way])
def test_each_system_call_of_the_tuning_table_fails_once(tmp_path, monkeypatch, how):
    monkeypatch.setattr(tuning_table, "LIMIT", 700)  # so that the table is written anew, too
    for at in itertools.count():
        place = tmp_path / str(at)

        def table(place=place):
            return TuningTable(place / "cache", place / "key")

        with injected(monkeypatch, at, how) as faults:
            used = table()
            for seconds in (1.0, 2.0, 3.0, 4.0, 5.0):
                used.add(row(seconds))
            found = used.rows("k")
        assert all(r in [row(s) for s in (1.0, 2.0, 3.0, 4.0, 5.0)] for r in found)
        table().add(row(6.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)  # on a line that was cut short
            assert table().rows("k")[-1] == row(6.0)
        if not faults.happened:
            break
    assert at > 40


@pytest.mark.parametrize("kept", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["warm", "empty"])
def test_each_system_call_of_a_run_fails_once(tmp_path, monkeypatch, kept):
    """A warm cache has to do without one entry or the other."""
    for at in itertools.count():
        place = tmp_path / ("warm" if kept else str(at))
        with scope(cache_dir=place / "cache", key_file=place / "key", no_cache=False):
            if kept and not at:
                run_as_a_new_process()
            with injected(monkeypatch, at, fail) as faults:
                run_as_a_new_process()
            run_as_a_new_process()
            assert run_as_a_new_process()
        if not faults.happened:
            break
    assert at >= (20 if kept else 30)


# --- processes that are killed --------------------------------------------------------------------------------

KILLED = f"""
import itertools, os, signal, sys
sys.path[:0] = [{str(HERE)!r}, {str(ROOT)!r}]
from pathlib import Path
from faults import Faults, kill
from vgraph import cache, private
from vgraph.cache import ObjectCache, cache_key
from vgraph.runtime.tuning import table as tuning_table
from vgraph.runtime.tuning.table import Row, TuningTable

CODE = bytes(range(256)) * 40
KEY = cache_key(("kernel", "text"))

def work(place):
    ObjectCache(place / "cache", key_file=place / "state" / "key").put(KEY, CODE)
    TuningTable(place / "cache", place / "state" / "key").add(Row("k", "measured", {{}}, 1.0, 2.0, 3, {{}}))

for at in itertools.count():
    place = Path(sys.argv[1]) / str(at)
    child = os.fork()
    if not child:
        faults = Faults(at, kill)
        for module in (cache, private, tuning_table):
            module.os = faults.into(os)
        work(place)
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    if not ended:
        break
    assert os.WTERMSIG(ended) == signal.SIGKILL
print(at)
"""


def test_a_process_is_killed_at_each_system_call(tmp_path):
    """What it leaves is no entry or a whole one, no key or a whole one; and the next process is not in its way."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=600
    )
    count = int(done.stdout)
    assert count > 20
    key = cache_key(PARTS)
    for at in range(count + 1):
        place = tmp_path / str(at)
        after = ObjectCache(place / "cache", key_file=place / "state" / "key")
        assert after.get(key) in (None, CODE)
        after.put(key, CODE)
        assert after.get(key) == CODE
        table = TuningTable(place / "cache", place / "state" / "key")
        table.add(row(2.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)  # on a line that was cut short
            assert table.rows("k") in ([row(2.0)], [row(1.0), row(2.0)])


# --- many processes -------------------------------------------------------------------------------------------

ONE_OF_MANY = """
import sys
import vgraph as vg

graph = vg.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])
print("ready", flush=True)
sys.stdin.readline()
result = vg.run(vg.algorithms.bfs, graph, source=0, threads=1)
print(result.level.tolist())
"""


@pytest.mark.parametrize("count", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_processes_that_begin_at_once_on_an_empty_cache(tmp_path, count):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "VGRAPH_CACHE_DIR": str(tmp_path / "cache"),
        "VGRAPH_KEY_FILE": str(tmp_path / "state" / "key"),
    }
    environment.pop("VGRAPH_NO_CACHE", None)
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", ONE_OF_MANY],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(count)
    ]  # fmt: skip
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * count
        assert not (tmp_path / "cache").exists()
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            assert process.communicate(timeout=600) == ("[0, 1, 2, 3, -1, -1]\n", "")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    left = sorted(p.suffix or p.name for p in (tmp_path / "cache").iterdir())
    assert left == [".vgo"] * 5  # of vgraph's own files, the native runtime and its text, the plan, its code
    assert [p.name for p in (tmp_path / "state").iterdir()] == ["key"]
