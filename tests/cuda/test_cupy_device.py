"""The GPU by CuPy, tried on a CuPy that is none: the same calls, memory of NumPy, kernels emulated."""

from __future__ import annotations

import sys
import types

import emulator
import numpy as np
import pytest
from fake_cupy import BLOCK, Fake, make
from written import weighted, weighted_body, written

import vgraph as vg
from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.layout import num_words
from vgraph.config import scope
from vgraph.errors import InternalError
from vgraph.runtime.devices import compiled
from vgraph.runtime.devices.cuda import cupy_device, use
from vgraph.runtime.devices.cuda.cupy_device import CupyDevice

X = np.arange(100)
if emulator.unavailable() is not None:
    pytest.skip(emulator.unavailable(), allow_module_level=True)


@pytest.fixture(autouse=True)
def fake(monkeypatch, tmp_path):
    cupy, cuda = make()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(cupy_device, "BLOCK", BLOCK)
    monkeypatch.setattr(nvrtc, "compile", lambda text, arch, block, clusters: text.encode())
    with scope(cache_dir=tmp_path / "cache", no_cache=False):
        compiled._loaded.clear()
        yield
        compiled._loaded.clear()


@pytest.fixture
def graph():
    return vg.Graph.from_edges([0, 1, 2], [1, 2, 0], num_vertices=100)


def body(i):
    Fake.words = num_words(i.interface)
    return weighted_body(i)


@pytest.mark.parametrize("options", [{}, {"memory": "host"}, {"output": "cupy"}])
def test_a_run(graph, options):
    device = CupyDevice(0)
    assert (device.name, device.arch, device.place, device.multiprocessors) == (
        "NVIDIA Fake",
        "sm_90",
        "cuda:0",
        2,
    )
    assert device.memory() == ((1 << 30) + 5, 1 << 31)
    with use(device), written(body):
        result = vg.run(weighted, graph, device="cuda", x=X, add=7, **options)
        again = vg.run(weighted, graph, device="cuda", x=X, add=7, **options)
    want = vg.run(weighted, graph, device="cpu", x=X, add=7)
    for found in (result, again):
        y = found.y.get() if "output" in options else found.y
        np.testing.assert_array_equal(y, want.y)
        assert found.total == want.total
        assert found.stats.kernel_seconds == 0.25e-3


def test_room_in_shared_memory():
    """Two blocks run on a multiprocessor: each has half of what there is, less its own and CUDA's."""
    device = CupyDevice(0)
    assert device.room(X, 0) == 0
    kernel = types.SimpleNamespace(ptr=0)
    assert device.room(kernel, 4096) == 4096
    assert device.room(kernel, 48) == 128  # all that was wanted
    assert device.room(kernel, 1 << 20) == (50 * 1024 - 1024 - 1000) // 128 * 128
    assert Fake.most_dynamic == device.room(kernel, 1 << 20)


def test_reading_and_writing_in_pieces():
    device = CupyDevice(0)
    array = device.upload(np.arange(50_000, dtype=np.uint64))
    np.testing.assert_array_equal(device.read(array, 3, 49_999), np.arange(3, 49_999))
    assert device.read(array, 5, 5).shape == (0,)
    device.write(array, 8 * 2 + 4, (1).to_bytes(4, "little"))
    assert device.read(array, 2, 3)[0] == 2 + (1 << 32)


def test_numbers_of_gpus():
    Fake.gpus = 2
    assert CupyDevice(1).place == "cuda:1"
    with pytest.raises(vg.DeviceError, match=r"cuda:2\": no such GPU; they are cuda:0 to cuda:1"):
        CupyDevice(2)
    Fake.gpus = 1
    with pytest.raises(vg.DeviceError, match="there is only cuda:0"):
        CupyDevice(1)
    Fake.gpus = 0
    with pytest.raises(vg.DeviceError, match="the driver sees none"):
        CupyDevice(0)
    Fake.gpus = -1
    with pytest.raises(
        vg.DeviceError, match="needs an NVIDIA GPU with its driver: cudaErrorInsufficientDriver"
    ):
        CupyDevice(0)


def test_reaching_another_gpu(monkeypatch):
    Fake.gpus = 2
    monkeypatch.setattr(Fake, "peers", "none")
    with pytest.raises(
        vg.DeviceError, match=r"cuda:0 \(NVIDIA Fake\) cannot use the memory of cuda:1: .* NVLink"
    ):
        CupyDevice(0).reach(CupyDevice(1))
    Fake.peers = "already"
    CupyDevice(0).reach(CupyDevice(1))
    Fake.peers = "fails"
    with pytest.raises(InternalError, match="the GPU refuses"):
        CupyDevice(0).reach(CupyDevice(1))
    Fake.peers = ""
    first, second = CupyDevice(0), CupyDevice(1)
    first.reach(second)
    first.reach(second)  # nothing more to do
    second.reach(first)
    assert Fake.peers == "10"


def test_a_kernel_that_fails(graph):
    Fake.event_status = 700
    with (
        use(CupyDevice(0)),
        written(body),
        pytest.raises(InternalError, match="the GPU refuses to go on: cudaErr"),
    ):
        vg.run(weighted, graph, device="cuda", x=X)


def test_no_pinned_memory(graph):
    device = CupyDevice(0)
    Fake.pinned_limit = 10
    with (
        use(device),
        written(body),
        pytest.raises(vg.DeviceError, match=r"out of memory: NVIDIA Fake has 1\.07 GB of"),
    ):
        vg.run(weighted, graph, device="cuda", memory="host", x=X)
    with use(device), written(body):
        assert vg.run(weighted, graph, device="cuda", x=X).y[3] == 3 * 3
