"""Random operators: statements, reductions in all their spellings, claims, and what vertex operators may do besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vgraph.compiler.frontend.kinds import Weak, merge, settled
from vgraph.compiler.types import computed

from . import expressions as e
from . import tuples
from .scope import (
    BOOL,
    F16,
    F64,
    FLOATS,
    I32,
    I64,
    INTEGERS,
    U32,
    VID,
    Features,
    Prop,
    Scope,
    Value,
    is_number,
    type_text,
)  # fmt: skip

if TYPE_CHECKING:
    from vgraph.compiler.types import Type

    from .programs import Writer

STATEMENTS, LOOPS = Features(), Features()

Write = Callable[[int], None]
"""Writes a statement at a depth of indentation."""


# --- statements without effects -------------------------------------------------------------------------------


@STATEMENTS.add(4)
def local(w: Writer, s: Scope, depth: int) -> bool:
    """A new variable, of which the type follows."""
    name = w.new()
    if w.chance(0.15):
        found = e.boolean(w, s, 2)
    else:
        found = e.number(w, s, 2)
    w.line(depth, f"{name} = {found.text}")
    if found.kind is not Weak.INF:
        s.locals.append(Value(name, settled(found.kind)))
    return True


@STATEMENTS.add(1)
def vertex_local(w: Writer, s: Scope, depth: int) -> bool:
    name, found = w.new(), e.vertex(w, s, 1)
    w.line(depth, f"{name} = {found}")
    s.maybe.append(name)
    if found in s.hidden:  # another name of the same vertex
        s.hidden = {**s.hidden, name: s.hidden[found]}
    return True


@STATEMENTS.add(2)
def local_of_two_types(w: Writer, s: Scope, depth: int) -> bool | None:
    """A variable that gets another value in a branch: it has the type of both."""
    a, b = e.number(w, s, 1), e.number(w, s, 1)
    kind = merge(settled(a.kind), settled(b.kind))
    if kind is None or isinstance(kind, Weak):
        return None
    name = w.new()
    w.line(depth, f"{name} = {a.text}")
    w.line(depth, f"if {e.boolean(w, s, 1).text}:")
    w.line(depth + 1, f"{name} = {b.text}")
    s.locals.append(Value(name, kind))
    return True


STATEMENTS.add(1)(tuples.local)


@STATEMENTS.add(0.5)
def local_array(w: Writer, s: Scope, depth: int) -> bool:
    """An array, some of whose elements are written, perhaps in a loop; those are then variables like others."""
    name, t, n = w.new(), w.r.choice((I64, I32, U32, F64)), w.r.randint(2, 5)
    fill = w.r.choice(["", ", fill=3"])
    w.line(depth, f"{name} = vg.local({type_text(t)}, {n}{fill})")
    inner, body = LOOPS.pick(w.r, w, s, depth) if w.chance(0.4) else (s, depth)
    w.loops += body > depth
    for _ in range(w.r.randint(1, 2)):
        value = w.until(lambda: e.number(w, inner, 1), lambda v: merge(v.kind, t) == t and not e._negative(v))
        w.line(body, f"{name}[{e.integer(w, inner, 1).text}] {w.r.choice(['=', '+='])} {value.text}")
    w.loops -= body > depth
    s.locals += [Value(f"{name}[{k}]", t) for k in (0, n - 1)]
    return True


@STATEMENTS.add(2)
def augmented_local(w: Writer, s: Scope, depth: int) -> bool | None:
    found = [v for v in s.locals if is_number(v.type) and v.text not in w.counters]
    if not found:
        return None
    target = w.r.choice(found)
    change = e.number(w, s, 1)
    op = w.r.choice(
        ["+", "-", "*", *(["&", "|", "^", ">>"] if target.is_integer and change.is_integer else [])]
    )
    made = e._combined(op, target, change)
    if made is None or merge(made.kind, target.kind) != target.kind:
        return None
    if e._negative(change) and target.kind in INTEGERS[2:]:
        return None
    w.line(depth, f"{target.text} {op}= {change.text}")
    return True


@STATEMENTS.add(1.5)
def branch(w: Writer, s: Scope, depth: int) -> bool:
    w.line(depth, f"if {e.boolean(w, s, 2).text}:")
    some(w, s.inner(), depth + 1, 1)
    if w.chance(0.3):
        w.line(depth, f"elif {e.boolean(w, s, 1).text}:")
        some(w, s.inner(), depth + 1, 1)
    if w.chance(0.4):
        w.line(depth, "else:")
        some(w, s.inner(), depth + 1, 1)
    return True


TOTALS = (("0", I64), ("vg.int32(3)", I32), ("vg.uint32(1)", U32), ("0.0", F64))


@STATEMENTS.add(1)
def loop(w: Writer, s: Scope, depth: int) -> bool:
    """A loop that adds up what it sees."""
    total, (start, t) = w.new(), w.r.choice(TOTALS)
    w.line(depth, f"{total} = {start}")
    inner, body = LOOPS.pick(w.r, w, s, depth)
    w.loops += 1
    if w.chance(0.25):
        inner.locals.append(Value(total, t))
    if w.chance(0.3):
        w.line(body, f"if {e.boolean(w, inner, 1).text}:")
        w.line(body + 1, w.r.choice(["break", "break", "continue", "continue", leave(w)]))
    if t == F64:
        change = e.summand(w, inner, 1, F64)
    else:
        change = w.until(
            lambda: e.integer(w, inner, 1), lambda v: merge(v.kind, t) == t and not e._negative(v)
        )
    w.line(body, f"{total} += {change.text}")
    w.loops -= 1
    if w.chance(0.15):
        w.line(depth, "else:")
        some(w, s.inner(), depth + 1, 1)
    s.locals.append(Value(total, t))
    return True


def leave(w: Writer) -> str:
    """An early return."""
    return f"return {w.r.choice(['True', 'False'])}" if w.returns else "return"


def guard(w: Writer, s: Scope) -> None:
    """Now and then a guard clause."""
    if w.chance(0.2):
        w.line(1, f"if {e.boolean(w, s, 1).text}:")
        if w.chance(0.3):
            some(w, s.inner(), 2, 1)
        w.line(2, leave(w))


@LOOPS.add(1)
def range_loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int]:
    name, inner = w.new(), s.inner()
    bounds = w.r.choice(["4", "1, 6", "5, 0, -2", "len(graph_vertex.out_neighbors)", "3, 3", "0, 7, 3"])
    v = w.r.choice(s.vertices)
    w.line(depth, f"for {name} in range({bounds.replace('graph_vertex', v)}):")
    inner.locals.append(Value(name, I64))
    w.counters.add(name)
    return inner, depth + 1


@LOOPS.add(1)
def while_loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int]:
    name, inner = w.new(), s.inner()
    w.line(depth, f"{name} = {w.r.choice(['0', 'vg.int32(0)', 'vg.uint64(0)'])}")
    also = f" and {e.boolean(w, s, 1).text}" if w.chance(0.3) else ""
    w.line(depth, f"while {name} < {w.r.randint(1, 5)}{also}:")
    w.line(depth + 1, f"{name} += 1")
    w.counters.add(name)
    return inner, depth + 1


@LOOPS.add(3)
def neighbor_loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int] | None:
    if w.loops > (0 if w.kind == "edge" else 1):
        return None
    name, inner, v = w.new(), s.inner(), w.r.choice([*s.vertices, *s.maybe])
    sides = ["out_neighbors", "in_neighbors", *([] if w.directed else ["neighbors"])]
    over = f"{v}.{w.r.choice(sides)}"
    if w.chance(0.15):
        count = w.new()
        w.line(depth, f"for {count}, {name} in enumerate({over}{w.r.choice(['', ', 3'])}):")
        inner.locals.append(Value(count, I64))
        w.counters.add(count)
    else:
        w.line(depth, f"for {name} in {over}:")
    inner.vertices.append(name)
    return inner, depth + 1


@LOOPS.add(2)
def edge_loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int] | None:
    if w.loops > (0 if w.kind == "edge" else 1):
        return None
    name, inner, v = w.new(), s.inner(), w.r.choice([*s.vertices, *s.maybe])
    w.line(depth, f"for {name} in {v}.{w.r.choice(['out', 'in'])}_edges:")
    inner.edges.append(name)
    inner.vertices.append(f"{name}.{w.r.choice(['src', 'dst'])}")
    return inner, depth + 1


@LOOPS.add(1)
def common_loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int] | None:
    if w.kind == "edge" or w.loops > 0:
        return None
    first, second, v = w.new(), w.new(), s.vertices[0]
    sides = ["out", "out", "in"]
    w.line(depth, f"for {first} in {v}.out_neighbors:")
    w.line(
        depth + 1,
        f"for {second} in {v}.{w.r.choice(sides)}_neighbors & {first}.{w.r.choice(sides)}_neighbors:",
    )
    inner = s.inner()
    inner.vertices += [first, second]
    return inner, depth + 2


def some(w: Writer, s: Scope, depth: int, count: int) -> None:
    """So many statements."""
    for _ in range(count):
        STATEMENTS.pick(w.r, w, s, depth)


# --- reductions -----------------------------------------------------------------------------------------------

MIN_MAX, SUMS, BITS, TRUTH = ("min", "max"), ("+", "*"), ("|", "&"), ("or", "and")


def ways(prop: Prop) -> tuple[str, ...]:
    """The operations that reduce into a property."""
    t = prop.type
    if t in FLOATS:
        return SUMS if prop.summed else MIN_MAX
    if t == BOOL:
        return BITS
    if t == VID:
        return MIN_MAX
    if hasattr(t, "element"):
        return ("+",)
    return (*MIN_MAX, *SUMS, *BITS)


def reduce(w: Writer, s: Scope, depth: int, place: str, t: Type, op: str, bounded: bool = False) -> None:
    """A statement that reduces into `place` by `op`, in one of its spellings.

    `bounded`: so that a loop which goes on while something changes comes to an end.
    """
    if t == BOOL:
        _reduce_truth(w, s, depth, place, op)
    elif hasattr(t, "element"):
        found = e.held_vector(w, s, t)  # type: ignore[arg-type]
        if found is None or w.chance(0.5):
            element = f"{place}[{e.integer(w, s, 1).text}]"
            w.line(depth, f"{element} {w.r.choice(['+=', '-='])} {found or 3}{'[1]' if found else ''}")
        else:
            w.line(depth, f"{place} += {found}")
    elif op in MIN_MAX:
        _reduce_extreme(w, s, depth, place, t, op, bounded)
    elif op in BITS:
        value = w.until(lambda: e.integer(w, s, 2), lambda v: not e._negative(v)).text
        value = f"({value} & 255)" if bounded else value
        _assigned(w, depth, place, op, value)
    else:
        _accumulate(w, s, depth, place, t, op)


def _assigned(w: Writer, depth: int, place: str, op: str, value: str) -> None:
    spellings = [
        f"{place} {op}= {value}",
        f"{place} = {place} {op} {value}",
        f"{place} = {value} {op} {place}",
    ]
    w.line(depth, w.r.choice(spellings))


def _reduce_truth(w: Writer, s: Scope, depth: int, place: str, op: str) -> None:
    value, word = e.boolean(w, s, 1).text, "or" if op == "|" else "and"
    match w.r.randrange(4):
        case 0:
            w.line(depth, f"{place} = {place} {word} {value}")
        case 1:
            w.line(depth, f"{place} = {op == '|'}")
        case _:
            _assigned(w, depth, place, op, value)


def _reduce_extreme(w: Writer, s: Scope, depth: int, place: str, t: Type, op: str, bounded: bool) -> None:
    if t == VID:
        value = e.vertex(w, s, 1)
    else:
        found = w.until(lambda: e.number(w, s, 2), lambda v: t in FLOATS or v.is_integer)
        found = e.cast(found, t) if e._negative(found) else found  # type: ignore[arg-type]
        value = found.text
        if bounded:
            limit = "0" if found.kind in INTEGERS[2:] else "(-30)"
            value = f"max({value}, {limit})" if op == "min" else f"min({value}, 90)"
    less = op == "min"
    match w.r.randrange(6):
        case 0:
            w.line(
                depth, f"if {value} {w.r.choice(['<', '<=']) if less else w.r.choice(['>', '>='])} {place}:"
            )
            w.line(depth + 1, f"{place} = {value}")
        case 1:
            w.line(
                depth, f"if {place} {w.r.choice(['>', '>=']) if less else w.r.choice(['<', '<='])} {value}:"
            )
            w.line(depth + 1, f"{place} = {value}")
        case 2 if not bounded and t in INTEGERS:
            more = e.integer(w, s, 1)
            more = e.cast(more, t) if e._negative(more) else more  # type: ignore[arg-type]
            w.line(depth, f"{place} = {op}({value}, {place}, {type_text(t)}({more.text}))")
        case k:
            w.line(
                depth, f"{place} = {op}({place}, {value})" if k % 2 else f"{place} = {op}({value}, {place})"
            )


def _accumulate(w: Writer, s: Scope, depth: int, place: str, t: Type, op: str) -> None:
    if t in FLOATS:
        if op == "*":
            w.line(depth, f"{place} *= {w.r.choice(['2', '0.5', '(-1)', '1.0'])}")
            return
        value, other = (e.summand(w, s, 1, t).text for _ in range(2))  # type: ignore[arg-type]
    else:
        # A literal must fit into the place, whatever the other operands are.
        numbers = (w.until(lambda: e.integer(w, s, 2), lambda v: not e._negative(v)) for _ in range(2))
        value, other = (v.text for v in numbers)
    if op == "*":
        _assigned(w, depth, place, "*", value)
        return
    spellings = [
        f"{place} += {value}",
        f"{place} -= {value}",
        f"{place} = {place} + {value}",
        f"{place} = {value} + {place}",
        f"{place} = {place} - {value}",
        f"{place} = {place} + {value} - {other}",
        f"{place} = {value} + {place} + {other}",
    ]
    w.line(depth, w.r.choice(spellings))


def guarded(w: Writer, s: Scope, depth: int, write: Write) -> None:
    """A write, perhaps under a condition."""
    if w.chance(0.4):
        w.line(depth, f"if {e.boolean(w, s, 2).text}:")
        depth += 1
    write(depth)


# --- claims ---------------------------------------------------------------------------------------------------


def claim(w: Writer, s: Scope, own: Scope, depth: int, at: str) -> None:
    """A claim whose outcome is the same whoever is first: what is written depends on the claimed vertex alone."""
    prop, start = w.claimed
    beside = f"{e.boolean(w, s, 1).text} and " if w.chance(0.3) else ""
    test = f"not {at}.{prop.name}" if prop.type == BOOL else f"{at}.{prop.name} == {start}"
    w.line(depth, f"if {beside}{test}:")
    if prop.type == BOOL:
        value = "True"
    elif prop.type == VID:
        value = w.r.choice([at, "0"])
    else:
        computed = w.until(lambda: e.integer(w, own, 1), lambda v: not isinstance(v.kind, Weak))
        value = w.r.choice([str(w.r.randint(70, 99)), f"{type_text(prop.type)}({computed.text} % 50 + 1000)"])
    w.line(depth + 1, f"{at}.{prop.name} = {value}")
    if w.chance(0.5):
        w.line(depth + 1, f"{at}.note = {e.cast(e.number(w, own, 1), I64).text}")
    if w.chance(0.5):
        w.line(depth + 1, "graph.claims += 1")


def unite(w: Writer, s: Scope, depth: int, a: str, b: str) -> None:
    """Two vertices' sets become one."""
    if w.for_sets:
        return
    w.line(depth, f"vg.union({a}.sets, {b}.sets)")


