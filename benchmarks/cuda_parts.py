"""The parts of `gpu.py`: each takes graphs and gives rows. Every result was equal to the CPU's before it was timed."""

from __future__ import annotations

import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cuda_gpu
import roofline
from cuda_cases import BY_HAND, CASES, PEERS, Case, Timed, size_of, timed
from cuda_graphs import Loaded

import vgraph as vg
from vgraph.runtime import depth, policy

CHECKED = "equal to the CPU's"
UNORDERED = "bellman_ford"  # for its balances only: vgraph's choice for shortest paths is sssp
GROWING = ("bfs", "sssp", "pagerank32", "cc")
BALANCED = {"bfs": vg.PUSH, "bellman_ford": vg.PUSH, "pagerank32": vg.PULL}
"""Cases whose balance is compared, with the direction they then have; components has no loop that may be cut."""
LIMITS = (256, 4096)
BALANCES: dict[str, Any] = {
    "vertex": vg.VERTEX,
    "warp": vg.WARP,
    "block": vg.BLOCK,
    "twc": vg.TWC,
    "edge": vg.EDGE,
    "split": vg.SPLIT(),
    **{f"split({limit})": vg.SPLIT(limit) for limit in LIMITS},
}
DELTA_FACTORS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
SLOW = 2.0  # seconds from which on a CPU's run is repeated twice only
BLOCKS = (0.5, 1, 2, 4, 8)
BLOCK_SIZES = (128, 256, 512, 1024)
SPLIT_LIMITS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)

Row = dict[str, Any]


class OutOfTimeError(vg.VGraphError):
    """The time for all parts has passed."""


@dataclass
class Part:
    """What a part works with, and the rows it has so far. `save` is called after each; behind `until`, by the clock,
    nothing is begun."""

    repeats: int
    cases: Sequence[str]
    save: Callable[[], None]
    copy_rate: float = 0.0
    until: float = float("inf")
    rows: list[Row] = field(default_factory=list)
    failures: list[Row] = field(default_factory=list)

    def add(self, **row: Any) -> None:
        """A row, and a line on stderr."""
        self.rows.append(row)
        shown = [f"{v:.3f}" if isinstance(v, float) else str(v) for k, v in row.items() if k in _SHOWN]
        print("  ".join(shown), file=sys.stderr, flush=True)
        self.save()

    @contextmanager
    def trying(self, **what: Any) -> Iterator[None]:
        """What cannot be measured is named with its reason, and the part goes on."""
        try:
            yield
        except Exception as error:  # a part goes on after whatever fails; `main` then exits with 1
            refused = isinstance(error, vg.ScheduleError)
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            reason = reason.replace(f"{Path(vg.__file__).parents[1]}/", "")
            self.failures.append({**what, "refused": refused, "reason": reason[:400]})
            print(f"left out: {what}: {reason[:400]}", file=sys.stderr, flush=True)
            if not isinstance(error, vg.VGraphError | AssertionError):
                traceback.print_exc()
            self.save()

    def timed(self, case: Case, loaded: Loaded, **options: Any) -> Timed:
        """`cuda_cases.timed`. Raises OutOfTimeError behind `until`."""
        if time.time() > self.until:
            raise OutOfTimeError("no time was left")
        return timed(case, loaded, self.repeats, **options)


_SHOWN = (
    "graph",
    "case",
    "balance",
    "constant",
    "value",
    "state",
    "best",
    "best_ms",
    "ms",
    "low_ms",
    "high_ms",
    "gpu_ms",
    "cpu_ms",
)


def _row(key: str, loaded: Loaded, found: Timed) -> Row:
    stats = found.result.stats
    return {
        "graph": loaded.name,
        "case": CASES[key].name,
        "key": key,
        "vertices": loaded.graph.num_vertices,
        "arcs": loaded.graph.num_arcs,
        "ms": found.ms,
        "low_ms": found.low_ms,
        "high_ms": found.high_ms,
        "call_ms": found.call_ms,
        "runs": found.runs,
        "rounds": stats.rounds,
        "arcs_walked": stats.edges,
        "threads": stats.threads,
        "checked": CHECKED,
    }


