"""`fix-order`: with `deterministic=True` nothing that is rounded depends on threads, or on how loops are cut.

before: `parfor v in sparse f { ... @error += e ... }`
after:  `parfor v in vertices { parts[v] = 0 }`
        `parfor v in sparse f { let part = 0; ... part += e ...; parts[v] = part }`
        and the parts, one a vertex, are added up in the order of vertices: threads add up blocks of them in place, and
        then each thread the sums of all blocks. Along a plan each activation adds to the part of its source.

Also, minima and maxima give the same zero whichever of 0.0 and -0.0 comes first, and no backend may reorder sums.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.ir.reductions import identity, is_rounded, one_element
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import I64, U64, VID, Type, Vector, element_of

BLOCK: Final = 1024
"""Vertices whose parts of a sum one thread adds up."""

Sum = tuple[str, str]
"""The operation and the global of a reduction."""


class _Sums:
    """Gives each sum its array of parts."""

    def __init__(self, program: ir.Program) -> None:
        self.fresh: ir.FreshNames = ir.fresh_names(program)
        self.parts: dict[Sum, ir.Property] = {}

    def property(self, key: Sum, t: Type) -> ir.Property:
        """Parts of the sum, one a vertex. Two loops with the same sum run one after the other, so they share it."""
        if key not in self.parts:
            self.parts[key] = ir.Property(self.fresh(f"{key[1]}.parts"), t, ir.Site.VERTEX, ir.Origin.LOCAL)
        return self.parts[key]

    def rule(self, n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        if not isinstance(n, ir.ParFor | ir.Pipeline | ir.BucketLoop):
            return None
        found = {
            (r.op, r.name): r.value.type
            for r in ir.walk(n)
            if isinstance(r, ir.ReduceGlobal) and is_rounded(r)
        }
        if not found:
            return None
        assert isinstance(n, ir.ParFor)
        planned = isinstance(n.domain, ir.PlannedArcs)
        assert n.cut is None, "a vertex is visited whole"
        assert n.domain.once or planned, "a vertex is visited by one thread at a time"
        before: list[ir.Stmt] = []
        after: list[ir.Stmt] = []
        for key, t in found.items():
            prop = self.property(key, t)
            n = self.kept_apart(n, key, prop)
            if planned or isinstance(n.domain, ir.Members):
                v = self.fresh("v")
                clear = ir.Store(prop.name, ir.Var(v, VID), identity(key[0], t))
                before.append(ir.ParFor(v, ir.Vertices(), (clear,)))
            after += self.added_up(key, prop)
        return (*before, n, *after)

    def kept_apart(self, loop: ir.ParFor, key: Sum, prop: ir.Property) -> ir.ParFor:
        """The loop, which stores what each visit adds; to what those before it added, where arcs have an order."""
        part, planned = self.fresh("part"), isinstance(loop.domain, ir.PlannedArcs)
        place = ir.Var(loop.vertex, VID)

        def rule(n: ir.Node) -> ir.Node | None:
            if not (isinstance(n, ir.ReduceGlobal) and (n.op, n.name) == key):
                return None
            if planned:
                so_far = ir.Load(prop.name, place, prop.type)
                return ir.Store(prop.name, place, ir.Binary(n.op, so_far, n.value))
            return ir.Accumulate(n.op, part, n.value)

        body = ir.transform_body(loop.body, rule)
        if planned:
            return ir.with_fields(loop, {"body": body})
        start = ir.Let(part, prop.type, identity(key[0], prop.type))
        end = ir.Store(prop.name, place, ir.Var(part, prop.type))
        return ir.with_fields(loop, {"body": (start, *body, end)})

    def added_up(self, key: Sum, prop: ir.Property) -> ir.Body:
        """The parts of each block in its first place, the blocks in the global."""
        op, name = key
        t, total, v, i, block = prop.type, *(self.fresh(x) for x in ("total", "v", "i", "block"))
        first = ir.Cast(I64, ir.Var(v, VID))
        size = ir.GraphSize("num_vertices")
        end = ir.Binary("min", ir.Binary("+", first, ir.Const(BLOCK, I64)), size)
        begins = ir.Binary("%", ir.Cast(U64, ir.Var(v, VID)), ir.Const(BLOCK, U64))
        inside: ir.Body = (
            ir.Let(total, t, identity(op, t)),
            ir.For(i, first, end, ir.Const(1, I64), (ir.Accumulate(op, total, _at(prop, i)),)),
            ir.Store(prop.name, ir.Var(v, VID), ir.Var(total, t)),
        )
        whole = self.fresh("total")
        return (
            ir.ParFor(v, ir.Vertices(), (ir.If(ir.Compare("==", begins, ir.Const(0, U64)), inside),)),
            ir.Let(whole, t, identity(op, t)),
            ir.For(
                block,
                ir.Const(0, I64),
                size,
                ir.Const(BLOCK, I64),
                (ir.Accumulate(op, whole, _at(prop, block)),),
            ),
            ir.SetGlobal(name, ir.Binary(op, ir.GlobalVar(name, t), ir.Var(whole, t))),
        )


def _at(prop: ir.Property, place: str) -> ir.Load:
    return ir.Load(prop.name, ir.Cast(VID, ir.Var(place, I64)), prop.type)


def _one_zero(n: ir.Node) -> ir.Node | None:
    """A minimum is of 0.0 and never of -0.0, a maximum of -0.0 and never of 0.0; so both keep what was there first."""
    if not (isinstance(n, ir.Reduce | ir.Accumulate) and n.op in ("min", "max")):
        return None
    element = one_element(n) if isinstance(n, ir.Reduce) else None
    value = n.value if element is None else element.value
    t = value.type
    if not element_of(t).is_float:
        return None
    zero: ir.Expr = ir.Const(0.0, element_of(t))
    if isinstance(t, Vector):
        zero = ir.Cast(t, zero)
    lowest = ir.Binary("+", value, zero) if n.op == "min" else ir.Unary("neg", ir.Binary("-", zero, value))
    return ir.with_fields(
        n, {"value": lowest if element is None else ir.with_fields(element, {"value": lowest})}
    )


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not context.deterministic:
        return program
    sums = _Sums(program)
    body = ir.transform_body(ir.transform(program, _one_zero).body, sums.rule)
    properties = (*program.properties, *sums.parts.values())
    return ir.with_fields(program, {"body": body, "properties": properties, "ordered": True})


fix_order = Pass("fix-order", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)
