"""Making much that stays, without looking for garbage on the way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection of garbage inside: compiling makes little that only a collection frees, and to look for it took a
    tenth of a cold start. As before afterwards, also where several threads are inside."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
