"""A device as the executor sees it: makes code for programs, loads it, runs it; and what goes in and comes out."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from vgraph.compiler.backends.abi import Status
from vgraph.errors import AlgorithmError, DeviceError, InternalError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vgraph.compiler.backends.base import Backend, KernelInterface, SourceText
    from vgraph.graph import Graph
    from vgraph.graph.relabel import Relabelled
    from vgraph.runtime.plan import Plan
    from vgraph.runtime.progress import ProgressCallback


@dataclass(frozen=True)
class Call:
    """One run of a kernel: the plan, the user's graph and arguments, and the order of vertices that it runs in."""

    plan: Plan
    graph: Graph
    """The graph as the kernel sees it, in its own order of vertices."""
    arguments: Mapping[str, Any]
    numbers: Relabelled | None = None

    @functools.cached_property
    def transposed(self) -> bool:
        """Whether the kernel may walk in-arcs: they are there, or it cannot do without. The same for all of a run."""
        return self.graph.has_transpose or self.plan.interface.transpose


@dataclass(frozen=True)
class Ran:
    """What one run left: property arrays and scalars of the results, and records of its rounds."""

    arrays: Mapping[str, Any]
    scalar: Callable[[int, str], Any]
    """The scalar in a result slot, read as a dtype."""
    records: NDArray[np.int64]
    """A row for each round: label and direction as numbers of the kernel's interface, active vertices, arcs, ns, and ns
    that a thread waited at barriers, in the mean (0 on a GPU, which does not tell)."""
    threads: int
    prepare_seconds: float
    run_seconds: float
    transfer_seconds: float = 0.0
    kernel_seconds: float = 0.0
    dropped: int = 0
    """Rounds for whose records there was no room."""
    waited: float = 0.0
    """Seconds at barriers, the mean of the threads."""


class Runner(ABC):
    """A device with everything that a run on it needs beside the program and the graph."""

    name: ClassVar[str]
    language: ClassVar[str]
    """What its code is written in, as a title; `suffix`: of files with such code."""
    suffix: ClassVar[str]
    single: int = 0
    """1: code for one thread only, without atomics; 0: for any number."""

    @property
    @abstractmethod
    def backend(self) -> Backend:
        """The backend that emits its code."""

    @property
    def place(self) -> str:
        """What loaded code belongs to inside this process: code of one place cannot be called in another."""
        return self.name

    @abstractmethod
    def stamp(self) -> str:
        """Everything beside the program and vgraph's own code that compiled code depends on."""

    @abstractmethod
    def parts(self, source: SourceText) -> tuple[str, ...]:
        """Everything that the machine code of this text depends on."""

    @abstractmethod
    def compile(self, source: SourceText) -> bytes:
        """Machine code for this device."""

    @abstractmethod
    def load(self, code: bytes, plan: Plan) -> Any:
        """Make machine code ready to run."""

    @abstractmethod
    def run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        """Run a loaded kernel to its end.

        Raises AlgorithmError where the program ends itself, DeviceError where the device fails; an exception of
        `progress`, or Ctrl-C, ends the run first.
        """

    def finish(self, value: Any) -> Any:
        """A result array as the user asked for it."""
        return value


def raise_failure(interface: KernelInterface, status: int, payload: int) -> None:
    """Turn a failure that a kernel recorded into an exception; what means nothing to the caller passes."""
    match status:
        case Status.OUT_OF_MEMORY:
            raise DeviceError(f"out of memory: {payload:,} more bytes are not to be had")
        case Status.OUT_OF_RANGE:
            raise InternalError(f"generated code met the index {payload} out of range")
        case Status.ABORTED:
            raise AlgorithmError(interface.messages[payload])
