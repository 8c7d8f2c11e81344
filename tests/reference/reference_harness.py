"""Run an algorithm on the reference interpreter, without the checks of `vg.run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgraph.compiler.frontend import argument_types, typed_program
from vgraph.language.decorators import AlgorithmDef
from vgraph.reference import RoundRecord
from vgraph.reference import run_reference as run_typed
from vgraph.runtime.executor import signature_of


def run_reference(
    definition: AlgorithmDef, graph: Any, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], list[RoundRecord]]:
    """The results by name, and a record of every round."""
    types = argument_types(definition, arguments)
    defaults = {name: p.default for name, p in definition.signature.parameters.items()}
    typed = typed_program(definition, signature_of(graph, types))
    return run_typed(typed, graph, {**defaults, **arguments})
