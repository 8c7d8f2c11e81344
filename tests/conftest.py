"""Options of the whole test suite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="accept the present output as the golden one"
    )


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


SAMPLED = {
    "test_balance_load.py": 6,
    "test_common.py": 4,
    "test_cuda_matrix.py::test_a_sample": 3,
    "test_deep_library.py::test_strong_components_on": 4,
    "test_deep_library.py::test_spanning_forests[": 2,
    "tests/cuda/test_kernels.py": 7,
    "tests/cuda/test_library_compiles.py": 8,
    "tests/cuda/test_races.py::test_right": 3,
    "test_library_benchmark.py::test_each_case": 6,
    "test_locality.py": 5,
    "test_matrix.py::test_a_sample": 5,
    "test_order.py::test_every_order": 2,
    "test_per_round.py": 4,
    "test_phases.py": 5,
    "test_random_operators.py::test_random_operators": 2,
    "test_random_schedules.py": 2,
    "test_schedule_round_trips.py::test_the_schedule_of_a_result": 2,
    "test_segments.py": 4,
    "test_verify_results.py::test_right_results": 8,
}
"""Of the parametrised tests whose ids contain the key every n-th runs by default; `-m slow` runs the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: dict[str, int] = {}
    for item in items:
        for part, every in SAMPLED.items():
            if part in item.nodeid and "[" in item.nodeid:
                function = item.nodeid.partition("[")[0]
                seen[function] = seen.get(function, -1) + 1
                if seen[function] % every:
                    item.add_marker(pytest.mark.slow)
