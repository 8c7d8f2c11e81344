"""Random programs as text: properties, operators, and an algorithm that applies them in every way there is."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from vgraph.compiler.frontend.kinds import Weak
from vgraph.compiler.types import NUMPY_NAMES, Vector

from . import called, exclusive, frontiers, neighbors, tuples, whole
from . import expressions as e
from . import operators as o
from .graphs import Kind
from .helpers import Helpers
from .scope import (
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I32,
    I64,
    INTEGERS,
    NUMBERS,
    U32,
    U64,
    VID,
    Features,
    Prop,
    Scope,
    Value,
    type_text,
)  # fmt: skip

T = TypeVar("T")
Step = Callable[["Writer", int], list[str]]
STEPS = Features()


@dataclass(frozen=True)
class Global:
    """A global scalar, and the operations by which operators may reduce into it."""

    name: str
    type: object
    start: str
    reduced: tuple[str, ...] = ()


SETS = 5
"""Every so many-th program has nothing that only one device has, and runs on a set of devices, too."""


class Writer:
    """Writes one program; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.seed, self.r = seed, random.Random(seed)
        self.for_sets = seed % SETS == 0
        r = self.r
        self.graph = Kind(
            directed=self.chance(0.7),
            id_bits=64 if self.chance(0.15) else 32,
            edges={
                "w": r.choice(["int32", "int64", "uint32", "uint64"]),
                "h": r.choice(["float32", "float64"]),
                "cost": r.choice(["int32", "int64"]),
            },
            vertices={"given": r.choice([*NUMPY_NAMES])},
        )
        self.directed = self.graph.directed
        self.vector_type = Vector(r.choice([F32, F64, I32, I64]), r.choice([2, 3]))
        self.lines: list[str] = []
        self.names = 0
        self.kind, self.loops, self.start_of_operator = "", 0, 0
        self.returns = False
        self.counters: set[str] = set()
        self.orders: dict[str, str] = {}
        self.declare()
        self.helpers = Helpers(self)

    # --- chance

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.r.random() < p

    def until(self, make: Callable[[], T], accept: Callable[[T], bool]) -> T:
        """The first that is accepted."""
        for _ in range(300):
            made = make()
            if accept(made):
                return made
        raise AssertionError("nothing is accepted")

    # --- text

    def line(self, depth: int, text: str) -> None:
        """One more line."""
        self.lines.append("    " * depth + text)

    def new(self) -> str:
        """A fresh name."""
        self.names += 1
        return f"t{self.names}"

    # --- declarations

    def declare(self) -> None:
        """What the program has: properties, globals, constants."""
        r = self.r
        numbers = r.sample(NUMBERS, r.randint(2, 4))
        self.properties = [
            Prop(name, t, summed=t in FLOATS and self.chance(0.6))
            for name, t in zip("abcd", numbers, strict=False)
        ]
        self.properties.append(Prop("x", I64))
        self.bounded = {"x", *(p.name for p in self.properties if p.type == I32)}
        if self.chance(0.5):
            self.properties.append(Prop("flag", BOOL))
        if self.chance(0.5):
            self.properties.append(Prop("parent", VID))
        if self.chance(0.3):
            self.properties.append(Prop("feature", self.vector_type))
        if self.chance(0.3):
            self.properties.append(Prop("half", F16))
        self.properties.append(Prop("given", NUMPY_NAMES[self.graph.vertices["given"]], "graph"))
        self.edge_properties = [Prop(n, NUMPY_NAMES[t], "graph") for n, t in self.graph.edges.items()]
        if not self.for_sets:
            self.edge_properties.append(Prop("each", I64, "graph"))  # a parameter, and a constant
        self.table = r.choice(NUMBERS)
        kinds = r.sample([I32, I64, U32, F32, BOOL, VID], 2)
        self.own_edges = [Prop(name, t) for name, t in zip(("flow", "kept"), kinds, strict=True)]
        if self.for_sets:
            self.own_edges = []
        self.hidden_edges = {p.name for p in self.own_edges}
        claimed = r.choice(
            [
                (I64, "-1"),
                (I32, "-1"),
                (BOOL, "False"),
                (VID, "vg.none"),
                (U32, "5"),
                (I32, "graph.k"),
                (F64, "0.5"),
            ]
        )
        self.claimed = Prop("mark", claimed[0]), claimed[1]
        self.best = r.choice(tuples.KINDS)
        self.globals = [Global("k", I64, "3"), Global("claims", I64, "0")]
        for name, t in zip(("g", "low", "any"), (r.choice(NUMBERS), r.choice(NUMBERS), BOOL), strict=True):
            if self.chance(0.5):
                self.globals.append(Global(name, t, *self.start_of_global(name, t)))
        self.constants = [
            Value("SIZE", Weak.INT),
            Value("HALF", Weak.FLOAT),
            Value("WIDE", I64),
            Value("Mode.SLOW", Weak.INT),
        ]

    def start_of_global(self, name: str, t: object) -> tuple[str, tuple[str, ...]]:
        """A first value of a global, and how it is reduced into."""
        r = self.r
        if t == BOOL:
            return r.choice(["False", "True"]), (r.choice(["|", "&"]),)
        if name == "low":
            op = r.choice(["min", "max"])
            return ("vg.inf" if op == "min" else "-vg.inf"), (op,)
        ops = ["+"] if t in FLOATS else ["+", "|", "&", "min", "max"]
        return f"{type_text(t)}({r.randint(0, 9)})", (r.choice(ops),)  # type: ignore[arg-type]

    def readable(self, s: Scope) -> list[tuple[str, Prop]]:
        """The properties that may be read, with the vertices at which they may."""
        return [
            (at, p)
            for at in (*s.vertices, *s.maybe)
            for p in self.properties
            if p.name not in s.hidden.get(at, ())
        ]

    # --- operators

    def begin_operator(self, kind: str, returns: bool = False) -> None:
        """An operator begins; `returns`: it gives a bool. What it writes at edges it does not read."""
        self.kind, self.loops, self.returns = kind, 0, returns
        self.hidden_edges = {p.name for p in self.own_edges if self.chance(0.2)}
        self.way_of_best: dict[str, str] = {}

    def operator(self, name: str, parameters: list[str]) -> None:
        """The head of an operator, which sees the globals."""
        given = [*parameters, "graph"] if self.chance(0.8) else ["graph", *parameters]
        self.lines += ["", "", "@vg.operator", f"def {name}({', '.join(given)}):"]
        self.start_of_operator = len(self.lines)

    def is_empty_operator(self) -> bool:
        """Whether nothing was written since."""
        return len(self.lines) == self.start_of_operator

    def reduce_global(self, s: Scope, g: Global, op: str) -> None:
        """A reduction into a global, which keeps its type."""
        place = f"graph.{g.name}"
        if g.type == BOOL:
            o.reduce(self, s, 1, place, BOOL, op)
            return
        t: object = g.type
        if t in FLOATS:
            value = e.summand(self, s, 1, t).text if op == "+" else e.cast(e.number(self, s, 1), t).text  # type: ignore[arg-type]
        else:
            value = e.cast(e.integer(self, s, 1), t).text  # type: ignore[arg-type]
        if op in o.MIN_MAX:
            less = op == "min"
            if self.chance(0.4):
                self.line(1, f"if {value} {'<' if less else '>'} {place}:")
                self.line(2, f"{place} = {value}")
            else:
                self.line(1, f"{place} = {op}({place}, {value})")
        else:
            self.line(1, f"{place} {op}= {value}")

    # --- the algorithm

    def text(self, *features: Step) -> str:
        """The whole module, with some steps, or those of `features`."""
        r = self.r
        steps: list[str] = []
        chosen = features or (lambda w, number: STEPS.pick(r, w, number),) * r.randint(1, 4)
        for number, feature in enumerate(chosen):
            self.kind, self.loops = "driver", 0
            steps += feature(self, number)
        operators, self.lines = self.lines, []
        self.algorithm(steps)
        head = HEAD.format(
            seed=self.seed,
            kind=json.dumps(asdict(self.graph)),
            orders=json.dumps(self.orders),
            size=r.randint(2, 60),
            helpers=self.helpers.text(),
        )
        return head + "\n".join([*operators, *self.lines]) + "\n"

    def algorithm(self, steps: list[str]) -> None:
        """The algorithm's own text."""
        r = self.r
        self.lines += [
            "",
            "",
            "@vg.algorithm",
            "def program(graph, source: vg.vertex, several: list[vg.vertex], rounds=2, dtype=vg.int32,",
            *([] if self.for_sets else ["            each: vg.edge_property(vg.int64) = 3,"]),
            f"            table: vg.array({type_text(self.table)}) = (3, 0, 4, 1, 5),",
            "            matrix: vg.array(vg.float64, 2) = ((1, 0.5, -2), (4, 0, 8))):",
        ]
        own = [
            (f"graph.vertex_property({type_text(p.type)}{self.fill(p)})", p.name)
            for p in self.properties
            if p.owner == "algorithm"
        ]
        for declared, alike in groupby(own, itemgetter(0)):
            self.line(1, f"{', '.join(name for _, name in alike)} = {declared}")
        for p in self.own_edges:
            self.line(1, f"{p.name} = graph.edge_property({type_text(p.type)}{self.fill(p)})")
        mark, start = self.claimed
        fill = {"graph.k": "3", "vg.none": "vg.none"}.get(start, start)
        self.line(1, f"mark = graph.vertex_property({type_text(mark.type)}, fill={fill})")
        self.line(1, "note = graph.vertex_property(vg.int64)")
        self.line(1, "sink = graph.vertex_property(vg.float64)")
        for text in tuples.declared(self):
            self.line(1, text)
        self.line(1, "graph.unread = graph.unseen = source")
        self.line(1, "seen = graph.scratch(vg.bool_)")
        self.line(1, "count = graph.scratch(vg.int64)")
        if not self.for_sets:
            self.line(1, "sets = graph.disjoint_sets()")
        for g in self.globals:
            self.line(1, f"graph.{g.name} = {g.start}")
            if g.start.endswith("vg.inf"):  # so that its type is known whatever is reduced into it
                self.line(1, "if graph.num_vertices < 0:")
                self.line(2, f"graph.{g.name} = {type_text(g.type)}(0)")  # type: ignore[arg-type]
        self.line(1, "sizes = 0")
        self.line(1, "chosen = graph.frontier(several)")
        self.line(1, "graph.vertex_apply(start)")
        self.line(1, f"x[source] = {r.randint(0, 9)}")
        for step in steps:
            self.line(1, step)
        if self.chance(0.2):
            self.line(1, "if graph.claims > 3:")
            self.line(2, 'vg.fail("too many claims")')
        names = [p.name for p in self.properties if p.owner == "algorithm"]
        results = [
            *names,
            *(p.name for p in self.own_edges),
            "mark",
            "note",
            "sink",
            *tuples.RESULTS,
            *([] if self.for_sets else ["sets"]),
            "sizes",
            "chosen",
            *(f"graph.{g.name}" for g in self.globals),
        ]
        self.line(1, f"return {', '.join(results)}")

    def fill(self, p: Prop) -> str:
        """What a property is filled with."""
        if p.type in (BOOL, VID) or isinstance(p.type, Vector) or self.chance(0.4):
            return ""
        choices = ["1", "7", "100", "vg.inf"]
        if p.type not in (U32, U64):
            choices += ["-1", "-vg.inf"]
        if p.name in self.bounded:
            choices = ["1", "7", "100", "-5"]
        return f", fill={self.r.choice(choices)}"


