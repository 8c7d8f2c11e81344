"""A device as the executor sees it: makes programs ready and runs them; and what goes in and comes out."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vgraph.compiler.backends.abi import Status
from vgraph.errors import AlgorithmError, DeviceError, InternalError
from vgraph.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgraph.compiler.backends.base import KernelInterface
    from vgraph.graph import Graph
    from vgraph.graph.layouts import Prepared
    from vgraph.graph.relabel import Relabelled
    from vgraph.runtime.devices.overlap import Beside
    from vgraph.runtime.executor import Job
    from vgraph.runtime.plan import Plan
    from vgraph.runtime.progress import ProgressCallback
    from vgraph.runtime.result import MemberStats, OverlapStats


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """One run of a kernel: the plan, the user's graph and arguments, and the order of vertices that it runs in."""

    plan: Plan
    graph: Graph
    """The graph as the kernel sees it, in its own order of vertices."""
    arguments: Mapping[str, Any]
    numbers: Relabelled | None = None
    max_rounds: int | None = None
    """Rounds after which `progress` is to be called without delay; it ends the run."""
    seed: int = 0
    """Of `vg.random`."""
    order: str | None = None
    """The name of the order of vertices that it runs in, if it is not the graph's own."""
    beside: Beside | None = None
    """The same in another order, which is made while it runs: the run goes on as that when it is there."""

    @functools.cached_property
    def transposed(self) -> bool:
        """Whether the kernel may walk in-arcs: they are there, or it cannot do without. The same for all of a run."""
        return self.graph.has_transpose or self.plan.interface.transpose


@dataclass(frozen=True, eq=False, repr=False)
class Ran:
    """What one run left: property arrays and scalars of the results, and records of its rounds."""

    arrays: Mapping[str, Any]
    scalars: Sequence[Any]
    """By result slot, in the slot's dtype."""
    records: NDArray[np.int64]
    """A row for each round: label and direction as numbers of the kernel's interface, active vertices, arcs, ns, and ns
    that a thread waited at barriers, in the mean (0 on a GPU, which does not tell)."""
    threads: int
    prepare_seconds: float
    run_seconds: float
    transfer_seconds: float = 0.0
    compile_seconds: float = 0.0
    """Of better code, beside the run."""
    kernel_seconds: float = 0.0
    from_host: bool = False
    """Whether a GPU left the graph in the host's memory."""
    dropped: int = 0
    """Rounds for whose records there was no room."""
    waited: float = 0.0
    """Seconds at barriers, the mean of the threads."""
    free: int = 0
    """Bytes of a GPU's memory that were free when it began."""
    layouts: Sequence[Prepared] = ()
    """Layouts of the graph's arcs that it walked."""
    members: Sequence[MemberStats] = ()
    """Of a set of devices."""
    call: Call | None = None
    """What it ended as, if it had something beside it; and what became of that."""
    overlap: OverlapStats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """A program ready to run, and whether its code came from the cache on disk."""

    plan: Plan
    kernel: Any
    """What the runner's `run` takes."""
    cached: bool = False


class Runner(ABC):
    """A device with everything that a run on it needs beside the job."""

    name: ClassVar[str]
    relabels: ClassVar[bool] = True
    """Whether it runs in another order of vertices where asked to; if not, it checks that it gives the same."""

    @abstractmethod
    def build(self, job: Job) -> Loaded:
        """The job's program, ready to run. Raises what the compiler has to say of program and schedule."""

    @abstractmethod
    def run(self, kernel: Any, call: Call, progress: ProgressCallback | None) -> Ran:
        """Run a loaded program to its end.

        Raises AlgorithmError where the program ends itself, DeviceError where the device fails; an exception of
        `progress`, or Ctrl-C, ends the run first.
        """

    def make_ready(self, kernel: Any, call: Call) -> Sequence[Prepared]:
        """Make what a run of this call would make of the graph and keep; the layouts of arcs among it."""
        return ()

    def finish(self, value: Any) -> Any:
        """A result array as the user asked for it."""
        return value


def interpreted(
    plan: Plan, values: Mapping[str, Any], records: Sequence[Any], threads: int, seconds: float
) -> Ran:
    """What an interpreter left: results by name, and a record of each round."""
    labels, ways = plan.interface.labels, plan.interface.directions
    rows = [(labels.index(r.label), ways.index(r.direction), r.active, r.edges, 0, 0) for r in records]
    arrays = {o.array: values[o.name] for o in plan.outputs if o.array}
    scalars = [values[o.name] for o in plan.outputs if not o.array]
    return Ran(arrays, scalars, np.array(rows, np.int64).reshape(-1, 6), threads, 0.0, seconds)


def raise_failure(interface: KernelInterface, status: int, payload: int) -> None:
    """Turn a failure that a kernel recorded into an exception; what means nothing to the caller passes."""
    match status:
        case Status.OUT_OF_MEMORY:
            raise DeviceError(f"out of memory: {payload:,} more bytes are not to be had")
        case Status.OUT_OF_RANGE:
            raise InternalError(f"generated code met the index {payload} out of range")
        case Status.ABORTED:
            raise AlgorithmError(interface.messages[payload])
