"""A program inside another: with names of its own, and with values in place of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgraph.compiler import ir
from vgraph.compiler.ir.legality import NEW_LOCALS
from vgraph.compiler.ir.node import fields_of, per_class
from vgraph.compiler.ir.trees import transform, with_fields

_PROPERTIES = frozenset({"PropertyName", "WrittenName", "ScratchName", "ArrayName"})
_OTHERS = frozenset(
    {
        *NEW_LOCALS,
        *("Local", "BoolLocal", "ReadLocal", "GlobalName", "OperatorName"),
        *("FrontierName", "ListName", "QueueName", "BucketsName"),
    }
)
_DECLARED = (ir.Param, ir.Property, ir.Global, ir.FrontierDecl, ir.ListDecl, ir.QueueDecl, ir.Operator)


def placed(
    program: ir.Program, prefix: str, properties: Mapping[str, str], values: Mapping[str, ir.Expr]
) -> ir.Program:
    """`program` with `prefix` and a dot before all names and labels, except those of `properties`, which get the names
    that they stand for there, and reads of the parameters in `values`, which become these."""

    def named(name: str, of_property: bool) -> str:
        return properties.get(name, f"{prefix}.{name}") if of_property else f"{prefix}.{name}"

    def rule(n: ir.Node) -> ir.Node | None:
        if isinstance(n, ir.Var) and n.name in values:
            return values[n.name]
        changes: dict[str, Any] = {}
        for field, of_property in _names(type(n)):
            old = n.__dict__[field]
            if isinstance(old, tuple):
                changes[field] = tuple(named(name, of_property) for name in old)
            elif old is not None:
                changes[field] = named(old, of_property)
        return with_fields(n, changes) if changes else None

    def results(r: ir.Result) -> ir.Result:
        return with_fields(r, {"value": named(r.value, True)}) if isinstance(r.value, str) else r

    made = transform(program, rule)
    return with_fields(made, {"results": tuple(map(results, made.results))})


@per_class
def _names(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """The fields of a class that hold names, and whether these are of properties."""
    found = [(f.name, f.type in _PROPERTIES) for f in fields_of(kind) if f.type in _PROPERTIES | _OTHERS]
    found += [(f.name, False) for f in fields_of(kind) if f.name == "label"]
    if kind in _DECLARED:
        found.append(("name", kind is ir.Property))
    return tuple(found)
