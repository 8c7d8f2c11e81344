"""The frontend: a decorated Python function to a typed program at algorithm level.

`source_parts` and `argument_types` run at every call and parse nothing; `build_program` loads the parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.frontend.signature import (
    ArgumentType,
    ArrayType,
    EdgeArgument,
    EdgeConstant,
    PropertyArgument,
    Signature,
    StaticValue,
    argument_types,
    unknown,
)
from vgraph.compiler.frontend.sources import source_parts

if TYPE_CHECKING:
    from vgraph.compiler import ir
    from vgraph.compiler.frontend.typed import TypedProgram
    from vgraph.language.decorators import AlgorithmDef

__all__ = [
    "ArgumentType", "ArrayType", "EdgeArgument", "EdgeConstant", "PropertyArgument", "Signature",
    "StaticValue", "argument_types", "build_program", "source_parts", "typed_program", "unknown",
]  # fmt: skip


def build_program(definition: AlgorithmDef, signature: Signature) -> ir.Program:
    """The program of an algorithm at algorithm level, fully typed.

    Raises a Refusal (`vgraph.refusals`) that points at what the language does not take.
    """
    return typed_program(definition, signature).program


def typed_program(definition: AlgorithmDef, signature: Signature) -> TypedProgram:
    """The same with what was found out about the texts of its functions, for the reference interpreter."""
    from vgraph.compiler.frontend import program

    return program.build_program(definition, signature)