def _traffic(part: Part, case: Case, loaded: Loaded, found: Timed) -> Row:
    if case.traffic is None:
        return {}
    traffic: roofline.Traffic = case.traffic(size_of(case, loaded, found.result))
    floor = 1e3 * traffic.floor / part.copy_rate
    return {
        "floor_bytes": traffic.floor,
        "gathered_bytes": traffic.gathers,
        "copy_rate": part.copy_rate,
        "floor_ms": floor,
        "share_of_copy_rate": floor / found.ms,
    }


# --- (a) beside the peers -------------------------------------------------------------------------------------


def headline(part: Part, loaded: Loaded) -> None:
    """Every algorithm as vgraph chooses to run it, beside other systems, cuSPARSE and the copy rate."""
    spmv: dict[str, float] = {}
    with part.trying(graph=loaded.name, case="cuSPARSE"):
        spmv = cuda_gpu.spmv_ms(loaded)
    for key in (k for k in part.cases if k != UNORDERED):
        case = CASES[key]
        with part.trying(graph=loaded.name, case=case.name):
            found = part.timed(case, loaded, sources=len(loaded.sources))
            peers = dict(PEERS.get((key, loaded.name), {}))
            if case.per_round and spmv:
                peers["cuSPARSE SpMV, same run"] = spmv["float32" if key == "pagerank32" else "float64"]
            part.add(
                **_row(key, loaded, found),
                sources=len(case.sources(loaded)),
                schedule=str(found.result.schedule),
                peers={name: {"ms": ms, "ratio": found.ms / ms} for name, ms in peers.items()},
                **_traffic(part, case, loaded, found),
            )


# --- (a2) beside kernels written by hand ----------------------------------------------------------------------

OFF: dict[str, dict[str, Any]] = {"hops": {"hops": 1}, "segments": {"segments": 1}, "rows": {"rows": vg.CSR}}
"""What a schedule says to leave one thing out."""


def layouts(part: Part, loaded: Loaded) -> None:
    """As a first run finds the graph; prepared; in the order of degrees and prepared; and with one thing left out."""
    keys = [k for k in part.cases if k != UNORDERED]
    settled, policy.SETTLED_RUNS = policy.SETTLED_RUNS, 1 << 62  # type: ignore[misc]
    try:
        for key in keys:
            _prepared(part, key, loaded, "as it comes", None)
    finally:
        policy.SETTLED_RUNS = settled  # type: ignore[misc]
    for key in keys:
        chosen = _prepared(part, key, loaded, "prepared", None)
        for name in (n for n in OFF if f"{n}=" in chosen):
            _prepared(
                part,
                key,
                loaded,
                f"without {name}",
                None,
                schedule=vg.Schedule().at(CASES[key].label, **OFF[name]),
            )
    order = order_for(loaded)
    for key in keys:
        _prepared(part, key, loaded, f"by {order}, prepared", order)


def order_for(loaded: Loaded) -> str:
    """The order that a graph is also run in, made now."""
    order = "clusters" if depth.is_deep(loaded.graph) else "degree"
    loaded.graph.relabelled(order)
    return order


def _prepared(part: Part, key: str, loaded: Loaded, state: str, order: str | None, **options: Any) -> str:
    """A row of `layouts`; gives the schedule."""
    case = CASES[key]
    with part.trying(graph=loaded.name, case=case.name, relabel=order, state=state):
        made: tuple[Any, ...] = ()
        if state != "as it comes":
            source = case.sources(loaded)[0]
            given = {**case.arguments(source), **options}
            made = vg.prepare(case.algorithm, loaded.graph, device="cuda", relabel=order, **given)
        found = part.timed(case, loaded, sources=len(loaded.sources), relabel=order, **options)
        schedule = str(found.result.schedule)
        part.add(
            **_row(key, loaded, found),
            state=state,
            relabel=order,
            schedule=schedule,
            made=[{"name": m.name, "bytes": m.nbytes, "ms": 1e3 * m.seconds} for m in made],
            by_hand=BY_HAND.get((key, loaded.name)),
        )
        return schedule
    return ""


# --- (a3) what is chosen beside the best that was found -----------------------------------------------------------

