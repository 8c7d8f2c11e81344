"""`pack-tuples`: what is reduced together is kept together, in one word.

before: `(dist, parent)[dst] min= (dist[src] + weight[edge], src)`
after:  `dist.parent[dst] min= pack(field.0(dist.parent[src]) + weight[edge], src)`

The word compares as the values do, so everything behind this pass sees a minimum of numbers: a register in a pull, one
compare-and-swap in a push, a change if the word changes. At the end of the program what it returns is unpacked.

Locals of a vertex operator that a loop over arcs carries so are a word within the loop. Then a processor takes several
arcs at a time, and lanes of a group share the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import zero
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import VID, Packed, element_of, packed

_TUPLES = (ir.ReduceTuple, ir.ReduceGlobalTuple)
_NAMING = ir.Load | ir.Store | ir.Fill | ir.FrontierWhere


def tuples(program: ir.Program) -> Iterator[ir.ReduceTuple | ir.ReduceGlobalTuple]:
    """All reductions over several places."""
    for operator in program.operators:
        for n in ir.walk(operator):
            if isinstance(n, _TUPLES):
                yield n


class _Words:
    """The words of a program: which field of which word a property or global has become."""

    def __init__(self, program: ir.Program) -> None:
        self.program, self.fresh = program, ir.fresh_names(program)
        self.types = {p.name: element_of(p.type) for p in program.properties}
        self.global_types = {g.name: element_of(g.type) for g in program.globals}
        self.properties, self.words = self._of(ir.ReduceTuple)
        self.globals, self.global_words = self._of(ir.ReduceGlobalTuple)

    def _of(self, kind: type) -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, ...]]]:
        fields: dict[str, tuple[str, int]] = {}
        words: dict[str, tuple[str, ...]] = {}
        for n in tuples(self.program):
            names = n.props if isinstance(n, ir.ReduceTuple) else n.names
            if isinstance(n, kind) and names[0] not in fields:
                word = self.fresh(".".join(names))
                fields |= {name: (word, k) for k, name in enumerate(names)}
                words[word] = names
        return fields, words

    def type(self, word: str) -> Packed:
        """The type of a word of properties."""
        return packed(tuple(self.types[name] for name in self.words[word]))

    def global_type(self, word: str) -> Packed:
        """The type of a word of globals."""
        return packed(tuple(self.global_types[name] for name in self.global_words[word]))

    def load(self, word: str, index: ir.Expr) -> ir.Expr:
        return ir.Load(word, index, self.type(word))

    def with_field(self, whole: ir.Expr, k: int, value: ir.Expr) -> ir.Expr:
        """A word with another value in one field."""
        assert isinstance(whole.type, Packed)
        fields = range(len(whole.type.fields))
        return ir.Pack(tuple(value if i == k else ir.Field(whole, i) for i in fields))

    def rule(self, n: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Load(prop=prop, index=index) if prop in self.properties:
                word, k = self.properties[prop]
                return ir.Field(self.load(word, index), k)
            case ir.Store(prop=prop, index=index, value=value) if prop in self.properties:
                word, k = self.properties[prop]
                return ir.Store(word, index, self.with_field(self.load(word, index), k, value))
            case ir.Fill(prop=prop, value=value) if prop in self.properties and value is not None:
                word, k = self.properties[prop]
                v = self.fresh("v")
                return ir.FillEach(word, v, self.with_field(self.load(word, ir.Var(v, VID)), k, value))
            case ir.FrontierWhere(prop=prop) if prop in self.properties:
                return (self._unpacked(prop), n)
            case ir.ReduceTuple(op=op, props=props, index=index, items=items):
                return ir.Reduce(op, self.properties[props[0]][0], index, ir.Pack(items))
            case ir.GlobalVar(name=name) if name in self.globals:
                word, k = self.globals[name]
                return ir.Field(ir.GlobalVar(word, self.global_type(word)), k)
            case ir.SetGlobal(name=name, value=value) if name in self.globals:
                word, k = self.globals[name]
                whole = ir.GlobalVar(word, self.global_type(word))
                return ir.SetGlobal(word, self.with_field(whole, k, value))
            case ir.ReduceGlobalTuple(op=op, names=names, items=items):
                return ir.ReduceGlobal(op, self.globals[names[0]][0], ir.Pack(items))
        return None

    def filled(self, body: ir.Body) -> ir.Body:
        """The body with fills of all fields of a word, one behind the other, in one."""
        made: list[ir.Stmt] = []
        rest = list(body)
        while rest:
            word = self._filled_together(rest)
            if word is None:
                made.append(self._inside(rest.pop(0)))
                continue
            names = self.words[word]
            fills = {
                n.prop: n.value for n in rest[: len(names)] if isinstance(n, ir.Fill) and n.value is not None
            }
            made.append(ir.Fill(word, ir.Pack(tuple(fills[name] for name in names)), span=rest[0].span))
            del rest[: len(names)]
        return tuple(made)

    def _inside(self, n: ir.Stmt) -> ir.Stmt:
        """A statement of the driver loop with such fills in the bodies that it has."""
        bodies = (f.name for f in fields_of(type(n)) if f.meaning == ir.Body)
        changes = {name: self.filled(n.__dict__[name]) for name in bodies}
        return ir.with_fields(n, changes) if changes else n

    def _filled_together(self, body: list[ir.Stmt]) -> str | None:
        """The word of which the first statements fill all fields, with what does not depend on it."""
        first = body[0]
        if not isinstance(first, ir.Fill) or first.prop not in self.properties:
            return None
        word, _ = self.properties[first.prop]
        names = self.words[word]
        fills = [n for n in body[: len(names)] if isinstance(n, ir.Fill)]
        reads = {n.prop for fill in fills for n in ir.walk(fill) if isinstance(n, ir.Load)}
        return word if sorted(n.prop for n in fills) == sorted(names) and not reads & {*names} else None

    def begun(self, body: ir.Body) -> set[str]:
        """The words that are filled before anything else is done with one of their fields."""
        found: set[str] = set()
        seen: set[str] = set()
        for n in body:
            if isinstance(n, ir.Fill) and n.prop in self.words and n.prop not in seen:
                found.add(n.prop)
            named = {x.prop for x in ir.walk(n) if isinstance(x, _NAMING)}
            seen |= {self.properties[name][0] for name in named & self.properties.keys()}
        return found

    def body(self) -> ir.Body:
        """The driver loop: every word is filled first, and unpacked last."""
        body = self.filled(self.program.body)
        begun = self.begun(body)
        first = tuple(ir.Fill(word, self._zeros(word)) for word in self.words if word not in begun)
        last = tuple(self._unpacked(name) for name in sorted(returned(self.program) & self.properties.keys()))
        return (*first, *ir.transform_body(body, self.rule), *last)

    def _zeros(self, word: str) -> ir.Expr:
        return ir.Pack(tuple(zero(t, self.program.span) for t in self.type(word).fields))

    def _unpacked(self, name: str) -> ir.Stmt:
        """What the program returns becomes a property of its own."""
        (word, k), v = self.properties[name], self.fresh("v")
        return ir.FillEach(name, v, ir.Field(self.load(word, ir.Var(v, VID)), k))


def returned(program: ir.Program) -> set[str]:
    """The properties that a program returns."""
    return {r.value for r in program.results if isinstance(r.value, str)}


def whole(program: ir.Program) -> set[str]:
    """The properties that the driver loop takes as a whole, or gives back: they need an array of their own."""
    sets = (s for s in ir.driver(program.body) if isinstance(s, ir.FrontierWhere))
    return returned(program) | {n.prop for n in sets}


def with_local_words(program: ir.Program) -> ir.Program:
    """The program with minima of words in loops that carry `cost, near = min((cost, near), ...)` from arc to arc."""
    fresh = ir.fresh_names(program)

    def inside(body: ir.Body) -> ir.Body:
        return tuple(made for s in body for made in statement(s))

    def statement(s: ir.Stmt) -> ir.Body:
        carried = _carried(s, fresh) if isinstance(s, ir.ForNeighbors | ir.ForCommon) else ()
        if carried:
            return carried
        bodies = {f.name: s.__dict__[f.name] for f in fields_of(type(s)) if f.meaning == ir.Body}
        changes = {name: inside(body) for name, body in bodies.items()}
        return (ir.with_fields(s, changes) if changes else s,)

    operators = tuple(ir.with_fields(o, {"body": inside(o.body)}) for o in program.operators)
    return program if operators == program.operators else ir.with_fields(program, {"operators": operators})


def _carried(loop: ir.ForNeighbors | ir.ForCommon, fresh: Callable[[str], str]) -> ir.Body:
    """The words that are packed before a loop, the loop, and what the words are unpacked into; nothing without any."""
    inside = {n.name for n in ir.walk(loop) if isinstance(n, ir.Let)}
    words: dict[tuple[str, ...], ir.Let] = {}
    ops: set[tuple[str, tuple[str, ...]]] = set()

    def rule(n: ir.Node) -> ir.Node | None:
        match n:
            case ir.If(ir.Compare("<" | ">" as op, ir.Pack(new), ir.Pack(old) as before), then, ()):
                names = tuple(place.name for place in old if isinstance(place, ir.Var))
                taken = [(s.name, s.value) for s in then if isinstance(s, ir.Assign)]
                if not len(names) == len(old) == len(then) or inside & {*names}:
                    return None
                if taken != [*zip(names, new, strict=True)]:
                    return None
                ops.add((op, names))
                let = words.get(names) or ir.Let(fresh(".".join(names)), before.type, before, span=n.span)
                words[names] = let
                return ir.Accumulate("min" if op == "<" else "max", let.name, ir.Pack(new), span=n.span)
        return None

    found = ir.transform(loop, rule)
    unpacked = [
        ir.Assign(name, ir.Field(ir.Var(let.name, let.type), k), span=let.span)
        for names, let in words.items()
        for k, name in enumerate(names)
    ]
    fields = {a.name for a in unpacked}
    named = (n.name for n in ir.walk(found) if isinstance(n, ir.Var | ir.Assign | ir.Accumulate))
    if not words or len(ops) > len(words) or len(fields) < len(unpacked) or not fields.isdisjoint(named):
        return ()
    return (*words.values(), found, *unpacked)


def _run(program: ir.Program, context: Context) -> ir.Program:
    program = with_local_words(program)
    if not any(True for _ in tuples(program)):
        return program
    words = _Words(program)
    body = words.body()
    apart = whole(program)
    kept = tuple(p for p in program.properties if p.name not in words.properties or p.name in apart)
    made = (ir.Property(w, words.type(w), ir.Site.VERTEX, ir.Origin.LOCAL) for w in words.words)
    queues = tuple(
        ir.with_fields(q, {"prop": words.properties[q.prop][0]}) if q.prop in words.properties else q
        for q in program.queues
    )
    changes = {
        "queues": queues,
        "operators": tuple(ir.transform(o, words.rule) for o in program.operators),
        "properties": (*kept, *made),
        "globals": (
            *(g for g in program.globals if g.name not in words.globals),
            *(ir.Global(w, words.global_type(w)) for w in words.global_words),
        ),
        "body": body,
        "results": tuple(ir.transform(r, words.rule) for r in program.results),
    }
    return ir.with_fields(program, changes)


pack_tuples = Pass("pack-tuples", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)
