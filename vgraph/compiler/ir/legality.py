"""Legality of the IR as data: what operations take, and what indexes a property."""

from __future__ import annotations

from vgraph.compiler.ir.node import Orientation, Site
from vgraph.compiler.types import EID, I64, VID, Kind, Type

NUMBERS = frozenset({Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT, Kind.INDEX})
INTEGERS = frozenset({Kind.SIGNED, Kind.UNSIGNED, Kind.INDEX})
BITS = frozenset({Kind.SIGNED, Kind.UNSIGNED, Kind.BOOL})
FLOATS = frozenset({Kind.FLOAT})
# The kinds of element that each operation takes.
BINARY: dict[str, frozenset[Kind]] = {
    **dict.fromkeys(("+", "-", "*", "//", "%", "**"), NUMBERS),
    **dict.fromkeys(("min", "max"), NUMBERS | {Kind.BOOL}),
    **dict.fromkeys(("&", "|", "^"), BITS),
    **dict.fromkeys(("<<", ">>"), INTEGERS),
    "/": FLOATS,
}
UNARY: dict[str, frozenset[Kind]] = {
    "neg": NUMBERS - {Kind.INDEX},
    "not": frozenset({Kind.BOOL}),
    "invert": frozenset({Kind.SIGNED, Kind.UNSIGNED}),
}
MONOTONE = ("min", "max", "|", "&")
ACCUMULATING = ("+", "*")
REDUCTIONS = (*MONOTONE, *ACCUMULATING)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
# What fields of a type may be.
WORDS: dict[str, tuple[str, ...]] = {
    "ReduceOp": REDUCTIONS,
    "Arithmetic": tuple(op for op in BINARY if not op.isalpha()),
    "Comparison": COMPARISONS,
    "Connective": ("and", "or"),
    "SizeWord": ("num_vertices", "num_arcs"),
    "SetOperation": ("|", "&", "-"),
}
# Fields that declare locals, with the types of these; None: the type stands in the field `type`.
NEW_LOCALS: dict[str, Type | None] = {"NewLocal": None, "NewVid": VID, "NewEid": EID, "NewI64": I64}
INDEX_TYPES: dict[Site, Type] = {
    Site.VERTEX: VID,
    Site.EDGE: EID,
    Site.EDGE_IN: EID,
    Site.EDGE_SEGMENTS: EID,
    Site.NUMBERED: EID,
    Site.ARRAY: I64,
    Site.QUEUE: I64,
    Site.THREAD: VID,
}
ARC_SITES = {Orientation.OUT: Site.EDGE, Orientation.IN: Site.EDGE_IN}