# --- operators ------------------------------------------------------------------------------------------------


def edge_operator(w: Writer, name: str, loop: str = "free", writes: tuple[Prop, ...] = ()) -> None:
    """An operator of edges; `loop`: "bounded" runs until nothing changes, "alone" makes no frontier.

    `writes`: properties that it writes, whatever else it does.
    """
    w.begin_operator("edge")
    writable = [p for p in w.properties if p.is_writable]
    if loop == "bounded":
        writable = [p for p in writable if p.type in (I64, INTEGERS[0]) and p.name in w.bounded]
    claims = 0 if loop == "bounded" else w.r.choice([0] * 8 + [1, 2])
    """1: before the reductions, 2: after them."""
    count = w.r.choice([0, 1, 2]) if claims else w.r.choice([1, 1, 2, 3])
    written = [*writes, *(p for p in w.r.sample(writable, min(len(writable), count)) if p not in writes)]
    hidden = {p.name for p in written}
    scope = Scope(["src", "dst"], edges=["edge"], hidden={"dst": hidden})
    own = Scope(["dst"], hidden={"dst": hidden})
    w.operator(name, ["src", "edge", "dst"])
    some(w, scope, 1, w.r.choice([0, 0, 1, 2]))
    guard(w, scope)
    if claims == 1:
        claim(w, scope, own, 1, "dst")
    for p in written:
        op = w.r.choice(MIN_MAX + BITS if loop == "bounded" else ways(p))
        guarded(
            w,
            scope,
            1,
            lambda d, p=p, op=op: reduce(w, scope, d, f"dst.{p.name}", p.type, op, loop == "bounded"),
        )
    if loop != "bounded":
        _extras(w, scope, "dst")
        for p in w.own_edges:
            if p.name in w.hidden_edges:
                at_edge(w, scope, 1, "edge", p, alone=w.directed)
    if claims == 2:
        claim(w, scope, own, 1, "dst")
    if loop == "alone" and w.chance(0.15):
        unite(w, scope, 1, "src", "dst")


