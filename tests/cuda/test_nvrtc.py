"""Kernels become machine code by NVRTC, without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from written import Written, counted, endless_body, listing_body, weighted, weighted_body

import vgraph as vg
from vgraph.compiler import build
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.layout import BLOCK, WHOLE_BLOCK
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.errors import InternalError
from vgraph.runtime.executor import signature_of

pytestmark = pytest.mark.skipif(
    nvrtc.find() is None, reason="NVRTC is not installed: pip install 'vgraph[dev]'"
)

SMALL = 'extern "C" __global__ void vg_main(int *x) { x[threadIdx.x] = VG_BLOCK; }'
ARCHS = ("sm_70", "sm_80", "sm_90", "sm_100")


def known(arch):
    if arch not in nvrtc.supported_archs():
        pytest.skip(f"NVRTC {nvrtc.version()} does not know {arch}")
    return arch


@pytest.mark.parametrize("arch", ARCHS)
def test_a_cubin_for_every_architecture(arch):
    code = nvrtc.compile(SMALL, known(arch))
    assert code[:4] == b"\x7fELF"
    assert b"vg_main" in code
    assert code == nvrtc.compile(SMALL, arch)


def test_the_block_size_is_part_of_the_code():
    assert nvrtc.compile(SMALL, "sm_90", 256) != nvrtc.compile(SMALL, "sm_90", 128)


def test_headers_are_found_by_their_names(monkeypatch):
    monkeypatch.setattr(nvrtc, "headers", lambda: {"a.cuh": '#include "b.cuh"', "b.cuh": "#define N 3\n"})
    text = '#include "a.cuh"\nextern "C" __global__ void vg_main(int *x) { x[0] = N; }'
    assert b"vg_main" in nvrtc.compile(text)


def test_headers_of_the_package():
    include = Path(nvrtc.__file__).parent / "include"
    assert set(nvrtc.headers()) == {p.name for p in include.glob("*.cuh")}


@pytest.mark.parametrize("block", [BLOCK, WHOLE_BLOCK])
def test_what_loops_keep_fits_into_the_memory_of_a_block(block):
    """A kernel with buckets has two outboxes, and static shared memory ends at 48 KB."""
    kept = "sizeof(Boxes<0, u64>) + sizeof(Boxes<1, u64>) + sizeof(Tile) + WARPS * 32"
    text = f'#include "vgraph.cuh"\nnamespace vg {{ static_assert({kept} <= 44 << 10, ""); }}\n{SMALL}'
    nvrtc.compile(text, block=block)


def test_a_refusal_is_a_mistake_of_ours_and_shows_the_log():
    with pytest.raises(InternalError, match=r"vg_main\.cu\(2\): error: identifier \"oops\" is undefined"):
        nvrtc.compile('extern "C" __global__ void vg_main(int *x)\n{ x[0] = oops; }')


def test_an_unknown_architecture():
    with pytest.raises(vg.DeviceError, match=r"NVRTC \d+\.\d+ compiles for sm_\d+ to sm_\d+, not for sm_1"):
        nvrtc.compile(SMALL, "sm_1")


def test_without_nvrtc(monkeypatch):
    monkeypatch.setattr(nvrtc, "find", lambda: None)
    nvrtc._library.cache_clear()
    try:
        assert nvrtc.stamp() == "no nvrtc"
        with pytest.raises(
            vg.DeviceError, match=r"NVRTC, which is not installed: pip install 'vgraph\[cuda\]'"
        ):
            nvrtc.compile(SMALL)
    finally:
        nvrtc._library.cache_clear()


def test_the_stamp_loads_nothing():
    code = """
import sys
from vgraph.compiler.backends.cuda import nvrtc
assert "so" in nvrtc.stamp()
if sys.platform == "linux":
    assert "libnvrtc" not in open("/proc/self/maps").read()
nvrtc.version()
if sys.platform == "linux":
    assert "libnvrtc" in open("/proc/self/maps").read()
assert nvrtc.find().name.startswith("libnvrtc.so")
"""
    path = os.pathsep.join([str(Path(vg.__file__).parents[1]), *filter(None, sys.path)])
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, check=True)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("body", [weighted_body, endless_body], ids=["weighted", "endless"])
def test_what_the_tests_run_emulated_compiles(arch, body):
    graph = vg.Graph.from_edges([0], [1])
    signature = signature_of(graph, argument_types(weighted, {"x": [1, 2]}))
    source = build(build_program(weighted, signature), Written(body)).source
    assert b"vg_main" in nvrtc.compile(source.text, known(arch))


def test_the_kernel_with_a_list_compiles():
    from dataclasses import replace

    graph = vg.Graph.from_edges([0], [1])
    signature = signature_of(graph, argument_types(counted, {"x": [1, 2]}))
    written = Written(lambda i: listing_body(i, 5), lambda interface: replace(interface, lists=("levels",)))
    assert b"vg_main" in nvrtc.compile(build(build_program(counted, signature), written).source.text)
