"""Typed programs, kept in memory: the next schedule or device begins with the one that is there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from vgraph.cache import key_text
from vgraph.compiler.frontend import source_parts, typed_program

if TYPE_CHECKING:
    from vgraph.compiler.frontend.typed import TypedProgram
    from vgraph.runtime.executor import Job

_TYPED: Final = 64
"""Typed programs kept, the least recently used go first."""
_kept: OrderedDict[Hashable, TypedProgram] = OrderedDict()


def typed(job: Job) -> TypedProgram:
    """The typed program from memory, as long as all that it is made of is the same and says the same; or made now."""
    definitions = tuple(definition for definition, _ in job.reached)
    key = definitions, source_parts(job.algorithm, job.reached), key_text(job.signature)
    found = _kept.pop(key, None) or typed_program(job.algorithm, job.signature)
    _kept[key] = found
    while len(_kept) > _TYPED:
        _kept.popitem(last=False)
    return found
