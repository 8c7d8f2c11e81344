"""Most programs of these tests are small and run for a moment: they are compiled without LLVM's optimisations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

# On a busy machine a time says nothing.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

OPTIMISED = frozenset(
    {"test_algorithms_differential", "test_library", "test_locality", "test_numbers", "test_triangles"}
)
"""These keep them: the library as users run it, lanes and prefetches, rounding, loops over common arcs."""


@pytest.fixture(scope="module", autouse=True)
def level_of_optimisation(request: pytest.FixtureRequest) -> Iterator[None]:
    """VGRAPH_OPT for a file of tests."""
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ not in OPTIMISED:
            patch.setenv("VGRAPH_OPT", "0")
        yield
