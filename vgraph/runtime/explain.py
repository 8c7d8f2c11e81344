"""What the compiler makes of a program, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.schedule import Schedule

if TYPE_CHECKING:
    from vgraph.compiler.ir import Program
    from vgraph.compiler.rewrite import Pass
    from vgraph.decorators import AlgorithmDef
    from vgraph.graph import Graph


@dataclass
class Explanation:
    """The parts of an explanation, each a text; printing it prints them in order."""

    algorithm: str
    effects: str = ""
    schedule: str = ""
    reasons: str = ""
    passes: dict[str, str] = field(default_factory=dict)
    llvm: str = ""
    assembly: str = ""

    def __str__(self) -> str:
        sections = [("effects", self.effects), ("schedule", self.schedule), ("reasons", self.reasons)]
        sections += [(f"IR after {name}", text) for name, text in self.passes.items()]
        sections += [("LLVM IR", self.llvm), ("machine code", self.assembly)]
        shown = [f"== {title} ==\n{text.rstrip()}" for title, text in sections if text]
        return "\n\n".join([f"{self.algorithm}", *shown])

    __repr__ = __str__


def explanation(
    algorithm: AlgorithmDef,
    graph: Graph,
    schedule: Schedule,
    params: Mapping[str, Any],
    threads: int,
    *,
    passes: bool,
    llvm: bool,
    assembly: bool,
) -> Explanation:
    """Compile without running, and write down what happens."""
    from vgraph.compiler import build
    from vgraph.compiler.backends import jit
    from vgraph.compiler.effects import effects
    from vgraph.compiler.frontend import argument_types
    from vgraph.compiler.ir import EdgeApply, VertexApply
    from vgraph.compiler.rewrite import walk
    from vgraph.compiler.text import print_program
    from vgraph.runtime.executor import backend, signature_of
    from vgraph.runtime.policy import facts_of

    result = Explanation(algorithm.describe())
    values = {**stand_ins(algorithm, graph, params), **params}
    reasons: list[str] = []

    def observe(step: Pass | None, program: Program) -> None:
        name = step.name if step else "frontend"
        if passes:
            result.passes[name] = print_program(program)
        if name == "simplify":
            result.effects = "\n".join(effects(o).describe() for o in program.operators)
        if name == "choose-schedule":
            for n in walk(program):
                if isinstance(n, EdgeApply | VertexApply) and n.schedule is not None:
                    reasons.extend(f"{n.label}: {reason}" for reason in n.schedule.reasons)

    signature = signature_of(graph, argument_types(algorithm, values))
    kernel_threads = 1 if threads == 1 else 0
    compiled = build(
        algorithm,
        signature,
        backend(),
        schedule=schedule,
        threads=kernel_threads,
        facts=facts_of(graph),
        observe=observe,
    )
    result.schedule, result.reasons = str(compiled.schedule), "\n".join(dict.fromkeys(reasons))
    if llvm:
        result.llvm = compiled.source.text
    if assembly:
        result.assembly = jit.assembly(compiled.source.text)
    return result


def stand_ins(algorithm: AlgorithmDef, graph: Graph, params: Mapping[str, Any]) -> dict[str, Any]:
    """A value of a fitting type for each parameter that has neither a value nor a default."""
    from vgraph.language import DType, PropertyAnnotation

    found: dict[str, Any] = {}
    for name, parameter in algorithm.signature.parameters.items():
        if name in params or parameter.default is not parameter.empty:
            continue
        annotation = algorithm.annotations.get(name)
        if isinstance(annotation, PropertyAnnotation):
            found[name] = np.zeros(graph.num_vertices)
        elif isinstance(annotation, DType) and repr(annotation).endswith(("float32", "float64")):
            found[name] = 0.0
        else:
            found[name] = 0
    return found