BALANCED_ANEW: dict[str, dict[str, Any]] = {
    "twc": {"balance": vg.TWC},
    "split": {"balance": vg.SPLIT()},
    "edge": {"balance": vg.EDGE},
}
HOPPED: dict[str, dict[str, Any]] = {f"hops {k}": {"hops": k} for k in (1, 16, 64)}
OTHERS: dict[str, dict[str, dict[str, Any]]] = {
    "bfs": {**HOPPED, **BALANCED_ANEW, "push": {"direction": vg.PUSH}},
    "sssp": {**HOPPED, **BALANCED_ANEW},
    "pagerank32": {**OFF, "vertex": {"balance": vg.VERTEX}, **BALANCED_ANEW},
    "cc": {"vertex": {"balance": vg.VERTEX}, "twc": {"balance": vg.TWC}},
    "betweenness": BALANCED_ANEW,
    "triangles": {"no hubs": {"hubs": 0}, "rows": OFF["rows"], "warp": {"balance": vg.WARP}},
    "kcore": {**HOPPED, **BALANCED_ANEW},
}
"""By case, schedules beside the one that is chosen; that of another order is tried, too."""


def auto(part: Part, loaded: Loaded) -> None:
    """What is chosen after `vg.prepare`, the order as well, from one source, beside the best of `OTHERS` and what two
    orders take."""
    order = order_for(loaded)
    for key in (k for k in part.cases if k in OTHERS):
        case = CASES[key]
        chosen = None
        tried: dict[str, float] = {}
        orders = {"chosen": "auto", f"by {order}": order}
        for name, axes in {**{name: {} for name in orders}, "as it comes": {}, **OTHERS[key]}.items():
            options: dict[str, Any] = {"relabel": orders[name]} if name in orders else {}
            if axes:
                options["schedule"] = vg.Schedule().at(case.label, **axes)
            with part.trying(graph=loaded.name, case=case.name, constant="auto", value=name):
                given = case.arguments(case.sources(loaded)[0])
                vg.prepare(case.algorithm, loaded.graph, device="cuda", **given, **options)
                found = part.timed(case, loaded, **options)
                tried[name] = found.ms
                chosen = found if name == "chosen" else chosen
        if chosen is not None:
            best = min(tried, key=tried.__getitem__)
            more = {"best": best, "best_ms": tried[best], "tried": tried}
            part.add(**_row(key, loaded, chosen), **more, schedule=str(chosen.result.schedule))


# --- (a4) tiles -------------------------------------------------------------------------------------------------

TILES = (256, 512, 1024, 2048)
WIDTHS: dict[str, tuple[float | None, ...]] = {"bfs": (None, 4), "sssp": (None, 0.25, 0.5, 1)}
"""By case, widths of buckets in levels or mean weights; None: as chosen. A visit of a tile goes on through 16 more of
those that are named."""


def tiles(part: Part, loaded: Loaded) -> None:
    """Tiles of several sizes, in the graph's order and in that of clusters, beside what is chosen in each."""
    for key in (k for k in WIDTHS if k in part.cases):
        label = CASES[key].label
        unit = loaded.graph.edge_property_mean("weight") if key == "sssp" else 1
        for order in (None, "clusters"):
            _tiled(part, key, loaded, order, 0, "chosen")
            for size in TILES:
                for width in WIDTHS[key]:
                    order_of = vg.delta_stepping(None if width is None else width * unit)
                    schedule = vg.Schedule().at(label, tiles=size, order=order_of)
                    _tiled(part, key, loaded, order, size, f"width {width}", schedule=schedule)


def _tiled(
    part: Part, key: str, loaded: Loaded, order: str | None, size: int, state: str, **options: Any
) -> None:
    case = CASES[key]
    with part.trying(
        graph=loaded.name, case=case.name, relabel=order, constant="tiles", value=size, state=state
    ):
        found = part.timed(case, loaded, sources=len(loaded.sources), relabel=order, **options)
        by_hand = BY_HAND.get((key, loaded.name))
        more = {"constant": "tiles", "value": size, "state": state, "by_hand": by_hand}
        part.add(**_row(key, loaded, found), relabel=order, schedule=str(found.result.schedule), **more)


# --- (b) load balance -----------------------------------------------------------------------------------------


def balance(part: Part, loaded: Loaded) -> None:
    """Load balancer by algorithm; PageRank also with the vertices in the order of their degrees."""
    for key, direction in BALANCED.items():
        if key not in part.cases:
            continue
        orders: tuple[str | None, ...] = (None, "degree") if key == "pagerank32" else (None,)
        for order in orders:
            for name, chosen in {**BALANCES, "split(histogram)": _by_histogram(loaded)}.items():
                with part.trying(graph=loaded.name, case=CASES[key].name, balance=name, relabel=order):
                    found = _balanced(part, key, loaded, chosen, direction, order)
                    part.add(**_row(key, loaded, found), balance=name, relabel=order)