HEAD = '''"""Random program {seed}.

graphs: {kind}
orders: {orders}
"""

import enum

import numpy as np

import vgraph as vg

SIZE = {size}
HALF = 0.5
WIDE = np.int64(5)


class Mode(enum.IntEnum):
    FAST = 1
    SLOW = 2
{helpers}

@vg.operator
def start(v):
    v.x = v.id * 7 % 11 - 3
'''


# --- steps of the algorithm -----------------------------------------------------------------------------------


def _start(w: Writer) -> str:
    return w.r.choice(["graph.vertices", "graph.frontier(source)"])


def _reset(w: Writer) -> list[str]:
    """Small numbers in what a loop changes step by step: from large ones it would not end in time."""
    others = [p for p in w.properties if p.name in w.bounded and p.name != "x"]
    fills = (
        f"{p.name} = graph.vertex_property({type_text(p.type)}, fill={w.r.choice([1, 7, 100])})"
        for p in others
    )
    return ["graph.vertex_apply(start)", *fills]


def _reverse(w: Writer) -> str:
    return ", reverse=True" if w.chance(0.3) else ""


@STEPS.add(2)
def apply_once(w: Writer, number: int) -> list[str]:
    o.edge_operator(w, f"op{number}", "alone")
    given = w.r.choice(["", "", ", graph.frontier(source)"])
    return [f"graph.edge_apply(op{number}{given}{_reverse(w)})", "graph.k += 1"]


