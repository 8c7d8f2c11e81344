"""The catalogue of what the language refuses: one class per refusal, with the reason and the way out.

`syntax` has the Python constructs that are left out, `names` names that mean nothing, `types` values of the wrong type,
`calls` calls and returns, `externals` calls of Numba functions, `writes` writes of operators, `gathering` those that
gather vertices, `driver` algorithms and
applies, `programs` calls of algorithms, `queues` priority queues, `schedules` illegal schedules, `limits` programs that
are too much for the compiler.
The modules are loaded when something is refused: a program without faults should not wait for them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from vgraph.refusals.base import Refusal

if TYPE_CHECKING:
    from vgraph.refusals import (
        calls,
        driver,
        externals,
        gathering,
        limits,
        names,
        programs,
        queues,
        schedules,
        sets,
        syntax,
        types,
        writes,
    )

__all__ = [
    "Refusal", "calls", "driver", "externals", "gathering", "limits", "names", "programs", "queues",
    "schedules", "sets", "syntax", "types", "writes",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
