"""Pictures (Matplotlib): a graph coloured by a vertex property, the rounds of a run, and what tuning tried."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import GraphError, ParameterError, VGraphError
from vgraph.tracebacks import public

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vgraph.graph import Graph
    from vgraph.runtime.result import Round
    from vgraph.runtime.tuning.outcome import Tuning

_DARK, _LIGHT, _GREY = "#10131a", "#e8eaf0", "#3a3f4b"


@public
def vertices(
    graph: Graph,
    values: ArrayLike,
    target: str | Path | Axes | None = None,
    *,
    x: str = "x",
    y: str = "y",
    y_down: bool = False,
    degrees: float | None = None,
    missing: float | None = None,
    mark: int | None = None,
    title: str = "",
    label: str = "",
    attribution: str = "",
    cmap: str = "plasma",
) -> Axes:
    """Draw every edge between its ends' coordinates, coloured by the mean of `values` there; return the axes.

    `values`: one number per vertex. Edges with an end whose value is missing are grey; missing are NaN,
    infinities, the largest value of an integer type (`vg.inf`), and `missing`. Coordinates are the vertex
    properties named `x` and `y`.

    `target`: a file to write (its suffix chooses the format), axes to draw into, or None for a new figure.
    `y_down`: y grows southwards. `degrees`: coordinate units per degree where they are longitude and latitude
    (1, or 1e6 in DIMACS road files), to draw both axes at one scale; None for coordinates of a plane.
    `mark`: a vertex to point out. `attribution`: whom the data's licence asks to name on the picture.

    Raises GraphError where the graph has no coordinates, ParameterError where `values` does not fit it.
    """
    positions = _positions(graph, x, y)
    numbers = _values(values, graph.num_vertices, missing)
    canvas = _Canvas(target)
    ends = _edges(graph)
    segments, shade = positions[ends], numbers[ends].mean(axis=1)

    known = ~np.isnan(shade)
    width = float(np.clip(260 / np.sqrt(max(1, len(segments))), 0.25, 1.8))
    _lines(canvas.axes, segments[~known], linewidths=0.6 * width, color=_GREY)
    drawn = _lines(canvas.axes, segments[known], linewidths=width, array=shade[known], cmap=_colours(cmap))
    if mark is not None:
        spot: dict[str, Any] = {
            "marker": "o",
            "markersize": 7,
            "color": "white",
            "markeredgecolor": "black",
            "zorder": 3,
        }
        canvas.axes.plot(*positions[mark], **spot)
    canvas.axes.autoscale()
    canvas.axes.set_aspect(_aspect(positions, degrees))
    if y_down:
        canvas.axes.invert_yaxis()
    canvas.dress(title, attribution)
    if known.any():
        canvas.colour_bar(drawn, label)
    canvas.save()
    return canvas.axes


def check(graph: Graph, target: str | Path, *, x: str = "x", y: str = "y") -> None:
    """Raise, before any work, what `vertices` would raise afterwards: no coordinates, no Matplotlib, a wrong suffix."""
    _positions(graph, x, y)
    _axes(target, (1, 1))


@public
def plot_trace(trace: Iterable[Round], target: str | Path | Axes | None = None, *, title: str = "") -> Axes:
    """Draw what each round of a run did: active vertices, arcs walked and time, one panel each.

    Every label and direction has a colour and a marker of its own; a thin grey line leads from round to round of a
    label where they are few enough. Scales are logarithmic; a panel with nothing but zeros is left out.

    `trace`: `result.trace`. `target` as in `vertices`; axes get the active vertices alone. Returns the topmost axes;
    raises ParameterError for an empty trace.
    """
    rounds = list(trace)
    if not rounds:
        raise ParameterError("the trace has no rounds to draw")
    own = target is None or isinstance(target, (str, Path))
    panels = [p for p in _PANELS if any(getattr(r, p[0]) for r in rounds)] if own else []
    panels = panels or list(_PANELS[:1])
    axes, save = _axes(target, (9, 1.2 + 1.9 * len(panels)))
    below = _stacked(axes, len(panels)) if own else [axes]
    for panel, (what, unit, name) in zip(below, panels, strict=True):
        _draw_rounds(panel, rounds, what)
        panel.set_ylabel(name)
        _log_scale(panel, [float(getattr(r, what)) for r in rounds], unit)
    _number_rounds(below[-1], len(rounds))
    legend: dict[str, Any] = {"fontsize": 9, "markerscale": 4 if len(rounds) > _MANY else 1}
    if own:
        axes.figure.suptitle(title or _summary(rounds), x=0.02, ha="left", fontsize=12)
        legend |= {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "borderaxespad": 0.2,
            "ncols": 5,
            "frameon": False,
        }
    else:
        axes.set_title(title or _summary(rounds))
    axes.legend(**legend)
    save()
    return axes


_PANELS = (
    ("frontier", "", "active vertices"),
    ("edges", "", "arcs walked"),
    ("seconds", "s", "time of the round"),
)
_MARKERS = {"push": "^", "pull": "v", "vertex": "o"}
_OTHER_MARKERS = "sDPX*<>"
_FEW, _MANY = 60, 1500
"""Rounds up to which each has a full marker, and from which on there are only points."""


def _stacked(top: Axes, count: int) -> list[Axes]:
    """`count` panels with one x axis, in the figure of `top`, which becomes the first of them."""
    figure = top.figure
    grid = figure.add_gridspec(count, 1)
    top.set_subplotspec(grid[0])
    panels = [top, *(figure.add_subplot(grid[i], sharex=top) for i in range(1, count))]
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    return panels


def _draw_rounds(axes: Axes, rounds: list[Round], what: str) -> None:
    """One series for each label and direction; where a label changes its direction, the series breaks."""
    number = np.arange(1, len(rounds) + 1)
    values = np.array([getattr(r, what) for r in rounds], dtype=np.float64)
    label, way = np.array([r.label for r in rounds]), np.array([r.direction for r in rounds])
    markers, others = dict(_MARKERS), iter(_OTHER_MARKERS * len(set(way)))
    for name in dict.fromkeys(way.tolist()):
        markers.setdefault(name, next(others))
    colour = 0
    for name in dict.fromkeys(label.tolist()):
        own = label == name
        if len(rounds) <= _MANY:
            axes.plot(number[own], values[own], "-", color="0.75", linewidth=0.8, zorder=1)
        for direction in dict.fromkeys(way[own].tolist()):
            shown = np.where(way[own] == direction, values[own], np.nan)
            style = _round_style(len(rounds), markers[direction])
            text = name if direction == "vertex" else f"{name}: {direction}"
            axes.plot(number[own], shown, color=f"C{colour % 10}", label=text, **style)
            colour += 1
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _round_style(count: int, marker: str) -> dict[str, Any]:
    """Lines with markers for few rounds, with small ones for more, and points alone for very many."""
    if count > _MANY:
        return {"marker": marker, "markersize": 1.5, "linestyle": "none", "alpha": 0.6, "rasterized": True}
    return {"marker": marker, "markersize": 5.0 if count <= _FEW else 2.5, "linewidth": 1.2}


def _log_scale(axes: Axes, values: list[float], unit: str) -> None:
    """A logarithmic axis with units (10 k, 1 M; 10 µs, 1 ms); below the least positive value it goes on to zero."""
    from matplotlib.ticker import EngFormatter, MaxNLocator, NullFormatter

    least = min((v for v in values if v > 0), default=1.0)
    if min(values) > 0:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=least, linscale=0.5)
        axes.set_ylim(bottom=0)
    if max(values) < 10 * least:  # within a decade a logarithmic axis has next to no labels
        axes.set_yscale("linear")
        axes.set_ylim(0, 1.15 * max(*values, least))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=not unit))
    axes.yaxis.set_major_formatter(EngFormatter(unit, sep=" " if unit else ""))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _number_rounds(axes: Axes, count: int) -> None:
    """Rounds are whole numbers from 1 on."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlabel("round")
    axes.set_xlim(1 - max(0.5, 0.01 * count), count + max(0.5, 0.01 * count))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else ""))


