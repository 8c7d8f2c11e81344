"""Emit functions of what one thread executes for itself: locals, globals, branches, sequential loops."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import Status
from vgraph.compiler.backends.llvm import arrays
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter
from vgraph.compiler.backends.llvm.memory import combine
from vgraph.compiler.backends.llvm.parallel import barrier, poll
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import has_collective, loop_depth
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.types import I64

POLL_ROUNDS: Final = 1 << 16
"""A driver loop without any collective passes a barrier every so many rounds, so that it can be cancelled."""

OPERATOR_POLL_ROUNDS: Final = 1 << 10
"""The same for a range in an operator, which looks whether the run is cancelled."""


def emit_let(f: Emitter, node: ir.Let) -> None:
    """`let x: i32 = e`."""
    if node.name in f.scan.arrays and not f.driver:
        arrays.declare(f, node)
    else:
        f.declare(node.name, Value(f.expr(node.value).text, node.type))


def emit_assign(f: Emitter, node: ir.Assign) -> None:
    """`x = e`."""
    binding, new = f.locals[node.name], one_element(node)
    if binding.array and new is not None:
        arrays.put_element(f, binding, new)
    elif binding.array:
        arrays.put(f, binding, node.value)
    else:
        value = f.expr(node.value)
        f.do(f"store {f.types.register(value.type)} {value.text}, ptr {binding.pointer}")


def emit_accumulate(f: Emitter, node: ir.Accumulate) -> None:
    """`x += e` on a local."""
    _accumulate(f, node.op, f.locals[node.name].pointer, f.expr(node.value))


def _accumulate(f: Emitter, op: str, pointer: str, value: Value) -> None:
    t = f.types.register(value.type)
    old = f.op(f"load {t}, ptr {pointer}")
    f.do(f"store {t} {combine(f, op, old, value.text, value.type)}, ptr {pointer}")


def emit_set_global(f: Emitter, node: ir.SetGlobal) -> None:
    """`@error = e`: every thread has its copy."""
    value = f.expr(node.value)
    f.do(f"store {f.types.register(value.type)} {value.text}, ptr {f.globals[node.name].pointer}")


def emit_reduce_global(f: Emitter, node: ir.ReduceGlobal) -> None:
    """`@error += e`: into this thread's partial in a parallel loop, else into the global itself."""
    pointer = f.globals[node.name].pointer
    if f.region is not None:
        pointer = f.region.partials.get((node.op, node.name), pointer)
    _accumulate(f, node.op, pointer, f.expr(node.value))


def emit_if(f: Emitter, node: ir.If) -> None:
    """`if c { ... } else { ... }`."""
    condition = node.condition
    if isinstance(condition, ir.Piece) and f.expr(condition).text in ("true", "false"):
        f.body(node.then if f.expr(condition).text == "true" else node.other)
        return
    done = f.label("endif")
    other = f.label("else") if node.other else done
    f.jump_unless(f.expr(node.condition).text, other)
    f.body(node.then)
    if node.other:
        f.jump(done)
        f.start(other)
        f.body(node.other)
    f.start(done)


def emit_while(f: Emitter, node: ir.While) -> None:
    """`while c { ... }`."""
    head, leave = f.label("while"), f.label("endwhile")
    count = _poll_counter(f, node.body)
    f.start(head)
    f.jump_unless(f.expr(node.condition).text, leave)
    _poll(f, count, node.body)
    with f.turn(head, leave):
        f.body(node.body)
    f.jump(head)
    f.start(leave)


def _poll_counter(f: Emitter, body: ir.Body) -> str:
    if not f.driver or f.lone or has_collective(body):
        return ""
    return _driver_slot(f, "rounds", "0")


def _driver_slot(f: Emitter, name: str, value: str) -> str:
    """A number that a loop of the driver keeps."""
    slot = f.slot("i64", name)
    f.hand_on("i64", slot)
    f.do(f"store i64 {value}, ptr {slot}")
    return slot


def _poll(f: Emitter, count: str, body: ir.Body) -> None:
    """Leave a long loop when the run is cancelled; the driver loop leaves in all threads at once."""
    if f.region is not None:
        poll(f)
    elif f.serial and not has_collective(body):
        f.jump_if(f.cancelled(), f.exit, UNLIKELY)
    elif count:
        rounds = f.op(f"add i64 {f.op(f'load i64, ptr {count}')}, 1")
        f.do(f"store i64 {rounds}, ptr {count}")
        due = f.op(f"icmp eq i64 {f.op(f'and i64 {rounds}, {POLL_ROUNDS - 1}')}, 0")
        with f.when(due, "meet", UNLIKELY):
            barrier(f)


