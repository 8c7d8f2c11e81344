"""What lengths of vectors are made of: `k` and `num_vertices` in `vg.vector(t, k * graph.num_vertices)`."""

from __future__ import annotations

from vgraph.compiler.frontend.sources import Reached, reached
from vgraph.language.decorators import AlgorithmDef, Definition

_SIZED = frozenset({"vector", "local"})


def names_of_lengths(definition: AlgorithmDef, found: Reached | None = None) -> frozenset[str]:
    """The names in lengths of vectors and local arrays, in bounds of slices, and in what is handed on to such.

    Those of the algorithm's text, of its operators' and its helpers', and the arguments of algorithms that it calls and
    that have such names. `found`: what it reaches, if that is known.
    """
    found = reached(definition) if found is None else found
    if all(_SIZED.isdisjoint(d.mentioned) and not d.slices for d, _ in found):
        return frozenset()
    captured = {
        d: [(n.rpartition(".")[2], v) for n, v in names if isinstance(v, Definition)] for d, names in found
    }
    return _names(definition, captured, frozenset())


def _names(
    definition: AlgorithmDef,
    captured: dict[Definition, list[tuple[str, Definition]]],
    callers: frozenset[AlgorithmDef],
) -> frozenset[str]:
    callers |= {definition}
    found: set[str] = set()
    parts: list[Definition] = [definition]
    for part in parts:  # which grows
        parts += [d for _, d in captured[part] if not isinstance(d, AlgorithmDef) and d not in parts]
        takers = set(_SIZED)
        for name, callee in captured[part]:
            if isinstance(callee, AlgorithmDef) and callee not in callers:
                inner = _names(callee, captured, callers)
                found |= inner & {"num_vertices"}
                takers |= {name} if inner else set()
        if part.slices or not takers.isdisjoint(part.mentioned):
            found |= {name for taker in (*takers, "") for name in part.measures.get(taker, ())}
    return frozenset(found)