def _summary(rounds: list[Round]) -> str:
    """Rounds, arcs and time of the whole run in a line."""
    from vgraph.runtime.result import duration

    arcs, seconds = sum(r.edges for r in rounds), sum(r.seconds for r in rounds)
    parts = [f"{len(rounds):,} round{'s' if len(rounds) > 1 else ''}"]
    parts += [f"{arcs:,} arcs"] if arcs else []
    parts += [duration(seconds)] if seconds else []
    return ", ".join(parts)


@public
def plot_tuning(tuning: Tuning, target: str | Path | Axes | None = None, *, title: str = "") -> Axes:
    """Draw the time of the fastest schedules that were tried, and of the default, as bars; return the axes.

    `tuning`: what `vg.autotune` gave. `target` as in `vertices`. Schedules that were stopped are hatched: they
    would have taken longer.
    """
    from matplotlib.ticker import EngFormatter

    order = sorted((t for t in tuning.tried if np.isfinite(t.seconds)), key=lambda t: t.seconds)
    default = next(t for t in order if not t.schedule.labels)
    shown = order[:_BARS] if default in order[:_BARS] else [*order[: _BARS - 1], default]
    axes, save = _axes(target, (10, 1.3 + 0.3 * len(shown)))
    for row, trial in enumerate(shown):
        colour = "C0" if trial is default else "C2" if trial.schedule == tuning.schedule else "0.75"
        hatch = "///" if trial.status == "stopped" else None
        axes.barh(row, trial.seconds, color=colour, hatch=hatch, edgecolor="white", height=0.75)
        ratio = trial.seconds / tuning.default_seconds
        axes.annotate(f" {ratio:.2f}", (trial.seconds, row), va="center", fontsize=8)
    if shown[-1].seconds > 20 * shown[0].seconds:
        axes.set_xscale("log")
    axes.axvline(tuning.default_seconds, color="C0", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(shown)), [fill(str(t), 60) for t in shown], fontsize=7)
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.xaxis.set_major_formatter(EngFormatter("s"))
    axes.set_xlabel("time of a run (beside the bar: in units of the default's)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title or fill(tuning.summary(), 100), loc="left", fontsize=10)
    save()
    return axes


_BARS = 20


class _Canvas:
    """Axes to draw a map into, with its dress, and where to save them."""

    def __init__(self, target: str | Path | Axes | None) -> None:
        self.axes, self.save = _axes(target, (12, 9), facecolor=_DARK)

    def dress(self, title: str, attribution: str) -> None:
        """No frame and no ticks; the title above, the attribution in the corner."""
        self.axes.set_facecolor(_DARK)
        self.axes.set_xticks([])
        self.axes.set_yticks([])
        self.axes.spines[:].set_visible(False)
        if title:
            self.axes.set_title(title, color=_LIGHT, fontsize=15, pad=14)
        if attribution:
            corner: dict[str, Any] = {"transform": self.axes.transAxes, "ha": "right", "va": "bottom"}
            self.axes.text(0.995, 0.005, attribution, color=_LIGHT, alpha=0.75, fontsize=8, **corner)

    def colour_bar(self, drawn: Any, label: str) -> None:
        """A slim colour bar beside the map."""
        bar = self.axes.figure.colorbar(drawn, ax=self.axes, shrink=0.7, pad=0.015, aspect=35)
        bar.outline.set_visible(False)
        bar.ax.tick_params(colors=_LIGHT, labelsize=9)
        bar.set_label(label, color=_LIGHT)


def _axes(target: str | Path | Axes | None, size: tuple[float, float], **style: Any) -> tuple[Axes, Any]:
    """The axes to draw into, and the function to call when the drawing is done."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise VGraphError("drawing needs Matplotlib: pip install 'vgraph[plot]'") from error
    if target is not None and not isinstance(target, (str, Path)):
        return target, lambda: None
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.15, w_pad=0.15), **style)
    axes = figure.add_subplot()
    if target is None:
        return axes, lambda: None
    known = figure.canvas.get_supported_filetypes()
    if Path(target).suffix.lstrip(".").lower() not in known:
        endings = ", ".join(f".{name}" for name in sorted(known))
        raise ParameterError(f"a picture cannot be written as {str(target)!r}: use one of {endings}")
    return axes, lambda: figure.savefig(target, dpi=170)


def _lines(axes: Axes, segments: NDArray[np.float64], **style: Any) -> Any:
    """Add lines; `segments` is (edges, ends, coordinates). Pixels even in vector formats: they are many."""
    from matplotlib.collections import LineCollection

    return axes.add_collection(LineCollection(list(segments), rasterized=True, **style))


def _colours(cmap: str) -> Any:
    """The colour map without its darkest fifth, which would vanish on the dark ground."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps[cmap](np.linspace(0.2, 1, 256)))


def _positions(graph: Graph, x: str, y: str) -> NDArray[np.float64]:
    """Coordinates of all vertices, (num_vertices, 2)."""
    properties = graph.vertex_properties
    absent = [name for name in (x, y) if name not in properties]
    if absent:
        raise GraphError(
            f"the graph cannot be drawn: it has no vertex property {' and no '.join(map(repr, absent))} for "
            f"coordinates (a .gr file gets them from the .co file beside it)"
        )
    return np.stack([np.asarray(properties[name], dtype=np.float64) for name in (x, y)], axis=1)


def _values(values: ArrayLike, num_vertices: int, missing: float | None) -> NDArray[np.float64]:
    """`values` as floats, NaN where missing."""
    array = np.asarray(values)
    if array.shape != (num_vertices,):
        raise ParameterError(f"values have shape {array.shape}; the graph needs {num_vertices} numbers")
    result = array.astype(np.float64)
    result[~np.isfinite(result)] = np.nan
    if array.dtype.kind in "iu":
        result[array == np.iinfo(array.dtype).max] = np.nan
    if missing is not None:
        result[array == missing] = np.nan
    return result


def _edges(graph: Graph) -> NDArray[np.int64]:
    """The two ends of each edge, (edges, 2): once where both directions are stored, without self-loops."""
    sources, targets, _ = graph.edges()
    low, high = np.minimum(sources, targets).astype(np.int64), np.maximum(sources, targets).astype(np.int64)
    n = max(graph.num_vertices, 1)
    keys = np.unique((low * n + high)[low != high])
    return np.stack([keys // n, keys % n], axis=1)


def _aspect(positions: NDArray[np.float64], degrees: float | None) -> float:
    """Height of a unit of y over width of a unit of x: a degree of longitude shrinks towards the poles."""
    if degrees is None or not len(positions):
        return 1.0
    return 1.0 / max(0.01, cos(radians(float(positions[:, 1].mean()) / degrees)))
