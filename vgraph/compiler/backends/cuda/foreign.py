"""Functions that somebody else compiled, as device functions: LLVM's code of scalars to CUDA C++.

The code is what the CPU links in, so both devices compute the same. It is translated instruction by instruction:
every value is a variable, every block a label, a phi a variable that the blocks before it set. So NVRTC inlines the
function where it is called, nothing has to be linked, and the emulator of the tests runs the same text. What works on
memory (but for constant tables) or calls itself has no translation: Unsupported says what it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from vgraph.compiler.backends.cuda import foreign_operations as operations
from vgraph.compiler.backends.cuda.foreign_values import (
    Lanes,
    Table,
    Unsupported,
    c_type,
    constant_operand,
    lane_types,
    table,
)
from vgraph.compiler.backends.cuda.texts import plain_name
from vgraph.compiler.foreign.externals import PREFIX, External
from vgraph.records import dataclass

NAMESPACE: Final = "foreign"


@dataclass(frozen=True)
class DeviceFunction:
    """A function in CUDA C++: how it is called, and its definition, which needs `foreign.cuh`."""

    name: str
    text: str


@functools.cache
def device_function(external: External) -> DeviceFunction:
    """The translation of a function. Raises Unsupported."""
    from vgraph.compiler.backends.jit import locked

    plain, _, digest = external.name.removeprefix(PREFIX).rpartition(".")
    name = plain_name(f"{plain}_{digest}")
    with locked():
        module = _prepared(external.llvm)
        defined = [f for f in module.functions if not f.is_declaration]
        if [f.name for f in defined] != [external.name]:
            raise Unsupported("functions that call themselves")
        text = _Function(defined[0], name).text()
    return DeviceFunction(f"{NAMESPACE}::{name}", text)


def _prepared(text: str) -> Any:
    """The module with all calls inlined, without `switch`, and with names for all values."""
    import llvmlite.binding as llvm

    from vgraph.compiler.backends.jit import host_machine

    text = re.sub(
        r"^attributes .*", lambda found: re.sub(r"\b(noinline|optnone) ", "", found[0]), text, flags=re.M
    )
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration:
            function.add_function_attribute("alwaysinline")
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    options.loop_interleaving = False
    builder = llvm.create_pass_builder(host_machine(), options)
    builder.getModulePassManager().run(module, builder)
    names = llvm.create_new_module_pass_manager()
    names.add_lower_switch_pass()
    names.add_instruction_namer_pass()
    names.run(module, builder)
    return module


class _Function:
    """The translation of one function."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name
        self.blocks = list(function.blocks)
        self.labels = {block.name: f"b{k}" for k, block in enumerate(self.blocks)}
        self.values: dict[str, Lanes] = {}
        self.variables: dict[str, list[str]] = {}
        self.tables: dict[str, Table] = {}
        self.pointers: dict[str, Any] = {}
        self.lines: list[str] = []

    def text(self) -> str:
        """The definition, with the tables that it reads."""
        parameters: list[str] = []
        for argument in self.function.arguments:
            (t,) = lane_types(argument.type)
            self.values[argument.name] = (f"a{len(parameters)}",)
            parameters.append(f"{c_type(t)} a{len(parameters)}")
        (returned,) = lane_types(str(self.function.global_value_type).partition(" (")[0])
        for block in self.blocks:
            for node in block.instructions:
                self.declare(node)
        for block in self.blocks:
            self.block(block)
        return "\n".join(
            [
                *(found.text for found in self.tables.values()),
                f"VG_DEVICE {c_type(returned)} {self.name}({', '.join(parameters)}) {{",
                *(f"  {t} {', '.join(names)};" for t, names in sorted(self.variables.items())),
                *self.lines,
                "}",
            ]
        )

    # --- values

    def declare(self, node: Any) -> None:
        """Variables for the value of an instruction; a phi has a second one, which the blocks before it set."""
        if node.opcode == "getelementptr":
            self.pointers[node.name] = node
            return
        if str(node.type) == "void":
            return
        number = len(self.values)
        types = lane_types(node.type)
        names = tuple(f"v{number}" if len(types) == 1 else f"v{number}_{k}" for k in range(len(types)))
        self.values[node.name] = names
        for name, t in zip(names, types, strict=True):
            more = [f"{name}_next"] if node.opcode == "phi" else []
            self.variables.setdefault(c_type(t), []).extend([name, *more])

    def lanes(self, value: Any) -> Lanes:
        """The lanes of an operand."""
        if value.is_constant:
            return constant_operand(value)
        if value.name not in self.values:
            raise Unsupported("memory")
        return self.values[value.name]

    # --- blocks

    def block(self, block: Any) -> None:
        if self.lines:
            self.lines.append(f"{self.labels[block.name]}:;")
        for node in block.instructions:
            if node.opcode == "phi":
                self.set(node, [f"{name}_next" for name in self.values[node.name]])
            elif node.opcode in ("br", "ret", "unreachable"):
                self.leave(block, node)
            elif node.opcode != "getelementptr":
                found = self.value(node)
                if found:
                    self.set(node, found)

    def set(self, node: Any, texts: Sequence[str]) -> None:
        for name, text in zip(self.values[node.name], texts, strict=True):
            self.lines.append(f"  {name} = {text};")

    def leave(self, block: Any, node: Any) -> None:
        """The end of a block."""
        operands = list(node.operands)
        if node.opcode == "ret":
            (value,) = self.lanes(operands[0])
            self.lines.append(f"  return {value};")
        elif node.opcode == "unreachable":
            self.lines.append("  return 0;")
        elif len(operands) == 1:
            self.lines += [f"  {text}" for text in self.jump(block, operands[0])]
        else:
            (condition,) = self.lanes(operands[0])
            other, then = operands[1:]
            self.lines.append(f"  if ({condition}) {{ {' '.join(self.jump(block, then))} }}")
            self.lines += [f"  {text}" for text in self.jump(block, other)]

    def jump(self, block: Any, to: Any) -> Iterator[str]:
        """Set the phis of a block and go there."""
        target = next(b for b in self.blocks if b.name == to.name)
        for node in target.instructions:
            if node.opcode != "phi":
                break
            pairs = zip(node.incoming_blocks, node.operands, strict=True)
            value = next(value for source, value in pairs if source.name == block.name)
            for name, text in zip(self.values[node.name], self.lanes(value), strict=True):
                yield f"{name}_next = {text};"
        yield f"goto {self.labels[to.name]};"

    # --- instructions

    def value(self, node: Any) -> Sequence[str]:
        """The lanes that an instruction computes; none for one that computes nothing."""
        op, operands = node.opcode, list(node.operands)
        if op == "call":
            return self.call(node, operands)
        if op == "load":
            return [self.load(node, operands[0])]
        if op in ("extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"):
            return self.moved(node, operands)
        args = [self.lanes(x) for x in operands]
        types = lane_types(operands[0].type)
        if op in operations.BINARY:
            return [operations.binary(op, a, b, t) for a, b, t in zip(*args, types, strict=True)]
        if op == "fneg":
            return [f"(-{a})" for a in args[0]]
        if op in ("icmp", "fcmp"):
            test = next(word for word in str(node).split(f" = {op} ")[1].split() if word in operations.TESTS)
            return [operations.compare(test, a, b, t) for a, b, t in zip(*args, types, strict=True)]
        if op == "select":
            conditions = args[0] * (len(args[1]) if len(args[0]) == 1 else 1)
            return [f"({c} ? {a} : {b})" for c, a, b in zip(conditions, *args[1:], strict=True)]
        if op in operations.CASTS:
            to = lane_types(node.type)
            return [operations.cast(op, a, s, t) for a, s, t in zip(args[0], types, to, strict=True)]
        raise Unsupported("memory" if op in ("alloca", "store") else f"`{op}`")

    def moved(self, node: Any, operands: list[Any]) -> Sequence[str]:
        """Elements of vectors and structures, which are only other names here."""
        first = self.lanes(operands[0])
        if node.opcode == "shufflevector":
            both = [*first, *self.lanes(operands[1])]
            return [both[k] for k in _mask(str(node))]
        if node.opcode in ("extractvalue", "insertvalue"):
            at = int(str(node).split("!")[0].rstrip(" ,").rpartition(", ")[2])
        else:
            text = str(operands[-1]).split()[-1]
            if not text.isdigit():
                raise Unsupported("an element of a vector by a number that is computed")
            at = int(text)
        if node.opcode.startswith("extract"):
            return [first[at]]
        (value,) = self.lanes(operands[1])
        return [*first[:at], value, *first[at + 1 :]]

    def call(self, node: Any, operands: list[Any]) -> Sequence[str]:
        name = operands[-1].name
        if name.startswith(operations.NOTHING):
            return []
        args = [self.lanes(x) for x in operands[:-1]]
        t = lane_types(operands[0].type)[0] if args else ""
        overflow = operations.with_overflow(name, [a[0] for a in args], t)
        if overflow is not None:
            return overflow
        reduced = operations.reduced(name, args, t)
        if reduced is not None:
            return [reduced]
        results = lane_types(node.type)
        count = len(results)
        wide = [a * count if len(a) == 1 else a for a in args]
        return [operations.call(name, [a[k] for a in wide], t, results[k]) for k in range(count)]

    def load(self, node: Any, pointer: Any) -> str:
        """An element of a constant table; nothing else is read."""
        (kind,) = lane_types(node.type)
        if pointer.name not in self.pointers:
            raise Unsupported("memory")
        base, *indices = self.pointers[pointer.name].operands
        if not base.name or not str(base).startswith("@"):
            raise Unsupported("memory")
        if base.name not in self.tables:
            self.tables[base.name] = table(str(base), f"{self.name}_table{len(self.tables)}")
        found = self.tables[base.name]
        step = re.search(
            r"getelementptr (?:\w+ )*?(\[\d+ x \w+\]|\w+), ptr", str(self.pointers[pointer.name])
        )
        if step is not None and step[1].endswith(f" x {kind}]") and _is_zero(indices[0]):
            del indices[0]
        elif step is None or step[1] != kind:
            raise Unsupported("memory")
        if found.type != kind or len(indices) != 1:
            raise Unsupported("memory")
        (index,) = self.lanes(indices[0])
        return f"{found.name}[{index}]"


def _is_zero(index: Any) -> bool:
    return bool(re.fullmatch(r"i\d+ 0", str(index)))


def _mask(text: str) -> list[int]:
    """The elements that a `shufflevector` takes; any for those that do not matter."""
    found = re.search(r", <(\d+) x i32> (zeroinitializer|poison|splat \(i32 \d+\)|<.*?>)(, !.*)?$", text)
    assert found is not None, text
    taken = [int(k) for k in re.findall(r"i32 (\d+)", found[2].replace("poison", "0"))]
    return (taken or [0]) * (int(found[1]) if len(taken) < 2 else 1)


__all__ = ["NAMESPACE", "DeviceFunction", "Unsupported", "device_function"]
