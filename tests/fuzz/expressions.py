"""Random expressions of every type of the language, with the kind that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.frontend.kinds import COMPARISONS, Weak, merge, operation

from .scope import (
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I64,
    INTEGERS,
    NUMBERS,
    VID,
    Features,
    Scope,
    Value,
    is_number,
    type_text,
)  # fmt: skip

if TYPE_CHECKING:
    from vgraph.compiler.types import Scalar, Type, Vector

    from .programs import Writer

LEAVES, NUMERIC, BOOLEAN, VERTICES, VECTORS = (Features() for _ in range(5))


def number(w: Writer, s: Scope, depth: int) -> Value:
    """A number of any type."""
    return (LEAVES if depth <= 0 else NUMERIC).pick(w.r, w, s, depth)


def integer(w: Writer, s: Scope, depth: int) -> Value:
    """An integer of any width."""
    return w.until(lambda: number(w, s, depth), lambda v: v.is_integer)


def typed(w: Writer, s: Scope, depth: int) -> Value:
    """A number that is no literal."""
    return w.until(lambda: number(w, s, depth), lambda v: not isinstance(v.kind, Weak))


def boolean(w: Writer, s: Scope, depth: int) -> Value:
    """A condition."""
    return BOOLEAN.pick(w.r, w, s, depth)


def vertex(w: Writer, s: Scope, depth: int) -> str:
    """A vertex, or `vg.none`."""
    return VERTICES.pick(w.r, w, s, depth)


def vector(w: Writer, s: Scope, depth: int, t: Vector) -> str | None:
    """A vector of so many elements; None where the program has none of that length."""
    names = [p for p in w.readable(s) if p[1].type == t]
    if not names or not s.vertices:
        return None
    at, prop = w.r.choice(names)
    leaf = f"{at}.{prop.name}"
    if depth <= 0 or w.chance(0.3):
        return leaf
    other = vector(w, s, depth - 1, t)
    scale = w.r.choice(
        [other, other, "2", "3", "(-1)" if t.element not in (INTEGERS[2], INTEGERS[3]) else "1"]
    )
    return f"({leaf} {w.r.choice('+-*')} {scale})"


def held_vector(w: Writer, s: Scope, t: Vector) -> str | None:
    """A vector for a property; whole floats of few bits, so that sums of many are exact, in whatever order."""
    found = vector(w, s, 1, t)
    return f"({found} % 64)" if found and t.element in FLOATS else found


def stored(w: Writer, s: Scope, depth: int, t: Type) -> Value:
    """A value that may be stored in a place of type `t`, mostly as it is: integers wrap there."""
    if t == BOOL:
        return boolean(w, s, depth)
    if t == VID:
        return Value(vertex(w, s, depth), VID)
    assert not hasattr(t, "element")
    found = number(w, s, depth)
    whole = t.is_integer and not found.is_integer and found.kind is not Weak.INF  # type: ignore[union-attr]
    if whole or _negative(found) or w.chance(0.15):
        return cast(found, t)  # type: ignore[arg-type]
    return found


def rounded(w: Writer, s: Scope, depth: int) -> str:
    """A float whose last digits differ from device to device: nothing may be computed with it."""
    v = typed(w, s, depth)
    return w.r.choice(
        [
            f"vg.exp({v.text})",
            f"vg.log({v.text})",
            f"vg.random_normal({integer(w, s, 0).text})",
            f"(vg.float64({v.text}) ** {w.r.choice(['0.5', '2', '1.5'])})",
        ]
    )


def cast(v: Value, t: Scalar) -> Value:
    """An explicit conversion."""
    return Value(f"{type_text(t)}({v.text})", t)


def summand(w: Writer, s: Scope, depth: int, t: Scalar) -> Value:
    """A float of few bits, so that sums of many are exact, in whatever order."""
    whole = w.until(lambda: integer(w, s, depth), lambda v: not isinstance(v.kind, Weak))
    return Value(f"({type_text(t)}({whole.text} % 64) * 0.5)", t)


def _negative(v: Value) -> bool:
    return isinstance(v.kind, Weak) and v.text.startswith("(-")


def _pair(w: Writer, s: Scope, depth: int) -> tuple[Value, Value] | None:
    """Two operands, of which at least one is no literal, and no negative literal stands beside an unsigned one."""
    a, b = number(w, s, depth), number(w, s, depth)
    if isinstance(a.kind, Weak) and isinstance(b.kind, Weak):
        return None
    for x, y in ((a, b), (b, a)):
        if _negative(x) and y.kind in INTEGERS[2:]:
            return None
    return (a, b) if w.chance(0.5) else (b, a)


def _combined(op: str, a: Value, b: Value) -> Value | None:
    found = operation(op, a.kind, b.kind)
    if found is None:
        return None
    return Value(f"({a.text} {op} {b.text})", found[1])


# --- leaves ---------------------------------------------------------------------------------------------------


@LEAVES.add(6)
def read_property(w: Writer, s: Scope, depth: int) -> Value | None:
    found = [(at, p) for at, p in w.readable(s) if is_number(p.type)]
    if not found:
        return None
    at, prop = w.r.choice(found)
    return Value(f"{at}.{prop.name}", prop.type)


@LEAVES.add(4)
def read_edge(w: Writer, s: Scope, depth: int) -> Value | None:
    own = [p for p in w.own_edges if p.name not in w.hidden_edges]
    found = [p for p in (*w.edge_properties, *own) if is_number(p.type)]
    if not s.edges or not found:
        return None
    prop, edge = w.r.choice(found), w.r.choice(s.edges)
    way = ".reverse" if w.directed and w.chance(0.2) else ""
    return Value(f"{edge}{way}.{prop.name}", prop.type)


@LEAVES.add(5)
def read_local(w: Writer, s: Scope, depth: int) -> Value | None:
    found = [v for v in s.locals if is_number(v.type)]
    return w.r.choice(found) if found else None


@LEAVES.add(2)
def literal(w: Writer, s: Scope, depth: int) -> Value:
    if w.chance(0.2):
        return Value(w.r.choice(["0.5", "2.0", "(-1.25)", "1e3", "0.0"]), Weak.FLOAT)
    common = [str(w.r.randint(0, 9)), "(-3)", "1"]
    return Value(w.r.choice([*common, "64", "2147483647", "(-2147483648)"]), Weak.INT)


@LEAVES.add(0.5)
def infinity(w: Writer, s: Scope, depth: int) -> Value:
    return Value(w.r.choice(["vg.inf", "(-vg.inf)"]), Weak.INF)


@LEAVES.add(1.5)
def constant(w: Writer, s: Scope, depth: int) -> Value:
    return w.r.choice(w.constants)


@LEAVES.add(2)
def read_global(w: Writer, s: Scope, depth: int) -> Value | None:
    found = [g for g in w.globals if is_number(g.type)]
    if not s.globals or not found:
        return None
    g = w.r.choice(found)
    return Value(f"graph.{g.name}", g.type)


@LEAVES.add(1.5)
def size(w: Writer, s: Scope, depth: int) -> Value | None:
    if not s.vertices:
        return None
    v = w.r.choice([*s.vertices, *s.maybe])
    choices = [f"{v}.out_degree", f"{v}.in_degree", f"len({v}.out_neighbors)"]
    choices += [] if w.directed else [f"{v}.degree"]
    choices += ["graph.num_vertices", "graph.num_edges"] if s.globals else []
    return Value(w.r.choice(choices), I64)


@LEAVES.add(1)
def vertex_number(w: Writer, s: Scope, depth: int) -> Value | None:
    if not s.vertices:
        return None
    v = w.r.choice(s.vertices)
    ways = (f"(+{v}.id)", f"max({v}.id, -1)", f"min({v}.id, 3)", f"({v}.id if {v}.out_degree > 1 else -2)")
    return Value(w.r.choice(ways), I64)


# --- numbers --------------------------------------------------------------------------------------------------


@NUMERIC.add(2)
def leaf(w: Writer, s: Scope, depth: int) -> Value:
    return number(w, s, 0)


@NUMERIC.add(6)
def arithmetic(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, depth - 1)
    return _combined(w.r.choice("+-*"), *both) if both else None


@NUMERIC.add(2)
def division(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, depth - 1)
    if not both:
        return None
    a, b = both
    op = w.r.choice(["/", "//", "%"])
    if (
        b.is_float or a.is_float or op == "/"
    ):  # the sign of a zero is not defined where minima and maxima were taken
        b = Value(f"({b.text} + 0.0)", (operation("+", b.kind, Weak.FLOAT) or (0, F64))[1])
    return _combined(op, a, b)


@NUMERIC.add(2)
def bits(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, depth - 1)
    if not both or not all(v.is_integer for v in both):
        return None
    return _combined(w.r.choice(["&", "|", "^", "<<", ">>"]), *both)


@NUMERIC.add(1)
def power(w: Writer, s: Scope, depth: int) -> Value | None:
    base = integer(w, s, depth - 1)
    if isinstance(base.kind, Weak):
        return None
    exponents = ["2", "3", "0"] + ([] if base.kind in INTEGERS[2:] else ["(-1)"])
    return _combined("**", base, Value(w.r.choice(exponents), Weak.INT))


@NUMERIC.add(2)
def extreme(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, depth - 1)
    if not both:
        return None
    found = [*both, *([number(w, s, 0)] if w.chance(0.3) else [])]
    kind = found[0].kind
    for v in found[1:]:
        joined = operation("min", kind, v.kind)
        if joined is None or (_negative(v) and kind in INTEGERS[2:]):
            return None
        kind = joined[1]
    text = ", ".join(v.text for v in found)
    return Value(f"{w.r.choice(['min', 'max'])}({text})", kind)


@NUMERIC.add(2)
def conditional(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, depth - 1)
    kind = merge(both[0].kind, both[1].kind) if both else None
    if not both or kind is None:
        return None
    a, b = both
    return Value(f"({a.text} if {boolean(w, s, depth - 1).text} else {b.text})", kind)


@NUMERIC.add(2)
def conversion(w: Writer, s: Scope, depth: int) -> Value | None:
    v, t = number(w, s, depth - 1), w.r.choice(NUMBERS)
    if _negative(v) and t in INTEGERS[2:]:
        return None
    if w.chance(0.2) and t in (I64, F64):
        return Value(f"{'int' if t == I64 else 'float'}({v.text})", t)
    return cast(v, t)


@NUMERIC.add(1.5)
def sign(w: Writer, s: Scope, depth: int) -> Value | None:
    v = number(w, s, depth - 1)
    if isinstance(v.kind, Weak):
        return None
    way = w.r.choice(["-", "+", "abs", *(["~"] if v.is_integer else [])])
    return Value(f"abs({v.text})" if way == "abs" else f"({way}{v.text})", v.kind)


@NUMERIC.add(1)
def float_function(w: Writer, s: Scope, depth: int) -> Value | None:
    v = number(w, s, depth - 1)
    if v.kind is Weak.INF:
        return None
    t = v.type if v.type in FLOATS else F64
    name = w.r.choice(["sqrt", "floor", "ceil"])
    return Value(f"vg.{name}({v.text})", t) if name == "sqrt" or v.type in FLOATS else None


@NUMERIC.add(0.5)
def bits_counted(w: Writer, s: Scope, depth: int) -> Value:
    return Value(f"vg.{w.r.choice(['popcount', 'ctz', 'clz'])}({integer(w, s, depth - 1).text})", I64)


@NUMERIC.add(0.5)
def drawn(w: Writer, s: Scope, depth: int) -> Value | None:
    """A random number, which is the same wherever it is drawn for the same."""
    keys = [integer(w, s, depth - 1).text for _ in range(w.r.randint(1, 3))]
    if s.vertices and w.chance(0.5):
        keys.append(w.r.choice([*s.vertices, *s.maybe]))
    if w.chance(0.5):
        return Value(f"vg.random({', '.join(keys)})", F64)
    first = w.r.choice([f"below({w.r.randint(1, 40)}", "choice(table"])
    return Value(f"vg.random_{first}, {', '.join(keys)})", I64)


@NUMERIC.add(1)
def of_a_bool(w: Writer, s: Scope, depth: int) -> Value | None:
    """Bools count as int64."""
    v = number(w, s, depth - 1)
    if isinstance(v.kind, Weak):
        return None
    return _combined(w.r.choice("+-*"), Value(boolean(w, s, depth - 1).text, BOOL), v)


@NUMERIC.add(1)
def of_a_vertex(w: Writer, s: Scope, depth: int) -> Value | None:
    """Vertices count as int64."""
    v = number(w, s, depth - 1)
    if not s.vertices or isinstance(v.kind, Weak):
        return None
    return _combined(w.r.choice("+-*"), Value(w.r.choice(s.vertices), VID), v)


@NUMERIC.add(1)
def read_at_a_vertex(w: Writer, s: Scope, depth: int) -> Value | None:
    """A property of a computed vertex, which is zero at `vg.none`."""
    hidden = {name for names in s.hidden.values() for name in names}
    found = [p for p in w.properties if is_number(p.type) and p.owner != "scratch" and p.name not in hidden]
    if not found or not s.vertices:
        return None
    prop = w.r.choice(found)
    return Value(f"{vertex(w, s, depth - 1)}.{prop.name}", prop.type)


@NUMERIC.add(0.5)
def read_half(w: Writer, s: Scope, depth: int) -> Value | None:
    found = [f"{at}.{p.name}" for at, p in w.readable(s) if p.type == F16]
    return Value(w.r.choice(found), F32) if found else None


@NUMERIC.add(1)
def element(w: Writer, s: Scope, depth: int) -> Value | None:
    t = w.vector_type
    found = vector(w, s, depth - 1, t)
    if found is None:
        return None
    if w.chance(0.5):
        index = integer(w, s, depth - 1)
        return Value(f"{found}[{index.text}]", t.element)
    if w.chance(0.3):
        return Value(f"vg.{w.r.choice(['argmin', 'argmax'])}({found})", I64)
    if w.chance(0.5):
        return Value(f"vg.sum({found}{w.r.choice(['', '[1:]', '[:-1]', '[0:2]'])})", t.element)
    return Value(f"vg.dot({found}, {vector(w, s, 0, t)})", t.element)


@NUMERIC.add(0.5)
def parameter(w: Writer, s: Scope, depth: int) -> Value:
    """A parameter of the algorithm, which operators and helpers see."""
    return Value("rounds", I64)


@NUMERIC.add(1)
def looked_up(w: Writer, s: Scope, depth: int) -> Value:
    """An element of an array, by any index: some are outside."""
    index = [integer(w, s, depth - 1).text for _ in range(w.r.choice([1, 2]))]
    if s.vertices and w.chance(0.2):
        index[0] = vertex(w, s, depth - 1)
    elif w.chance(0.6):
        index[0] = f"({index[0]} % 5)"
    return Value(
        f"{'table' if len(index) == 1 else 'matrix'}[{', '.join(index)}]", w.table if len(index) == 1 else F64
    )


@NUMERIC.add(2)
def helper_call(w: Writer, s: Scope, depth: int) -> Value | None:
    return w.helpers.call(w, s, depth) if w.helpers else None


# --- conditions -----------------------------------------------------------------------------------------------


@BOOLEAN.add(6)
def comparison(w: Writer, s: Scope, depth: int) -> Value | None:
    both = _pair(w, s, max(depth - 1, 0))
    if not both or merge(both[0].kind, both[1].kind) is None:
        return None
    return Value(f"({both[0].text} {w.r.choice(COMPARISONS)} {both[1].text})", BOOL)


@BOOLEAN.add(1)
def chain(w: Writer, s: Scope, depth: int) -> Value | None:
    v = typed(w, s, depth - 1)
    if v.kind in INTEGERS[2:]:
        return None
    return Value(f"({w.r.randint(-9, 0)} <= {v.text} {w.r.choice(['<', '<='])} {w.r.randint(1, 40)})", BOOL)


@BOOLEAN.add(2)
def logical(w: Writer, s: Scope, depth: int) -> Value | None:
    if depth <= 0:
        return None
    a, b = boolean(w, s, depth - 1).text, boolean(w, s, depth - 1).text
    return Value(
        w.r.choice([f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} {w.r.choice('&|^')} {b})"]), BOOL
    )


@BOOLEAN.add(2)
def read_bool(w: Writer, s: Scope, depth: int) -> Value | None:
    found = [f"{at}.{p.name}" for at, p in w.readable(s) if p.type == BOOL]
    found += [v.text for v in s.locals if v.kind == BOOL]
    found += [f"graph.{g.name}" for g in w.globals if g.type == BOOL and s.globals]
    return Value(w.r.choice(found), BOOL) if found else None


@BOOLEAN.add(1.5)
def same_vertex(w: Writer, s: Scope, depth: int) -> Value | None:
    if not s.vertices:
        return None
    right = w.r.choice([vertex(w, s, depth - 1), "vg.none", str(w.r.randint(0, 5))])
    left = w.r.choice([*s.vertices, *s.maybe])
    return Value(f"({left} {w.r.choice(COMPARISONS)} {right})", BOOL)


@BOOLEAN.add(0.5)
def same_vector(w: Writer, s: Scope, depth: int) -> Value | None:
    both = [vector(w, s, depth - 1, w.vector_type) for _ in range(2)]
    return Value(f"({both[0]} {w.r.choice(['==', '!='])} {both[1]})", BOOL) if all(both) else None


@BOOLEAN.add(1)
def float_test(w: Writer, s: Scope, depth: int) -> Value:
    return Value(f"vg.{w.r.choice(['isnan', 'isinf'])}({typed(w, s, depth - 1).text})", BOOL)


@BOOLEAN.add(0.5)
def truth(w: Writer, s: Scope, depth: int) -> Value:
    return Value(f"bool({typed(w, s, depth - 1).text})", BOOL)


# --- vertices -------------------------------------------------------------------------------------------------


@VERTICES.add(5)
def named_vertex(w: Writer, s: Scope, depth: int) -> str:
    return w.r.choice([*s.vertices, *s.maybe])


@VERTICES.add(0.5)
def vertex_parameter(w: Writer, s: Scope, depth: int) -> str:
    return "source"


@VERTICES.add(2)
def parent(w: Writer, s: Scope, depth: int) -> str | None:
    found = [f"{at}.{p.name}" for at, p in w.readable(s) if p.type == VID and p.owner != "sets"]
    return w.r.choice(found) if found else None


@VERTICES.add(1)
def no_vertex(w: Writer, s: Scope, depth: int) -> str:
    return "vg.none"


@VERTICES.add(1)
def end_of_edge(w: Writer, s: Scope, depth: int) -> str | None:
    return f"{w.r.choice(s.edges)}.{w.r.choice(['src', 'dst'])}" if s.edges else None


@VERTICES.add(1)
def numbered(w: Writer, s: Scope, depth: int) -> str | None:
    v = typed(w, s, depth - 1)
    return f"vg.vertex({v.text} % 13)" if v.is_integer else None


@VERTICES.add(1)
def first_neighbor(w: Writer, s: Scope, depth: int) -> str:
    v, side = w.r.choice(s.vertices), w.r.choice(["out", "in"])
    other = w.r.choice([v, "vg.none"])
    return f"({v}.{side}_neighbors[{v}.{side}_degree - 1] if {v}.{side}_degree > 0 else {other})"


@VERTICES.add(1)
def extreme_vertex(w: Writer, s: Scope, depth: int) -> str:
    return f"{w.r.choice(['min', 'max'])}({vertex(w, s, depth - 1)}, {vertex(w, s, depth - 1)})"


@VERTICES.add(1)
def chosen_vertex(w: Writer, s: Scope, depth: int) -> str | None:
    if depth <= 0:
        return None
    return f"({vertex(w, s, 0)} if {boolean(w, s, depth - 1).text} else {vertex(w, s, 0)})"