def _by_histogram(loaded: Loaded) -> Any:
    """Node splitting with its authors' limit."""
    return vg.SPLIT(policy.split_limit(loaded.graph.out_degree))


def _balanced(part: Part, key: str, loaded: Loaded, chosen: Any, direction: Any, order: str | None) -> Timed:
    case = CASES[key]
    schedule = vg.Schedule().at(case.label, balance=chosen, direction=direction)
    return part.timed(case, loaded, schedule=schedule, relabel=order)


# --- (c) growth -----------------------------------------------------------------------------------------------


def growth(part: Part, loaded: Loaded) -> None:
    """The main algorithms, and arcs per second."""
    for key in (k for k in part.cases if k in GROWING):
        with part.trying(graph=loaded.name, case=CASES[key].name):
            found = part.timed(CASES[key], loaded, sources=len(loaded.sources))
            arcs = loaded.graph.num_arcs if key in ("pagerank32", "cc") else loaded.reached_arcs
            part.add(**_row(key, loaded, found), arcs_per_second=1e3 * arcs / found.ms)


# --- (d) CPU and GPU ------------------------------------------------------------------------------------------


def devices(part: Part, loaded: Loaded, threads: int) -> None:
    """Each algorithm on the CPU's threads and on the GPU, as vgraph chooses to run it on each."""
    for key in (k for k in part.cases if k != UNORDERED):
        case = CASES[key]
        with part.trying(graph=loaded.name, case=case.name):
            source = case.sources(loaded)[0]
            found = part.timed(case, loaded)
            runs = [case.run(loaded, source, device="cpu", threads=threads).stats]
            count = part.repeats if runs[0].run_seconds < SLOW else 2
            runs += [case.run(loaded, source, device="cpu", threads=threads).stats for _ in range(count)]
            rounds = runs[0].rounds if case.per_round else 1
            cpu = [1e3 * s.run_seconds / rounds for s in runs[1:]]
            middle = statistics.median(cpu)
            part.add(
                **_row(key, loaded, found),
                gpu_ms=found.ms,
                cpu_ms=middle,
                cpu_low_ms=min(cpu),
                cpu_high_ms=max(cpu),
                cpu_threads=threads,
                cpu_runs=count,
                speedup=middle / found.ms,
            )


# --- (f) constants --------------------------------------------------------------------------------------------


def constants(part: Part, loaded: Loaded) -> None:
    """The numbers of `vgraph/runtime/policy.py` and of `layout.py`, each swept with all others as they are."""
    if "sssp" in part.cases:
        arcs, n = loaded.graph.num_arcs, loaded.graph.num_vertices
        unit = loaded.graph.edge_property_mean("weight") * n / arcs
        for factor in DELTA_FACTORS:
            order = vg.delta_stepping(factor * unit)
            _one(
                part, "sssp", loaded, "delta factor", factor, schedule=vg.Schedule().at("relax", order=order)
            )
    for key in (k for k in part.cases if k in GROWING):
        for count in BLOCKS:
            with cuda_gpu.blocks_per_multiprocessor(count):
                _one(part, key, loaded, "blocks per multiprocessor", count)
        for threads in BLOCK_SIZES:
            with cuda_gpu.block_size(threads):
                _one(part, key, loaded, "block size", threads)
            cuda_gpu.release()
    for key in (k for k in ("pagerank32", "bfs") if k in part.cases):
        for limit in SPLIT_LIMITS:
            axes = {"direction": BALANCED[key], "balance": vg.SPLIT(limit)}
            schedule = vg.Schedule().at(CASES[key].label, **axes)
            _one(part, key, loaded, "split limit", limit, schedule=schedule)


def _one(part: Part, key: str, loaded: Loaded, constant: str, value: float, **options: Any) -> None:
    with part.trying(graph=loaded.name, case=CASES[key].name, constant=constant, value=value):
        found = part.timed(CASES[key], loaded, **options)
        part.add(**_row(key, loaded, found), constant=constant, value=value)
