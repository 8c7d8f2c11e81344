"""A GPU for the hand-made kernels of `tests/llvm`: kernel IR on arrays, without the runtime above it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvm_harness import CSR, Array, Outcome, adjacency

from vgraph.compiler import ir
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.backends.cuda.backend import CUDABackend
from vgraph.compiler.backends.cuda.layout import TRACE_WORDS, ControlLayout, num_words
from vgraph.runtime.devices.cuda.device import Device
from vgraph.runtime.devices.cuda.memory import scalar_word

LIST_ROOM = 1 << 14
TRACE_ROOM = 1 << 10


@dataclass
class CUDA:
    """A device as a machine of the harness: `threads` of a test are blocks here. `crew`: one cluster runs kernels."""

    device: Device
    crew: bool = False

    @property
    def name(self) -> str:
        """Loaded kernels depend on the device and its block size."""
        return f"{self.device.place} {self.device.block} {self.crew}"

    def load(self, p: ir.Program) -> Kernel:
        source = CUDABackend().emit(p, narrow=self.crew)
        with self.device.current():
            return Kernel(0, source.interface, self.device.load(self.device.compile(source.text)))

    def run(
        self, kernel: Kernel, threads: int, graph: CSR, arrays: dict[str, Array], params: dict[str, Any]
    ) -> Outcome:
        with self.device.current():
            return Run(self.device, kernel, graph, arrays, params).go(threads)


class Run:
    """The words of one launch, as `layout.py` lists them, and what they point to."""

    def __init__(
        self, device: Device, kernel: Kernel, graph: CSR, arrays: dict[str, Array], params: dict[str, Any]
    ) -> None:
        self.device, self.kernel, self.graph, self.host, self.params = device, kernel, graph, arrays, params
        self.face, self.layout = kernel.interface, ControlLayout(kernel.interface)
        self.ids = np.dtype(f"uint{self.face.id_bits}")
        self.kept: list[Any] = []
        self.control = device.zeros((self.layout.size,), np.uint64)
        self.words = [self.at(self.control)]
        self.arrays = {s.name: device.upload(arrays[s.name]) for s in self.face.args if s.kind == "property"}
        self.words += [self.argument(slot) for slot in self.face.args]
        for f in self.face.frontiers:
            bitmap = self.zeros(-(-graph.n // 64), np.uint64) if f.bitmap else 0
            flags = self.zeros(graph.n, np.uint32) if f.flags else 0
            self.words += [self.zeros(graph.n, self.ids), bitmap, flags]
        self.lists = []
        for _ in self.face.lists:
            ids, starts = (device.zeros((LIST_ROOM + 1,), t) for t in (self.ids, np.uint64))
            self.lists.append((ids, starts))
            self.words += [self.at(ids), self.at(starts), LIST_ROOM, LIST_ROOM]
        self.trace = device.zeros((TRACE_ROOM * TRACE_WORDS,), np.uint64)
        self.words += [self.at(self.trace), TRACE_ROOM, 1]
        assert len(self.words) == num_words(self.face)

    def at(self, array: Any) -> int:
        self.kept.append(array)
        return self.device.address(array)

    def zeros(self, count: int, dtype: Any) -> int:
        return self.at(self.device.zeros((count,), dtype))

    def argument(self, slot: Any) -> int:
        graph = self.graph
        match slot.kind:
            case "property":
                assert self.host[slot.name].dtype == np.dtype(slot.dtype)
                return self.at(self.arrays[slot.name])
            case "adjacency":
                return self.at(self.device.upload(adjacency(graph, slot.name, slot.dtype)))
            case "size":
                return graph.n if slot.name == "num_vertices" else graph.m
            case "length":
                return len(self.host[slot.name])
            case "workspace":
                return self.zeros(slot.length * graph.n + 8, slot.dtype)
            case "scratch" | "touched":
                return self.zeros(graph.n, slot.dtype)
        return scalar_word(self.params[slot.name], slot.dtype)

    def go(self, blocks: int) -> Outcome:
        """Launch, wait, and look at everything."""
        device, layout = self.device, self.layout
        if self.face.blocks:
            blocks = min(self.face.blocks, device.multiprocessors)
        shared = device.room(self.kernel.owner, self.face.shared)
        launch = device.launch(self.kernel.owner, np.array(self.words, np.uint64), blocks, shared)
        while not launch.done():
            time.sleep(0.0002)
        for name, array in self.arrays.items():
            self.host[name][...] = device.download(array)
        control = device.download(self.control)
        values = control[layout.RESULTS :]
        results = {r.name: values[k : k + 1].view(r.dtype)[0] for k, r in enumerate(self.face.results)}
        records = device.download(self.trace).reshape(-1, TRACE_WORDS)[: int(control[layout.TRACE])]
        status = int(control[layout.CANCEL] >> np.uint64(32))
        return Outcome(self.host, results, records, self.frontiers(), status, int(control[layout.PAYLOAD]))

    def frontiers(self) -> list[list[Array]]:
        """The frontiers of each list; their number is only in the copies of the blocks, so that it is seen by where
        the last one begins: `starts` is zero behind it."""
        found = []
        for ids, starts in self.lists:
            begins, members = self.device.download(starts).astype(np.int64), self.device.download(ids)
            count = int(np.flatnonzero(begins)[-1]) if begins.any() else 0
            found.append([members[begins[i] : begins[i + 1]] for i in range(count)])
        return found
