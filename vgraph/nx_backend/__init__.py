"""The NetworkX backend: `nx.pagerank(G, backend="vgraph")`, or `nx.config.backend_priority = ["vgraph"]`.

This module is the backend object that NetworkX's dispatcher asks for. It imports neither NetworkX nor the algorithms
until one is called. `calls` counts, by name, how often each function really ran here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from vgraph.nx_backend.info import FUNCTIONS

calls: Counter[str] = Counter()


def convert_from_nx(graph: Any, **how: Any) -> Any:
    """The `NxGraph` of a NetworkX graph, with the edge attributes that the algorithm reads."""
    from vgraph.nx_backend.convert import convert_from_nx

    return convert_from_nx(graph, **how)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Results are Python objects already; a graph becomes a NetworkX graph again."""
    from vgraph.nx_backend.convert import convert_to_nx

    return convert_to_nx(result)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why these arguments are not supported."""
    from vgraph.nx_backend.arguments import refusal

    return refusal(name, args, kwargs) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why NetworkX is the better choice: below some thousand edges the conversion costs more than it saves."""
    from vgraph.nx_backend.arguments import too_small

    return too_small(name, args, kwargs) or True


def on_start_tests(items: list[Any]) -> None:
    """Mark the tests of NetworkX's own suite that cannot pass here, each with its reason; count what reaches us."""
    from vgraph.nx_backend.expected import prepare

    prepare(items)


def function(name: str) -> Any:
    """The function itself, whose calls are not counted."""
    from vgraph.nx_backend import centrality, components, distances, flows, links, paths, structure, trees

    rooms = (centrality, components, distances, flows, links, paths, structure, trees)
    return next(vars(room)[name] for room in rooms if name in vars(room))


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = function(name)

    def counted(*args: Any, **kwargs: Any) -> Any:
        from vgraph.errors import AlgorithmError, ParameterError

        calls[name] += 1
        try:
            return found(*args, **kwargs)
        except (AlgorithmError, ParameterError) as error:  # weights that are not finite: NetworkX takes them
            raise NotImplementedError(str(error)) from None

    globals()[name] = counted
    return counted
