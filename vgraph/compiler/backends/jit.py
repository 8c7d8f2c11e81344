"""LLVM IR text to object code, and object code into memory.

llvmlite is imported on the first compilation only: a run whose code is cached does without it on x86-64 Linux
(see `elf.py`). LLVM is used by one thread at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgraph.compiler.backends.base import ENTRY, TEAM, Kernel, KernelInterface
from vgraph.compiler.backends.effort import Effort, Level, effort_for
from vgraph.compiler.backends.elf import UnsupportedObject, load_elf
from vgraph.compiler.foreign.externals import External, needed
from vgraph.config import MAX_OPT, knob
from vgraph.errors import DeviceError, InternalError

if TYPE_CHECKING:
    from llvmlite.binding import ModulePassManager, ModuleRef, TargetMachine

_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


class LoadedObject:
    """Machine code in memory, as long as somebody refers to this object: whoever runs it does.

    At the end of the process it stays, since threads that are not waited for may be inside.
    """

    def __init__(self, addresses: Mapping[str, int], unmap: Callable[[], None] | None = None) -> None:
        self._addresses = addresses
        if unmap is not None:
            weakref.finalize(self, unmap).atexit = False

    def address(self, name: str) -> int:
        """Address of an exported function."""
        try:
            return self._addresses[name]
        except KeyError:
            raise InternalError(f"the object has no symbol {name!r}") from None


# --- compile ----------------------------------------------------------------------------------------------


@functools.cache
def _initialize() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """LLVM for this thread alone."""
    with _lock:
        _initialize()
        yield


def host_machine() -> TargetMachine:
    """The host's CPU with all its features, at the highest level of optimisation."""
    return _host_machine(3)


@functools.cache
def _host_machine(opt: int) -> TargetMachine:
    llvm = _initialize()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=opt,
        reloc="pic",
        codemodel="small",
    )


@functools.cache
def wide_gathers() -> bool:
    """Whether the host gathers 16 values of 4 bytes by one instruction."""
    return bool(_initialize().get_host_cpu_features().get("avx512f"))


@functools.cache
def converts_halves() -> bool:
    """Whether the host turns f16 into f32 and back by instructions; LLVM would call functions that are nowhere."""
    return os.uname().machine != "x86_64" or bool(_initialize().get_host_cpu_features().get("f16c"))


def _level(opt: int | None) -> int:
    chosen = knob("opt") if opt is None else opt
    return MAX_OPT if chosen is None else chosen


def _optimised(text: str, opt: int) -> tuple[ModuleRef, TargetMachine]:
    """Parse, verify and optimise for the host; the caller holds the lock."""
    llvm = _initialize()
    effort = effort_for(text) if opt else Effort(Level.NOTHING, False)
    machine = _host_machine(min(opt, effort.level))
    try:
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        for external in needed(text):
            _link(module, external)
        module.verify()
    except RuntimeError as fault:
        raise InternalError(f"LLVM refuses the generated code: {fault}") from fault
    if opt == 0 or effort.level is Level.NOTHING:
        return module, machine
    speed = min(opt, 3 if effort.level is Level.ALL else 1)
    options = llvm.create_pipeline_tuning_options(speed_level=speed)
    loops = opt >= 2 and effort.loops
    options.loop_vectorization = options.loop_unrolling = options.loop_interleaving = loops
    # Two scalars at a time: it finds next to nothing here, in time that is quadratic in a straight run of code.
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    passes = _cleaning() if effort.level is Level.CLEAN else builder.getModulePassManager()
    passes.run(module, builder)
    return module, machine


def _cleaning() -> ModulePassManager:
    passes = _initialize().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    return passes


def _link(module: ModuleRef, external: External) -> None:
    """Add the code of an external function, so that it is inlined."""
    llvm = _initialize()
    other = llvm.parse_assembly(external.llvm)
    other.triple, other.data_layout = module.triple, module.data_layout
    module.link_in(other)
    module.get_function(external.name).linkage = llvm.Linkage.internal


def compile_ir(text: str, *, opt: int | None = None) -> bytes:
    """Object code for the host CPU of a module in LLVM IR text; without `opt` at the level of the knob.

    Raises `InternalError` with LLVM's message when the text is not valid.
    """
    with _lock:
        module, machine = _optimised(text, _level(opt))
        return bytes(machine.emit_object(module))


def assembly(text: str, *, opt: int | None = None) -> str:
    """The host's assembly for the module."""
    with _lock:
        module, machine = _optimised(text, _level(opt))
        return str(machine.emit_assembly(module))


# --- load -------------------------------------------------------------------------------------------------


