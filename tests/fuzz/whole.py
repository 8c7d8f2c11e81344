"""Random statements of whole properties, and sums of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import expressions as e
from .scope import BOOL, FLOATS, I64, NUMBERS, Prop, Scope, Value, type_text

if TYPE_CHECKING:
    from .programs import Writer


def statements(w: Writer, number: int) -> list[str]:
    """Some statements one after the other, which share rounds where they can."""
    w.begin_operator("driver")
    held = [p for p in w.properties if p.type == BOOL or p.type in NUMBERS]
    names = [Value(f"{'graph.' * (p.owner == 'graph')}{p.name}", p.type) for p in held]
    numbers = [Value("sizes", I64), Value("rounds", I64), Value("x[source]", I64)]
    scope = Scope([], locals=[*names, *names, *numbers])
    made: list[str] = []
    for _ in range(w.r.randint(1, 4)):
        made += _total(w, scope, names) if w.chance(0.4) else _assignment(w, scope, names, held)
    return made


def _whole(w: Writer, s: Scope, names: list[Value]) -> Value:
    """A number that is not the same everywhere."""
    some = w.r.choice([n for n in names if n.kind != BOOL])
    both = w.until(
        lambda: (some, e.number(w, s, 1)), lambda v: e.operation("+", v[0].kind, v[1].kind) is not None
    )
    kind = e.operation("+", both[0].kind, both[1].kind)[1]
    if w.chance(0.3):
        return Value(
            f"graph.where({e.boolean(w, s, 1).text}, {some.text}, {some.text} + {both[1].text})", kind
        )
    return Value(f"({some.text} {w.r.choice('+-')} {both[1].text})", kind)


def _assignment(w: Writer, s: Scope, names: list[Value], held: list[Prop]) -> list[str]:
    prop = w.r.choice([p for p in held if p.is_writable])
    target = f"{prop.name}{w.r.choice(['', '[:]'])}"
    if prop.type == BOOL:
        return [f"{prop.name}[:] = {e.boolean(w, s, 2).text}"]
    if prop.type in FLOATS:
        value = e.summand(w, s, 1, prop.type) if prop.summed else e.cast(_whole(w, s, names), prop.type)
        return [f"{target} = {value.text}"]
    if w.chance(0.3):
        change = w.until(lambda: e.integer(w, s, 1), lambda v: not v.text.startswith("(-"))
        return [f"{target} {w.r.choice('+-*')}= {e.cast(change, prop.type).text}"]
    return [f"{target} = {type_text(prop.type)}({_whole(w, s, names).text}) % 100"]


def _total(w: Writer, s: Scope, names: list[Value]) -> list[str]:
    hidden = [g.name for g in w.globals]
    how = w.r.choice([name for name in ("sum", "min", "max", "count", "any", "all") if name not in hidden])
    some = w.r.choice([n for n in names if n.kind != BOOL])
    if how in ("count", "any", "all"):
        text = f"graph.{how}(({e.boolean(w, s, 1).text}) | ({some.text} == 3))"
    elif how == "sum":
        text = f"graph.sum(vg.int64({_whole(w, s, names).text}))"
    else:
        text = f"graph.{how}({_whole(w, s, names).text})"
    return [w.r.choice([f"sizes += vg.int64({text}) % 1000", f"graph.k += vg.int64({text} * 2)"])]
