"""Runs functions of the prelude in Python, with threads that take turns at every access to memory.

Memory is strict: what is read must have been written in the same size, or lie where zeros were put, and two threads may
not come to the same place, one of them to write and one of them plainly, unless something orders them.
"""

from __future__ import annotations

import ast
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from vgraph.compiler.backends.loops.walker import FUNCTIONS, SIZES, Unit, Value, Walker
from vgraph.errors import InternalError

MOST_STEPS = 50_000
External = Callable[..., Any]
_ACQUIRE = ("acquire", "acq_rel", "seq_cst")
_RELEASE = ("release", "acq_rel", "seq_cst")


class _Jump(Exception):
    """`break`, `continue` or `return` is on its way."""


class _Break(_Jump):
    pass


class _Continue(_Jump):
    pass


class _Return(_Jump):
    pass


class Machine:
    """Memory and threads; `externals` are the functions from outside, which get the machine and their arguments."""

    def __init__(self, externals: dict[str, External] | None = None, seed: int = 0) -> None:
        self.externals = externals or {}
        self.random = random.Random(seed)
        self.cells: dict[int, tuple[int, Any]] = {}
        self.zeros: list[range] = []
        self.end = 4096
        self.current = 0
        self.failed: BaseException | None = None
        self.steps = 0
        self.turns: dict[int, threading.Semaphore] = {}
        self.seen: dict[int, list[tuple[int, bool, bool, int]]] = {}
        self.clocks: dict[int, dict[int, int]] = {}
        self.released: dict[int, dict[int, int]] = {}

    def allocate(self, size: int, align: int = 16, *, zero: bool = False) -> int:
        """The address of new memory."""
        address = -(-self.end // align) * align
        self.end = address + size + 64  # what is written beyond it is found out: nobody may read it
        if zero:
            self.zeros.append(range(address, address + size))
        return address

    def read(self, address: int, size: int) -> Any:
        """What stands at an address."""
        found = self.cells.get(address)
        if found is None and any(address in zeros for zeros in self.zeros):
            return 0
        if found is None or found[0] != size:
            raise InternalError(f"{size} bytes are read at {address}, where {found} stands")
        return found[1]

    def write(self, address: int, size: int, value: Any) -> None:
        """Put it there."""
        assert address >= 4096, "null is written to"
        self.cells[address] = size, value

    # --- threads

    def run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        """What each of the tasks gives, each run by a thread of its own; before and behind them all have met."""
        results: dict[int, Any] = {}
        self.turns = {k: threading.Semaphore(0) for k in range(len(tasks))}
        self.clocks = {k: {k: 1} for k in self.turns}
        self.seen, self.released, self.failed, self.steps = {}, {}, None, 0
        over = threading.Semaphore(0)

        def thread(k: int) -> None:
            self.turns[k].acquire()
            try:
                results[k] = tasks[k]()
            except BaseException as error:  # the others must not wait for this one
                self.failed = self.failed or error
            del self.turns[k]
            self.next() if self.turns else over.release()

        for k in range(len(tasks)):
            threading.Thread(target=thread, args=(k,), daemon=True).start()
        self.next()
        over.acquire()
        self.clocks = {}
        if self.failed is not None:
            raise self.failed
        return [results[k] for k in range(len(tasks))]

    def next(self) -> None:
        """Give the turn to any thread."""
        self.current = self.random.choice(sorted(self.turns))
        self.turns[self.current].release()

    def step(self) -> None:
        """Where another thread may step in."""
        mine, self.steps = self.current, self.steps + 1
        if self.steps > MOST_STEPS:
            self.failed = self.failed or InternalError("the threads do not come to an end")
        if self.failed is not None:
            raise InternalError("another thread has failed")
        if self.clocks and len(self.turns) > 1:
            self.next()
            self.turns[mine].acquire()

    def access(self, address: int, order: str, *, write: bool, read: bool = True) -> None:
        """Note an access, and refuse it where another thread's is not ordered before it."""
        self.step()
        if not self.clocks:
            return
        me, mine = self.current, self.clocks[self.current]
        if order in _ACQUIRE and read:
            for k, t in self.released.get(address, {}).items():
                mine[k] = max(mine.get(k, 0), t)
        for thread, wrote, atomic, when in self.seen.get(address, []):
            if thread != me and (wrote or write) and not (atomic and order) and mine.get(thread, 0) < when:
                raise InternalError(f"a race at {address}: thread {thread} and thread {me}")
        self.seen.setdefault(address, []).append((me, write, bool(order), mine[me]))
        if order in _RELEASE and write:
            self.released.setdefault(address, {}).update(mine)
            mine[me] += 1

    def call(self, unit: Unit, name: str, *args: Any) -> Any:
        """What a function gives."""
        return _Call(self, unit, name, args).result


class _Call(Walker):
    """One call of a function."""

    def __init__(self, machine: Machine, unit: Unit, name: str, args: Sequence[Any]) -> None:
        super().__init__(unit)
        self.machine, self.result = machine, None
        given = unit.parameters(name)
        self.locals = {p: Value(t, a) for (p, t), a in zip(given, args, strict=True)}
        self.returns = unit.result(name)
        with suppress(_Return):
            self.body(unit.functions[name].body)

    def body(self, body: list[ast.stmt]) -> None:
        for s in body:
            match s:
                case ast.If(test=test, body=then, orelse=other):
                    self.body(then if self.holds(test) else other)
                case ast.While(test=test, body=inner):
                    while self.holds(test) and self.once(inner):
                        self.machine.step()
                case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[first, last]), body=inner):
                    begin, end = self.expr(first).it, self.expr(last).it
                    for i in range(begin, end):
                        self.put(name, Value("u64", i))
                        if not self.once(inner):
                            break
                case ast.Break():
                    raise _Break
                case ast.Continue():
                    raise _Continue
                case ast.Return(value=value):
                    self.result = None if value is None else self.expr(value, self.returns).it
                    raise _Return
                case _:
                    self.simple(s)

    def once(self, body: list[ast.stmt]) -> bool:
        """One round of a loop: whether it goes on."""
        try:
            self.body(body)
        except _Continue:
            pass
        except _Break:
            return False
        return True

    def holds(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.holds(x) for x in values)
            case ast.BoolOp(values=values):
                return any(self.holds(x) for x in values)
        return bool(self.expr(test).it)

    def literal(self, t: str, value: float) -> Any:
        return float(value) if t == "f64" else self.wrapped(t, int(value))

    def wrapped(self, t: str, value: int) -> int:
        """The bits of a type."""
        if t == "i1":
            return value & 1
        bits = 8 * self.unit.size(t)
        value &= (1 << bits) - 1
        return value - (1 << bits) if t[0] == "i" and value >> (bits - 1) else value

    def known(self, name: str) -> str:
        return self.locals[name].type if name in self.locals else "u64"

    def get(self, name: str) -> Value:
        return self.locals[name]

    def put(self, name: str, value: Value) -> None:
        self.locals[name] = value

    def binary(self, op: str, t: str, a: Any, b: Any) -> Any:
        found = FUNCTIONS[op](a, b)
        if op == "//" and t == "i64":
            found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return found if t == "f64" else self.wrapped("i1" if isinstance(found, bool) else t, found)

    def select(self, t: str, c: Any, a: Any, b: Any) -> Any:
        return a if c else b

    def cast(self, old: str, new: str, a: Any) -> Any:
        return a if new == "f64" else self.wrapped(new, a)

    def further(self, pointer: Any, index: Any, size: int) -> Any:
        return self.wrapped("u64", pointer + index * size)

    def load(self, t: str, address: Any, order: str) -> Any:
        self.machine.access(address, order, write=False)
        found = self.machine.read(address, self.unit.size(t))
        return found if t == "f64" else self.wrapped(t, found)

    def store(self, t: str, address: Any, value: Any, order: str) -> None:
        self.machine.access(address, order, write=True, read=False)
        self.machine.write(address, self.unit.size(t), value)

    def update(self, op: str, t: str, address: Any, value: Any, order: str) -> Any:
        self.machine.access(address, order, write=True)
        old = self.machine.read(address, SIZES[t])
        self.machine.write(address, SIZES[t], value if op == "swap" else self.wrapped(t, old + value))
        return old

    def cas(self, t: str, address: Any, old: Any, new: Any, order: str) -> Any:
        self.machine.access(address, order, write=True)
        found = self.machine.read(address, SIZES[t])
        if found == old:
            self.machine.write(address, SIZES[t], new)
        return int(found == old)

    def invoke(self, function: Any, args: list[Value]) -> Any:
        return self.machine.externals["invoke"](self.machine, function, *(a.it for a in args))

    def call(self, name: str, args: list[Value]) -> Value:
        given = [a.it for a in args]
        if name in self.unit.functions:
            return Value(self.unit.result(name), self.machine.call(self.unit, name, *given))
        self.machine.step()
        return Value("u64", self.machine.externals[name](self.machine, *given))
