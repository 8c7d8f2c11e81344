"""Legality of the IR as data: which node may stand where at which level, and what operations take."""

from __future__ import annotations

from enum import Flag, auto

from vgraph.compiler import ir
from vgraph.compiler.types import EID, I64, VID, Kind, Type
from vgraph.errors import InternalError


class VerifyError(InternalError):
    """A program that breaks a rule of the IR: which `rule`, at which `node`, in which `place`."""

    def __init__(self, rule: str, node: ir.Node, place: str) -> None:
        self.rule, self.node, self.place = rule, node, place
        span = f" ({node.span})" if node.span else ""
        super().__init__(f"{place}, {type(node).__name__} `{_headline(node)}`{span}: {rule}")


def _headline(node: ir.Node) -> str:
    from vgraph.compiler.ir.text import print_node

    try:
        return print_node(node).partition("\n")[0]
    except (AssertionError, AttributeError, KeyError, TypeError):  # too broken to print
        return repr(node)


class Place(Flag):
    """Where a statement stands."""

    DRIVER = auto()  # the body of the program: at kernel level uniform code that every thread runs
    EDGE = auto()  # an edge operator
    VERTEX = auto()  # a vertex operator
    PARFOR = auto()
    SINGLE = auto()


OPERATOR = Place.EDGE | Place.VERTEX
ROUND = OPERATOR | Place.PARFOR | Place.SINGLE
ANYWHERE = Place.DRIVER | ROUND
HIGH = frozenset({ir.Level.ALGORITHM, ir.Level.SCHEDULED})
LOW = frozenset({ir.Level.KERNEL})
ALL = HIGH | LOW

# Each statement: the levels it may stand at, the places at the high levels, the places at kernel level.
STATEMENTS: dict[type[ir.Stmt], tuple[frozenset[ir.Level], Place, Place]] = {
    ir.Let: (ALL, ANYWHERE, ANYWHERE),
    ir.Assign: (ALL, ANYWHERE, ANYWHERE),
    ir.Accumulate: (ALL, ANYWHERE, ANYWHERE),
    ir.SetGlobal: (ALL, Place.DRIVER, Place.DRIVER),
    ir.ReduceGlobal: (ALL, OPERATOR, Place.PARFOR | Place.SINGLE),
    ir.Store: (ALL, Place.DRIVER | OPERATOR, Place.PARFOR | Place.SINGLE),
    ir.ScratchStore: (ALL, Place.VERTEX, Place.PARFOR),
    ir.ScratchClear: (LOW, Place.PARFOR, Place.PARFOR),
    ir.Reduce: (ALL, OPERATOR, Place.PARFOR | Place.SINGLE),
    ir.If: (ALL, ANYWHERE, ANYWHERE),
    ir.While: (ALL, ANYWHERE, ANYWHERE),
    ir.For: (ALL, ANYWHERE, ANYWHERE),
    ir.ForNeighbors: (ALL, OPERATOR, ANYWHERE),
    ir.ForCommon: (ALL, OPERATOR, ANYWHERE),
    ir.Break: (ALL, ANYWHERE, ANYWHERE),
    ir.Continue: (ALL, ANYWHERE, ANYWHERE),
    ir.Fail: (ALL, Place.DRIVER, Place.DRIVER),
    ir.Claim: (HIGH, OPERATOR, OPERATOR),
    ir.Union: (HIGH, OPERATOR, OPERATOR),
    ir.Fill: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.EdgeApply: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.VertexApply: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.Emit: (HIGH, Place.VERTEX, Place.VERTEX),
    ir.FrontierSet: (ALL, Place.DRIVER, Place.DRIVER | Place.SINGLE),
    ir.FrontierCopy: (ALL, Place.DRIVER, Place.DRIVER),
    ir.ListClear: (ALL, Place.DRIVER, Place.DRIVER),
    ir.ListAppend: (ALL, Place.DRIVER, Place.DRIVER),
    ir.ListGet: (ALL, Place.DRIVER, Place.DRIVER),
    ir.ParFor: (LOW, Place.DRIVER, Place.DRIVER),
    ir.Pipeline: (LOW, Place.DRIVER, Place.DRIVER),
    ir.Single: (LOW, Place.DRIVER, Place.DRIVER),
    ir.Alone: (LOW, Place.DRIVER, Place.DRIVER),
    ir.Barrier: (LOW, Place.DRIVER, Place.DRIVER),
    ir.CompareAndSwap: (LOW, Place.PARFOR, Place.PARFOR | Place.SINGLE),
    ir.FrontierPush: (LOW, Place.PARFOR, Place.PARFOR),
    ir.FrontierClear: (LOW, Place.DRIVER, Place.DRIVER | Place.SINGLE),
    ir.Fold: (LOW, Place.DRIVER, Place.DRIVER),
    ir.FrontierSwap: (LOW, Place.DRIVER, Place.DRIVER | Place.SINGLE),
    ir.FrontierConvert: (LOW, Place.DRIVER, Place.DRIVER),
    ir.Trace: (LOW, Place.DRIVER, Place.DRIVER),
    ir.QueueFill: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.QueuePop: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.QueueUpdate: (HIGH, Place.DRIVER, Place.DRIVER),
    ir.BucketsClear: (LOW, Place.DRIVER, Place.DRIVER),
    ir.BucketPush: (LOW, Place.PARFOR, Place.PARFOR),
    ir.BucketAdvance: (LOW, Place.DRIVER, Place.DRIVER),
    ir.BucketLoop: (LOW, Place.DRIVER, Place.DRIVER),
}
# Expressions that only the driver loop may use; every other one may stand anywhere at every level.
DRIVER_EXPRESSIONS = (ir.FrontierSize, ir.ListSize, ir.QueueSize, ir.QueueLevel)

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
REDUCTIONS = (*ir.MONOTONE, *ir.ACCUMULATING)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
INDEX_TYPES: dict[ir.Site, Type] = {
    ir.Site.VERTEX: VID,
    ir.Site.EDGE: EID,
    ir.Site.EDGE_IN: EID,
    ir.Site.EDGE_SEGMENTS: EID,
    ir.Site.ARRAY: I64,
    ir.Site.QUEUE: I64,
    ir.Site.THREAD: VID,
}
ARC_SITES = {ir.Orientation.OUT: ir.Site.EDGE, ir.Orientation.IN: ir.Site.EDGE_IN}

PLACE_NAMES = {
    Place.DRIVER: "the driver loop",
    Place.EDGE: "an edge operator",
    Place.VERTEX: "a vertex operator",
    Place.PARFOR: "a parallel loop",
    Place.SINGLE: "a single region",
}
