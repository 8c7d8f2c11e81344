"""What a function of the prelude means, whoever runs it: types of expressions, places in memory, calls."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from vgraph.compiler.backends.abi import (
    ARMS,
    CONTEXT,
    DESK,
    FORK,
    LIST,
    MAIL,
    PEER,
    POOL,
    SEAT,
    SET,
    TILES,
    WORKER,
    WORKER_STRIDE,
)
from vgraph.records import dataclass

PRELUDE: Final = Path(__file__).parent.parent / "prelude"
SIZES: Final = {"i1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8, "f64": 8}
ORDERS: Final = {
    "RELAXED": "monotonic", "ACQUIRE": "acquire", "RELEASE": "release", "BOTH": "acq_rel", "TOTAL": "seq_cst"
}  # fmt: skip
UPDATES: Final = {"add": "add", "swap": "xchg"}
_FIELDS: Final = {"ptr": "*u8", "i32": "u32", "i64": "u64"}
_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Record(NamedTuple):
    """A struct in memory: the offset and the type of each field; bytes from one element of an array to the next."""

    fields: Mapping[str, tuple[int, str]]
    stride: int


RECORDS: Final[dict[str, Record]] = {
    name: Record({f.name: (f.offset, _FIELDS[f.type]) for f in layout.fields.values()}, stride)
    for name, layout, stride in (
        ("CONTEXT", CONTEXT, CONTEXT.size), ("WORKER", WORKER, WORKER_STRIDE), ("LIST", LIST, LIST.size),
        ("FORK", FORK, FORK.size), ("ARMS", ARMS, ARMS.size), ("POOL", POOL, POOL.size), ("TILES", TILES, TILES.size),
        ("MAIL", MAIL, MAIL.size), ("PEER", PEER, PEER.size), ("SET", SET, SET.size),
        ("DESK", DESK, DESK.size), ("SEAT", SEAT, SEAT.size),
    )
}  # fmt: skip


@cache
def _body(file: str) -> list[ast.stmt]:
    return ast.parse((PRELUDE / f"{file}.loops").read_text(encoding="utf-8")).body


@dataclass(frozen=True)
class Unit:
    """A file of the prelude, or several that belong together, and what names stand for in them."""

    file: str
    """With a space between several."""
    types: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    records: Mapping[str, Record] = field(default_factory=lambda: RECORDS)

    @cached_property
    def functions(self) -> Mapping[str, ast.FunctionDef]:
        """Its functions by name."""
        return {
            f.name: f for file in self.file.split() for f in _body(file) if isinstance(f, ast.FunctionDef)
        }

    @cached_property
    def known(self) -> Mapping[str, int]:
        """All numbers that have names: those given, and those that the files define."""
        found = dict(self.numbers)
        for s in (s for file in self.file.split() for s in _body(file)):
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
                number = _number(s.value, found)
                assert number is not None, ast.unparse(s)
                found[s.targets[0].id] = number
        return found

    def type(self, annotation: ast.expr | None) -> str:
        """The type that an annotation names; without one, a function gives nothing."""
        match annotation:
            case None | ast.Constant(value=None):
                return "void"
            case ast.Name(id="ptr"):
                return "*u8"
            case ast.Name(id=name) if name in self.records:
                return f"*{name}"
            case ast.Name(id=name):
                return self.types.get(name, name)
            case ast.Subscript(slice=ast.Name(id=name)) if name in self.records:
                return f"*{name}"
            case ast.Subscript(slice=inner):
                return f"*{self.type(inner)}"
        raise AssertionError(ast.unparse(annotation))

    def parameters(self, function: str) -> list[tuple[str, str]]:
        """The parameters of a function with their types."""
        return [(a.arg, self.type(a.annotation)) for a in self.functions[function].args.args]

    def result(self, function: str) -> str:
        """The type that a function gives, or void."""
        return self.type(self.functions[function].returns)

    def size(self, t: str) -> int:
        """Bytes from one element of an array to the next."""
        return self.records[t].stride if t in self.records else 8 if t[0] == "*" else SIZES[t]

    def number(self, e: ast.expr) -> int | None:
        """The number that an expression of numbers is, if it is one."""
        return _number(e, self.known)


def _number(e: ast.expr, known: Mapping[str, int]) -> int | None:
    match e:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=x) if (n := _number(x, known)) is not None:
            return -n
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _number(left, known), _number(right, known)
            if a is not None and b is not None:
                return int(FUNCTIONS[_OPERATORS[type(op)]](a, b))
    return None


class Value(NamedTuple):
    """A value with its type: `it` is what the device makes of it."""

    type: str
    it: Any


class Walker:
    """Goes through the expressions of a function; a device says what reading, computing and storing is."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def literal(self, t: str, value: float) -> Any:
        """A number of a type; null is 0."""
        raise NotImplementedError

    def get(self, name: str) -> Value:
        """A local."""
        raise NotImplementedError

    def put(self, name: str, value: Value) -> None:
        """Give a local a value."""
        raise NotImplementedError

    def binary(self, op: str, t: str, a: Any, b: Any) -> Any:
        """An operation on two values of a type; comparisons give an i1."""
        raise NotImplementedError

    def select(self, t: str, c: Any, a: Any, b: Any) -> Any:
        """`a if c else b`."""
        raise NotImplementedError

    def cast(self, old: str, new: str, a: Any) -> Any:
        """The same bits, cut off or filled with zeros."""
        raise NotImplementedError

    def further(self, pointer: Any, index: Any, size: int) -> Any:
        """The address `index` times `size` bytes further."""
        raise NotImplementedError

    def load(self, t: str, address: Any, order: str) -> Any:
        """What stands at an address; a plain access has no order."""
        raise NotImplementedError

    def store(self, t: str, address: Any, value: Any, order: str) -> None:
        """Put it there."""
        raise NotImplementedError

    def update(self, op: str, t: str, address: Any, value: Any, order: str) -> Any:
        """Change it at once; gives what stood there."""
        raise NotImplementedError

    def cas(self, t: str, address: Any, old: Any, new: Any, order: str) -> Any:
        """Put `new` there if it is `old`; whether it was."""
        raise NotImplementedError

    def call(self, name: str, args: list[Any]) -> Value:
        """A function of the file, or one from outside."""
        raise NotImplementedError

    def invoke(self, function: Any, args: list[Value]) -> Any:
        """A function at an address, which gives a u32."""
        raise NotImplementedError

    # --- expressions

    def expr(self, e: ast.expr, want: str = "u64") -> Value:
        """The value of an expression; numbers are of the type `want`."""
        number = self.unit.number(e)
        if number is not None:
            return Value(want, self.literal(want, number))
        match e:
            case ast.Constant(value=bool(value)):
                return Value("i1", self.literal("i1", value))
            case ast.Constant(value=None):
                return Value(want, self.literal(want, 0))
            case ast.Name(id=name):
                return self.get(name)
            case ast.UnaryOp(op=ast.Not(), operand=x):
                return Value("i1", self.binary("==", "i1", self.expr(x).it, self.literal("i1", False)))
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(_OPERATORS[type(op)], left, right, want)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.operation(_OPERATORS[type(op)], left, right, want)
            case ast.IfExp(test=test, body=body, orelse=other):
                c, (a, b) = self.expr(test).it, self.pair(body, other, want)
                return Value(a.type, self.select(a.type, c, a.it, b.it))
            case ast.Attribute() | ast.Subscript():
                address, t = self.place(e)
                return (
                    Value(f"*{t}", address) if t in self.unit.records else Value(t, self.load(t, address, ""))
                )
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.called(name, args)
        raise AssertionError(ast.unparse(e))

    def pair(self, left: ast.expr, right: ast.expr, want: str) -> tuple[Value, Value]:
        """Two operands of one type: a number has that of the other."""
        if self.unit.number(left) is not None or (isinstance(left, ast.Constant) and left.value is None):
            b = self.expr(right, want)
            return self.expr(left, b.type), b
        a = self.expr(left, want)
        return a, self.expr(right, a.type)

    def operation(self, op: str, left: ast.expr, right: ast.expr, want: str) -> Value:
        comparison = op[0] in "=!" or op in ("<", "<=", ">", ">=")
        if not comparison and self.unit.number(left) is None:
            a = self.expr(left, want)
            if a.type[0] == "*":
                assert op == "+", ast.unparse(left)
                return Value(a.type, self.further(a.it, self.expr(right).it, 1))
            b = self.expr(right, a.type)
        else:
            a, b = self.pair(left, right, want)
        alike = a.type == b.type or (comparison and a.type[0] == b.type[0] == "*")
        assert alike, f"{ast.unparse(left)} is {a.type}, {ast.unparse(right)} is {b.type}"
        return Value("i1" if comparison else a.type, self.binary(op, a.type, a.it, b.it))

    def place(self, e: ast.expr) -> tuple[Any, str]:
        """The address that a field or an element has, and what stands there."""
        match e:
            case ast.Attribute(value=of, attr=name):
                base = self.expr(of)
                offset, t = self.unit.records[base.type[1:]].fields[name]
                return self.further(base.it, self.literal("u64", offset), 1), t
            case ast.Subscript(value=of, slice=index):
                base = self.expr(of)
                t = base.type[1:]
                return self.further(base.it, self.expr(index).it, self.unit.size(t)), t
        raise AssertionError(f"{ast.unparse(e)} is no place in memory")

    def called(self, name: str, args: list[ast.expr]) -> Value:
        if name in ("load", "store", "cas", *UPDATES):
            address, t = self.place(args[0])
            assert isinstance(args[-1], ast.Name)
            order = ORDERS[args[-1].id]
            if name == "load":
                return Value(t, self.load(t, address, order))
            value = self.expr(args[1], t).it
            if name == "cas":
                return Value("i1", self.cas(t, address, value, self.expr(args[2], t).it, order))
            if name == "store":
                self.store(t, address, value, order)
                return Value("void", None)
            return Value(t, self.update(name, t, address, value, order))
        if name == "address":
            address, t = self.place(args[0])
            return Value(f"*{t}", address)
        if name in ("min", "max"):
            a, b = self.pair(args[0], args[1], "u64")
            c = self.binary("<" if name == "min" else ">", a.type, a.it, b.it)
            return Value(a.type, self.select(a.type, c, a.it, b.it))
        if name in (*SIZES, *self.unit.types, *self.unit.records, "ptr"):
            new = self.unit.type(ast.Name(name))
            old = self.expr(args[0], new)
            return Value(new, self.cast(old.type, new, old.it))
        if name == "invoke":
            function, *given = [self.expr(a) for a in args]
            return Value("u32", self.invoke(function.it, given))
        types = (
            [t for _, t in self.unit.parameters(name)] if name in self.unit.functions else ["u64"] * len(args)
        )
        return self.call(name, [self.expr(a, t) for a, t in zip(args, types, strict=True)])

    def simple(self, s: ast.stmt) -> None:
        """A statement without others in it."""
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.put(name, self.expr(value, self.known(name)))
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                t = self.unit.type(annotation)
                assert self.known(name) in ("u64", t), f"{name} is a {self.known(name)}"
                found = self.expr(value, t)
                self.put(name, Value(t, self.cast(found.type, t, found.it)))
            case ast.Assign(targets=[target], value=value):
                address, t = self.place(target)
                self.store(t, address, self.expr(value, t).it, "")
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.put(name, self.operation(_OPERATORS[type(op)], ast.Name(name), value, self.known(name)))
            case ast.Expr(value=ast.Call() as value):
                self.expr(value)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case _:
                raise AssertionError(ast.unparse(s))

    def known(self, name: str) -> str:
        """The type of a local that has one; else that of a number."""
        raise NotImplementedError
