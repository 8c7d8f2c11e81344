"""Fork points: where a run changes between code for one thread and code for a team, and where others join it.

A fork point stands at the start of a parallel loop. Everything that the driver loop holds lies in stack slots
(`Emitter.hand_on`): who leaves stores them in the context's `state`, who enters loads them and jumps to the loop.
(Those out of scope there are stored, too, whatever they hold: one piece of code serves all fork points.) So nothing
that was computed before the fork point in registers may be used behind it; LLVM refuses such text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vgraph.compiler.backends.abi import CONTEXT, FORK, GO_ON, OPEN
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.records import dataclass


@dataclass(frozen=True)
class ForkPoint:
    """Where to go on, the fewest items of a chunk, and the block that asks, with the answer (i32)."""

    here: str
    least: int
    asks: str
    answer: str


def fork_point(f: Emitter, least: int, size: Callable[[], str]) -> None:
    """A fork point before a parallel loop; `size` emits its number of items (i64), of which a chunk has `least`."""
    if f.lone or f.alone or not f.driver:
        return
    number, here = len(f.forks) + 1, f.label("fork")
    answer = (_fork if f.serial else _meet)(f, number, size, here)
    f.forks.append(ForkPoint(here, least, f.block, answer))
    f.branch(f.op(f"icmp eq i32 {answer}, {GO_ON}"), here, "change")
    f.start(here)


def _fork(f: Emitter, number: int, size: Callable[[], str], here: str) -> str:
    """Code for one thread asks if the loop is not small."""
    items = size()
    f.jump_unless(f.op(f"icmp sgt i64 {items}, {_limit(f, number)}"), here)
    return f.native("vg_fork", "ptr %ctx", f"i32 {number}", f"i64 {items}")


def _meet(f: Emitter, number: int, size: Callable[[], str], here: str) -> str:
    """The first thread of a team asks if the loop is small, or if others are still to come."""
    f.jump_unless(f.op("icmp eq i32 %tid, 0"), here)
    items = size()
    f.store_field(CONTEXT, "%ctx", "loop_fork", str(number))
    f.store_field(CONTEXT, "%ctx", "loop_size", items)
    team = f.op("load i64, ptr %team")
    small = f.op(f"icmp sle i64 {items}, {_limit(f, number)}")
    enough = f.op(f"zext i32 {f.load_field(CONTEXT, '%ctx', 'enough')} to i64")
    missing = f.op(f"icmp ne i64 {team}, {enough}")
    f.jump_unless(f.op(f"or i1 {small}, {missing}"), here)
    return f.native("vg_meet", "ptr %ctx", f"i32 {number}", f"i64 {items}", f"i64 {team}")


def _limit(f: Emitter, number: int) -> str:
    """Items up to which the loop is one thread's."""
    forks = f.load_field(CONTEXT, "%ctx", "forks")
    place = f.op(f"getelementptr inbounds i8, ptr {forks}, i64 {(number - 1) * FORK.size}")
    return f.load_field(FORK, place, "limit")


def dispatch(f: Emitter, entry: str) -> list[str]:
    """What stands behind the prologue, which ends in block `entry`: from the beginning, or on at a fork point."""
    if not f.forks:
        return ["  br label %begin"]
    before, f.lines = f.lines, []
    if f.serial:
        f.do("%from.start = icmp eq i32 %at, 0")
        f.do("br i1 %from.start, label %begin, label %enter")
    else:
        f.do("br label %enter")
    f.open = False
    f.start("enter")
    again = "" if f.serial else ", [ %now, %door ]"
    f.do(f"%number = phi i32 [ %at, %{entry} ]{again}")
    for t, pointer, address in _state(f):
        f.do(f"store {t} {f.op(f'load {t}, ptr {address}, align 8' + f.alias('ctx'))}, ptr {pointer}")
    cases = " ".join(f"i32 {k}, label %{fork.here}" for k, fork in enumerate(f.forks, 1))
    f.do(f"switch i32 %number, label %nowhere [ {cases} ]")
    f.open = False
    f.start("nowhere")
    f.do("unreachable")
    f.open = False
    _change(f)
    lines, f.lines = f.lines, before
    return lines


def _change(f: Emitter) -> None:
    """The first thread comes here from all fork points: to open the door and go on itself, or to leave."""
    f.start("change")
    f.do("%now = phi i32 " + ", ".join(f"[ {k}, %{fork.asks} ]" for k, fork in enumerate(f.forks, 1)))
    answers = ", ".join(f"[ {fork.answer}, %{fork.asks} ]" for fork in f.forks)
    f.do(f"%answer = phi i32 {answers}")
    for t, pointer, address in _state(f):
        f.do(f"store {t} {f.op(f'load {t}, ptr {pointer}')}, ptr {address}, align 8{f.alias('ctx')}")
    if not f.serial:
        f.branch(f.op(f"icmp eq i32 %answer, {OPEN}"), "door", "leave")
        f.start("door")
        f.native("vg_open", "ptr %ctx", "i32 %now")
        f.jump("enter")
        f.start("leave")
    f.do("ret i32 %now")
    f.open = False


def _state(f: Emitter) -> Iterator[tuple[str, str, str]]:
    """The driver loop's slots: type, pointer, and the address in the context's `state`."""
    base = f.load_field(CONTEXT, "%ctx", "state")
    for t, pointer, place in f.state:
        yield t, pointer, f.op(f"getelementptr inbounds i64, ptr {base}, i64 {place}")
