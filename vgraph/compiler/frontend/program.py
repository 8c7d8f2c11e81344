"""From an algorithm and the types of its arguments to the typed program."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import Inference, LoweredAgain, default
from vgraph.compiler.frontend.lowering.algorithms import lower_algorithm
from vgraph.compiler.frontend.lowering.context import AlgorithmContext
from vgraph.compiler.frontend.lowering.rules import RULES
from vgraph.compiler.frontend.lowering.tuples import check_updates
from vgraph.compiler.frontend.nesting import check_nesting, too_deep
from vgraph.compiler.frontend.signature import ArgumentType, Signature
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.frontend.unfilled import fill_unfilled
from vgraph.compiler.frontend.unit import Names, Unit, syntax_of
from vgraph.language.decorators import AlgorithmDef


def build_program(
    definition: AlgorithmDef, signature: Signature, callers: tuple[AlgorithmDef, ...] = ()
) -> TypedProgram:
    """The program at algorithm level. Raises a Refusal that points at what the language does not take.

    `callers`: the algorithms of which each calls the next, and the last this one.
    """
    inference, within = Inference(), (*callers, definition)
    built: dict[Hashable, TypedProgram] = {}  # of a round, for the next

    def called(
        callee: AlgorithmDef,
        given: Mapping[str, ArgumentType],
        edges: Mapping[str, str],
        lengths: Mapping[str, int],
    ) -> TypedProgram:
        key = (callee, tuple(given.items()), tuple(edges.items()), tuple(lengths.items()))
        if key not in built:
            held, sums = (
                {**types, **{name: types[of] for name, of in edges.items()}}
                for types in (signature.edge_properties, signature.path_types)
            )
            its = replace(signature, edge_properties=held, path_types=sums, arguments=given, lengths=lengths)
            built[key] = build_program(callee, its, within)
        return built[key]

    while True:
        # Edge properties are called in the IR as they are in the graph, so nothing else may have their names.
        names = Names(signature.edge_properties)
        unit = Unit(definition, signature, inference, names, within=within, called=called)
        ctx = AlgorithmContext(unit, RULES, definition, unit.names)
        try:
            lower_algorithm(ctx)
        except RecursionError:
            raise too_deep(unit.at or syntax_of(definition).span) from None
        except LoweredAgain:
            inference.again()
            continue
        if not inference.next_round():
            program = _assembled(unit, ctx)
            if not callers:
                program = fill_unfilled(program)
            check_nesting(program)
            check_updates(program)
            return TypedProgram(program, signature, ctx.frame.typed, unit.typed, unit.operations)


def _assembled(unit: Unit, ctx: AlgorithmContext) -> ir.Program:
    text = syntax_of(unit.definition)
    kinds = {name: unit.inference.current[("global", name)].kind for name in unit.globals}
    own = (ir.Origin.LOCAL, ir.Origin.SCRATCH)

    def of_parts(field: str) -> Iterator[Any]:
        return (x for part in unit.parts for x in getattr(part, field))

    in_parts = (p for p in of_parts("properties") if p.origin in own)
    return ir.Program(
        name=unit.definition.name,
        level=ir.Level.ALGORITHM,
        target=unit.signature.target,
        params=tuple(unit.params),
        properties=_apart((*unit.properties.values(), *in_parts, *unit.from_graph.values())),
        globals=(
            *(ir.Global(n, default(kinds[n]), span=span) for n, span in unit.globals.items()),
            *unit.kept,
            *of_parts("globals"),
        ),
        frontiers=(*map(ir.FrontierDecl, unit.frontiers), *of_parts("frontiers")),
        lists=(*map(ir.ListDecl, unit.lists), *of_parts("lists")),
        operators=(*unit.operators.values(), *of_parts("operators")),
        body=tuple(ctx.out),
        results=tuple(ctx.results),
        queues=(
            *(ir.QueueDecl(name, p.name, span=p.span) for name, p in unit.queues.items()),
            *of_parts("queues"),
        ),
        called=tuple(unit.hooks),
        span=text.span,
    )


def _apart(properties: Iterable[ir.Property]) -> tuple[ir.Property, ...]:
    """The properties, each once; a result of a call may have a name of the caller's, too."""
    found: dict[str, ir.Property] = {}
    for p in properties:
        first = found.setdefault(p.name, p)
        if (first.origin, first.site) != (p.origin, p.site):
            assert p.span is not None
            raise refusals.names.NameClash(p.span, p.name)
    return tuple(found.values())
