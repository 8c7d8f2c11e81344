"""The plan of a run: all that is needed to call its machine code, as it lies in the cache, and where that code lies."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vgraph.compiler.backends.base import KernelInterface
from vgraph.compiler.types import VID, Vector, element_of
from vgraph.records import dataclass
from vgraph.schedule import Options, Schedule

if TYPE_CHECKING:
    from vgraph.compiler import ir


@dataclass(frozen=True)
class Array:
    """A property array: its site and origin, element dtype, vector length (0: scalars), whether it holds ids."""

    name: str
    site: str
    origin: str
    dtype: str
    length: int
    ids: bool
    chunks: int = 0
    """Of a buffer between a producer and a consumer: slots of its channel; 0 if it has an element for everything."""

    @property
    def given(self) -> bool:
        """Whether a run makes it of its arguments."""
        return self.origin in ("param", "members")


@dataclass(frozen=True)
class Output:
    """A returned value: a property by its array's name, or the scalar in result slot `slot`; `members`: the vertices
    at which the property is true."""

    name: str
    array: str
    slot: int
    ids: bool
    members: bool = False


@dataclass(frozen=True)
class Plan:
    """How to call a kernel and read its results."""

    interface: KernelInterface
    arrays: tuple[Array, ...]
    outputs: tuple[Output, ...]
    vertex_params: tuple[str, ...]
    schedule: Schedule
    called: tuple[tuple[str, str], ...] = ()
    """Algorithms that are parts of it and have checks of their own: see `ir.Called`."""
    renumbers: bool = True
    """Whether it may run on the graph in another order of vertices: nothing in it can tell (`numbering.py`)."""
    moves: bool = False
    """Whether it may change from one order to another between two loops."""

    @functools.cached_property
    def used(self) -> frozenset[str]:
        """The arrays that a run needs, by name."""
        of_arrays = ("property", "length", "columns")
        read = {a.name for a in self.interface.args if a.kind in of_arrays}
        return frozenset(read | {o.array for o in self.outputs})

    def pack(self, code: str) -> bytes:
        """The plan, and the key under which its code is in the cache."""
        rows = {label: options.to_json() for label, options in self.schedule.labels.items()}
        head = {
            "code": code,
            "interface": self.interface.to_json(),
            "arrays": [asdict(a) for a in self.arrays],
            "outputs": [asdict(o) for o in self.outputs],
            "vertex_params": self.vertex_params,
            "schedule": rows,
            "called": self.called,
            "renumbers": self.renumbers,
            "moves": self.moves,
        }
        return json.dumps(head).encode()

    @staticmethod
    def unpack(data: bytes) -> tuple[Plan, str]:
        """The inverse of `pack`."""
        head: dict[str, Any] = json.loads(data)
        plan = Plan(
            KernelInterface.from_json(head["interface"]),
            tuple(Array(**row) for row in head["arrays"]),
            tuple(Output(**row) for row in head["outputs"]),
            tuple(head["vertex_params"]),
            Schedule({label: Options.from_json(row) for label, row in head["schedule"].items()}),
            tuple(map(tuple, head["called"])),
            head["renumbers"],
            head["moves"],
        )
        return plan, head["code"]


def plan_of(
    program: ir.Program,
    interface: KernelInterface,
    schedule: Schedule,
    *,
    renumbers: bool = True,
    moves: bool = False,
) -> Plan:
    """The plan for a kernel-level program."""
    from vgraph.compiler import ir
    from vgraph.compiler.ir.trees import walk

    pipelines = [n for n in walk(program) if isinstance(n, ir.Pipeline)]
    chunks = {name: n.chunks for n in pipelines for name in n.buffers}
    arrays = tuple(
        Array(
            p.name,
            p.site.value,
            p.origin.value,
            program.target.numpy_name(element_of(p.type)),
            p.type.length if isinstance(p.type, Vector) else 0,
            p.type == VID,
            chunks.get(p.name, 0),
        )
        for p in program.properties
    )
    outputs, slot = [], 0
    for r in program.results:
        if isinstance(r.value, str):
            ids = program.property(r.value).type == VID
            outputs.append(Output(r.name, r.value, -1, ids, r.kind == "members"))
        else:
            outputs.append(Output(r.name, "", slot, r.value.type == VID))
            slot += 1
    vertices = tuple(p.name for p in program.params if p.type == VID)
    called = tuple((c.name, c.given) for c in program.called)
    return Plan(interface, arrays, tuple(outputs), vertices, schedule, called, renumbers, moves)
