"""Run the text of a CUDA kernel on the CPU, with the interleaving of a seed.

`emulation/emulation.hpp` says what this shows and what it cannot. Compilation needs g++ on Linux: `unavailable()`
gives the reason when something is missing.

Cost, on one core of a busy server: the scheduler takes 1 to 3 s to compile, a small kernel 0.1 to 0.2 s; both are kept
in the cache by their text. A launch of 1024 threads takes 0.2 ms and then, per second, 5 to 9 million threads pass a
`__syncthreads`, 5 to 7 million a shuffle, 2 to 10 million a grid barrier of four blocks, and 20 to 35 million atomics
are done. So a round of a few hundred threads costs well under a millisecond. What all kernels include is compiled
once in a process.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import vgraph.compiler.backends.cuda as cuda_backend
from vgraph.cache import cache_key, cached_object

HERE = Path(__file__).parent / "emulation"
DEVICE_HEADERS = Path(cuda_backend.__file__).parent / "include"
_FIRST = re.compile(r'(?://[^\n]*\n)*#include "vgraph.cuh"')
"""How a kernel begins that the backend has written."""
FLAGS = (
    "-std=c++17 -fPIC -w -fno-omit-frame-pointer -fvisibility=hidden -fno-exceptions -fno-rtti "
    "-fno-strict-aliasing -fwrapv -ffp-contract=off -U_FORTIFY_SOURCE"
).split()
RUNTIME_FLAGS = (
    "-std=c++17 -O2 -fPIC -w -fno-omit-frame-pointer -fvisibility=hidden -U_FORTIFY_SOURCE".split()
)
# -g1: lines only, so that a report can name them.
KERNEL_FLAGS = ["-O0", "-g1", "-gdwarf-4", "-fno-gnu-unique", "-fno-threadsafe-statics"]
_lock = threading.Lock()


class EmulationError(Exception):
    """A kernel did not compile for the CPU."""


class KernelFault(Exception):
    """A kernel came to a deadlock, misused a barrier or a collective, faulted, or did not end in time."""


@cache
def unavailable() -> str | None:
    """Why kernels cannot be emulated here; None when they can."""
    if sys.platform != "linux":
        return "the CUDA emulation needs Linux (it swaps the thread-local memory of an ELF library)"
    if shutil.which("g++") is None:
        return "the CUDA emulation needs g++"
    return None


@cache
def _folder() -> Path:
    folder = TemporaryDirectory(prefix="vgraph-emulation-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _gxx(arguments: Sequence[str | Path]) -> str:
    done = subprocess.run(["g++", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise EmulationError("g++ refused the kernel:\n" + done.stderr[:8000])
    return done.stdout


@cache
def _compiler() -> tuple[str, ...]:
    """The compiler and the emulation, as parts of keys."""
    return ("emulation", _gxx(["--version"]), _digest(HERE))


@cache
def _digest(folder: Path) -> str:
    """Stands for the names and texts of a folder's files."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return cache_key(part for path in files for part in (path.name, path.read_text("utf-8")))


def _cached(parts: Sequence[str], output: Path, build: Callable[[], object]) -> Path:
    """`output`, which `build` makes, unless the cache has it."""

    def content() -> bytes:
        build()
        return output.read_bytes()

    code, found = cached_object((*_compiler(), *parts), content)
    if found:
        output.write_bytes(code)
    return output


@cache
def _runtime() -> list[Path]:
    """The objects of the scheduler."""

    def compiled(source: Path) -> Path:
        output = _folder() / f"{source.stem}.o"
        build = [*RUNTIME_FLAGS, "-c", source, "-o", output]
        return _cached((*RUNTIME_FLAGS, source.name), output, lambda: _gxx(build))

    return [compiled(source) for source in sorted(HERE.glob("*.cpp"))]


@cache
def _linker() -> tuple[str, ...]:
    """How to link in half the time, where it can be done."""
    return ("-fno-use-linker-plugin", *["-fuse-ld=gold"] * (shutil.which("ld.gold") is not None))


@cache
def _precompiled(names: tuple[str, ...], flags: tuple[str, ...]) -> Path:
    """A header that includes these, compiled for kernels with these flags."""
    folder = _folder() / hashlib.sha256(repr((names, flags)).encode()).hexdigest()[:16]
    folder.mkdir()
    header = folder / "all.hpp"
    header.write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
    _gxx([*flags, "-x", "c++-header", header, "-o", folder / "all.hpp.gch"])
    return header