def at_edge(w: Writer, s: Scope, depth: int, edge: str, prop: Prop, alone: bool) -> None:
    """A write at an edge: a reduction, or, if no other visit comes there, of any kind."""
    opposite = w.directed and w.chance(0.2)
    alone = alone and not opposite
    place = f"{edge}.reverse.{prop.name}" if opposite else f"{edge}.{prop.name}"

    def write(d: int) -> None:
        if alone and w.chance(0.5):
            value = e.vertex(w, s, 1) if prop.type == VID else e.stored(w, s, 2, prop.type).text
            if is_number(prop.type) and w.chance(0.5):
                w.line(d, f"if {place} > {w.r.choice(['3', '0', '100'])}:")
                d += 1
            w.line(d, f"{place} = {value}")
            return
        reduce(w, s, d, place, prop.type, w.r.choice(ways(prop)))

    guarded(w, s, depth, write)


def _extras(w: Writer, s: Scope, own: str) -> None:
    """Floats and pairs that nobody reads, and reductions into globals."""
    if w.chance(0.2):
        tuples.updated(w, s, 1, own)
    if w.chance(0.2):
        w.line(1, f"{own}.sink = max({own}.sink, {e.rounded(w, s, 1)})")
    for g in w.globals:
        if g.reduced and w.chance(0.2):
            op = w.r.choice(g.reduced)
            fits = Scope(s.vertices, s.maybe, s.edges, s.locals, s.hidden)
            w.reduce_global(fits, g, op)


