"""Where in the user's text a program has ended itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from vgraph.compiler import ir

if TYPE_CHECKING:
    from vgraph.errors import AlgorithmError
    from vgraph.runtime.executor import Job

_OURS: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep


def note_places(error: AlgorithmError, job: Job) -> None:
    """Add the lines of the user's that may end a run with this error: compiled code keeps messages, but no lines."""
    ends = (n for n in ir.walk(job.typed.program) if isinstance(n, ir.Fail))
    spans = {n.span for n in ends if n.message == str(error) and n.span is not None}
    users = [span for span in spans if not span.source.name.startswith(_OURS)]
    for span in sorted(users, key=lambda span: (span.source.name, span.line, span.column)):
        error.add_note(f"{'here' if len(users) == 1 else 'one of'}: {span}\n{span.render()}")
