"""What the commands say and write: the summary of a run as lines or JSON, and result files."""

from __future__ import annotations

import csv
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError
from vgraph.runtime.result import duration

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.runtime.result import Result

OUTPUT_SUFFIXES = (".npy", ".npz", ".csv", ".txt")


# --- words ----------------------------------------------------------------------------------------


def describe_graph(graph: Graph) -> str:
    """`68,213 vertices, 153,424 arcs, directed`."""
    kind, what = ("directed", "arcs") if graph.directed else ("undirected", "edges")
    return f"{counted(graph.num_vertices, 'vertices')}, {counted(graph.num_edges, what)}, {kind}"


def counted(number: int, things: str) -> str:
    """`1 vertex`, `2,000 vertices`: a number with its noun, which is given in the plural."""
    one = {"vertices": "vertex"}.get(things, things.removesuffix("s"))
    return f"{number:,} {one if number == 1 else things}"


def rate(count: int, seconds: float) -> str:
    """`count` things in so many seconds: `123 M`, `4.5 k` per second."""
    per_second = count / seconds if seconds > 0 else 0.0
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= scale:
            return f"{per_second / scale:.3g} {unit}"
    return f"{per_second:.3g}"


def describe_result(result: Result, read_seconds: float) -> list[str]:
    """The lines that say what ran: the schedule, the work done, and where the time went."""
    stats = result.stats
    lines = ["schedule"]
    lines += [f"  {line}" for line in str(result.schedule).splitlines()]
    lines.append("result")
    for name, value in outputs(result).items():
        lines.append(f"  {name}: {describe_values(value)}")
    threads = f", {counted(stats.threads, 'threads')}" if stats.threads else ""
    ended = "" if result.converged else " (not converged)"
    work = f"{counted(stats.rounds, 'rounds')}{ended}, {counted(stats.edges, 'arcs')} walked"
    lines.append(f"{work}{stats.where}{threads}")
    compiled = duration(stats.compile_seconds) + (" (from the cache)" if stats.cached else "")
    kernel = f" (kernel {duration(stats.kernel_seconds)})" if stats.kernel_seconds else ""
    kernel += f" (waited {duration(stats.waited)})" if stats.waited else ""
    lines.append(
        f"read {duration(read_seconds)}, compile {compiled}, prepare {duration(stats.prepare_seconds)}, "
        f"run {duration(stats.run_seconds)}{kernel}: {rate(stats.edges, stats.run_seconds)} arcs/s"
    )
    return lines


def describe_values(value: Any) -> str:
    """A result in a few words: its type, its range, and how many vertices were not reached."""
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item()!r}"
    what = f"{array.dtype}{list(array.shape)}"
    known = array[reached(array)]
    if not known.size:
        return f"{what}, nothing reached" if array.size else what
    if array.dtype == np.bool_:
        return f"{what}, {int(array.sum()):,} true"
    missing = array.size - known.size
    return f"{what}, {known.min():,} to {known.max():,}" + (f", {missing:,} not reached" if missing else "")


