"""What a run gives back."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.records import dataclass
from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.language.decorators import AlgorithmDef


@dataclass(frozen=True)
class LayoutStats:
    """A layout of the graph's arcs: its name with its parameters, bytes, and seconds that it took to build, once."""

    name: str
    nbytes: int
    seconds: float


@dataclass(frozen=True)
class MemberStats:
    """What one member of a set of devices had of a run."""

    name: str
    seconds: float
    """From the start of the run to its end, without those in which it waited for others."""
    vertices: int
    """That it owns."""
    arcs: int
    """That leave them."""
    ghosts: int
    """Vertices of others that it keeps a copy of."""
    nbytes: int
    """Of its part of the graph, kept with the graph."""
    received_bytes: int
    """From the other members."""
    iterations: int = 0
    """Of divided loops."""


@dataclass(frozen=True)
class OverlapStats:
    """What became of an order of vertices that was made beside a run (`relabel=vg.overlap(...)`)."""

    order: str
    seconds: float | None
    """That it took to make it, while the run went on; None: it was not there when the run ended."""
    changed: int | None = None
    """The run changed to it after so many rounds; None: it had ended before. On a GPU, which changes from run to run,
    after so many runs of the program."""
    change_seconds: float = 0.0
    """In which it stood still for that."""
    gain: float | None = None
    """How many times as long rounds took before, for as many arcs; None: too few rounds to tell."""
    kept: bool = True
    """False: rounds took longer in it, and the run went back."""


@dataclass(frozen=True)
class Stats:
    """What a run did and where its time went (seconds)."""

    device: str
    threads: int
    rounds: int
    """Rounds of edge operators; of vertex operators where the algorithm has no others."""
    edges: int
    """Arcs walked, over all rounds."""
    compile_seconds: float
    """From the call to loaded machine code."""
    prepare_seconds: float
    """Allocation, and arrays that had to be built first (a transpose)."""
    run_seconds: float
    """Inside the native code; on a GPU from the launch until its end is seen."""
    cached: bool
    """Whether the machine code came from the cache."""
    transfer_seconds: float = 0.0
    """Copying to and from a GPU; the former is a part of `prepare_seconds`."""
    kernel_seconds: float = 0.0
    """What the GPU needed for the kernel, by its own clock; a part of `run_seconds`."""
    from_host: bool = False
    """Whether a GPU left the graph in the host's memory and read it over the bus: see `memory=`."""
    waited: float = 0.0
    """Waiting at barriers of the threads that took part, added up and divided by `threads`; 0 on a GPU."""

    layouts: tuple[LayoutStats, ...] = ()
    """What was made of the graph's arcs for this schedule, and is kept with the graph: see `prepare`."""
    order: str | None = None
    """The order of vertices in which it ran (`relabel=`, `vg.reorder`), by name; None: the graph's own."""

    members: tuple[MemberStats, ...] = ()
    """Of a set of devices, in their order."""
    deferred: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By label, of operators whose activations wait for each other under `conflict=`: how many the first pass put off,
    the second, and so on, of all rounds together; the eighth counts for all after it, too."""
    overlap: OverlapStats | None = None
    """Of `relabel=vg.overlap(...)`; `order` is the one in which the run ended. None: the order was there before it."""

    @property
    def exchanged_bytes(self) -> int:
        """Bytes that members of a set of devices got from each other."""
        return sum(m.received_bytes for m in self.members)

    @property
    def where(self) -> str:
        """The end of a sentence on the run: ` on cpu`, or `, checked`."""
        return ", checked" if self.device == "checked" else f" on {self.device}"


@dataclass(frozen=True)
class Round:
    """One round: an operator applied once."""

    label: str
    direction: str
    """'push', 'pull', or 'vertex' for a vertex operator."""
    frontier: int
    """Active vertices when it began."""
    edges: int
    """Arcs walked."""
    seconds: float
    """From the end of the round before it, or the start of the run, to when all threads had met at its end."""
    waited: float = 0.0
    """Seconds that threads waited at its barriers, as in `Stats.waited`."""


@dataclass(frozen=True)
class Watched:
    """What `run(debug=vertices)` kept: the values of the algorithm's properties at these vertices after each round."""

    vertices: NDArray[np.int64]
    first: int
    """The round, an index into the trace, that the first row is of: values of those before it were overwritten by the
    last ones, for there is room for 2**20 values of each property."""
    values: Mapping[str, NDArray[Any]]
    """By property, of shape (rounds, vertices), and (rounds, vertices, length) for vectors."""

    def at(self, round: int) -> str:
        """The values after one round as text, `3: dist=4, parent=0`, with a row for each vertex."""
        rows = self.values.items() if round >= self.first else ()
        return "\n".join(
            f"    {v}: " + ", ".join(f"{name}={values[round - self.first][k]}" for name, values in rows)
            for k, v in enumerate(self.vertices.tolist())
            if rows
        )


