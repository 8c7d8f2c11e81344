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


def test_trace(tmp_path):
    rounds = [SimpleNamespace(label="relax", frontier=2**k, edges=3 * 2**k, seconds=1e-3) for k in range(4)]
    axes = plot.plot_trace(rounds, tmp_path / "trace.png")
    assert [line.get_label() for line in axes.lines] == ["relax: frontier", "relax: edges"]
    assert axes.lines[0].get_ydata().tolist() == [1, 2, 4, 8]
    assert (tmp_path / "trace.png").stat().st_size > 1000


def test_an_empty_trace():
    with pytest.raises(vg.VGraphError, match="no rounds"):
        plot.plot_trace([])
