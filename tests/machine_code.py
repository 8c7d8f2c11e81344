"""Machine code for the tests, kept by its text as that of programs is: the same text is compiled once on a machine."""

from __future__ import annotations

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.cuda import nvrtc


def object_code(text: str, opt: int = 3) -> bytes:
    """`jit.compile_ir`, from the cache if it is there."""
    return cached_object(jit.object_parts(text, opt=opt), lambda: jit.compile_ir(text, opt=opt))[0]


def cubin(text: str, arch: str = "sm_90", *, clusters: bool = False) -> bytes:
    """`nvrtc.compile`, from the cache if it is there. It checks as much as ever, and optimises little: a quarter of the
    time."""
    fast = nvrtc.version() >= (12, 9)
    parts = nvrtc.cubin_parts(text, arch, fast=fast, clusters=clusters)
    return cached_object(parts, lambda: nvrtc.compile(text, arch, fast=fast, clusters=clusters))[0]
