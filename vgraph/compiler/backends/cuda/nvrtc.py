"""CUDA C++ text to machine code (a cubin) by NVRTC, NVIDIA's run-time compiler, called through ctypes.

NVRTC needs no GPU. It is looked for in this order: a library that the process has loaded already, the PyPI wheels
`nvidia-cuda-nvrtc*`, then where the system's linker and `/usr/local/cuda` have it. Nothing is loaded before the first
compilation; `stamp` names the library without loading it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from vgraph.compiler.backends.cuda.layout import BLOCK
from vgraph.compiler.backends.cuda.texts import WIDE
from vgraph.errors import DeviceError, InternalError
from vgraph.records import dataclass

_INCLUDE: Final = Path(__file__).parent / "include"
_MAJORS: Final = (13, 12)
_WHEEL_FOLDERS: Final = ("cuda_nvrtc/lib", "cu13/lib")
"""Folders of the wheels, inside the namespace package `nvidia`: CUDA 12's, and CUDA 13's."""

_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


# --- find -----------------------------------------------------------------------------------------------------


@functools.cache
def find() -> Path | None:
    """The file of the NVRTC that `compile` uses; None if there is none on this machine. Looked for once."""
    return next(_candidates(), None)


def stamp() -> str:
    """Names the NVRTC that would be used, its version as far as files tell: part of the key of compiled code."""
    path = find()
    if path is None:
        return "no nvrtc"
    builtins = ",".join(sorted(p.name for p in path.parent.glob("libnvrtc-builtins.so*")))
    return f"{path.name} {path.stat().st_size} {builtins}"


def _candidates() -> Iterator[Path]:
    yield from _loaded_already()
    yield from _in_wheels()
    yield from _on_system()


def _loaded_already() -> Iterator[Path]:
    """Linux only: elsewhere there is no such list."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return
    found = re.search(r"(/\S*/libnvrtc\.so[.\d]*)$", text, re.MULTILINE)
    if found is not None:
        yield Path(found[1])


def _in_wheels() -> Iterator[Path]:
    from importlib.util import find_spec

    spec = find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    for name in _WHEEL_FOLDERS:
        for folder in folders:
            yield from _files(Path(folder) / name)


def _on_system() -> Iterator[Path]:
    roots = [os.fspath(p) for p in sorted(Path("/usr/local").glob("cuda*"), reverse=True)]
    for root in roots:
        yield from _files(Path(root) / "lib64")
    folders = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
    for folder in folders:
        yield from _files(Path(folder))


def _files(folder: Path) -> Iterator[Path]:
    for major in _MAJORS:
        path = folder / f"libnvrtc.so.{major}"
        if path.exists():
            yield path.resolve()


# --- the library ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Library:
    handle: ctypes.CDLL
    version: tuple[int, int]
    path: Path

    def call(self, name: str, *arguments: object) -> int:
        """The function's status; 0 is success."""
        return int(getattr(self.handle, name)(*arguments))

    def check(self, name: str, *arguments: object) -> None:
        """Call a function that may only fail by a mistake of ours."""
        status = self.call(name, *arguments)
        if status:
            raise InternalError(f"{name} of {self.path} failed: {self.error(status)}")

    def error(self, status: int) -> str:
        """A status in words."""
        describe = self.handle.nvrtcGetErrorString
        describe.restype = ctypes.c_char_p
        return str(describe(status).decode())


