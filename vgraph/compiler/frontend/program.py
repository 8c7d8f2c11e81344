"""From an algorithm and the types of its arguments to the typed program."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import Inference, default
from vgraph.compiler.frontend.lowering.algorithms import lower_algorithm
from vgraph.compiler.frontend.lowering.context import AlgorithmContext
from vgraph.compiler.frontend.lowering.rules import RULES
from vgraph.compiler.frontend.lowering.tuples import check_updates
from vgraph.compiler.frontend.nesting import check_nesting, too_deep
from vgraph.compiler.frontend.signature import Signature
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.frontend.unit import Names, Unit, syntax_of
from vgraph.language.decorators import AlgorithmDef


def build_program(definition: AlgorithmDef, signature: Signature) -> TypedProgram:
    """The program at algorithm level. Raises a Refusal that points at what the language does not take."""
    inference = Inference()
    while True:
        # Edge properties are called in the IR as they are in the graph, so nothing else may have their names.
        unit = Unit(definition, signature, inference, Names(signature.edge_properties))
        ctx = AlgorithmContext(unit, RULES, definition, unit.names)
        try:
            lower_algorithm(ctx)
        except RecursionError:
            raise too_deep(unit.at or syntax_of(definition).span) from None
        if not inference.next_round():
            program = _assembled(unit, ctx)
            check_nesting(program)
            check_updates(program)
            return TypedProgram(program, signature, ctx.frame.typed, unit.typed)


def _assembled(unit: Unit, ctx: AlgorithmContext) -> ir.Program:
    text = syntax_of(unit.definition)
    kinds = {name: unit.inference.current[("global", name)].kind for name in unit.globals}
    return ir.Program(
        name=unit.definition.name,
        level=ir.Level.ALGORITHM,
        target=unit.signature.target,
        params=tuple(unit.params),
        properties=(
            *unit.properties.values(),
            *(p for (_, site), p in unit.from_graph.items() if site in (ir.Site.VERTEX, ir.Site.EDGE)),
        ),
        globals=tuple(ir.Global(n, default(kinds[n]), span=span) for n, span in unit.globals.items()),
        frontiers=tuple(ir.FrontierDecl(name) for name in unit.frontiers),
        lists=tuple(ir.ListDecl(name) for name in unit.lists),
        operators=tuple(unit.operators.values()),
        body=tuple(ctx.out),
        results=tuple(ctx.results),
        queues=tuple(ir.QueueDecl(name, p.name, span=p.span) for name, p in unit.queues.items()),
        span=text.span,
    )