def emit_for(f: Emitter, node: ir.For) -> None:
    """`for i in range(start, stop, step)`: counts down a number of rounds fixed before the first."""
    start, stop = f.i64(node.start), f.i64(node.stop)
    step = str(int(node.step.value)) if isinstance(node.step, ir.Const) else f.i64(node.step)
    rounds = _rounds(f, start, stop, step)
    if f.driver:
        _driver_for(f, node, start, step, rounds)
        return
    before, head, inside, latch, leave = f.block, *map(f.label, ("for", "each", "next", "endfor"))
    f.start(head)
    k, i = f"%k.{head}", f"%i.{head}"
    f.lines.append(f"  {k} = phi i64 [ 0, %{before} ], [ %n.{head}, %{latch} ]")
    f.lines.append(f"  {i} = phi i64 [ {start}, %{before} ], [ %s.{head}, %{latch} ]")
    f.branch(f.op(f"icmp ult i64 {k}, {rounds}"), inside, leave)
    f.start(inside)
    if loop_depth(node.body):
        _poll(f, "", node.body)
    elif not _short(node):
        due = f.op(f"and i64 {k}, {OPERATOR_POLL_ROUNDS - 1}")
        with f.when(f.op(f"icmp eq i64 {due}, {OPERATOR_POLL_ROUNDS - 1}"), "look", UNLIKELY):
            poll(f)
    with f.turn(latch, leave):
        f.bind(node.name, Value(i, I64))
        f.body(node.body)
    f.start(latch)
    f.do(f"%n.{head} = add nuw i64 {k}, 1")
    f.do(f"%s.{head} = add i64 {i}, {step}")
    f.jump(head)
    f.start(leave)


def _driver_for(f: Emitter, node: ir.For, start: str, step: str, rounds: str) -> None:
    """The same in the driver loop: its counters are handed on at fork points."""
    left, at = _driver_slot(f, "left", rounds), _driver_slot(f, "at", start)
    width = _driver_slot(f, "step", step)
    head, latch, leave = map(f.label, ("for", "next", "endfor"))
    count = _poll_counter(f, node.body)
    f.start(head)
    f.jump_unless(f.op(f"icmp ne i64 {f.op(f'load i64, ptr {left}')}, 0"), leave)
    _poll(f, count, node.body)
    with f.turn(latch, leave):
        f.declare(node.name, Value(f.op(f"load i64, ptr {at}"), I64))
        f.body(node.body)
    f.start(latch)
    for slot, change in ((left, "-1"), (at, f.op(f"load i64, ptr {width}"))):
        old = f.op(f"load i64, ptr {slot}")
        f.do(f"store i64 {f.op(f'add i64 {old}, {change}')}, ptr {slot}")
    f.jump(head)
    f.start(leave)


def _short(node: ir.For) -> bool:
    """Whether a range is known to be too short to be worth polling in."""
    match node:
        case ir.For(start=ir.Const(value=start), stop=ir.Const(value=stop)):
            return abs(stop - start) <= OPERATOR_POLL_ROUNDS
    return False


def _rounds(f: Emitter, start: str, stop: str, step: str) -> str:
    """How many numbers `range(start, stop, step)` has, as an unsigned i64."""
    if step == "0":
        return "0"
    up = f.op(f"icmp sgt i64 {step}, 0")
    low = f.op(f"select i1 {up}, i64 {start}, i64 {stop}")
    high = f.op(f"select i1 {up}, i64 {stop}, i64 {start}")
    size = f.op(f"select i1 {up}, i64 {step}, i64 {f.op(f'sub i64 0, {step}')}")
    some = f.op(f"icmp slt i64 {low}, {high}")
    zero = f.op(f"icmp eq i64 {step}, 0")
    safe = f.op(f"select i1 {zero}, i64 1, i64 {size}")
    gap = f.op(f"sub i64 {f.op(f'sub i64 {high}, {low}')}, 1")
    rounds = f.op(f"add i64 {f.op(f'udiv i64 {gap}, {safe}')}, 1")
    any_round = f.op(f"select i1 {zero}, i1 false, i1 {some}")
    return f.op(f"select i1 {any_round}, i64 {rounds}, i64 0")


def emit_break(f: Emitter, node: ir.Break) -> None:
    """`break`."""
    f.jump(f.loops[-1].leave)


def emit_continue(f: Emitter, node: ir.Continue) -> None:
    """`continue`."""
    f.jump(f.loops[-1].again)


def emit_fail(f: Emitter, node: ir.Fail) -> None:
    """`fail "message"`: the driver loop ends here in all threads, anything else at its barrier."""
    number = f.scan.messages[node.message]
    f.native("vg_fail", "ptr %ctx", f"i32 {int(Status.ABORTED)}", f"i64 {number}")
    f.jump(f.region.leave if f.region is not None else f.exit)
