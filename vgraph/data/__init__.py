"""Small graphs that come with vgraph, for a first try, the documentation and the tests (terms: NOTICE.md)."""

from __future__ import annotations

from pathlib import Path

from vgraph.errors import GraphError
from vgraph.records import dataclass
from vgraph.tracebacks import public

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class BundledGraph:
    """A graph in this package: its file, whether its arcs have a direction, a title, and whom to name."""

    file: str
    directed: bool
    title: str
    attribution: str
    y_down: bool = False
    """The `y` coordinates grow southwards, as on a screen."""


GRAPHS: dict[str, BundledGraph] = {
    "amsterdam": BundledGraph(
        "osm-amsterdam.gr.xz",
        directed=True,
        title="Amsterdam, streets",
        attribution="© OpenStreetMap contributors, ODbL 1.0",
        y_down=True,
    ),
    "karate": BundledGraph(
        "karate.el", directed=False, title="Zachary's karate club", attribution="W. W. Zachary (1977)"
    ),
    "lesmis": BundledGraph(
        "lesmis.wel", directed=False, title="Les Misérables, characters", attribution="D. E. Knuth (1993)"
    ),
}


@public
def path(name: str) -> Path:
    """The file of a bundled graph, to be given to `vgraph.read`.

    Names: "amsterdam" (68,213 vertices, directed, weights and coordinates), "karate" (34 vertices,
    undirected) and "lesmis" (77 vertices, undirected, weights). Raises GraphError for any other.
    """
    if name not in GRAPHS:
        raise GraphError(f"no bundled graph is called {name!r}; there are {', '.join(GRAPHS)}")
    return _HERE / GRAPHS[name].file
