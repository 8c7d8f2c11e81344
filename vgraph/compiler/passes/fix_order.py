"""With `deterministic=True` nothing that is rounded depends on threads, or on how loops are cut; in `lower-applies`.

before: `parfor v in sparse f { ... @error += e ... }`
after:  `parfor v in vertices { parts[v] = 0 }`
        `parfor v in sparse f { let part = 0; ... part += e ...; parts[v] = part }`
        and the parts, one a vertex, are added up in the order of vertices: threads add up blocks of them in place, and
        then each thread the sums of all blocks.

Also, minima and maxima give the same zero whichever of 0.0 and -0.0 comes first, and no backend may reorder sums.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler.ir import (
    ACCUMULATING,
    Accumulate,
    Binary,
    Body,
    BucketLoop,
    Cast,
    Compare,
    Const,
    Expr,
    For,
    GlobalVar,
    GraphSize,
    If,
    Let,
    Load,
    Node,
    Origin,
    ParFor,
    Pipeline,
    Program,
    Property,
    Reduce,
    ReduceGlobal,
    SetGlobal,
    Site,
    Stmt,
    Store,
    Unary,
    Var,
)
from vgraph.compiler.pieces import identity
from vgraph.compiler.rewrite import FreshNames, fresh_names, transform, transform_body, walk, with_fields
from vgraph.compiler.types import I64, U64, VID, Type, Vector, element_of

BLOCK: Final = 1024
"""Vertices whose parts of a sum one thread adds up."""

Sum = tuple[str, str]
"""The operation and the global of a reduction."""


class _Sums:
    """Gives each sum its array of parts."""

    def __init__(self, program: Program) -> None:
        self.fresh: FreshNames = fresh_names(program)
        self.parts: dict[Sum, Property] = {}

    def property(self, key: Sum, t: Type) -> Property:
        """Parts of the sum, one a vertex. Two loops with the same sum run one after the other, so they share it."""
        if key not in self.parts:
            self.parts[key] = Property(self.fresh(f"{key[1]}.parts"), t, Site.VERTEX, Origin.LOCAL)
        return self.parts[key]

    def rule(self, n: Node) -> Node | tuple[Stmt, ...] | None:
        if not isinstance(n, ParFor | Pipeline | BucketLoop):
            return None
        found = {(r.op, r.name): r.value.type for r in walk(n) if isinstance(r, ReduceGlobal) and rounds(r)}
        if not found:
            return None
        assert isinstance(n, ParFor)
        assert (n.cut, n.segments) == (None, 1), "a vertex is visited once, by one thread"
        before: list[Stmt] = []
        after: list[Stmt] = []
        for key, t in found.items():
            prop = self.property(key, t)
            n = self.kept_apart(n, key, prop)
            if n.frontier is not None:
                v = self.fresh("v")
                clear = Store(prop.name, Var(v, VID), identity(key[0], t))
                before.append(ParFor(v, None, None, (clear,)))
            after += self.added_up(key, prop)
        return (*before, n, *after)

    def kept_apart(self, loop: ParFor, key: Sum, prop: Property) -> ParFor:
        """The loop, which stores what each visit adds."""
        part = self.fresh("part")

        def rule(n: Node) -> Node | None:
            ours = isinstance(n, ReduceGlobal) and (n.op, n.name) == key
            return Accumulate(n.op, part, n.value) if ours and isinstance(n, ReduceGlobal) else None

        body = transform_body(loop.body, rule)
        start = Let(part, prop.type, identity(key[0], prop.type))
        end = Store(prop.name, Var(loop.vertex, VID), Var(part, prop.type))
        return with_fields(loop, {"body": (start, *body, end)})

    def added_up(self, key: Sum, prop: Property) -> Body:
        """The parts of each block in its first place, the blocks in the global."""
        op, name = key
        t, total, v, i, block = prop.type, *(self.fresh(x) for x in ("total", "v", "i", "block"))
        first = Cast(I64, Var(v, VID))
        size = GraphSize("num_vertices")
        end = Binary("min", Binary("+", first, Const(BLOCK, I64)), size)
        begins = Binary("%", Cast(U64, Var(v, VID)), Const(BLOCK, U64))
        inside: Body = (
            Let(total, t, identity(op, t)),
            For(i, first, end, Const(1, I64), (Accumulate(op, total, _at(prop, i)),)),
            Store(prop.name, Var(v, VID), Var(total, t)),
        )
        whole = self.fresh("total")
        return (
            ParFor(v, None, None, (If(Compare("==", begins, Const(0, U64)), inside),)),
            Let(whole, t, identity(op, t)),
            For(block, Const(0, I64), size, Const(BLOCK, I64), (Accumulate(op, whole, _at(prop, block)),)),
            SetGlobal(name, Binary(op, GlobalVar(name, t), Var(whole, t))),
        )


def rounds(n: ReduceGlobal) -> bool:
    """Whether the reduction is of floats, and rounded step by step."""
    return n.op in ACCUMULATING and element_of(n.value.type).is_float


def _at(prop: Property, place: str) -> Load:
    return Load(prop.name, Cast(VID, Var(place, I64)), prop.type)


def _one_zero(n: Node) -> Node | None:
    """A minimum is of 0.0 and never of -0.0, a maximum of -0.0 and never of 0.0; so both keep what was there first."""
    if not (isinstance(n, Reduce | Accumulate) and n.op in ("min", "max")):
        return None
    t = n.value.type
    if not element_of(t).is_float:
        return None
    zero: Expr = Const(0.0, element_of(t))
    if isinstance(t, Vector):
        zero = Cast(t, zero)
    lowest = Binary("+", n.value, zero) if n.op == "min" else Unary("neg", Binary("-", zero, n.value))
    return with_fields(n, {"value": lowest})


def fix_order(program: Program) -> Program:
    """A program at kernel level whose floats are rounded in one order."""
    sums = _Sums(program)
    body = transform_body(transform(program, _one_zero).body, sums.rule)
    properties = (*program.properties, *sums.parts.values())
    return with_fields(program, {"body": body, "properties": properties, "ordered": True})
