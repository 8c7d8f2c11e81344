"""An alarm: what takes more than so many seconds is ended."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(BaseException):
    """The time is up. No `Exception`: what was interrupted is not to catch it."""


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise TooLongError in the body after `seconds` (None: never); in the main thread alone, and not nested.

    It comes when the interpreter has its turn: compiled code that does not return has to be ended from outside.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"more than {seconds:g} s")

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
