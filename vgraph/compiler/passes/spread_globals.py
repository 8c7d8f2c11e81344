"""`spread-globals`: a global of 128 bits, where threads cannot fold such, is reduced in memory.

before: `parfor v in vertices { @best.where max= e }`
after:  `single { best.place[0] = @best.where }; parfor v in vertices { best.place[0] max= e };
         @best.where = best.place[0]`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import I64, VID, WIDEST_WORD, Target, Type, element_of

_FIRST = ir.Const(0, VID)
_SOME = ir.Compare(">", ir.GraphSize("num_vertices"), ir.Const(0, I64))


def _is_wide(target: Target, t: Type) -> bool:
    return target.width(element_of(t)) == WIDEST_WORD


def _run(program: ir.Program, context: Context) -> ir.Program:
    wide = {g.name: g.type for g in program.globals if _is_wide(program.target, g.type)}
    if context.abilities.wide_globals or not wide:
        return program
    fresh, places = ir.fresh_names(program), dict[str, ir.Property]()

    def place(name: str) -> str:
        if name not in places:
            prop = fresh(f"{name}.place")
            places[name] = ir.Property(prop, wide[name], ir.Site.VERTEX, ir.Origin.LOCAL)
        return places[name].name

    def reduced(n: ir.Node) -> ir.Node | None:
        if isinstance(n, ir.ReduceGlobal) and n.name in wide:
            return ir.Reduce(n.op, place(n.name), _FIRST, n.value)
        return None

    def rule(n: ir.Node) -> tuple[ir.Stmt, ...] | None:
        if not isinstance(n, ir.ParFor | ir.Pipeline | ir.BucketLoop):
            return None
        names = dict.fromkeys(r.name for r in ir.walk(n) if isinstance(r, ir.ReduceGlobal) and r.name in wide)
        if not names:
            return None
        before: ir.Body = tuple(ir.Store(place(x), _FIRST, ir.GlobalVar(x, wide[x])) for x in names)
        after: ir.Body = tuple(ir.SetGlobal(x, ir.Load(place(x), _FIRST, wide[x])) for x in names)
        inside = ir.transform(n, reduced)
        return (ir.Single((ir.If(_SOME, before),)), inside, ir.If(_SOME, after))

    body = ir.transform_body(program.body, rule)
    return ir.with_fields(program, {"body": body, "properties": (*program.properties, *places.values())})


spread_globals = Pass("spread-globals", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)
