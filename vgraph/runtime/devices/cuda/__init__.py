"""Runs on NVIDIA GPUs.

`detect` says whether there is one, `device` what the executor asks of one, `cupy_device` gives that by CuPy, `resident`
keeps graphs on it, `executor` runs programs. CuPy is imported by `cupy_device` only, when a program is to run.
"""

from __future__ import annotations

from vgraph.runtime.devices.cuda.registry import device_for, use

__all__ = ["device_for", "use"]
