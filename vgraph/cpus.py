"""How many CPUs this process may use: the affinity mask, bounded by the quota of its control group; and threads."""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path
from typing import Final

from vgraph.config import knob

MAX_THREADS: Final = 1024


def available_cpus() -> int:
    """CPUs of the affinity mask, at most the quota of the control group, at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    quota = _quota()
    return max(1, cpus if quota is None else min(cpus, math.ceil(quota)))


def default_threads() -> int:
    """Threads of what names no number: the VGRAPH_THREADS knob, else the CPUs this process may use."""
    return knob("threads") or min(available_cpus(), MAX_THREADS)


@functools.cache
def _quota() -> float | None:
    return cgroup_quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))


def cgroup_quota(membership: Path, mount: Path) -> float | None:
    """CPUs allowed by the control groups (version 2, or 1) listed in `membership`; None without a limit."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return None
    quotas = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            quotas += [_read_v2(folder / "cpu.max") for folder in _upwards(mount, path)]
        elif "cpu" in controllers.split(","):
            for root in (mount / "cpu", mount / "cpu,cpuacct"):
                quotas += [_read_v1(folder) for folder in _upwards(root, path)]
    return min((q for q in quotas if q is not None), default=None)


def _upwards(mount: Path, path: str) -> list[Path]:
    """The group's folder and those above it; a container sees its own group at the mount point."""
    folder = mount / path.strip("/")
    return [folder, *(p for p in folder.parents if p.is_relative_to(mount))]


def _read_v2(file: Path) -> float | None:
    try:
        quota, period = file.read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def _read_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        return quota / int((folder / "cpu.cfs_period_us").read_text()) if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