class Trace(Sequence[Round]):
    """The rounds of a run, in order. `watched` is what `run(debug=vertices)` kept of them, or None."""

    def __init__(
        self,
        rounds: Sequence[Round] | Callable[[], Sequence[Round]],
        length: int = 0,
        watched: Watched | None = None,
    ) -> None:
        """`rounds` may make all `length` of them when the first is asked for: deep runs have a hundred thousand."""
        self.watched = watched
        self._made = None if callable(rounds) else tuple(rounds)
        self._make = rounds if callable(rounds) else None
        self._length = length if self._made is None else len(self._made)

    @property
    def _rounds(self) -> tuple[Round, ...]:
        if self._made is None:
            assert self._make is not None
            self._made, self._make = tuple(self._make()), None
        return self._made

    def __getitem__(self, index: Any) -> Any:
        return self._rounds[index]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Round]:
        return iter(self._rounds)

    def __getstate__(self) -> dict[str, Any]:
        return {"_made": self._rounds, "_make": None, "_length": self._length, "watched": self.watched}

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} rounds>"

    def __str__(self) -> str:
        """A line for each round; below it the values of the vertices that were watched."""
        lines = []
        if self.watched is not None and self.watched.first:
            lines = [f"the values after the first {self.watched.first:,} rounds were overwritten"]
        for number, r in enumerate(self):
            lines.append(f"{number}  {r.label} {r.direction}: {r.frontier:,} active, {r.edges:,} arcs")
            if self.watched is not None and (values := self.watched.at(number)):
                lines.append(values)
        return "\n".join(lines)

    def plot(self, path: str | None = None) -> Any:
        """Draw active vertices, arcs and time per round, coloured by direction; to a file if `path` is given.

        Returns the Matplotlib figure. Needs Matplotlib.
        """
        from vgraph.plot import plot_trace

        return plot_trace(self, path).figure


def _rows(values: Any, rank: Any) -> Any:
    """The rows `rank` of an array."""
    return values[rank]


def _found(vertices: Any, rank: Any) -> Any:
    """The places in `rank` of what is among `vertices`."""
    return np.flatnonzero(np.isin(rank, vertices))


def _on_host(function: Callable[[Any, Any], Any], values: Any, rank: Any) -> Any:
    """`function` of a NumPy or CuPy array; of the latter on the host, so that CuPy need not compile anything."""
    if not hasattr(values, "__cuda_array_interface__"):
        return function(values, rank)
    import cupy

    return cupy.asarray(function(values.get(), rank))


class Origin(NamedTuple):
    """What a result was made from, but for the graph itself: what `vg.verify` needs, kept where a result is saved."""

    module: str
    """Where the algorithm stands."""
    size: tuple[int, int, bool]
    """The vertices and arcs of the graph, and whether it is directed."""
    arguments: Mapping[str, Any]


class Result:
    """The returned values by name, as attributes: `result.dist`. Properties are NumPy arrays (CuPy arrays if
    that was asked for), one element per vertex, or per edge in the order of the arrays given to `Graph.from_edges`;
    frontiers are int64 arrays of their vertices, ascending.

    `names` lists them in the order of the return statement, `of_edges` those with an element per edge, `of_frontiers`
    those that were frontiers; `stats`, `trace` and `schedule` tell how it ran.
    `converged`, a bool: False if an iteration stopped, at `max_rounds` or another bound, before it met its own
    criterion. It is what the algorithm returns by that name (which is not among `names`); True if it returns none, as
    what does not iterate towards anything does, and what raises AlgorithmError rather than stop early.
    """

    def __init__(
        self,
        algorithm: str,
        values: Mapping[str, Any],
        stats: Stats,
        trace: Trace,
        schedule: Schedule,
        of_frontiers: frozenset[str] = frozenset(),
        of_edges: frozenset[str] = frozenset(),
    ) -> None:
        self.algorithm = algorithm
        self.stats, self.trace, self.schedule = stats, trace, schedule
        self._values, self.of_edges, self.of_frontiers = dict(values), of_edges, of_frontiers
        self.converged = bool(self._values.pop("converged", True))
        self.names = tuple(self._values)

    def made_from(self, algorithm: AlgorithmDef, graph: Graph, arguments: Mapping[str, Any]) -> Result:
        """Itself, with a note of what it was made from, for `vg.verify`. The graph is not kept alive, but for what the
        algorithm `derives`."""
        size = graph.num_vertices, graph.num_arcs, graph.directed
        self._origin = Origin(algorithm.function.__module__, size, dict(arguments))
        self._graph = weakref.ref(graph)
        if algorithm.derivations:
            self._later = graph, algorithm.derivations
        return self

    def origin(self) -> tuple[Graph | None, Origin | None]:
        """The graph, unless it is gone or this is a copy, and the note."""
        kept = self.__dict__.get
        return kept("_graph", lambda: None)(), kept("_origin")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_later")}

    def reordered(self, rank: Any) -> Result:
        """The same with element `rank[v]` of each property of vertices at v, v for vertex `rank[v]` of a frontier."""

        def moved(name: str, values: Any) -> Any:
            if not getattr(values, "ndim", 0) or name in self.of_edges:
                return values
            return _on_host(_found if name in self.of_frontiers else _rows, values, rank)

        return self._with({name: moved(name, values) for name, values in self._values.items()})

    def finished(self, finish: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Result:
        """The same with the values that `finish` gives for them."""
        return self._with(finish(self._values))

    def _with(self, values: Mapping[str, Any]) -> Result:
        whole = {**values, "converged": self.converged}
        sorts = self.of_frontiers, self.of_edges
        return Result(self.algorithm, whole, self.stats, self.trace, self.schedule, *sorts)

    def __getattr__(self, name: str) -> Any:
        values, (graph, later) = self.__dict__.get("_values", {}), self.__dict__.get("_later", (None, {}))
        if name not in values and name in later:
            values[name] = later[name](graph, self)
        try:
            return values[name]
        except KeyError:
            known = ", ".join(self.__dict__.get("names", ()))
            raise AttributeError(f"the result has no {name!r}; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.names, *self.__dict__.get("_later", (None, {}))[1]]

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}: {getattr(v, 'dtype', type(v).__name__)}" for k, v in self._values.items())
        s = self.stats
        rounds = f"{s.rounds} round{'s' * (s.rounds != 1)}"
        ended = "" if self.converged else ", not converged,"
        return f"<Result of {self.algorithm}: {shown}; {rounds}{ended} in {duration(s.run_seconds)}{s.where}>"


def duration(seconds: float) -> str:
    """`1.23 s`, `45.6 ms`, `7.89 us`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"
