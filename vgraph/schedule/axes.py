"""The axes of schedules: of each, the one record that says all there is to know of it. Values: `values.py`, `names.py`.

The records are the fields of `ApplySchedule`, at the end. What may be asked for, texts, JSON and the command line, the
docstring of `Schedule.at`, which axes exclude which, what tuning and tests try, and the tables of `explain` follow from
them. How an axis is resolved stands in `vgraph/compiler/axes/`, in the file of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Final

from vgraph.records import dataclass
from vgraph.schedule.names import *
from vgraph.schedule.needs import of_a_conflict, of_an_order
from vgraph.schedule.record import (
    FLAG,
    Axis,
    Lack,
    Need,
    Words,
    axis,
    between,
    count,
    kinds,
    show,
    show_value,
    words,
)
from vgraph.schedule.values import *


def _name(text: str) -> str:
    if not text.isidentifier():
        raise ValueError(text)
    return text


def _width(text: str | None) -> Order:
    return delta_stepping(None if text is None else int(text) if text.isdigit() else float(text))


# --- what several records say ---------------------------------------------------------------------------------

_ONE_LOOP: Final = Need("phases", (FUSED,), "two phases walk a buffer, in the order of the whole graph")
_WHOLE_ROWS: Final = Need("balance", (VERTEX,), "the arcs of a vertex are handed out in parts")
_BUFFER: Final = (GATHER_APPLY, APPLY_SCATTER)
_NO_WARPS: Final = "use vg.VERTEX, vg.EDGE or vg.SPLIT(limit) here"
_ALONE: Final = tuple(
    Lack(
        device,
        "one device has nobody to exchange with",
        "give a list of devices, or leave it out",
        alone=True,
    )
    for device in ("cpu", "cuda")
)


# --- the records ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ApplySchedule:
    """The resolved schedule of one apply: a value for each axis. `frontier` is the layout of its *output* frontier.

    Nothing is AUTO but what is chosen per round at run time: direction, drive, the layout that follows them, volume.
    """

    direction: Direction = axis(words(Direction))
    phases: Phases = axis(
        words(Phases),
        needs=tuple(
            Need(
                "direction",
                (end,),
                f"{form} walks along {arcs}: its direction is {end.name}",
                "leave out one of direction and phases",
                of=(phases,),
                note=f"the direction of {form}",
            )
            for phases, form, arcs, end in (
                (GATHER_APPLY, "gather-apply", "in-arcs", PULL),
                (APPLY_SCATTER, "apply-scatter", "out-arcs", PUSH),
            )
        ),
    )
    exchange: Exchange = axis(
        words(Exchange),
        rest=LOCAL,
        edges_only="a vertex operator sends nothing along arcs, so there is nothing to choose",
        needs=(
            Need(
                "direction",
                (PULL,),
                "members that get values at the far ends of arcs pull",
                of=(BASE,),
                note="members get the values at the far ends of arcs",
            ),
            Need(
                "direction",
                (PUSH,),
                "what goes to vertices of others is pushed",
                of=(COMBINE, DELAYED),
                note="what goes to vertices of others is combined",
            ),
            Need(
                "phases", (FUSED, GATHER_APPLY), "apply-scatter pushes, and what is got is pulled", of=(BASE,)
            ),
            Need(
                "phases",
                (FUSED, APPLY_SCATTER),
                "gather-apply pulls, and what goes to vertices of others is pushed",
                of=(COMBINE, DELAYED),
            ),
            Need("drive", (TOPOLOGY,), "which vertices active ones of others reach is not known", of=(BASE,)),
            Need("sync", (ASYNC,), "members that go on by themselves see updates at once", of=(DELAYED,)),
            Need("order", (UNORDERED,), "members that go on by themselves agree on no bucket", of=(DELAYED,)),
        ),
        lacks=_ALONE,
    )
    volume: Volume = axis(
        words(Volume),
        rest=DENSE,
        lacks=_ALONE,
    )
    drive: Drive = axis(words(Drive))
    frontier: FrontierLayout = axis(words(FrontierLayout))
    conflict: Conflict = axis(
        kinds(
            Conflict,
            {
                "blocked_diagonals": lambda text: blocked_diagonals(
                    *map(int, text.split("x") if text else ())
                ),
                "dealt_blocks": lambda text: dealt_blocks(*map(int, (text,) if text else ())),
                "even_blocks": lambda text: even_blocks(*map(int, (text,) if text else ())),
            },
            noun="a conflict schedule",
            takes="SEQUENTIAL, EDGE_LOCKED, NODE_LOCKED, HYBRID, AGM_E, AGM_N, SGM, DIAGONAL, blocked_diagonals(r, c), "
            "dealt_blocks(n), even_blocks(n), COLORED, MARKED, RACED, FREE",
            form="a word such as sequential or agm_e, blocked_diagonals(8x8), dealt_blocks(16), free or auto",
        ),
        rest=FREE,
        candidates=(
            *(FREE, SEQUENTIAL, EDGE_LOCKED, NODE_LOCKED, HYBRID, AGM_E, AGM_N, SGM, DIAGONAL),
            *(blocked_diagonals(4, 4), dealt_blocks(4), even_blocks(4), COLORED, MARKED, RACED),
        ),
        lacks=(
            Lack(
                "cuda",
                'device="cuda" has no thread that takes edges one by one',
                "use conflict=vg.EDGE_LOCKED or a plan such as vg.AGM_E, and vg.MARKED where vertices are gathered",
                ("sequential",),
            ),
            Lack(
                "cuda",
                'device="cuda" locks both ends for each arc, and marks what is gathered',
                "use conflict=vg.EDGE_LOCKED or vg.MARKED",
                ("node_locked", "hybrid"),
            ),
            Lack(
                "cuda",
                'device="cuda" takes blocks in steps of arcs that share no vertex',
                "use conflict=vg.blocked_diagonals()",
                ("even_blocks",),
            ),
            Lack(
                "set",
                "who writes several vertices may not own all of them",
                "use conflict=vg.dealt_blocks() where edges are about both of their ends, or one device",
                values=(
                    *LOCKING,
                    *PLANNED,
                    *MARKING,
                    "blocked_diagonals",
                    "even_blocks",
                ),  # each, so that the resolver is asked
            ),
        ),
    )
    order: Order = axis(
        kinds(
            Order,
            {"delta": _width},
            noun="an order",
            takes="UNORDERED, delta_stepping(d), STRICT",
            form="unordered, delta, delta(d) with a positive number d, strict or auto",
        ),
        rest=UNORDERED,
        candidates=(UNORDERED, delta_stepping(), delta_stepping(1), STRICT),
        lacks=(
            Lack(
                "cuda",
                'device="cuda" has no thread that takes vertices one by one',
                "use order=vg.delta_stepping() or leave it out",
                values=("strict",),
            ),
            Lack(
                "set",
                "members have no thread that takes vertices one by one",
                "use order=vg.delta_stepping() or leave it out",
                values=("strict",),
            ),
        ),
    )
    balance: Balance = axis(
        kinds(
            Balance,
            {"split": lambda text: SPLIT(None if text is None else int(text))},
            noun="a balance",
            takes="VERTEX, EDGE, SPLIT(limit); on GPUs WARP, BLOCK, TWC",
            form="vertex, edge, split, split(n) with an int n of at least 1, warp, block, twc or auto",
        ),
        rest=VERTEX,
        candidates=(VERTEX, EDGE, SPLIT(), SPLIT(4), WARP, BLOCK, TWC),
        numbers=(SPLIT(64), SPLIT(256), SPLIT(1024)),
        needs=(
            Need(
                "phases",
                (FUSED,),
                "phases={} walks its buffer in chunks of its own",
                "use balance=vg.VERTEX or leave it out",
            ),
        ),
        lacks=(
            Lack("cpu", "a warp per vertex needs a device with warps", _NO_WARPS, ("warp",)),
            Lack("cpu", "a block per vertex needs a device with blocks of threads", _NO_WARPS, ("block",)),
            Lack("cpu", "thread, warp or block by degree needs a device with warps", _NO_WARPS, ("twc",)),
        ),
    )
    hops: int = axis(
        count(1),
        rest=1,
        candidates=(1, 2),
        numbers=(8, 16, 24, 32),
        edges_only="a vertex operator sends nothing along arcs, so nothing is found to go on with",
        needs=(
            Need("direction", (PUSH,), "what a block finds lies at the ends of the arcs it walks"),
            Need("drive", (DATA,), "a block goes on with a queue of active vertices"),
            Need("frontier", (SPARSE,), "a block goes on with a queue of active vertices"),
            _ONE_LOOP,
            Need("sync", (ASYNC,), "what a block goes on with was changed in the same round"),
            Need("balance", (VERTEX,), "the lanes of a block share its queue"),
        ),
        lacks=(
            Lack(
                "cpu", "a CPU has no blocks of threads", "use order=vg.delta_stepping() here, or leave it out"
            ),
            Lack(
                "set",
                "a block would go on with vertices of other members",
                "use exchange=vg.DELAYED here, or leave it out",
            ),
        ),
    )
    tiles: int = axis(
        count(0, "vertices of a tile, 0: none"),
        rest=0,
        candidates=(0, 4),
        numbers=(256, 1024, 4096),
        edges_only="a vertex operator sends nothing along arcs, so there is nothing to go on with",
        needs=(
            Need("direction", (PUSH,), "what a tile goes on with lies at the ends of the arcs it walks"),
            Need("drive", (DATA,), "a tile goes on with its active vertices"),
            Need("frontier", (SPARSE,), "a tile goes on with its active vertices"),
            _ONE_LOOP,
            Need("hops", (1,), "a tile goes on until nothing changes in it"),
            Need("sync", (ASYNC,), "what a tile goes on with was changed in the same round"),
            _WHOLE_ROWS,
        ),
        lacks=(Lack("set", "tiles are those of one device"),),
    )
    sync: Sync = axis(words(Sync))
    deduplicate: bool = axis(FLAG, candidates=(True, False))
    segments: int = axis(
        count(1),
        rest=1,
        candidates=(1, 2),
        numbers=(4, 8, 16),
        edges_only="a vertex operator walks its arcs itself, so they cannot be cut by their sources",
        needs=(
            Need(
                "direction",
                (PULL,),
                "a push reads each source once, so there is nothing to keep in a cache",
            ),
            Need("drive", (TOPOLOGY,), "segments are walked whole, not from a queue of vertices"),
            _ONE_LOOP,
            _WHOLE_ROWS,
        ),
        lacks=(Lack("set", "rows of a member are in the order of the whole graph"),),
    )
    rows: Rows = axis(
        words(Rows),
        rest=Rows.CSR,
        needs=(
            _WHOLE_ROWS,
            Need("segments", (1,), "the rows of a segment are its own", of=(Rows.DELTA,)),
            Need("hops", (1,), "a block keeps where the rows of what it finds lie in CSR"),
            *(
                Need(axis, (value,), reason, of=(Rows.SLICES,))
                for axis, value, reason in (
                    ("direction", PULL, "slices are made of the arcs that enter vertices"),
                    ("drive", TOPOLOGY, "slices are walked whole, not from a queue of vertices"),
                    ("phases", FUSED, "two phases walk a buffer, in the order of the whole graph"),
                    ("hubs", 0, "the rows of a slice are its own"),
                    ("prefetch", 0, "the values of a segment's sources are in the cache"),
                    ("vectorize", False, "16 rows are walked side by side as they are"),
                )
            ),
        ),
        lacks=(
            Lack("cpu", "rows are read as differences on GPUs only", values=("delta",)),
            Lack("set", "rows of a member are in the order of the whole graph", values=("slices",)),
            Lack("set", "a ghost's number is far from those of its neighbors", values=("delta",)),
        ),
    )
    parts: int | str = axis(
        Words(
            None,
            lambda v: between(0, 1 << 20)(v) or (isinstance(v, str) and v.isidentifier()),
            "a number of parts, or the name of an edge property that tells the part of each edge",
            lambda text: int(text) if text.isdecimal() else _name(text),
            "int, or the name of an edge property",
            form="a number of parts of the edges, 0: none, or the name of an edge property",
        ),
        rest=0,
        candidates=(0, 2),
        costly=True,
        edges_only="a vertex operator walks its arcs itself, so they cannot be cut into parts",
        needs=(
            Need("rows", (Rows.SLICES,), "the arcs of a part are kept in slices"),
            Need("segments", (1,), "arcs fall into parts, or into ranges of their sources"),
        ),
        lacks=(Lack("set", "rows of a member are in the order of the whole graph"),),
    )
    hubs: int = axis(
        count(0, "vertices with bitmaps, 0: none", 1 << 16),
        rest=0,
        candidates=(0, 4),
        numbers=(4096, 8192, 16384),
        needs=(
            _ONE_LOOP,
            Need("balance", (VERTEX,), "the arcs of a vertex are handed out in parts", on="cpu"),
            Need("segments", (1,), "the rows of a segment are its own"),
        ),
        lacks=(Lack("cuda set", "what a member's vertices are numbered by says nothing of their degrees"),),
    )
    payload: Payload = axis(
        words(Payload),
        rest=COMPUTED,
        unsaid=False,
        needs=(Need("phases", _BUFFER, "a fused loop has no buffer", "leave it out"),),
    )
    pipeline: int = axis(
        count(0, "chunks in flight, 0: none"),
        rest=0,
        candidates=(0, 2),
        numbers=(4, 8),
        needs=(Need("phases", _BUFFER, "a fused loop has no producer and consumer", "leave it out"),),
        lacks=(Lack("cuda", 'device="cuda" runs no producer beside a consumer'),),
    )
    prefetch: int = axis(
        count(0, "arcs ahead, 0: none"),
        rest=0,
        candidates=(0, 8),
        numbers=(4, 16, 32),
        needs=(_ONE_LOOP, _WHOLE_ROWS),
        lacks=(Lack("cuda", 'device="cuda" has other threads run while one waits for memory'),),
    )
    vectorize: bool = axis(
        FLAG,
        rest=False,
        candidates=(False, True),
        needs=(
            _ONE_LOOP,
            _WHOLE_ROWS,
            Need("direction", (PULL,), "a push writes at scattered places, one by one"),
        ),
        lacks=(Lack("cuda", 'device="cuda" runs a thread per lane as it is'),),
    )

    @property
    def ranges(self) -> int:
        """Into how many ranges of sources a pull falls: one after the other, with a visit of a vertex in each."""
        return max(2, self.segments) if self.rows is Rows.SLICES else self.segments

    extra: tuple[tuple[str, Any], ...] = ()
    """The options that belong to passes of the user's, sorted."""
    reasons: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        """The axes that are never at rest, and whatever else is not: `direction=push, ..., order=delta(64)`."""
        shown = {
            name: getattr(self, name) for name in sorted(AXES, key=lambda name: AXES[name].rest is not None)
        }
        own = [f"{name}={show(value)}" for name, value in shown.items() if value != AXES[name].rest]
        return ", ".join([*own, *(f"{name}={show_value(value)}" for name, value in self.extra)])


def _axes() -> dict[str, Axis]:
    made = {f.name: replace(f.metadata["axis"], name=f.name) for f in fields(ApplySchedule) if f.metadata}
    made["order"] = replace(made["order"], needs=of_an_order(made))
    made["conflict"] = replace(made["conflict"], needs=of_a_conflict(made))
    return made


AXES: Final[Mapping[str, Axis]] = _axes()
"""All axes by name, in the order in which they are shown."""
_FIRST: Final = (
    "conflict",
    "exchange",
    "order",
    "drive",
    "phases",
    "direction",
    "frontier",
    "hops",
    "tiles",
    "sync",
    "deduplicate",
    "balance",
)
DECIDED: Final[tuple[str, ...]] = tuple(dict.fromkeys((*_FIRST, *AXES)))
"""All axes in the order in which they are decided: a resolver sees the choices before its own."""
SHAPING: Final = _FIRST[:6]
"""What the loop is like depends on these: other options may need two of them."""

__all__ = ["AXES", "DECIDED", "SHAPING", "ApplySchedule"]