@dataclass(frozen=True)
class Emulated:
    """A kernel compiled for the CPU."""

    library: ctypes.CDLL
    path: Path
    block: int
    of_a_set: bool = False
    """Whether it runs on several devices together."""

    def launch(
        self,
        words: np.ndarray,
        grid: int,
        block: int | None = None,
        seed: int = 0,
        *,
        shared: int = 0,
        seconds: float = 60.0,
    ) -> int:
        """Run the kernel to its end; how often the scheduler switched between threads.

        `words` (uint64) are the bytes of the kernel's parameter. Seed 0 runs the threads in order and switches where
        they wait (and now and then at other yield points, lest a loop that polls never ends). `shared`: bytes of
        dynamic shared memory of a block. `seconds` of CPU time end a kernel that does not end by itself.
        `KernelFault` says what went wrong; shared memory begins as rubbish.
        """
        return self.launch_on([(words, grid)], block, seed, shared=shared, seconds=seconds)

    def launch_on(
        self,
        devices: Sequence[tuple[np.ndarray, int]],
        block: int | None = None,
        seed: int = 0,
        *,
        shared: int = 0,
        seconds: float = 60.0,
        left: np.ndarray | None = None,
    ) -> int:
        """The same of as many devices at the same time, with words and a grid each. `left`: a uint32 for each, which
        becomes 1 when all its threads have ended."""
        words = [np.ascontiguousarray(w, dtype=np.uint64) for w, _ in devices]
        left = np.zeros(len(devices), np.uint32) if left is None else left
        rows = [
            (w.ctypes.data, grid, left[k:].ctypes.data)
            for k, (w, (_, grid)) in enumerate(zip(words, devices, strict=True))
        ]
        launches, block = np.array(rows, np.uint64), self.block if block is None else block
        with _lock:
            self.library.vg_emulation_seconds(seconds)
            failed = self.library.vg_emulate(
                launches.ctypes.data, len(rows), words[0].nbytes, block, shared, seed
            )
            if failed:
                message = self.library.vg_emulation_error().decode()
                grids = ", ".join(str(grid) for _, grid in devices)
                raise KernelFault(f"{_with_lines(self.path, message)}\n(seed {seed}, grid {grids})")
            return int(ctypes.c_ulonglong.in_dll(self.library, "vg_emulation_switches").value)


def compile_text(
    text: str,
    include_dirs: Sequence[Path | str] = (),
    block: int = 256,
    *,
    kernel: str = "vg_main",
    every_access: bool = False,
) -> Emulated:
    """Compile CUDA C++ with a `__global__` function `kernel` of one parameter; the same text only once per process.

    `block` is what `VG_BLOCK` means in the text. `every_access` makes each plain load and store a yield point, which
    finds races that barriers and atomics do not bracket, and runs several times slower. `EmulationError` when g++
    refuses the text.
    """
    return _compile(
        text, tuple(Path(folder).resolve() for folder in include_dirs), block, kernel, every_access
    )


@cache
def _compile(
    text: str, include_dirs: tuple[Path, ...], block: int, kernel: str, every_access: bool
) -> Emulated:
    key = repr((text, include_dirs, block, kernel, every_access)).encode()
    folder = _folder() / hashlib.sha256(key).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    (folder / "kernel.cu").write_text(text, encoding="utf-8")
    unit = f'#include "kernel.cu"\nEMU_ENTRY({kernel})\n'
    (folder / "unit.cpp").write_text(unit, encoding="utf-8")
    library = folder / "kernel.so"
    flags = [*FLAGS, *KERNEL_FLAGS, f"-DVG_BLOCK={block}"]
    if every_access:
        flags += ["-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0"]

    def build() -> None:
        flags_of_all = (*flags, *(f"-I{path}" for path in (HERE, *include_dirs)))
        known = ("vgraph.cuh",) if include_dirs == (DEVICE_HEADERS,) and _FIRST.match(text) else ()
        read = ["-include", _precompiled(("emulation.hpp", *known), flags_of_all)]
        _gxx([*flags_of_all, *read, "-c", folder / "unit.cpp", "-o", folder / "unit.o"])
        _gxx(["-shared", *_linker(), folder / "unit.o", *_runtime(), "-o", library])

    headers = map(_digest, include_dirs)
    _cached(("kernel", *RUNTIME_FLAGS, *_linker(), *flags, *headers, unit, text), library, build)
    return Emulated(_load(library), library, block, "Channel channel(" in text)


def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    ulong = ctypes.c_ulong
    library.vg_emulate.argtypes = (
        ctypes.c_void_p, ctypes.c_uint, ulong, ctypes.c_uint, ulong, ctypes.c_ulonglong,
    )  # fmt: skip
    library.vg_emulation_error.restype = ctypes.c_char_p
    library.vg_emulation_seconds.argtypes = (ctypes.c_double,)
    library.vg_emulation_seconds.restype = None
    return library


def _with_lines(library: Path, message: str) -> str:
    """Put source lines for the addresses `[+0x12 +0x34]` of callers."""

    def lines_of(found: re.Match[str]) -> str:
        addresses = re.findall(r"0x[0-9a-f]+", found[0])
        if shutil.which("addr2line") is None:
            return ""
        done = subprocess.run(
            ["addr2line", "-i", "-e", str(library), *addresses], capture_output=True, text=True
        )
        places = [Path(line.split(" ")[0]).name for line in done.stdout.splitlines()]
        known = [
            place for place in places if "?" not in place and not place.startswith(("emulation", "unit.cpp"))
        ]
        return f" <- {' <- '.join(known)}" if known else ""

    return re.sub(r" \[\+0x[^\]]*\]", lines_of, message)
