"""Checks and preparations in Python of the algorithms that an algorithm calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vgraph.compiler.frontend.sources import reached
from vgraph.errors import ParameterError
from vgraph.language.decorators import AlgorithmDef, asked_of

if TYPE_CHECKING:
    from vgraph.runtime.executor import Job
    from vgraph.runtime.plan import Plan


def check_called(plan: Plan, job: Job) -> None:
    """Make the checks of all algorithms that are parts of the program. Raises ParameterError, also where one of them
    would be prepared: by another graph, or by other arguments, than it is given."""
    known = {d.path: d for d, _ in reached(job.algorithm) if isinstance(d, AlgorithmDef)}
    for path, words in plan.called:
        callee, outer = known[path], job.algorithm.name
        given = {name: p.default for name, p in callee.signature.parameters.items()}
        for name, (way, value) in json.loads(words).items():
            given[name] = job.arguments[value] if way == "parameter" else value
        try:
            callee.check(job.graph, given)
        except ParameterError as error:
            raise ParameterError(f"{outer} calls {callee.name}: {error}") from None
        for make in callee.preparations:
            if _changes(make, job, given):
                raise ParameterError(
                    f"{outer} calls {callee.name}, for which `{make.__name__}` prepares another graph or other "
                    f"arguments: only vg.run does that; run {callee.name} by it, and give what it found to {outer}"
                )


def _changes(make: Any, job: Job, given: dict[str, Any]) -> bool:
    """Whether a preparation gives anything but what it is given."""
    wanted = asked_of(make)
    graph, rank, arguments = make(job.graph, **{name: given[name] for name in wanted})
    return graph is not job.graph or rank is not None or bool(arguments)
