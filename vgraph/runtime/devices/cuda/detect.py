"""Whether this machine can run CUDA programs, found out without importing anything heavy."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Final

_DRIVER_SIGNS: Final = ("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu")
"""Files that a driver makes: Linux (two of them), WSL, Jetson."""
EXTRA: Final = "pip install 'vgraph[cuda]'"


def has_driver() -> bool:
    """Whether an NVIDIA driver seems to be there; a few microseconds."""
    return any(map(os.path.exists, _DRIVER_SIGNS))


def has_cupy() -> bool:
    """Whether CuPy is installed; it is not imported."""
    return find_spec("cupy") is not None


def likely() -> bool:
    """Whether it is worth importing CuPy to look for a GPU. Costs next to nothing where there is no driver."""
    return has_driver() and has_cupy()


def missing() -> str | None:
    """What is missing for `device="cuda"`, in words, as far as it can be told without CuPy; None if nothing is."""
    parts = []
    if not has_driver():
        parts.append("an NVIDIA GPU with its driver (there is none on this machine)")
    if not has_cupy():
        parts.append(f"CuPy ({EXTRA})")
    return " and ".join(parts) or None