@functools.cache
def _library() -> _Library:
    path = find()
    if path is None:
        raise DeviceError(
            "compiling for CUDA needs NVRTC, which is not installed: pip install 'vgraph[cuda]', "
            "or nvidia-cuda-nvrtc-cu12 alone"
        )
    try:
        # NVRTC opens this one by its name alone, and finds it only if it is there already.
        for builtins in sorted(path.parent.glob("libnvrtc-builtins.so*")):
            ctypes.CDLL(os.fspath(builtins))
        handle = ctypes.CDLL(os.fspath(path))
    except OSError as fault:
        raise DeviceError(f"NVRTC cannot be loaded: {fault}") from fault
    major, minor = ctypes.c_int(), ctypes.c_int()
    library = _Library(handle, (0, 0), path)
    library.check("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
    return _Library(handle, (major.value, minor.value), path)


def version() -> tuple[int, int]:
    """Major and minor version of NVRTC. Raises DeviceError where there is none."""
    with _lock:
        return _library().version


def supported_archs() -> tuple[str, ...]:
    """The architectures that NVRTC compiles for, as `sm_90`, ascending."""
    with _lock:
        library = _library()
        count = ctypes.c_int()
        library.check("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        library.check("nvrtcGetSupportedArchs", numbers)
    return tuple(f"sm_{number}" for number in numbers)


# --- compile --------------------------------------------------------------------------------------------------


@functools.cache
def headers() -> Mapping[str, str]:
    """The texts of vgraph's device headers, by the name under which they are included."""
    return {p.name: p.read_text(encoding="utf-8") for p in sorted(_INCLUDE.glob("*.cuh"))}


def options(arch: str, block: int, *, fast: bool = False, clusters: bool = False) -> list[str]:
    """The options given to NVRTC; `fast`, for those of CUDA 12.9 on, leaves most optimisations out. `clusters`: whether
    the GPU runs clusters of 16 blocks."""
    # -fmad=false: a product is rounded before it is added to something, as on the CPU.
    common = ["-std=c++17", "-default-device", "--device-int128", "-fmad=false"]
    more = ["--Ofast-compile=max"] * fast + ["-DVG_CLUSTERS"] * clusters
    return [*common, f"--gpu-architecture={arch}", f"-DVG_BLOCK={block}", *more]


def cubin_parts(
    text: str, arch: str = "sm_90", block: int = BLOCK, *, fast: bool = False, clusters: bool = False
) -> tuple[str, ...]:
    """All that the cubin of `compile` depends on, for the key under which it is kept."""
    return (
        "cubin",
        text,
        *options(arch, block, fast=fast, clusters=clusters),
        *headers(),
        *headers().values(),
        stamp(),
        _own_text(),
    )


@functools.cache
def _own_text() -> str:
    """How text is given to NVRTC, is written down here and nowhere else."""
    return Path(__file__).read_text(encoding="utf-8")


def compile(
    text: str, arch: str = "sm_90", block: int = BLOCK, *, fast: bool = False, clusters: bool = False
) -> bytes:
    """The cubin of a kernel's text for GPUs of `arch`, launched with `block` threads per block; else as `options`.

    Raises DeviceError where there is no NVRTC or it does not know `arch`, InternalError with NVRTC's messages if it
    refuses the text: that is generated.
    """
    with _lock:
        library = _library()
        if arch not in supported_archs():
            known = supported_archs()
            newest = ".".join(map(str, library.version))
            raise DeviceError(f"NVRTC {newest} compiles for {known[0]} to {known[-1]}, not for {arch}")
        if WIDE in text and int(arch.removeprefix("sm_")) < 90:
            raise DeviceError(
                "values that are updated together take more than 64 bits in this program, which needs a GPU of compute "
                f"capability 9.0, and this is {arch}: narrower types, such as vg.int32 or vg.float32, run here"
            )
        program = ctypes.c_void_p()
        names, texts = _strings(list(headers())), _strings(list(headers().values()))
        source = (text.encode(), b"vg_main.cu", len(headers()))
        library.check("nvrtcCreateProgram", ctypes.byref(program), *source, texts, names)
        try:
            return _compile(library, program, _strings(options(arch, block, fast=fast, clusters=clusters)))
        finally:
            library.call("nvrtcDestroyProgram", ctypes.byref(program))


def _compile(library: _Library, program: ctypes.c_void_p, given: ctypes.Array[ctypes.c_char_p]) -> bytes:
    status = library.call("nvrtcCompileProgram", program, len(given), given)
    if status:
        log = _text(library, program, "nvrtcGetProgramLog").decode(errors="replace").rstrip("\0\n")
        raise InternalError(f"NVRTC refuses the generated code: {library.error(status)}\n{log}")
    return _text(library, program, "nvrtcGetCUBIN")


def _text(library: _Library, program: ctypes.c_void_p, getter: str) -> bytes:
    size = ctypes.c_size_t()
    library.check(f"{getter}Size", program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    library.check(getter, program, buffer)
    return buffer.raw


def _strings(texts: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*(t.encode() for t in texts))
