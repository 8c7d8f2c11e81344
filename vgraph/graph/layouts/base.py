"""What an arc layout is: arrays made of a graph's arcs beside CSR, with a name, made when first needed and kept.

A layout is written once, for NumPy (the CPU, and the tests' emulated GPU) and CuPy (a GPU), which its builder gets as
`arcs.xp`. Kernels find its arrays as arguments `prepared` (see `ArgSlot`).
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from numpy.typing import NDArray

from vgraph.graph.arrays import Elsewhere
from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

T = TypeVar("T")
Parameter = int | str


class Arcs(Protocol):
    """A graph as a builder sees it: all arrays are of `xp`, which is NumPy or CuPy, and read-only."""

    graph: Graph
    num_vertices: int
    num_arcs: int

    @property
    def xp(self) -> Any:
        """The module that all arrays are of."""

    def adjacency(self, side: str) -> tuple[Any, Any]:
        """`row_offsets` and `column_indices` of the "out" or "in" arcs."""

    def property(self, name: str, side: str) -> Any:
        """An edge property with an element for each arc, in the order of `column_indices` of that side."""

    def on_host(self, array: Any) -> NDArray[Any]:
        """An array that was made of them, for the host; where it lies now it stays."""

    def kept(self, array: Any) -> NDArray[Any] | Elsewhere:
        """The same, and the host gets it when it first looks."""


class SortingArcs(Arcs, Protocol):
    """Arcs on a device that sorts. All arrays are of uint32 but `line` (uint64) and `moves` (int64)."""

    def sort_pairs(self, keys: Any, values: Any, bits: int) -> tuple[Any, Any]:
        """Keys, of so many bits, in their order, and their values; where keys are equal, as they were."""

    def sort_arcs(self, line: Any, moves: Any, rank: Any, bits: int) -> tuple[Any, Any]:
        """Of the arcs that leave, each to a vertex of higher rank: that rank and the lower one, sorted by both.

        Row r of those in the order of ranks begins at `line[r]` of all arcs in that order, and arc k of them stands at
        `k + moves[r]` of `column_indices`.
        """


@dataclass(frozen=True, eq=False)
class ArcLayout:
    """One kind of layout; `vgraph.graph.layouts` lists all.

    `arrays`: dtype of each array that `build` gives: a name of NumPy's, or "id", "offset" for what the graph has.
    `numbers`: the ints that it gives beside them, for kernels too. `build(arcs, *parameters)` gives both by name.
    `side`: whose arcs it holds, "in" or "out"; `undirected`: the layout that it is on undirected graphs, if another.
    `order(arcs, prepared, values, *parameters)` puts values of the arcs of this side, in their order, into that
    of the layout; None where arcs of the layout have none. `fit(arcs, shared, *parameters)` gives the parameters to
    build it with, from those that a kernel names and the bytes of shared memory that each of its blocks has.
    """

    name: str
    arrays: Mapping[str, str]
    numbers: tuple[str, ...]
    build: Callable[..., Mapping[str, Any]]
    order: Callable[..., Any] | None = None
    fit: Callable[..., tuple[Parameter, ...]] | None = None
    side: str = "in"
    undirected: str = ""

    def key(self, *parameters: Parameter) -> str:
        """What a layout with these parameters is called: `segments.4`."""
        return ".".join((self.name, *map(str, parameters)))


@dataclass(frozen=True, eq=False)
class Prepared:
    """A layout of one graph, where it lies: its arrays, its numbers, and what it took to build."""

    key: str
    arrays: Mapping[str, Any]
    numbers: Mapping[str, int]
    seconds: float

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(array.nbytes) for array in self.arrays.values())


def prepared(layout: ArcLayout, arcs: Arcs, key: str, parameters: tuple[Parameter, ...]) -> Prepared:
    """The layout of a graph, built now."""
    start = time.perf_counter()
    found = layout.build(arcs, *parameters)
    assert set(found) == {*layout.arrays, *layout.numbers}, f"{key} is made of {', '.join(found)}"
    numbers = {name: int(found[name]) for name in layout.numbers}
    return Prepared(key, {name: found[name] for name in layout.arrays}, numbers, time.perf_counter() - start)


class Kept:
    """What was made of objects, kept as long as they live: by object and key."""

    all: ClassVar[weakref.WeakSet[Kept]] = weakref.WeakSet()

    def __init__(self) -> None:
        Kept.all.add(self)
        self._lock = threading.Lock()
        self._kept: dict[tuple[int, object], tuple[weakref.ref[Any], Any]] = {}

    def find(self, anchor: object, key: object) -> Any:
        """What is kept; None if nothing is."""
        with self._lock:
            found = self._kept.get((id(anchor), key))
        return found[1] if found is not None and found[0]() is anchor else None

    def get(self, anchor: object, key: object, make: Callable[[], T]) -> T:
        """What is kept, made now if nothing is."""
        found: T | None = self.find(anchor, key)
        return self.put(anchor, key, make()) if found is None else found

    def put(self, anchor: object, key: object, made: T) -> T:
        """Keep what was made."""
        place = id(anchor), key
        watched = weakref.ref(anchor, lambda _: self._kept.pop(place, None))
        with self._lock:
            self._kept[place] = (watched, made)
        return made

    def of(self, anchor: object) -> list[Any]:
        """All that is kept of an object."""
        with self._lock:
            kept = list(
                self._kept.values()
            )  # what is collected meanwhile takes its entry out of the dictionary
        return [made for ref, made in kept if ref() is anchor]

    def drop(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