def vertex_operator(w: Writer, name: str, returns: bool = False) -> None:
    """An operator of vertices, which may write its own and reduce into others."""
    w.begin_operator("vertex", returns)
    scope = Scope(["v"])
    w.operator(name, ["v"])
    guard(w, scope)
    if w.chance(0.4) and not returns:
        _scatter(w, scope)
    else:
        kinds = (_own_store, _own_store, _statement, _statement, _scratch, _gather)
        for kind in w.r.choices(kinds, k=w.r.randint(1, 4)) if w.chance(0.7) else [_gather]:
            kind(w, scope, 1)
        if w.chance(0.2):
            w.line(1, f"v.sink = {e.rounded(w, scope, 1)}")
        if not returns:
            _scatter_to_edges(w, scope)
        if w.chance(0.2):
            tuples.updated(w, scope, 1, "v")
    _extras_of_globals(w, scope)
    if returns:
        w.line(1, f"return {e.boolean(w, scope, 2).text}")
    if w.is_empty_operator():
        w.line(1, "pass")


def _extras_of_globals(w: Writer, s: Scope) -> None:
    for g in w.globals:
        if g.reduced and w.chance(0.2):
            w.reduce_global(s, g, w.r.choice(g.reduced))


def _statement(w: Writer, s: Scope, depth: int) -> None:
    some(w, s, depth, 1)


