"""Making much that stays, without looking for garbage on the way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside: set[object] = set()
_collecting = False


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection of garbage inside: compiling makes little that only a collection frees, and to look for it took a
    tenth of a cold start. As before when the last of the threads inside has left, also after an interrupt."""
    global _collecting
    mine = object()
    try:
        with _lock:
            if not _inside:
                _collecting = gc.isenabled()
            _inside.add(mine)
            gc.disable()
        yield
    finally:
        with _lock:
            _inside.discard(mine)
            if _collecting and not _inside:
                gc.enable()
