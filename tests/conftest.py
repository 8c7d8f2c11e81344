"""Options of the whole test suite."""

from __future__ import annotations

import gc
import os
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# On a busy machine a time says nothing; and what passes here passes elsewhere: the examples are always the same.
settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
# Others in each run: `pytest --hypothesis-profile=other`.
settings.register_profile("other", settings.get_profile("same"), derandomize=False, print_blob=True)
# For `tests/mutants.py`, which asks whether a test fails and not for the smallest example.
settings.register_profile("unshrunk", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="accept the present output as the golden one"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many processes as cores for all tests; for some of them starting another process takes longer than they do."""
    return (os.cpu_count() or 1) if config.args == config.getini("testpaths") else 0


OPTIMISED = re.compile(
    r"tests/(llvm|real)/|tests/test_examples|tests/externals/test_numba\.py|tests/runtime/test_(jit|explain)\.py"
    r"|tests/differential/test_(algorithms_differential|library|locality|triangles)\.py"
)
"""Tests that keep LLVM's optimisations: examples and the library as users run them, lanes and prefetches, loops over
common arcs, and what looks at the code."""


BETWEEN = re.compile(r"tests/(passes|fuzz|ir|order|differential|cuda)/")
"""Tests in which the IR is verified after every pass, unless VGRAPH_VERIFY says something else; in others, which run
the same programs under fewer schedules, before the first and after the last."""


def pytest_configure() -> None:
    gc.set_threshold(50_000, 20, 100)  # seldom: there is memory enough
    # Each of the processes would start a thread for every CPU.
    os.environ.setdefault("VGRAPH_THREADS", str(min(4, os.cpu_count() or 1)))
    from vgraph.graph.layouts import parts

    parts.METHOD = "hdrf"  # the default is a program, compiled for seconds


def pytest_collection_finish() -> None:
    """Modules and tests stay: no collection of garbage has to look at them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def how_programs_are_compiled(request: pytest.FixtureRequest) -> Iterator[None]:
    """Other programs of tests run for a moment: VGRAPH_OPT=0, unless it is set, is several times as fast."""
    with pytest.MonkeyPatch.context() as patch:
        opt = "3" if OPTIMISED.search(request.path.as_posix()) else "0"
        patch.setenv("VGRAPH_OPT", os.environ.get("VGRAPH_OPT", opt))
        if BETWEEN.search(request.path.as_posix()):
            patch.setenv("VGRAPH_VERIFY", os.environ.get("VGRAPH_VERIFY", "1"))
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file; `--update-golden` writes the file instead."""
    update = request.config.getoption("--update-golden")

    def compare(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing: run pytest --update-golden and look at what it wrote"
        assert text == path.read_text(encoding="utf-8"), (
            f"{path} differs: run pytest --update-golden to accept"
        )

    return compare


def _chosen(items: list[pytest.Function], together: int) -> set[pytest.Function]:
    """Some of a test's parameters: every combination of `together` values of different parameters occurs in them."""
    held = {item: _combinations(item, together) for item in items}
    missing = set().union(*held.values())
    # Among those that add equally many any will do, but the same one when others are added to the list.
    items = sorted(items, key=lambda item: zlib.crc32(item.name.encode()))
    chosen: set[pytest.Function] = set()
    while missing:
        best = max(items, key=lambda item: len(held[item] & missing))
        chosen.add(best)
        missing -= held[best]
    return chosen


def _combinations(item: pytest.Function, together: int) -> set[tuple[tuple[str, int], ...]]:
    """The combinations of values of its parameters; the values stand in lists that all items share."""
    params = item.callspec.params
    values = [(name, id(params[name])) for name in sorted(params)]
    return set(combinations(values, together))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What `covering` leaves out by default becomes slow."""
    tests: dict[str, list[pytest.Function]] = {}
    for item in items:
        marked = item.get_closest_marker("slow") or item.get_closest_marker("cuda")
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and not marked:
            if item.get_closest_marker("covering"):
                tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for every in tests.values():
        # Where functions of another file run once more, that file's mark may ask for less than theirs.
        asked = [mark.args[0] if mark.args else 1 for mark in every[0].iter_markers("covering")]
        together = min(*asked, len(every[0].callspec.params))
        for item in set(every) - _chosen(every, together):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def steered_by_a_die(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs would be one thread's: here a die says how many threads each parallel loop gets."""
    from vgraph.compiler.backends.abi import Steering
    from vgraph.runtime.devices import threads

    monkeypatch.setattr(threads, "STEERING", Steering.RANDOM)
    # Processes of tests share the CPUs: a thread that polls for long keeps the one it waits for from running.
    monkeypatch.setattr(threads, "SPIN_LIMIT", 20)


@pytest.fixture(autouse=True)
def pulls_on_small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU pushes along as many arcs as most graphs of tests have in all."""
    from vgraph.runtime import policy

    for name in ("CUDA_PUSHED_ARCS", "CUDA_PULLED_ARCS"):
        monkeypatch.setattr(policy, name, 0)