def _own_store(w: Writer, s: Scope, depth: int) -> None:
    prop = w.r.choice([p for p in w.properties if p.is_writable or p.type == F16])
    if hasattr(prop.type, "element"):
        value = e.held_vector(w, s, prop.type)  # type: ignore[arg-type]
        if w.chance(0.5):
            element = f"v.{prop.name}[{e.integer(w, s, 1).text}]"
            w.line(
                depth, f"{element} {w.r.choice(['=', '+=', '-='])} {value}[0]" if value else f"{element} = 3"
            )
        elif value:
            w.line(depth, f"v.{prop.name} = {value}")
        return

    def write(d: int) -> None:
        if prop.summed:
            w.line(d, f"v.{prop.name} {w.r.choice(['=', '+=', '-='])} {e.summand(w, s, 2, prop.type).text}")
            return
        t = computed(prop.type)
        old = Value(f"v.{prop.name}", t)
        if is_number(t) and w.chance(0.3):
            value = w.until(lambda: e.number(w, s, 1), lambda v: t in FLOATS or v.is_integer)
            op = w.r.choice("+-*")
            combined = e._combined(op, old, value)
            if combined is not None and not e._negative(value):
                w.line(d, f"v.{prop.name} {op}= {value.text}")
                return
        w.line(d, f"v.{prop.name} = {e.stored(w, s, 2, t).text}")

    guarded(w, s, depth, write)


