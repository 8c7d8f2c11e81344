"""The text builder: blocks, registers, stack slots, alias scopes, and what emit functions share.

Locals of the program are stack slots in the entry block; LLVM turns them into registers. Every access to
memory carries an alias scope (`alias`), one per array. Function-wide `noalias` pointers would not do:
LLVM would move accesses across barriers, where other threads write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import CONTEXT, DECLARATIONS, Layout
from vgraph.compiler.backends.base import KernelInterface
from vgraph.compiler.backends.llvm.values import Types, Value
from vgraph.compiler.backends.scan import Scan, slot_words
from vgraph.compiler.types import I64, VID, Kind, Scalar, Type, Vector, element_of
from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.compiler.backends.llvm.forks import ForkPoint

UNLIKELY: Final = ", !prof !1"
LIKELY: Final = ", !prof !2"
_SCOPES: Final = 64
"""Arrays with an alias scope: each names all others, so lists grow with the square. Further ones may be anywhere."""
_LOOPS: Final = 1000
"""The number of the first loop's metadata; those of scopes are below."""
_FIRST_SCOPE: Final = 10
_METADATA: Final = (
    '!0 = distinct !{!0, !"kernel"}',
    '!1 = !{!"branch_weights", i32 1, i32 4000}',
    '!2 = !{!"branch_weights", i32 4000, i32 1}',
    '!3 = !{!"llvm.loop.unroll.disable"}',
    '!4 = !{!"llvm.loop.vectorize.enable", i1 false}',
)


class Binding(NamedTuple):
    """A name of the program: a stack slot, or a value that is never assigned to; `array`: elements have addresses."""

    type: Type
    pointer: str = ""
    value: Value | None = None
    array: bool = False


class Loop(NamedTuple):
    """Where `break` and `continue` of a sequential loop lead."""

    leave: str
    again: str


class Piece(NamedTuple):
    """The arcs `begin` .. `end` (i64 texts) of the vertex that a parallel loop calls `vertex`; bools as texts."""

    vertex: str
    side: ir.Orientation | None
    begin: str
    end: str
    whole: str
    first: str


@dataclass(frozen=True)
class Slice:
    """The row that is visited in a loop by segments in slices (`sell.py`); numbers are i64."""

    key: str
    """Of the layout."""
    row: str
    lane: str
    start: str
    """The first source of the segment; empty where sources are ids."""
    begin: str
    """The first step of the slice."""
    totals: tuple[str, ...]
    """Where what the rows add up stands by lane, for each statement of the loop over arcs; empty if nowhere."""


@dataclass
class Region:
    """The parallel loop being emitted."""

    leave: str
    """Block that ends this thread's part: reached early when the run is cancelled."""
    partials: dict[tuple[str, str], str] = field(default_factory=dict)
    """Stack slot of each `(op, global)` partial."""
    pushes: dict[tuple[str, ir.Layout], Any] = field(default_factory=dict)
    """State (a `pushes.Push`) of each frontier and layout pushed to."""
    row: str = ""
    """Number (i64) of the row being visited, in a loop by segments; of the arc, in one by a plan."""
    segment: str = ""
    """Number (i64) of the range being walked, in a loop by such."""
    slice: Slice | None = None
    columns: str = ""
    """The array of the other ends of planned arcs."""
    bits: dict[str, str] = field(default_factory=dict)
    """Bitmap address of each frontier asked for membership."""
    tile: Any = None
    """The tile (a `tiles.Tile`) that is visited, in a loop over buckets in tiles."""
    counts: dict[int, Any] = field(default_factory=dict)
    """The counters (`hub_counts.Counts`) of each loop over hubs that may add late, by its identity."""


