"""A few kernels written by hand, in place of what the backend emits: for tests of the runtime alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

import pytest

import vgraph as vg
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.backends.base import Backend, KernelInterface, SourceText
from vgraph.compiler.backends.cuda.layout import ControlLayout, num_words
from vgraph.compiler.backends.scan import describe, scan
from vgraph.runtime.devices.cuda import executor

HEAD = """
typedef unsigned long long u64;
typedef unsigned int u32;
struct Args {{ u64 w[{words}]; }};
extern "C" __global__ void __launch_bounds__(VG_BLOCK) vg_main(const __grid_constant__ Args a) {{
  u64 *control = (u64 *)a.w[0];
  u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
{body}
}}
"""


class Interface:
    """Names for what a hand-written body needs of an interface."""

    def __init__(self, interface: KernelInterface) -> None:
        self.interface, self.layout = interface, ControlLayout(interface)

    def word(self, kind: str, name: str) -> str:
        """The argument of that kind and name."""
        return f"a.w[{1 + self.interface.slot(kind, name)}]"

    def list_words(self, index: int) -> list[str]:
        """The four words of a list."""
        frontiers = len(self.interface.frontiers)
        first = 1 + len(self.interface.args) + 3 * frontiers + 4 * index
        return [f"a.w[{first + k}]" for k in range(4)]

    def trace_words(self) -> list[str]:
        """Where the trace is, and its room."""
        size = num_words(self.interface)
        return [f"a.w[{size - 3}]", f"a.w[{size - 2}]"]

    def workers(self) -> str:
        """How many workers have scratch memory."""
        return f"a.w[{num_words(self.interface) - 1}]"


class Written(Backend):
    """A backend that always gives the same text."""

    name = "written"
    abilities = CUDA

    def __init__(
        self,
        body: Callable[[Interface], str],
        change: Callable[[KernelInterface], KernelInterface] = lambda interface: interface,
    ) -> None:
        self.body, self.change = body, change

    def emit(self, program, **_):
        interface = self.change(describe(program, scan(program)))
        text = HEAD.format(words=num_words(interface), body=self.body(Interface(interface)))
        return SourceText(text, interface)

    def load(self, source):
        raise AssertionError("the executor loads code")


@contextmanager
def written(body, change=lambda interface: interface):
    """Let the executor take a body written by hand for what the backend emits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "backend", lambda: Written(body, change))
        yield


# --- a program and its kernel ---------------------------------------------------------------------------------


@vg.operator
def weigh(v):
    v.y = v.x * v.id + vg.int64(v.out_degree)


@vg.algorithm
def weighted(graph, x: vg.vertex_property(vg.int64), add: vg.int64 = 5):
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(weigh)
    total = add + 1
    return y, total


def weighted_body(i: Interface) -> str:
    """The kernel of `weighted`, which also writes one record of its trace."""
    offset = f"u{i.interface.offset_bits}"
    return f"""
  const long long *x = (const long long *){i.word("property", "x")};
  long long *y = (long long *){i.word("property", "y")};
  const {offset} *offsets = (const {offset} *){i.word("adjacency", "out.row_offsets")};
  u64 n = {i.word("size", "num_vertices")};
  for (u64 v = thread; v < n; v += threads) y[v] = x[v] * (long long)v + (long long)(offsets[v + 1] - offsets[v]);
  if (thread == 0) {{
    u64 *trace = (u64 *){i.trace_words()[0]};
    trace[0] = 0; trace[1] = 0; trace[2] = n; trace[3] = 0; trace[4] = 1000;
    control[{i.layout.TRACE}] = 1;
    control[{i.layout.RESULTS}] = {i.word("param", "add")} + 1;
  }}"""


# --- kernels that show one thing each -------------------------------------------------------------------------


def failing_body(i: Interface) -> str:
    """Ends the run by its first message."""
    return f"""
  if (thread == 0) {{ control[{i.layout.PAYLOAD}] = 0; ((u32 *)control)[{2 * i.layout.CANCEL + 1}] = 4; }}"""


def endless_body(i: Interface) -> str:
    """Goes on until it is cancelled; says that it is in round 3, with 17 vertices, after a round of 50 arcs."""
    return f"""
  if (thread == 0) {{
    volatile u32 *words = (volatile u32 *)control;
    u64 *trace = (u64 *){i.trace_words()[0]};
    trace[0] = trace[1] = trace[2] = trace[4] = 0; trace[3] = 50;
    __threadfence();
    atomicExch(&control[{i.layout.TRACE}], 1ull);
    words[{2 * i.layout.PROGRESS}] = 3;
    words[{2 * i.layout.PROGRESS + 1}] = 17;
    while (words[{2 * i.layout.CANCEL}] == 0) {{}}
  }}"""


def listing_body(i: Interface, needed: int) -> str:
    """y = x + 1; says that list 0 has too little room for `needed` ids, as long as it has. The result `room` is right
    only if the control block was zero."""
    ids, starts, room, frontiers = i.list_words(0)
    return f"""
  const long long *x = (const long long *){i.word("property", "x")};
  long long *y = (long long *){i.word("property", "y")};
  u64 n = {i.word("size", "num_vertices")};
  for (u64 v = thread; v < n; v += threads) y[v] = x[v] + 1;
  if (thread == 0) {{
    control[{i.layout.RESULTS}] += {room};
    if ({room} < {needed} || {frontiers} < {needed}) {{
      control[{i.layout.PAYLOAD}] = 0; control[{i.layout.NEEDED}] = {needed};
      ((u32 *)control)[{2 * i.layout.CANCEL + 1}] = 100;
    }} else {{
      u32 *last = (u32 *){ids} + ({needed} - 1); *last = 1;
      ((u64 *){starts})[{needed}] = 1;
    }}
  }}"""


@vg.operator
def count_up(v):
    v.y = v.x + 1


@vg.algorithm
def counted(graph, x: vg.vertex_property(vg.int64), wrong: vg.bool_ = False):
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(count_up)
    if wrong:
        vg.fail("this is wrong")
    room = 0
    return y, room
