"""Which device a run goes to, and what is said where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import emulator
import numpy as np
import pytest
from emulated_device import EmulatedDevice
from written import weighted, weighted_body, written

import vgraph as vg
from vgraph.config import scope
from vgraph.runtime import policy
from vgraph.runtime.devices import compiled
from vgraph.runtime.devices.cuda import detect, registry, use

X = np.arange(300)


@pytest.fixture
def graph():
    return vg.Graph.from_edges([0, 1, 2], [1, 2, 0], num_vertices=300)


@pytest.fixture(autouse=True)
def fresh(tmp_path):
    with scope(cache_dir=tmp_path / "cache", no_cache=False, device=None, threads=None):
        compiled._loaded.clear()
        yield
        compiled._loaded.clear()


def machine(monkeypatch, tmp_path, *, driver, cupy):
    """A machine with or without a driver, and CuPy."""
    sign = tmp_path / "driver"
    if driver:
        sign.write_text("")
    monkeypatch.setattr(detect, "_DRIVER_SIGNS", (str(sign),))
    monkeypatch.setattr(detect, "find_spec", lambda name: object() if cupy else None)


NEEDS = {
    (False, False): (
        "an NVIDIA GPU with its driver (there is none on this machine) and CuPy (pip install 'vgraph[cuda]')"
    ),
    (False, True): "an NVIDIA GPU with its driver (there is none on this machine)",
    (True, False): "CuPy (pip install 'vgraph[cuda]')",
}


@pytest.mark.parametrize(("driver", "cupy"), NEEDS)
def test_one_line_says_what_is_missing(monkeypatch, tmp_path, graph, driver, cupy):
    machine(monkeypatch, tmp_path, driver=driver, cupy=cupy)
    for asked in ("cuda", "cuda:0", "cuda:1", "cuda:*", ["cuda:0", "cuda:1"]):
        with pytest.raises(vg.DeviceError) as error:
            vg.run(weighted, graph, device=asked, x=X)
        assert str(error.value) == f"device={json.dumps(asked)} needs {NEEDS[driver, cupy]}"
    assert registry.candidate() is None


def test_cupy_that_cannot_be_imported(monkeypatch, tmp_path, graph):
    machine(monkeypatch, tmp_path, driver=True, cupy=True)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(vg.DeviceError, match="needs CuPy, which cannot be imported"):
        vg.run(weighted, graph, device="cuda", x=X)
    assert registry.candidate() is None


def test_large_graphs_go_to_the_gpu(monkeypatch, emulated, graph):
    monkeypatch.setattr(policy, "CUDA_ARCS", 3)
    with written(weighted_body):
        assert vg.run(weighted, graph, x=X).stats.device == "cuda"
        assert vg.run(weighted, graph, x=X, threads=2).stats.device == "cpu"
        assert vg.run(weighted, graph, x=X, schedule=vg.Schedule()).stats.device == "cpu"
        assert vg.run(weighted, graph, x=X, device="cpu").stats.device == "cpu"
        smaller = vg.Graph.from_edges([0], [1], num_vertices=300)
        assert vg.run(weighted, smaller, x=X).stats.device == "cpu"
        assert vg.run(weighted, smaller, x=X, memory="host").stats.device == "cuda"
        emulated.limit = 100
        assert vg.run(weighted, graph, x=X).stats.device == "cpu"


def test_the_knob_names_the_device(emulated, graph):
    with written(weighted_body), scope(device="cuda"):
        assert vg.run(weighted, graph, x=X).stats.device == "cuda"


def test_without_a_driver_nothing_is_imported_for_a_large_graph():
    code = """
import sys, vgraph as vg
from vgraph.runtime import policy
from vgraph.runtime.devices.cuda import detect
detect._DRIVER_SIGNS = ()
policy.CUDA_ARCS = 0
assert vg.run(vg.algorithms.bfs, vg.Graph.from_edges([0], [1]), source=0).stats.device == "cpu"
print([name for name in sys.modules if "cupy" in name or "nvrtc" in name])
"""
    path = str(Path(vg.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["cuda:", "cuda:x", "cuda:-1", "cuda: 1"])
def test_names_of_gpus(graph, name):
    with pytest.raises(vg.DeviceError, match='GPUs are called "cuda", "cuda:1" and so on'):
        vg.run(weighted, graph, device=name, x=X)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"output": "torch"}, "output='torch': it is 'numpy' or 'cupy'"),
        ({"memory": "disk"}, "memory='disk': it is 'device' or 'host'"),
        ({"device": "cpu", "output": "cupy"}, "output='cupy' needs a GPU, and device='cpu'"),
        ({"device": "python", "memory": "host"}, "memory='host' needs a GPU, and device='python'"),
        ({"device": "cuda", "threads": 2}, "threads=2: threads are of the CPU, and device='cuda'"),
    ],
)
def test_what_does_not_fit_the_device(graph, given, text):
    with pytest.raises(vg.VGraphError) as error:
        vg.run(weighted, graph, x=X, **given)
    assert str(error.value) == text


def test_the_innermost_device_is_used(graph):
    with use(EmulatedDevice()) as outer, written(weighted_body):
        with use(EmulatedDevice(block=32)) as inner:
            vg.run(weighted, graph, device="cuda", x=X)
        assert (outer.launches, inner.launches) == (0, 1)
        vg.run(weighted, graph, device="cuda", x=X)
        assert (outer.launches, inner.launches) == (1, 1)


def test_explain_shows_the_text(graph):
    with written(weighted_body):
        found = vg.explain(weighted, graph, device="cuda", x=X)
    assert "__global__" in found.cuda
    assert "== CUDA C++ ==" in str(found)
    assert not found.llvm
    with pytest.raises(vg.DeviceError, match='explained for "auto", "cpu", "cuda"'):
        vg.explain(weighted, graph, device="python")
    with pytest.raises(vg.ParameterError, match="about the CPU"):
        vg.explain(weighted, graph, device="cuda", llvm=True)
    with pytest.raises(vg.ParameterError, match="threads are of the CPU"):
        vg.explain(weighted, graph, device="cuda", threads=2)
    assert not vg.explain(weighted, graph, x=X).cuda


def test_a_warm_start_loads_no_compiler(tmp_path):
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, vgraph as vg
from vgraph.runtime.devices.cuda import use
from emulated_device import EmulatedDevice
from vgraph.compiler.backends.cuda import nvrtc
class Device(EmulatedDevice):
    def stamp(self):
        return nvrtc.stamp()
with use(Device()):
    result = vg.run(vg.algorithms.pagerank, vg.Graph.from_edges([0], [1]), device="cuda")
heavy = ("lark", "llvmlite", "cupy", "vgraph.compiler.ir", "vgraph.compiler.backends.cuda.backend")
print(result.stats.cached, [name for name in heavy if name in sys.modules])
if sys.platform == "linux":
    assert "libnvrtc" not in open("/proc/self/maps").read()
"""
    if emulator.unavailable() is not None:
        pytest.skip(emulator.unavailable())
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here.parents[1]), "VGRAPH_CACHE_DIR": str(tmp_path / "c")}
    said = [
        subprocess.run(
            [sys.executable, "-c", code, str(here)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert said[0].startswith("False")
    assert said[1].strip() == "True []"
