"""Devices as values: what this machine has, and groups of CPU threads as members of a set."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from operator import index
from typing import Any, ClassVar

from vgraph.cpus import MAX_THREADS, available_cpus
from vgraph.errors import DeviceError, ParameterError, shown
from vgraph.records import dataclass
from vgraph.tracebacks import public


@dataclass(frozen=True)
class CPUGroup:
    """Threads of this machine's processor with a memory of their own: a member of `run(device=[...])`.

    `cores` are those that they run on; none: wherever the system puts them. `slowed`: iterations of divided loops take
    so many times as long, by sleeping; for tests and measurements of unequal members.
    """

    threads: int
    cores: tuple[int, ...] = ()
    slowed: float = 1.0

    @property
    def name(self) -> str:
        """`cpu:0-3` with cores, else `cpu(threads=4)`."""
        if not self.cores:
            return f"cpu(threads={self.threads})"
        runs: list[list[int]] = []
        for core in self.cores:
            if runs and runs[-1][-1] == core - 1:
                runs[-1].append(core)
            else:
                runs.append([core])
        return "cpu:" + ",".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)

    @property
    def share(self) -> int:
        """The share of the graph that it has, beside those of others."""
        return self.threads

    @property
    def held(self) -> tuple[int | str, ...]:
        """What no other member of a run under way may have."""
        return self.cores

    @property
    def kind(self) -> str:
        """What members that are like it have in common."""
        return f"cpu {self.threads} {self.slowed}"

    def __repr__(self) -> str:
        return f"vg.{self.name}" if not self.cores else f"vg.cpu(threads={self.threads}, cores={self.cores})"


@dataclass(frozen=True)
class GPU:
    """A GPU as a member of `run(device=["cuda:0", "cuda:1"])`."""

    number: int
    share: ClassVar[int] = 320
    """As much as so many threads: 16 take twenty times as long for a round of PageRank on rmat22 as an H200."""
    slowed: ClassVar[float] = 1.0
    kind: ClassVar[str] = "cuda"

    @property
    def name(self) -> str:
        """`cuda:0`."""
        return f"cuda:{self.number}"

    @property
    def held(self) -> tuple[int | str, ...]:
        """What no other member of a run under way may have."""
        return (self.name,)


Member = CPUGroup | GPU


@dataclass(frozen=True)
class Device:
    """A device of this machine, as `devices` lists it."""

    name: str
    """As `run(device=...)` takes it."""
    kind: str
    """"cpu" or "cuda"."""
    description: str
    threads: int
    """Those a run uses by default; of a GPU its multiprocessors."""
    memory: int
    """Bytes in all; 0 if the system does not tell."""


@public
def cpu(threads: int | None = None, cores: Sequence[int] | None = None) -> CPUGroup:
    """A group of CPU threads: `device=[vg.cpu(threads=4), vg.cpu(threads=4)]`.

    threads: 1 to 1024; by default one for each of `cores`, or for each CPU of the process. cores: numbers of CPUs that
    the threads run on (Linux only); by default wherever the system puts them. Raises ParameterError for a number of
    threads out of range, DeviceError for cores that this process may not use.
    """
    if cores is not None:
        cores = _checked(cores)
    if threads is None:
        threads = len(cores) if cores else min(available_cpus(), MAX_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise ParameterError(f"threads={shown(threads)}: an int from 1 to {MAX_THREADS}")
    return CPUGroup(threads, tuple(cores or ()))


def _checked(cores: Any) -> tuple[int, ...]:
    try:
        found = tuple(sorted({index(core) for core in cores}))
    except (TypeError, ValueError):
        raise ParameterError(f"cores={shown(cores)}: numbers of CPUs, such as cores=[0, 1]") from None
    if not found:
        raise ParameterError("cores=[]: a group runs on at least one")
    if not hasattr(os, "sched_getaffinity"):
        raise DeviceError(f"cores={shown(cores)}: this system does not let threads be kept on cores")
    missing = [core for core in found if core not in os.sched_getaffinity(0)]
    if missing:
        known = CPUGroup(1, tuple(sorted(os.sched_getaffinity(0)))).name.removeprefix("cpu:")
        raise DeviceError(
            f"cores={shown(list(found))}: this process has no core {missing[0]}; it has {known}"
        )
    return found


_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")


def members_of(asked: object) -> tuple[Member, ...]:
    """The members of a set of devices as `run` is given it: groups, or names such as "cpu:0-7" and "cuda:1".

    Raises DeviceError for what is no member, or none that can be, and for a core or a GPU that stands in two of them.
    """
    if not isinstance(asked, Sequence) or isinstance(asked, str) or not asked:
        raise DeviceError(f"device={shown(asked)}: a set of devices is a list with at least one")
    found = tuple(_member(one) for one in asked)
    gpus = sum(isinstance(m, GPU) for m in found)
    if "cpu" in asked and gpus:  # a thread acts for each of them
        rest = CPUGroup(max(1, cpu().threads - gpus))
        found = tuple(rest if one == "cpu" else m for one, m in zip(asked, found, strict=True))
    seen: dict[int | str, Member] = {}
    for m in found:
        for it in m.held:
            if it in seen:
                what = f"core {it} is in two members, {seen[it].name} and {m.name}"
                raise DeviceError(
                    f"device={shown(asked)}: {what if isinstance(it, int) else f'{it} is in it twice'}"
                )
            seen[it] = m
    return found


def _member(one: object) -> Member:
    if isinstance(one, CPUGroup):
        return one
    if not isinstance(one, str):
        raise DeviceError(f"device=[{shown(one)}]: a member is vg.cpu(...), or a name such as 'cuda:0'")
    kind, _, cores = one.partition(":")
    if kind == "cuda":
        from vgraph.runtime.devices.cuda.registry import number_of

        number = number_of(one)
        if number is None:
            raise DeviceError(f'device=[{shown(one)}]: GPUs are called "cuda:0", "cuda:1" and so on')
        return GPU(number)
    if kind != "cpu":
        known = "members are vg.cpu(...), and names such as 'cpu', 'cpu:0-7' and 'cuda:0'"
        raise DeviceError(f"device=[{shown(one)}] is not available; {known}")
    if not cores:
        return cpu()
    numbers: list[int] = []
    for part in cores.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise DeviceError(f"device=[{shown(one)}]: cores are named as in 'cpu:0-7' or 'cpu:0,2'")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise DeviceError(f"device=[{shown(one)}]: {part} goes from a higher core to a lower one")
        numbers += range(first, last + 1)
    return cpu(cores=numbers)


def all_gpus() -> str | list[str]:
    """What "cuda:*" means: a set of all GPUs, or the only one. Raises DeviceError without one."""
    from vgraph.runtime.devices.cuda.registry import count

    names = [f"cuda:{number}" for number in range(count())]
    return names if len(names) > 1 else names[0]


@public
def devices() -> list[Device]:
    """The devices of this machine: its processor, then its GPUs, if CuPy finds any."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = 0
    usable = min(available_cpus(), MAX_THREADS)
    found = [Device("cpu", "cpu", f"{os.cpu_count() or 1} CPUs, {usable} for this process", usable, memory)]
    from vgraph.runtime.devices.cuda.registry import listed

    return found + [Device(*row) for row in listed()]
