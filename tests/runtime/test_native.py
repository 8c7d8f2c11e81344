"""The native runtime object: layouts, barrier, trace, lists, the text for other platforms."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from kernels import ROUNDS, TRACE, kernel, load
from machine_code import object_code
from native_lists import address_of, frontiers_of

from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import (
    CONTEXT,
    FORK,
    FRONTIER,
    LINE,
    LIST,
    POOL,
    SLOTS,
    WORKER,
    Status,
    Steering,
)
from vgraph.compiler.backends.context import ContextView
from vgraph.compiler.backends.native import native_text
from vgraph.runtime.devices import threads as native_threads
from vgraph.runtime.devices.threads import native_runtime, run_native


@pytest.fixture(autouse=True)
def steered_by_a_die(monkeypatch):
    """Here all threads take part always, so that it is known what they do."""
    monkeypatch.setattr(native_threads, "STEERING", Steering.TOGETHER)


def function(name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(native_runtime().symbols[name])


@pytest.mark.parametrize("layout", [CONTEXT, FORK, FRONTIER, LIST, POOL, WORKER], ids=lambda x: x.name)
def test_layout_is_aligned_and_without_overlap(layout):
    taken = set()
    for field in layout.fields.values():
        size = 4 if field.type == "i32" else 8
        assert field.offset % size == 0
        place = set(range(field.offset, field.offset + size))
        assert not taken & place
        taken |= place
    assert max(taken) < layout.size
    assert layout.dtype.itemsize == layout.size


def test_contended_fields_stand_on_lines_of_their_own():
    for layout, alone in (
        (
            CONTEXT,
            ["cancel", "in_use", "status", "stop", "chunk_counter", "barrier_epoch", "dismiss", "rounds"],
        ),
        (POOL, ["ctx", "claim", "epoch", "door", "running", "team", "few"]),
    ):
        for name in alone:
            line = [f.name for f in layout.fields.values() if f.offset // LINE == layout.offset(name) // LINE]
            assert not set(line) & set(alone) - {name}


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("spin", [0, 50, 2000])
def test_barrier_keeps_threads_in_step(threads, spin, monkeypatch):
    # polls before sleeping: never, now and then, always; also with more threads than CPUs
    monkeypatch.setattr(native_threads, "SPIN_LIMIT", spin)
    monkeypatch.setattr(native_threads, "available_cpus", lambda: 8 if spin == 50 else 2)
    rounds = 3000 if threads <= 2 else 1500
    if threads > 2 and spin == 2000:
        rounds = 300
    with ContextView(threads, num_args=1, num_slots=1) as context:
        context.set_scalar(0, rounds, np.int64)
        run_native(kernel(ROUNDS), context, threads)
        assert context.status is Status.OK
        assert context.get("barrier_sleepers") == 0
        assert context.get("barrier_epoch") == 2 * rounds
        assert context.get("generation") == 0
        assert 0 <= context.waited < threads * 60
        counters = context.partials.view(np.int64).reshape(threads, -1)[:, SLOTS // 8]
        assert counters.tolist() == [rounds] * threads


def test_trace_grows_keeps_every_record_and_counts():
    with ContextView(1, num_args=1) as context:
        context.set_scalar(0, 1000, np.int64)
        run_native(kernel(TRACE), context, 1)
        trace = context.trace()
        assert trace["label"].tolist() == list(range(1000))
        assert trace["frontier"].tolist() == list(range(1, 1001))
        assert set(trace["edges"]) == {10}
        assert set(trace["ns"]) == {3}
        assert (np.diff(trace["end_ns"]) >= 0).all()
        assert [context.get(x) for x in ("rounds", "frontier_size", "edges")] == [1000, 1000, 10_000]


def test_trace_stops_at_its_limit_but_counters_go_on():
    with ContextView(1, num_args=1, trace_limit=100) as context:
        context.set_scalar(0, 1000, np.int64)
        run_native(kernel(TRACE), context, 1)
        assert len(context.trace()) == 100
        assert context.get("trace_dropped") == 900
        assert context.get("rounds") == 1000


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_list_of_frontiers_against_a_python_list(dtype):
    rng = np.random.default_rng(7)
    pointer, i64 = ctypes.c_void_p, ctypes.c_int64
    append = function("vg_list_append", None, pointer, pointer, pointer, i64, ctypes.c_int32)
    pop = function("vg_list_pop", None, pointer)
    length = function("vg_list_length", i64, pointer)
    ids = function("vg_list_ids", pointer, pointer, i64)
    count = function("vg_list_count", i64, pointer, i64)
    model = []
    with ContextView(1, num_lists=2) as context:
        at = address_of(context, 1)
        for step in range(300):
            if step % 5 == 4:
                pop(at)
                model.pop()
                continue
            batch = rng.integers(0, 1 << 31, rng.integers(0, 200)).astype(dtype)
            append(context.address, at, batch.ctypes.data, len(batch), batch.itemsize)
            model.append(batch)
        found = frontiers_of(context, 1)
        assert length(at) == len(found) == len(model)
        for k, expected in enumerate(model):
            assert np.array_equal(found[k], expected)
            native = np.frombuffer(ctypes.string_at(ids(at, k) or 0, count(at, k) * expected.itemsize), dtype)
            assert np.array_equal(native, expected)
        function("vg_list_clear", None, pointer)(at)
        pop(at)  # of an empty list: nothing happens
        assert length(at) == 0
        function("vg_list_free", None, pointer)(at)
        assert context.status is Status.OK


def test_list_reports_exhausted_memory_and_keeps_what_it_had():
    pointer, i64 = ctypes.c_void_p, ctypes.c_int64
    append = function("vg_list_append", None, pointer, pointer, pointer, i64, ctypes.c_int32)
    with ContextView(1, num_lists=1) as context:
        at = address_of(context, 0)
        batch = np.arange(5, dtype=np.uint32)
        append(context.address, at, batch.ctypes.data, 5, 4)
        append(context.address, at, batch.ctypes.data, 1 << 58, 4)
        assert context.status is Status.OUT_OF_MEMORY
        assert context.get("payload") == 4 * ((1 << 58) + 5)
        assert frontiers_of(context, 0)[0].tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(native_threads.DeviceError, match="out of memory"):
            native_threads.raise_for_status(context)


def test_first_failure_wins():
    fail = function("vg_fail", None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64)
    with ContextView(1) as context:
        fail(context.address, 3, 11)
        fail(context.address, 1, 22)
        assert (context.status, context.get("payload")) == (Status.DIVERGED, 11)


@pytest.mark.parametrize(
    ("system", "machine", "triple"),
    [
        ("Linux", "x86_64", "x86_64-unknown-linux-gnu"),
        ("Linux", "aarch64", "aarch64-unknown-linux-gnu"),
        ("Darwin", "arm64", "arm64-apple-darwin"),
        ("Darwin", "x86_64", "x86_64-apple-darwin"),
        ("Linux", "riscv64", "riscv64-unknown-linux-gnu"),
    ],
)
def test_text_compiles_for_every_platform(system, machine, triple):
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip(f"this LLVM has no {triple}")
    module = llvm.parse_assembly(native_text(system, machine))
    module.triple = triple
    module.verify()
    assembly = target.create_target_machine(opt=1).emit_assembly(module)
    assert "vg_barrier" in assembly
    # a real pause in the spin loop, and a futex where there is one
    wanted = {"x86_64": "pause", "aarch64": "isb", "arm64": "isb", "riscv64": "sched_yield"}[machine]
    assert wanted in assembly
    assert ("syscall" in assembly) == (system == "Linux" and machine != "riscv64")


def test_polling_text_runs_here_too(monkeypatch):
    """The variant without a futex, executed on this machine."""
    import os

    host = os.uname()
    if host.sysname != "Linux":
        pytest.skip("this is the only variant here")
    text = native_text("FreeBSD", host.machine)
    assert "@syscall(i64 202" not in text
    loaded = jit.load_object(object_code(text, opt=0), {})
    native = native_threads.native_functions(loaded)
    monkeypatch.setattr(native_threads, "native_runtime", lambda: native)
    monkeypatch.setattr(native_threads, "_pools", [])
    with ContextView(2, num_args=1, num_slots=1) as context:
        context.set_scalar(0, 200, np.int64)
        run_native(load(ROUNDS, native.symbols), context, 2)
        assert context.status is Status.OK
        assert context.get("barrier_epoch") == 400
    native_threads.close_idle_pools()


def test_a_table_that_others_read_stays_where_it_is():
    """A thread's table of blocks grows while others take from it: they may still read the one before."""
    grow = function("vg_buckets_grow", ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    worker = np.zeros(1, WORKER.dtype)
    tables = {}
    for _ in range(5):
        assert grow(None, worker.ctypes.data, 1 << 12)
        table, capacity = int(worker["table"][0]), int(worker["capacity"][0])
        tables[table] = np.ctypeslib.as_array((ctypes.c_uint64 * capacity).from_address(table))
        if len(tables) == 1:
            tables[table][:] = np.arange(capacity)
    assert capacity == 31 * 16
    assert len(tables) == 5
    for kept in tables.values():
        np.testing.assert_array_equal(kept[:31], np.arange(31))
    slabs, last = set(), int(worker["slabs"][0])
    while last:
        slabs.add(last)
        following = ctypes.c_uint64.from_address(last).value
        libc.free(last)
        last = following
    assert {table - 8 for table in tables} <= slabs, "all are given back at the end"