@STEPS.add(3)
def apply_in_rounds(w: Writer, number: int) -> list[str]:
    o.edge_operator(w, f"op{number}")
    f = f"f{number}"
    return [
        f"{f} = {_start(w)}",
        "for i in range(rounds):",
        f"    {f} = graph.edge_apply(op{number}, {f}{_reverse(w)})",
        f"    sizes = sizes * 5 + len({f})",
        "    graph.k += 1",
    ]


@STEPS.add(3)
def apply_until_empty(w: Writer, number: int) -> list[str]:
    o.edge_operator(w, f"op{number}", "bounded")
    f, reverse = f"f{number}", _reverse(w)
    counting = ["    sizes += 1"] if w.chance(0.3) else []
    return [
        *_reset(w),
        f"{f} = {_start(w)}",
        f"while {f}:",
        f"    {f} = graph.edge_apply(op{number}, {f}{reverse})",
        *counting,
    ]


class Ordered:
    """Expressions that do not fall when what is read rises; under `|` and `&`, that keep what bits are subsets of."""

    def __init__(self, w: Writer, prop: str, subsets: bool) -> None:
        self.w, self.prop, self.subsets = w, prop, subsets

    def text(self, depth: int) -> str:
        """An expression, now and then one that does not keep the order."""
        r = self.w.r
        if depth <= 0:
            return r.choice([f"src.{self.prop}", f"src.{self.prop}", "edge.cost", str(r.randint(0, 9))])
        a, b = self.text(depth - 1), self.text(depth - 1)
        if self.w.chance(0.1):
            others = [f"({r.randint(1, 9)} - {a})", f"({a} ^ {b})", f"({a} if {b} < 4 else 5)", f"({a} % 7)"]
            return r.choice(others)
        if self.subsets:
            return r.choice([f"({a} | {b})", f"({a} & {b})", f"(({a} & 1023) << 1)", f"({a} >> 1)"])
        kept = [f"({a} + {b})", f"({a} - {r.randint(1, 5)})", f"min({a}, {b})", f"max({a}, {b})"]
        return r.choice([*kept, f"({a} + edge.cost)"])