def reached(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a result holds a value: not NaN, infinite, `vg.inf` of its type, or -1 (no vertex, no level)."""
    known = np.ones(array.shape, dtype=np.bool_)
    if array.dtype.kind == "f":
        known &= np.isfinite(array)
    if array.dtype.kind in "iu":
        known &= array != np.iinfo(array.dtype).max
    if array.dtype.kind == "i":
        known &= array != -1
    return known


def outputs(result: Result) -> dict[str, Any]:
    """The returned values by name, in the order of the algorithm's return statement."""
    return {name: getattr(result, name) for name in result.names}


def as_json(name: str, graph: Graph, result: Result, read_seconds: float, trace: bool) -> dict[str, Any]:
    """The same summary as data, for `--json`."""
    stats = result.stats
    report: dict[str, Any] = {
        "algorithm": name,
        "graph": {"vertices": graph.num_vertices, "edges": graph.num_edges, "directed": graph.directed},
        "schedule": {label: options.to_json() for label, options in result.schedule.labels.items()},
        "device": stats.device,
        "threads": stats.threads,
        "rounds": stats.rounds,
        "converged": result.converged,
        "edges": stats.edges,
        "cached": stats.cached,
        "seconds": {
            "read": read_seconds,
            "compile": stats.compile_seconds,
            "prepare": stats.prepare_seconds,
            "run": stats.run_seconds,
            "waited": stats.waited,
        },
        "results": {key: _json_values(value) for key, value in outputs(result).items()},
    }
    if trace:
        report["trace"] = [_json_round(record) for record in result.trace]
    return report


def _json_values(value: Any) -> Any:
    array = np.asarray(value)
    if array.ndim == 0:
        # JSON has no infinity and no NaN.
        return array.item() if np.isfinite(array) else str(array.item())
    known = array[reached(array)]
    limits = {"min": known.min().item(), "max": known.max().item()} if known.size else {}
    return {"dtype": str(array.dtype), "shape": list(array.shape), "reached": int(known.size), **limits}


def _json_round(record: Any) -> dict[str, Any]:
    return {
        "label": record.label,
        "direction": str(getattr(record.direction, "value", record.direction)),
        "frontier": int(record.frontier),
        "edges": int(record.edges),
        "seconds": float(record.seconds),
        "waited": float(record.waited),
    }


def describe_trace(result: Result) -> list[str]:
    """A table of the rounds; `waited` is the time of one thread at barriers, in the mean."""
    heads = f"{'round':>6}  {'label':<16} {'direction':<9} {'frontier':>12} {'arcs':>14} {'time':>9} {'waited':>9}"
    lines = [heads]
    for number, record in enumerate(result.trace, start=1):
        row = _json_round(record)
        lines.append(
            f"{number:>6}  {row['label']:<16} {row['direction']:<9} {row['frontier']:>12,} "
            f"{row['edges']:>14,} {duration(row['seconds']):>9} {duration(row['waited']):>9}"
        )
    return lines


# --- files ----------------------------------------------------------------------------------------


def check_output(file: Path) -> Path:
    """Refuse, before any work, a result file whose suffix names no format, or whose folder does not exist."""
    if file.suffix not in OUTPUT_SUFFIXES:
        raise ParameterError(
            f"results cannot be written as {str(file)!r}: use one of {', '.join(OUTPUT_SUFFIXES)}"
        )
    return check_folder(file)


def check_folder(file: Path) -> Path:
    """Refuse, before any work, a file in a folder that does not exist."""
    if not file.parent.is_dir():
        raise ParameterError(f"{str(file)!r} cannot be written: there is no folder {str(file.parent)!r}")
    return file


def write_result(
    file: Path, values: Mapping[str, Any], num_vertices: int, others: Container[str] = ()
) -> None:
    """Write results: `.npz` everything by name; `.npy` a single array; `.csv` and `.txt` a row per vertex.

    `others`: those that have elements of edges, or are sets of vertices, and so no column there.

    A `.csv` has a header and a column `vertex`; a `.txt` has the values alone. Columns of a vector property
    `f` are `f_0`, `f_1`, ... Raises ParameterError where the values do not fit the format.
    """
    if file.suffix == ".npz":
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in values.items()}
        np.savez_compressed(file, **arrays)
        return
    if file.suffix == ".npy":
        if len(values) != 1:
            raise ParameterError(
                f"a .npy file holds one array, not {', '.join(values)}: choose with --field or write .npz"
            )
        np.save(file, np.asarray(next(iter(values.values()))))
        return
    columns = _columns({k: v for k, v in values.items() if k not in others}, num_vertices)
    if not columns:
        raise ParameterError(
            f"a {file.suffix} file has a row per vertex, and {', '.join(values)} has none: write .npz"
        )
    with file.open("w", newline="", encoding="utf-8") as stream:
        if file.suffix == ".csv":
            writer = csv.writer(stream)
            writer.writerow(["vertex", *columns])
            writer.writerows(zip(range(num_vertices), *(c.tolist() for c in columns.values()), strict=True))
        else:
            rows = zip(*(c.tolist() for c in columns.values()), strict=True)
            stream.writelines(" ".join(map(str, row)) + "\n" for row in rows)


def _columns(values: Mapping[str, Any], num_vertices: int) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, value in values.items():
        array = np.asarray(value)
        if array.ndim == 1 and len(array) == num_vertices:
            columns[name] = array
        elif array.ndim == 2 and len(array) == num_vertices:
            columns |= {f"{name}_{k}": array[:, k] for k in range(array.shape[1])}
    return columns