def process_symbol(name: str) -> int:
    """Address of a C function that the process already has (libc, libm, pthread)."""
    try:
        function = ctypes.CDLL(None)[name]
    except AttributeError:
        raise InternalError(f"generated code needs the unknown function {name!r}") from None
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def load_object(obj: bytes, symbols: Mapping[str, int]) -> LoadedObject:
    """Put object code into memory; `symbols` are addresses of what it calls beside the C library.

    Raises DeviceError when there is no memory to be had.
    """

    def resolve(name: str) -> int:
        return symbols[name] if name in symbols else process_symbol(name)

    if sys.platform == "linux" and os.uname().machine == "x86_64":
        try:
            mapped = load_elf(obj, resolve)
            return LoadedObject(mapped.symbols, mapped.unmap)
        except UnsupportedObject:
            pass  # LLVM's linker knows every relocation; only the start is slower
        except MemoryError as fault:
            raise DeviceError(f"out of memory: {fault}") from fault
    return load_with_llvm(obj, symbols)


def load_kernel(code: bytes, symbols: Mapping[str, int], interface: KernelInterface) -> Kernel:
    """The same for the code of a kernel."""
    loaded = load_object(code, symbols)
    return Kernel(loaded.address(ENTRY), interface, loaded, loaded.address(TEAM) if interface.forks else 0)


def load_with_llvm(obj: bytes, symbols: Mapping[str, int]) -> LoadedObject:
    """`load_object` by LLVM's own linker, on every platform."""
    with _lock:
        llvm = _initialize()
        for name, address in symbols.items():
            llvm.add_symbol(name, address)
        machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        try:
            engine.add_object_file(llvm.ObjectFileRef.from_data(obj))
        except RuntimeError as fault:
            raise InternalError(f"LLVM cannot load the object: {fault}") from fault
        engine.finalize_object()
    return LoadedObject(_EngineSymbols(engine))


class _EngineSymbols(dict[str, int]):
    """Addresses looked up in an LLVM execution engine on first use; it lives as long as they do."""

    def __init__(self, engine: Any) -> None:
        super().__init__()
        self._engine = engine

    def __missing__(self, name: str) -> int:
        with _lock:
            address = int(self._engine.get_function_address(name))
        if not address:
            raise KeyError(name)
        self[name] = address
        return address


# --- what the code depends on -----------------------------------------------------------------------------


def object_parts(text: str, *, opt: int | None = None) -> tuple[str, ...]:
    """All that the object code of `compile_ir` depends on, for the key under which it is kept."""
    return ("object", text, *(e.llvm for e in needed(text)), str(_level(opt)), target_key(), *_own_texts())


@functools.cache
def _own_texts() -> tuple[str, ...]:
    """How text becomes object code, is written down here and in `effort.py`, and nowhere else."""
    here = Path(__file__)
    return tuple(file.read_text(encoding="utf-8") for file in (here, here.with_name("effort.py")))


@functools.cache
def target_key() -> str:
    """Names the CPU, its features and the LLVM that generates code for it: part of every cache key.

    On Linux it is made without importing llvmlite.
    """
    host = os.uname()
    parts = [sys.platform, host.machine, _llvmlite_stamp()]
    if sys.platform == "linux":
        parts += _processor_lines()
    else:
        llvm = _initialize()
        features = llvm.get_host_cpu_features().flatten()
        parts += [llvm.get_default_triple(), llvm.get_host_cpu_name(), features]
    return "|".join(parts)


def _llvmlite_stamp() -> str:
    """Version of llvmlite and the size of its library (which LLVM it holds), without importing it."""
    from importlib.util import find_spec

    spec = find_spec("llvmlite")
    if spec is None or not spec.submodule_search_locations:
        raise InternalError("llvmlite is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    lines = (folder / "_version.py").read_text().splitlines()
    version = " ".join(line for line in lines if line and not line.startswith(("#", " ", "def", "import")))
    libraries = sorted((f.name, f.stat().st_size) for f in (folder / "binding").glob("*llvmlite.*"))
    return f"{version} {libraries}"


def _processor_lines() -> list[str]:
    """What /proc/cpuinfo says of the first processor's model and features."""
    x86 = {"vendor_id", "cpu family", "model", "stepping", "flags"}
    arm = {"features", "cpu implementer", "cpu architecture", "cpu variant", "cpu part"}
    wanted = x86 | arm | {"isa"}
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        block = file.read(1 << 13).partition("\n\n")[0]
    pairs = (line.partition(":") for line in block.splitlines())
    return [value.strip() for name, _, value in pairs if name.strip().lower() in wanted]