def _gather(w: Writer, s: Scope, depth: int) -> None:
    """What a loop over the arcs adds up goes into a property of the same type; so may what it reduces there itself."""
    types = (I32, I64, U32)
    prop = w.r.choice([p for p in w.properties if p.is_writable and (p.summed or p.type in types)])
    total, t = w.new(), prop.type
    op = w.r.choice(["+", "+", *MIN_MAX]) if t not in FLOATS else "+"
    beside = s.inner()
    beside.hidden = {**s.hidden, "v": {prop.name}} if w.chance(0.8) else s.hidden
    w.line(depth, f"{total} = {type_text(t)}({w.r.randint(0, 9)})")
    inner, body = w.r.choice([neighbor_loop, edge_loop])(w, beside, depth) or range_loop(w, beside, depth)
    w.loops += 1
    if w.chance(0.5):
        carried = f"{total} {w.r.choice(['<', '>'])} {w.r.randint(0, 20)}"
        w.line(body, f"if {w.r.choice([carried, e.boolean(w, inner, 1).text])}:")
        w.line(body + 1, "continue")
    change = e.summand(w, inner, 1, t).text if t in FLOATS else e.cast(e.integer(w, inner, 1), t).text
    w.line(body, f"{total} += {change}" if op == "+" else f"{total} = {op}({total}, {change})")
    if w.chance(0.3):
        reduce(w, inner, body, f"v.{prop.name}", t, op)
    w.loops -= 1
    result = f"v.{prop.name}"
    w.line(depth, f"{result} += {total}" if op == "+" else f"{result} = {op}({result}, {total})")


def _scratch(w: Writer, s: Scope, depth: int) -> None:
    """Counts and marks of this visit alone."""
    name, total = w.new(), w.new()
    w.line(depth, f"{total} = 0")
    w.line(depth, f"for {name} in v.{w.r.choice(['out', 'in'])}_neighbors:")
    w.line(depth + 1, f"if not {name}.seen:")
    w.line(depth + 2, f"{total} += 1")
    w.line(depth + 1, f"{name}.seen = True")
    w.line(depth + 1, f"{name}.count += {e.cast(e.integer(w, s, 1), I64).text}")
    w.line(depth + 1, f"{total} += {name}.count")
    s.locals.append(Value(total, I64))


def _scatter(w: Writer, s: Scope) -> None:
    """Reductions into other vertices, or claims of them."""
    prop = w.r.choice([p for p in w.properties if p.is_writable])
    some(w, s, 1, w.r.choice([0, 1]))
    inner, depth = LOOPS.pick(w.r, w, s, 1)
    others = [v for v in inner.vertices if v != "v" and "." not in v]
    at = w.r.choice([*others, *others, e.vertex(w, s, 1)] if others else [e.vertex(w, s, 1)])
    if at == "vg.none":
        at = "v"
    hidden = {u: {prop.name} for u in (at, "v", *(x for x in inner.vertices if "." in x))}
    if w.chance(0.2):
        own = Scope([at] if at in others else ["v"], hidden=hidden)
        claim(w, inner, own if at in others else Scope([], hidden=hidden), depth, at)
        return
    if at == "v":
        w.line(depth, "pass")
        return
    inner.hidden = hidden
    op = w.r.choice(ways(prop))
    guarded(w, inner, depth, lambda d: reduce(w, inner, d, f"{at}.{prop.name}", prop.type, op))
    if w.chance(0.3):
        tuples.updated(w, inner, depth, at)
    if w.chance(0.15) and op == "+" and prop.type in INTEGERS:
        w.line(1, f"v.{prop.name} += 1")


def _scatter_to_edges(w: Writer, s: Scope) -> None:
    """Writes at the arcs of the own vertex, or reductions into those of its neighbors."""
    for p in w.own_edges:
        if p.name not in w.hidden_edges:
            continue
        inner, depth, at = s.inner(), 1, "v"
        if w.chance(0.3):
            at = w.new()
            w.line(depth, f"for {at} in v.out_neighbors:")
            inner.vertices.append(at)
            depth += 1
        edge = w.new()
        w.line(depth, f"for {edge} in {at}.{w.r.choice(['out', 'in'])}_edges:")
        inner.vertices.append(f"{edge}.{w.r.choice(['src', 'dst'])}")
        inner.edges.append(edge)
        at_edge(w, inner, depth + 1, edge, p, alone=w.directed and at == "v")


__all__ = ["Prop", "edge_operator", "vertex_operator"]