@STEPS.add(3)
def fixpoint(w: Writer, number: int) -> list[str]:
    """A loop that any order of updates brings to the same end, mostly; and paths, whose vertices go by distance."""
    w.begin_operator("edge")
    w.operator(f"op{number}", ["src", "edge", "dst"])
    prop = w.r.choice(sorted(w.bounded))
    op = w.r.choice([*o.MIN_MAX, *o.MIN_MAX, *o.BITS])
    place, value = f"dst.{prop}", Ordered(w, prop, op in o.BITS).text(w.r.randint(1, 2))
    limited = f"max({value}, -30)" if op == "min" else f"min({value}, 30)"
    update = f"{place} = {op}({place}, {limited})"
    if op in o.BITS:
        update = f"{place} {op}= {value} & 255"
    elif w.chance(0.3):
        update = f"{place} = min({place}, src.{prop} + edge.cost)"
    test = w.r.choice(["edge.cost > 2", "src.id != dst.id", "src.x < 4", f"src.{prop} < dst.id"])
    if w.chance(0.35):
        w.line(1, f"if {test}:")
        w.line(2, update)
    else:
        w.line(1, update)
    f = f"f{number}"
    until = [f"while {f}:", f"    {f} = graph.edge_apply(op{number}, {f}{_reverse(w)})"]
    return [*_reset(w), f"{f} = {_start(w)}", *until]


@STEPS.add(2)
def visit(w: Writer, number: int) -> list[str]:
    o.vertex_operator(w, f"op{number}")
    given = w.r.choice(["", ", graph.vertices", ", graph.frontier(source)"])
    return [f"graph.vertex_apply(op{number}{given})"]


@STEPS.add(0.7)
def write_in_a_helper(w: Writer, number: int) -> list[str]:
    """A helper without a value, called as a statement: it writes what its caller may."""
    prop = w.r.choice([p for p in w.properties if p.is_writable and p.type in INTEGERS])
    w.begin_operator("edge")
    w.lines += ["", "", "@vg.function", f"def put{number}(u, value, graph):"]
    given = Scope([], locals=[Value("value", I64)], globals=False)
    o.reduce(w, given, 1, f"u.{prop.name}", prop.type, w.r.choice(o.ways(prop)))
    w.line(1, "graph.claims += 1")
    w.operator(f"op{number}", ["src", "edge", "dst"])
    value = e.cast(e.integer(w, Scope(["src"], edges=["edge"]), 1), I64).text
    w.line(1, f"put{number}(dst, {value}, graph)")
    return [f"graph.edge_apply(op{number}{_reverse(w)})"]


