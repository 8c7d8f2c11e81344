"""Making much that stays, without looking for garbage on the way."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 50
_lock = threading.Lock()
_inside: set[object] = set()
_collecting = False


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection of garbage inside: compiling makes little that only a collection frees, and to look for it took a
    tenth of a cold start. As before when the last of the threads inside has left, also after an interrupt.

    Where modules were loaded inside, all there is counts as old from then on: to look through them took 10 ms more."""
    global _collecting
    mine, modules = object(), len(sys.modules)
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
                if len(sys.modules) > modules + _MANY and not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
