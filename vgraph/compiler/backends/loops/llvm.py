"""Functions of the prelude as LLVM IR text."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping, MutableSet
from typing import Final

from vgraph.compiler.backends.loops.walker import SIZES, UPDATES, Unit, Value, Walker

_BINARY: Final = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "shl", "==": "icmp eq",
                  "!=": "icmp ne"}  # fmt: skip
_BY_SIGN: Final = {"//": ("udiv", "sdiv"), "%": ("urem", "srem"), ">>": ("lshr", "ashr"), "<": ("icmp ult", "icmp slt"),
                   "<=": ("icmp ule", "icmp sle"), ">": ("icmp ugt", "icmp sgt"),
                   ">=": ("icmp uge", "icmp sge")}  # fmt: skip
_OF_FLOATS: Final = {"<": "fcmp olt", "<=": "fcmp ole", ">": "fcmp ogt", ">=": "fcmp oge"}


def machine_type(t: str) -> str:
    """The type of LLVM for one of the prelude's."""
    return {"void": "void", "f64": "double", "*": "ptr"}.get(t if t[0] != "*" else "*") or t.replace("u", "i")


def functions(
    unit: Unit, name: str, external: Mapping[str, str], into: MutableMapping[str, str], needs: MutableSet[str]
) -> str:
    """The symbol of a function, whose text comes to `into` with those of all that it calls.

    `external` has the signatures of what it may call outside; what is called is declared in `needs`.
    """
    symbol = _symbol(unit, name)
    if symbol not in into:
        made = _Function(unit, name, external)
        into[symbol] = made.text()
        needs |= made.needs
        for called in made.calls:
            functions(unit, called, external, into, needs)
    return symbol


def _marks(unit: Unit, name: str) -> list[str]:
    return [d.id for d in unit.functions[name].decorator_list if isinstance(d, ast.Name)]


def _symbol(unit: Unit, name: str) -> str:
    plain = {"export", "named"} & {*_marks(unit, name)}
    return name if plain else ".".join(["vg", unit.file.split()[0], name, *unit.types.values()])


def _stores(body: list[ast.stmt]) -> Iterator[str]:
    """The locals that statements set, once for each place; a loop sets its own once more, for the next round."""
    for s in body:
        match s:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.For(target=ast.Name(id=name), body=inner):
                yield from (name, name, *_stores(inner))
            case ast.If(body=inner, orelse=other) | ast.While(body=inner, orelse=other):
                yield from _stores([*inner, *other])