class Emitter:
    """Builds one function of a kernel. Emit functions get it as their first argument.

    `serial`: code for one thread. A kernel for any number of threads has it beside code for a team, made by a second
    emitter that gets the first as `beside`; a run changes from one to the other at fork points (`forks.py`).
    """

    def __init__(
        self,
        program: ir.Program,
        scan: Scan,
        interface: KernelInterface,
        table: Mapping[type[ir.Node], Callable[..., Any]],
        *,
        serial: bool,
        beside: Emitter | None = None,
    ) -> None:
        self.program, self.scan, self.interface = program, scan, interface
        self.types = Types(program.target)
        self.table = table
        self.serial = serial
        self.lone = program.threads == 1
        self.alone = False
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.entry: list[str] = []
        self.declarations: set[str] = beside.declarations if beside else set()
        self.helpers: dict[str, str] = beside.helpers if beside else {}
        self.locals: dict[str, Binding] = {}
        self.globals: dict[str, Binding] = {}
        self.pointers: dict[str, str] = {}
        self.loops: list[Loop] = []
        self.shifts: dict[
            str, str
        ] = {}  # buffers of a pipeline: what is added to an index, for they have slots only
        self.region: Region | None = None
        self.piece: Piece | None = None
        self.marks = ""
        """The bitmap of the hubs that the present visit has marked."""
        self.single = False
        self.following: ir.Body = ()
        """Statements behind the present one that the first thread may do while others wait at the end of it."""
        self.done_early = 0
        """How many of them it has done."""
        self.exit = "exit"
        self.block = "entry"
        self.open = True
        self._count = 0
        self.state: list[tuple[str, str, int]] = []
        self.state_words = 0
        self.state_vertices: list[tuple[int, int]] = []
        self.forks: list[ForkPoint] = []
        self._alias: dict[str, str] = beside._alias if beside else {}
        self._loop_metadata: list[str] = beside._loop_metadata if beside else []

    # --- text -----------------------------------------------------------------------------------------------

    def op(self, text: str) -> str:
        """Append an instruction that has a result; returns its register."""
        if not self.open:
            self.start(self.label("dead"))
        self._count += 1
        register = f"%r{self._count}"
        self.lines.append(f"  {register} = {text}")
        return register

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        if not self.open:
            self.start(self.label("dead"))
        self.lines.append("  " + text)

    def label(self, hint: str) -> str:
        """A fresh block name."""
        self._count += 1
        return f"{hint}.{self._count}"

    def start(self, label: str) -> None:
        """Begin block `label`; an open block falls through to it."""
        if self.open:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.block, self.open = label, True

    def jump(self, label: str, metadata: str = "") -> None:
        """End the block with a jump; code after a jump already made is dropped."""
        if self.open:
            self.lines.append(f"  br label %{label}{metadata}")
            self.open = False

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        """End the block with a two-way branch."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{weights}")
        self.open = False

    def jump_if(self, condition: str, target: str, weights: str = "") -> None:
        """Go to block `target` if `condition` holds, else on."""
        on = self.label("on")
        self.branch(condition, target, on, weights)
        self.start(on)

    def jump_unless(self, condition: str, target: str, weights: str = "") -> None:
        """Go on if `condition` holds, else to block `target`."""
        on = self.label("on")
        self.branch(condition, on, target, weights)
        self.start(on)

    @contextmanager
    def when(self, condition: str, hint: str, weights: str = "") -> Iterator[None]:
        """Around what is done only if `condition` holds."""
        inside, behind = self.label(hint), self.label(f"{hint}.end")
        self.branch(condition, inside, behind, weights)
        self.start(inside)
        yield
        self.start(behind)

    @contextmanager
    def unless(self, condition: str, hint: str, weights: str = "") -> Iterator[None]:
        """Around what is done only if `condition` does not hold."""
        inside, behind = self.label(hint), self.label(f"{hint}.end")
        self.branch(condition, behind, inside, weights)
        self.start(inside)
        yield
        self.start(behind)

    def slot(self, llvm_type: str, hint: str, align: int = 0) -> str:
        """A stack slot in the entry block."""
        self._count += 1
        name = f'%"{hint}.{self._count}"'
        self.allocas.append(f"  {name} = alloca {llvm_type}" + (f", align {align}" if align else ""))
        return name

    def call(self, result: str, function: str, *args: str) -> str:
        """Call and, where needed, declare an intrinsic or C function; `args` are `type value` texts."""
        types = ", ".join(a.split("%", 1)[0].rsplit(" ", 1)[0] if "%" in a else _type_of(a) for a in args)
        self.declarations.add(f"declare {result} @{function}({types})")
        return self._called(result, function, args)

    def native(self, function: str, *args: str) -> str:
        """Call a function of the native runtime; returns the result's register, or nothing for void."""
        self.declarations.add(f"declare {DECLARATIONS[function]} nounwind")
        return self._called(DECLARATIONS[function].split(" ", 1)[0], function, args)

    def _called(self, result: str, function: str, args: tuple[str, ...]) -> str:
        text = f"call {result} @{function}({', '.join(args)})"
        if result == "void":
            self.do(text)
            return ""
        return self.op(text)

    # --- memory ---------------------------------------------------------------------------------------------

    def alias(self, scope: str) -> str:
        """Metadata for an access to the memory called `scope`: it meets no access to any other scope."""
        text = self._alias.get(scope)
        if text is None and len(self._alias) == _SCOPES:
            return ""
        if text is None:
            first = _FIRST_SCOPE + 3 * len(self._alias)
            text = self._alias[scope] = f", !alias.scope !{first}, !noalias !{first + 1}"
        return text

    def item(self, t: str, base: str, index: str) -> str:
        """The address of element `index` (i64, not negative) of an array of `t`."""
        return self.op(f"getelementptr inbounds nuw {t}, ptr {base}, i64 {index}")

    def read(self, t: str, base: str, index: str, scope: str) -> str:
        """Element `index` of an array of `t`."""
        return self.op(f"load {t}, ptr {self.item(t, base, index)}{self.alias(scope)}")

    def write(self, t: str, base: str, index: str, value: str, scope: str) -> None:
        """Store into element `index` of an array of `t`."""
        self.do(f"store {t} {value}, ptr {self.item(t, base, index)}{self.alias(scope)}")

    def widen(self, number: str, t: str = "") -> str:
        """A vertex id, or an unsigned number of type `t`, as an i64."""
        t = t or self.types.id
        return number if t == "i64" else self.op(f"zext {t} {number} to i64")

    def field(self, layout: Layout, base: str, name: str) -> str:
        """The address of a field of a native struct."""
        offset = layout.offset(name)
        return self.op(f"getelementptr inbounds i8, ptr {base}, i64 {offset}") if offset else base

    def load_field(self, layout: Layout, base: str, name: str, order: str = "") -> str:
        """The value of a field of a native struct; `order` is e.g. `monotonic`."""
        address = self.field(layout, base, name)
        t = layout.type(name)
        if order:
            return self.op(f"load atomic {t}, ptr {address} {order}, align {_SIZES[t]}{self.alias('ctx')}")
        return self.op(f"load {t}, ptr {address}{self.alias('ctx')}")

    def store_field(self, layout: Layout, base: str, name: str, value: str) -> None:
        """Store into a field of a native struct."""
        address = self.field(layout, base, name)
        self.do(f"store {layout.type(name)} {value}, ptr {address}{self.alias('ctx')}")

    def cancelled(self) -> str:
        """Whether the host asked to stop: not the same in all threads."""
        seen = self.load_field(CONTEXT, "%ctx", "cancel", "monotonic")
        return self.op(f"icmp ne i32 {seen}, 0")

    # --- nodes ----------------------------------------------------------------------------------------------

    def expr(self, node: ir.Expr) -> Value:
        """Emit an expression."""
        value: Value = self.table[type(node)](self, node)
        return value

    def body(self, body: ir.Body) -> None:
        """Emit statements in a scope of their own."""
        saved = dict(self.locals)
        self.statements(body)
        self.locals = saved

    def statements(self, body: ir.Body) -> None:
        """Emit statements one after the other; in a team some meet in one barrier (`meetings.py`)."""
        from vgraph.compiler.backends.llvm import meetings

        rest = body
        while rest and self.open:  # not behind a break or continue
            if self.serial or not self.driver:
                self.table[type(rest[0])](self, rest[0])
                rest = rest[1:]
            else:
                rest = rest[meetings.emit(self, rest[0], rest[1:]) :]

    @contextmanager
    def turn(self, again: str, leave: str = "") -> Iterator[None]:
        """Around a loop's body and the variables that it binds: `continue` leads to `again`, `break` to `leave`."""
        saved = dict(self.locals)
        self.loops.append(Loop(leave, again))
        yield
        self.loops.pop()
        self.locals = saved

    def index(self, value: Value) -> str:
        """An integer as an i64, to address memory."""
        if value.wide is not None:
            return value.wide
        assert isinstance(value.type, Scalar)
        if self.types.target.width(value.type) == 64:
            return value.text
        if not value.text.startswith("%"):
            number = int(value.text)
            return str(number if value.type.kind is Kind.SIGNED else number & 0xFFFFFFFF)
        extend = "sext" if value.type.kind is Kind.SIGNED else "zext"
        return self.op(f"{extend} {self.types.register(value.type)} {value.text} to i64")

    def narrow(self, wide: str, t: Scalar) -> Value:
        """A non-negative i64 as an index of type `t`, remembering the wide form."""
        if self.types.target.width(t) == 64:
            return Value(wide, t, wide)
        return Value(self.op(f"trunc i64 {wide} to {self.types.register(t)}"), t, wide)

    def bind(self, name: str, value: Value) -> None:
        """Declare a loop variable or parameter: a plain value, or a stack slot if it is assigned to."""
        if name not in self.scan.assigned:
            self.locals[name] = Binding(value.type, value=value)
            return
        self.declare(name, value)

    @property
    def driver(self) -> bool:
        """Whether what is emitted belongs to the driver loop, which all threads of a team run in step."""
        return self.region is None and not self.single

    def hand_on(self, t: str, pointer: str, of: Type = I64) -> None:
        """A slot of the driver loop: whoever enters at a fork point gets its value."""
        if element_of(of) == VID:
            count = of.length if isinstance(of, Vector) else 1
            self.state_vertices.append((self.state_words, count))
        self.state.append((t, pointer, self.state_words))
        self.state_words += slot_words(of)

    def declare(self, name: str, value: Value) -> None:
        """Declare a local in a stack slot."""
        t = self.types.register(value.type)
        pointer = self.slot(t, name)
        if self.driver:
            self.hand_on(t, pointer, value.type)
        self.locals[name] = Binding(value.type, pointer)
        self.do(f"store {t} {value.text}, ptr {pointer}")

    def i64(self, node: ir.Expr) -> str:
        """Emit an integer expression as an i64."""
        value = self.expr(node)
        return value.text if value.type == I64 else self.index(value)

    # --- metadata -------------------------------------------------------------------------------------------

    def loop_metadata(self, *options: str) -> str:
        """Metadata for the back edge of a loop, e.g. `"llvm.loop.unroll.disable"`."""
        number = _LOOPS + len(self._loop_metadata)
        parts = ", ".join([f"!{number}", *options])
        self._loop_metadata.append(f"!{number} = distinct !{{{parts}}}")
        return f", !llvm.loop !{number}"

    def metadata(self) -> list[str]:
        """The metadata nodes that the text refers to."""
        lines = [*_METADATA, *self._loop_metadata]
        scopes = [_FIRST_SCOPE + 3 * k for k in range(len(self._alias))]
        for (name, _), k in zip(self._alias.items(), scopes, strict=True):
            others = ", ".join(f"!{o + 2}" for o in scopes if o != k)
            quoted = "".join(c if c.isalnum() or c in "._" else "_" for c in name)
            lines += [
                f"!{k} = !{{!{k + 2}}}",
                f"!{k + 1} = !{{{others}}}",
                f'!{k + 2} = distinct !{{!{k + 2}, !0, !"{quoted}"}}',
            ]
        return lines


_SIZES: Final = {"i32": 4, "i64": 8, "ptr": 8}


def _type_of(arg: str) -> str:
    """The type in `i32 5`, `i1 false`, `<3 x float> splat (float 0x0)`."""
    if arg.startswith("<"):
        return arg[: arg.index(">") + 1]
    return arg.split(" ", 1)[0]