@STEPS.add(0.7)
def elements(w: Writer, number: int) -> list[str]:
    """A loop over an array, whose elements are vertices."""
    o.edge_operator(w, f"op{number}")
    f = f"f{number}"
    return [
        "for s in several:",
        "    x[s] += 1",
        f"    {f} = graph.frontier(s)",
        f"    {f} = graph.edge_apply(op{number}, {f}{_reverse(w)})",
        f"    sizes = sizes * 3 + len({f}) + len(several)",
    ]


@STEPS.add(1.5)
def choose(w: Writer, number: int) -> list[str]:
    o.vertex_operator(w, f"op{number}", returns=True)
    f = f"f{number}"
    return [
        f"{f} = graph.vertex_filter(op{number}{w.r.choice(['', ', graph.vertices'])})",
        f"sizes = sizes * 7 + len({f})",
    ]


@STEPS.add(1)
def choose_and_apply(w: Writer, number: int) -> list[str]:
    made = choose(w, number)
    o.edge_operator(w, f"also{number}")
    f = f"f{number}"
    return [
        *made,
        f"if {f}:",
        f"    {f} = graph.edge_apply(also{number}, {f}{_reverse(w)})",
        "else:",
        "    graph.k -= 1",
        f"sizes = sizes * 3 + len({f})",
    ]


@STEPS.add(1)
def two_operators(w: Writer, number: int) -> list[str]:
    """Two operators in one loop, under labels of their own."""
    o.edge_operator(w, f"op{number}")
    o.vertex_operator(w, f"also{number}")
    f = f"f{number}"
    return [
        f"{f} = {_start(w)}",
        "rest = rounds",
        f"while {f} and rest > 0:",
        f'    {f} = graph.edge_apply(op{number}, {f}, label="first {number}"{_reverse(w)})',
        f"    graph.vertex_apply(also{number}, {f})",
        "    rest -= 1",
    ]


@STEPS.add(1)
def levels(w: Writer, number: int) -> list[str]:
    """A list of frontiers, walked forwards or backwards."""
    o.edge_operator(w, f"op{number}")
    o.vertex_operator(w, f"also{number}")
    f, held = f"f{number}", f"levels{number}"
    back = w.r.choice([held, f"reversed({held})"])
    return [
        f"{f} = {_start(w)}",
        f"{held} = [{f}]",
        "for i in range(rounds):",
        f"    {f} = graph.edge_apply(op{number}, {f}{_reverse(w)})",
        f"    {held}.append({f})",
        f"for level in {back}:",
        f"    graph.vertex_apply(also{number}, level)",
        "    sizes = sizes * 3 + len(level)",
        f"graph.vertex_apply(also{number}, {held}[len({held}) - 1])",
    ]


@STEPS.add(1)
def queue(w: Writer, number: int) -> list[str] | None:
    """A priority queue over an integer property, which the operator may change."""
    if w.for_sets:
        return None
    by = w.r.choice([p for p in w.properties if p.type in (I32, I64, U32) and p.owner == "algorithm"])
    o.edge_operator(w, f"op{number}", writes=(by,) if w.chance(0.7) else ())
    q = f"queue{number}"
    return [
        f"{q} = graph.priority_queue({by.name})",
        f"while {q}:",
        f"    bucket = {q}.pop()",
        f"    graph.edge_apply(op{number}, bucket{_reverse(w)})",
        f"    sizes = sizes * 3 + {q}.level + len(bucket)",
    ]


