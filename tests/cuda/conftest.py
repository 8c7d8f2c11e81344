"""The GPU of the tests here: an emulated one, and the real one with `pytest -m cuda`."""

from __future__ import annotations

import sys
from pathlib import Path

import emulator
import pytest
from emulated_device import EmulatedDevice

from vgraph.runtime.devices.cuda import detect, device_for, use

for folder in ("llvm", "differential", "externals", "runtime"):  # what tests here share with those of the CPU
    sys.path.append(str(Path(__file__).parents[1] / folder))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Hand-made kernels for one thread are none for a GPU."""
    items[:] = [
        x
        for x in items
        if x.path.stem not in ("test_kernels", "test_crew")
        or not hasattr(x, "callspec")
        or x.callspec.params.get("threads") != 1
    ]


@pytest.fixture
def emulated():
    """An emulated GPU, installed: `device="cuda"` means it."""
    reason = emulator.unavailable()
    if reason is not None:
        pytest.skip(reason)
    with use(EmulatedDevice()) as device:
        yield device


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.cuda)])
def gpu(request):
    """What `device="cuda"` means: a test with it runs on the emulated GPU, and with `-m cuda` on the real one."""
    if request.param == "emulated":
        yield request.getfixturevalue("emulated")
        return
    reason = detect.missing()
    if reason is not None:
        pytest.skip(f"needs {reason}")
    yield device_for(0)