class _Function(Walker):
    """One function: a local that is set in one place is a register, any other a slot on the stack."""

    def __init__(self, unit: Unit, name: str, external: Mapping[str, str]) -> None:
        super().__init__(unit)
        self.name, self.external = name, external
        self.lines: list[str] = []
        self.locals: dict[str, str] = {}
        self.registers: dict[str, str] = {}
        self.sets = Counter(p for p, _ in unit.parameters(name))
        self.sets.update(_stores(unit.functions[name].body))
        self.calls: dict[str, None] = {}
        self.needs: set[str] = set()
        self.count = 0
        self.around: list[tuple[str, str]] = []

    def text(self) -> str:
        """The definition."""
        function = self.unit.functions[self.name]
        given = self.unit.parameters(self.name)
        marks = _marks(self.unit, self.name)
        for name, t in given:
            self.put(name, Value(t, f"%{name}"))
        self.body(function.body)
        result = machine_type(self.unit.result(self.name))
        self.lines.append("  unreachable" if result != "void" else "  ret void")
        slots = [f"  %{x}.p = alloca {machine_type(t)}" for x, t in self.locals.items() if self.sets[x] > 1]
        args = ", ".join(f"{machine_type(t)} %{name}" for name, t in given)
        linkage = "" if "export" in marks else "internal "
        attributes = " ".join(["nounwind", *(m for m in marks if m not in ("export", "named"))])
        head = f"define {linkage}{result} @{_symbol(self.unit, self.name)}({args}) {attributes} {{"
        return "\n".join([head, "entry:", *slots, *self.lines, "}", ""])

    # --- text

    def op(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def label(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def start(self, label: str) -> None:
        """Begin a block; the one before falls into it if it is open."""
        self.jump(label)
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        if not re.match(r"  (br|ret) ", self.lines[-1] if self.lines else ""):
            self.lines.append(f"  br label %{label}")

    # --- statements

    def body(self, body: list[ast.stmt]) -> None:
        for s in body:
            match s:
                case ast.If(test=test, body=then, orelse=other):
                    yes, no, done = self.label(), self.label(), self.label()
                    self.branch(test, yes, no)
                    for label, part in ((yes, then), (no, other)):
                        self.lines.append(f"{label}:")
                        self.body(part)
                        self.jump(done)
                    self.lines.append(f"{done}:")
                case ast.While(test=test, body=inner):
                    head, inside, done = self.label(), self.label(), self.label()
                    self.start(head)
                    self.branch(test, inside, done)
                    self.lines.append(f"{inside}:")
                    self.loop(inner, head, done)
                    self.start_after(head, done)
                case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[first, last]), body=inner):
                    self.put(name, self.expr(first))
                    end, (head, inside, again, done) = self.expr(last).it, (self.label() for _ in range(4))
                    self.start(head)
                    more = self.op(f"icmp ult i64 {self.get(name).it}, {end}")
                    self.lines += [f"  br i1 {more}, label %{inside}, label %{done}", f"{inside}:"]
                    self.loop(inner, again, done)
                    self.start(again)
                    self.put(name, Value("u64", self.op(f"add i64 {self.get(name).it}, 1")))
                    self.start_after(head, done)
                case ast.Break() | ast.Continue():
                    self.jump(self.around[-1][isinstance(s, ast.Break)])
                case ast.Return(value=value):
                    t = self.unit.result(self.name)
                    given = "" if value is None else f" {self.expr(value, t).it}"
                    self.lines.append(f"  ret {machine_type(t)}{given}")
                case _:
                    self.simple(s)

    def loop(self, body: list[ast.stmt], again: str, done: str) -> None:
        self.around.append((again, done))
        self.body(body)
        self.around.pop()

    def start_after(self, head: str, done: str) -> None:
        self.jump(head)
        self.lines.append(f"{done}:")

    def branch(self, test: ast.expr, yes: str, no: str) -> None:
        """Go to `yes` or `no`; what stands behind `and` and `or` is computed where it is needed."""
        match test:
            case ast.BoolOp(op=op, values=[*first, last]):
                for x in first:
                    following = self.label()
                    self.branch(x, *((following, no) if isinstance(op, ast.And) else (yes, following)))
                    self.lines.append(f"{following}:")
                self.branch(last, yes, no)
            case ast.UnaryOp(op=ast.Not(), operand=x):
                self.branch(x, no, yes)
            case ast.Constant(value=True):
                self.jump(yes)
            case _:
                self.lines.append(f"  br i1 {self.expr(test).it}, label %{yes}, label %{no}")

    # --- values

    def literal(self, t: str, value: float) -> str:
        if t[0] == "*":
            return "null"
        return str(value).lower() if t in ("i1", "f64") else str(int(value))

    def known(self, name: str) -> str:
        return self.locals.get(name, "u64")

    def get(self, name: str) -> Value:
        t = self.locals[name]
        return Value(t, self.registers.get(name) or self.op(f"load {machine_type(t)}, ptr %{name}.p"))

    def put(self, name: str, value: Value) -> None:
        t = self.locals.setdefault(name, value.type)
        assert machine_type(t) == machine_type(value.type), f"{name} is {t}, not {value.type}"
        if self.sets[name] == 1:
            self.registers[name] = value.it
        else:
            self.lines.append(f"  store {machine_type(t)} {value.it}, ptr %{name}.p")

    def binary(self, op: str, t: str, a: str, b: str) -> str:
        if t == "f64":
            return self.op(f"{_OF_FLOATS[op]} double {a}, {b}")
        word = _BINARY.get(op) or _BY_SIGN[op][t[0] == "i"]
        return self.op(f"{word} {machine_type(t)} {a}, {b}")

    def select(self, t: str, c: str, a: str, b: str) -> str:
        return self.op(f"select i1 {c}, {machine_type(t)} {a}, {machine_type(t)} {b}")

    def cast(self, old: str, new: str, a: str) -> str:
        before, after = machine_type(old), machine_type(new)
        if before == after:
            return a
        if "ptr" in (before, after):
            word = "inttoptr" if after == "ptr" else "ptrtoint"
        else:
            word = "zext" if SIZES[old] < SIZES[new] else "trunc"
        return self.op(f"{word} {before} {a} to {after}")

    def further(self, pointer: str, index: str, size: int) -> str:
        return (
            pointer if index == "0" else self.op(f"getelementptr [{size} x i8], ptr {pointer}, i64 {index}")
        )

    def load(self, t: str, address: str, order: str) -> str:
        if order:
            return self.op(f"load atomic {machine_type(t)}, ptr {address} {order}, align {self.unit.size(t)}")
        return self.op(f"load {machine_type(t)}, ptr {address}")

    def store(self, t: str, address: str, value: str, order: str) -> None:
        atomic, behind = ("atomic ", f" {order}, align {self.unit.size(t)}") if order else ("", "")
        self.lines.append(f"  store {atomic}{machine_type(t)} {value}, ptr {address}{behind}")

    def update(self, op: str, t: str, address: str, value: str, order: str) -> str:
        return self.op(f"atomicrmw {UPDATES[op]} ptr {address}, {machine_type(t)} {value} {order}")

    def cas(self, t: str, address: str, old: str, new: str, order: str) -> str:
        word = machine_type(t)
        weaker = {"acq_rel": "acquire", "release": "monotonic"}.get(order, order)
        pair = self.op(f"cmpxchg ptr {address}, {word} {old}, {word} {new} {order} {weaker}")
        return self.op(f"extractvalue {{ {word}, i1 }} {pair}, 1")

    def call(self, name: str, args: list[Value]) -> Value:
        given = ", ".join(f"{machine_type(a.type)} {a.it}" for a in args)
        if name in self.unit.functions:
            self.calls[name] = None
            t, symbol = self.unit.result(name), _symbol(self.unit, name)
        else:
            self.needs.add(f"declare {self.external[name]} nounwind")
            result, symbol = self.external[name].partition(" ")[0], name
            t = {"ptr": "*u8", "i64": "u64", "i32": "u32"}.get(result, result)
        text = f"call {machine_type(t)} @{symbol}({given})"
        if t == "void":
            self.lines.append(f"  {text}")
            return Value(t, None)
        return Value(t, self.op(text))

    def invoke(self, function: str, args: list[Value]) -> str:
        return self.op(f"call i32 {function}({', '.join(f'{machine_type(a.type)} {a.it}' for a in args)})")
