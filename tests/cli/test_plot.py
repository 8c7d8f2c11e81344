"""Pictures: what is drawn, in which colour, and what cannot be drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import vgraph as vg
from vgraph import plot


@pytest.fixture
def path_graph() -> vg.Graph:
    """0 - 1 - 2 - 3 on a line, both directions stored, and a self-loop."""
    positions = {"x": [0.0, 1.0, 2.0, 3.0], "y": [50.0, 50.0, 50.0, 50.0]}
    return vg.Graph.from_edges([0, 1, 1, 2, 2, 3, 3], [1, 0, 2, 1, 3, 2, 3], vertex_properties=positions)


def lines(axes):
    """The unreached lines, and the coloured ones."""
    grey, coloured = axes.collections[:2]
    return grey, coloured


def test_each_edge_is_drawn_once_in_the_colour_of_its_mean(path_graph):
    grey, coloured = lines(plot.vertices(path_graph, [0, 2, 4, 10]))
    assert len(grey.get_segments()) == 0
    assert coloured.get_array().tolist() == [1, 3, 7]
    assert coloured.get_segments()[0].tolist() == [[0, 50], [1, 50]]


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (np.array([0, 1, 2, np.inf]), None),
        (np.array([0, 1, 2, np.nan]), None),
        (np.array([0, 1, 2, np.iinfo(np.int32).max], np.int32), None),
        (np.array([0, 1, 2, -1]), -1),
    ],
)
def test_unreached_ends_are_grey(path_graph, values, missing):
    grey, coloured = lines(plot.vertices(path_graph, values, missing=missing))
    assert len(grey.get_segments()) == 1
    assert coloured.get_array().tolist() == [0.5, 1.5]


def test_nothing_reached(path_graph):
    grey, coloured = lines(plot.vertices(path_graph, np.full(4, np.inf)))
    assert len(grey.get_segments()) == 3
    assert len(coloured.get_segments()) == 0


def test_scale(path_graph):
    assert plot.vertices(path_graph, np.arange(4)).get_aspect() == 1
    degrees = plot.vertices(path_graph, np.arange(4), degrees=1).get_aspect()
    assert degrees == pytest.approx(1 / np.cos(np.radians(50)))
    assert plot.vertices(path_graph, np.arange(4), y_down=True).yaxis_inverted()


def test_attribution_and_title_are_on_the_picture(path_graph):
    axes = plot.vertices(path_graph, np.arange(4), title="A path", attribution="© somebody")
    assert axes.get_title() == "A path"
    assert [text.get_text() for text in axes.texts] == ["© somebody"]


def test_into_axes_and_into_a_file(path_graph, tmp_path):
    axes = plot.vertices(path_graph, np.arange(4), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text().startswith("<?xml")
    assert plot.vertices(path_graph, np.arange(4), axes) is axes


def test_an_unknown_picture_format(path_graph, tmp_path):
    with pytest.raises(vg.VGraphError, match=r"\.png"):
        plot.vertices(path_graph, np.arange(4), tmp_path / "map.doc")


def test_without_coordinates():
    graph = vg.Graph.from_edges([0], [1])
    with pytest.raises(vg.VGraphError, match="'x' and no 'y'"):
        plot.vertices(graph, [0, 1])


def test_values_must_fit(path_graph):
    with pytest.raises(vg.VGraphError, match="4 numbers"):
        plot.vertices(path_graph, [0, 1])


def a_round(label="relax", direction="push", frontier=1, edges=3, seconds=1e-3):
    return SimpleNamespace(label=label, direction=direction, frontier=frontier, edges=edges, seconds=seconds)


def series(axes):
    """What the legend names, and the values that are there."""
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    return {line.get_label(): line.get_ydata()[~np.isnan(line.get_ydata())].tolist() for line in named}


def test_trace(tmp_path):
    rounds = [a_round(frontier=4**k, edges=3 * 4**k) for k in range(4)]
    axes = plot.plot_trace(rounds, tmp_path / "trace.png")
    panels = axes.figure.axes
    assert [p.get_ylabel() for p in panels] == ["active vertices", "arcs walked", "time of the round"]
    assert [series(p) for p in panels] == [
        {"relax: push": [1, 4, 16, 64]},
        {"relax: push": [3, 12, 48, 192]},
        {"relax: push": [1e-3] * 4},
    ]
    assert [p.get_yscale() for p in panels] == ["log", "log", "linear"]
    assert panels[-1].get_xlabel() == "round"
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["relax: push"]
    assert axes.figure.get_suptitle() == "4 rounds, 255 arcs, 4 ms"
    assert (tmp_path / "trace.png").stat().st_size > 1000


def test_each_direction_of_a_label_has_its_colour_and_marker():
    ways = ["push", "push", "pull", "pull", "push"]
    rounds = [a_round("visit", way, frontier=n) for n, way in enumerate(ways, start=1)]
    rounds.append(a_round("count", "vertex", frontier=9, edges=0))
    rounds.append(a_round("spread", "pull then push", frontier=8))
    axes = plot.plot_trace(rounds)
    assert series(axes) == {
        "visit: push": [1, 2, 5],
        "visit: pull": [3, 4],
        "count": [9],
        "spread: pull then push": [8],
    }
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len({line.get_color() for line in named}) == len({line.get_marker() for line in named}) == 4
    assert [p.get_yscale() for p in axes.figure.axes][1] == "linear"


def test_what_is_zero_throughout_has_no_panel():
    rounds = [a_round("count", "vertex", n, 0, 0.0) for n in (0, 100, 10000)]
    axes = plot.plot_trace(rounds)
    assert [p.get_ylabel() for p in axes.figure.axes] == ["active vertices"]
    assert axes.get_yscale() == "symlog"
    assert axes.figure.get_suptitle() == "3 rounds"
    assert len(plot.plot_trace([a_round(frontier=0, edges=0, seconds=0.0)]).figure.axes) == 1


@pytest.mark.parametrize("count", [1, 10, 500, 10_000])
def test_traces_of_any_length(count, tmp_path):
    rounds = [a_round(direction=("push", "pull")[k % 7 == 0], frontier=k % 900 + 1) for k in range(count)]
    axes = plot.plot_trace(rounds, tmp_path / "trace.svg", title="Rounds")
    assert sum(map(len, series(axes).values())) == count
    assert axes.figure.get_suptitle() == "Rounds"
    ticks = [t for t in axes.figure.axes[-1].get_xticks() if 1 <= t <= count]
    assert ticks
    assert all(t == int(t) for t in ticks)
    assert (tmp_path / "trace.svg").stat().st_size < 2_000_000


def test_a_trace_in_given_axes(path_graph):
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot.plot_trace([a_round()], right) is right
    assert (len(left.lines), len(figure.axes)) == (0, 2)
    trace = vg.run(vg.algorithms.bfs, path_graph, source=0).trace
    drawn = trace.plot()
    assert isinstance(drawn, Figure)
    assert sum(map(len, series(drawn.axes[0]).values())) == len(trace)


def test_an_empty_trace():
    with pytest.raises(vg.VGraphError, match="no rounds"):
        plot.plot_trace([])