@STEPS.add(1)
def searches(w: Writer, number: int) -> list[str]:
    """A loop over sources whose iterations may meet in reductions only, or may not."""
    w.begin_operator("edge")
    w.operator(f"op{number}", ["src", "edge", "dst"])
    level, hidden = f"level{number}", {"note", "best", "who"}
    ends = Scope(["src", "dst"], edges=["edge"], hidden={"src": hidden, "dst": hidden})
    w.line(1, f"if {e.boolean(w, ends, 1).text}:")
    w.line(2, f"dst.{level} = min(dst.{level}, src.{level} + 1)")
    w.begin_operator("vertex")
    w.operator(f"also{number}", ["v"])
    value = e.cast(e.integer(w, Scope(["v"], hidden={"v": hidden}), 1), I64).text
    w.line(1, f"v.note {w.r.choice('+|&')}= ({value}) + v.{level}")
    f = f"f{number}"
    return [
        f"{level} = graph.vertex_property(vg.int64)",
        "for s in several:",
        f"    {level}[:] = 99",
        f"    {level}[s] = 0",
        f"    {f} = graph.frontier(s)",
        f"    while {f}:",
        f"        sizes += len({f})",
        f"        graph.vertex_apply(also{number}, {f})",
        f"        {f} = graph.edge_apply(op{number}, {f}{_reverse(w)})",
        *(["    x[s] = 4"] if w.chance(0.3) else []),
    ]


@STEPS.add(1)
def element_access(w: Writer, number: int) -> list[str]:
    """Single elements, read and written by the algorithm."""
    numbers = [p for p in w.properties if p.owner == "algorithm" and p.type in INTEGERS]
    a, b = w.r.choice(numbers).name, w.r.choice(numbers).name
    return [
        f"{a}[source] += 3",
        f"if {b}[source] < 5:",
        f"    {b}[sizes % graph.num_vertices] = {w.r.randint(0, 9)}",
        f"sizes = sizes * 3 + vg.int64({a}[source])",
    ]


@STEPS.add(0.7)
def static_choice(w: Writer, number: int) -> list[str]:
    """Branches that are decided when the program is compiled, and a property that is declared again."""
    prop = w.r.choice([p for p in w.properties if p.owner == "algorithm"])
    return [
        "if dtype == vg.int32:",
        "    sizes += 1",
        "else:",
        "    sizes = 0.5",
        "if graph.directed:",
        "    sizes += 2",
        f"{prop.name} = graph.vertex_property({type_text(prop.type)}{w.fill(prop)})",
    ]


@STEPS.add(1)
def chosen_type(w: Writer, number: int) -> list[str]:
    """Variables of the algorithm with a type from several assignments."""
    t = w.new()
    return [
        f"{t} = {w.r.choice(['0', 'vg.int32(2147483647)', 'vg.uint32(4294967295)'])}",
        "if rounds > 5:",
        f"    {t} = {w.r.choice(['vg.int64(1)', '0.5', 'graph.k', 'x[source]'])}",
        f"{t} = {t} * 3 + 1",
        f"graph.k += vg.int64({t})",
    ]


STEPS.add(2)(frontiers.combined)
STEPS.add(0.7)(called.call)
STEPS.add(2)(whole.statements)
STEPS.add(1.5)(exclusive.both_ends)
STEPS.add(1)(exclusive.gathered)
e.NUMERIC.add(0.7)(neighbors.size)
e.BOOLEAN.add(1)(neighbors.membership)
o.LOOPS.add(1)(neighbors.loop)


@STEPS.add(0.7)
def unite_all(w: Writer, number: int) -> list[str] | None:
    if w.for_sets:
        return None
    w.lines += ["", "", "@vg.operator", f"def op{number}(src, edge, dst):"]
    w.line(1, f"if src.id % {w.r.randint(1, 3)} == 0:")
    w.line(2, "vg.union(src.sets, dst.sets)")
    return [f"graph.edge_apply(op{number}{_reverse(w)})"]


def program_text(seed: int, *features: Step) -> str:
    """The module text of random program `seed`, with steps at random or those that are given."""
    text = Writer(seed).text(*features)
    return with_prints(text, random.Random(seed)) if seed % 3 == 0 else text


def with_prints(text: str, r: random.Random) -> str:
    """The text with statements that print nothing before some of its own: they change nothing."""
    functions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    functions = [f for f in functions if ast.unparse(f.decorator_list[0]).startswith("vg.")]  # not Numba's
    inside = [n for f in functions for n in ast.walk(f) if isinstance(n, ast.stmt) and n is not f]
    lines = text.splitlines()
    for line in sorted({s.lineno for s in inside}, reverse=True):
        before = lines[line - 1]
        if r.random() < 0.2 and not before.lstrip().startswith(("elif ", '"')):
            indent = before[: len(before) - len(before.lstrip())]
            lines.insert(line - 1, f'{indent}print("", end="")')
    return "\n".join(lines) + "\n"
