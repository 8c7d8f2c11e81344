"""From an algorithm and the types of its arguments to the typed program."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.frontend.driver import DriverLowering
from vgraph.compiler.frontend.kinds import Inference, default
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
        driver = DriverLowering(unit)
        try:
            driver.build()
        except RecursionError:
            raise too_deep(unit.at or syntax_of(definition).span) from None
        if not inference.next_round():
            program = _assembled(unit, driver)
            check_nesting(program)
            return TypedProgram(program, signature, driver.frame.typed, unit.typed)


def _assembled(unit: Unit, driver: DriverLowering) -> ir.Program:
    text = syntax_of(unit.definition)
    globals_ = []
    for name, span in unit.globals.items():
        state = unit.inference.current[("global", name)]
        globals_.append(ir.Global(name, default(state.kind), span=span))
    return ir.Program(
        name=unit.definition.name,
        level=ir.Level.ALGORITHM,
        target=unit.signature.target,
        params=tuple(unit.params),
        properties=(
            *unit.properties.values(),
            *(p for (_, site), p in unit.from_graph.items() if site in (ir.Site.VERTEX, ir.Site.EDGE)),
        ),
        globals=tuple(globals_),
        frontiers=tuple(ir.FrontierDecl(name) for name in unit.frontiers),
        lists=tuple(ir.ListDecl(name) for name in unit.lists),
        operators=tuple(unit.operators.values()),
        body=tuple(driver.out),
        results=tuple(driver.results),
        queues=tuple(ir.QueueDecl(name, p.name, span=p.span) for name, p in unit.queues.items()),
        span=text.span,
    )
