"""The caches of this machine's processor."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

FALLBACK: Final = 8 << 20
"""Bytes of the last-level cache where the system does not tell: what small processors have."""


@functools.cache
def last_level() -> int:
    """Bytes of the largest cache that the first CPU can use, or `FALLBACK`."""
    return largest(Path("/sys/devices/system/cpu/cpu0/cache")) or FALLBACK


def largest(folder: Path) -> int:
    """Bytes of the highest level of cache described in `folder` (Linux's sysfs); 0 if there is none."""
    found = (0, 0)
    for index in sorted(folder.glob("index*")):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1:], 1)
            found = max(found, (level, int(size.rstrip("KMG")) * scale))
        except (OSError, ValueError):
            continue
    return found[1]
