"""Compiling LLVM IR and loading objects, by our own linker and by LLVM's."""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from vgraph.compiler.backends import jit
from vgraph.compiler.backends.elf import UnsupportedObject, load_elf
from vgraph.errors import InternalError

# constants, a jump table, a static table of addresses, a static variable, libm, an outside symbol
EVERYTHING = """
@table = private unnamed_addr constant [3 x ptr] [ptr @one, ptr @two, ptr @three]
@counter = internal global i64 5
@zeros = internal global [1000 x i64] zeroinitializer
declare double @cos(double)
declare i64 @outside(i64)
@outside.data = external global i64
define i64 @one() noinline { ret i64 1 }
define i64 @two() noinline { ret i64 2 }
define i64 @three() noinline { ret i64 3 }
define double @constant(double %x) {
  %y = fmul double %x, 0x400921FB54442D18
  %z = call double @cos(double %y)
  ret double %z
}
define i64 @through_table(i64 %k) {
  %p = getelementptr [3 x ptr], ptr @table, i64 0, i64 %k
  %f = load ptr, ptr %p
  %r = call i64 %f()
  ret i64 %r
}
define i64 @count() {
  %old = load i64, ptr @counter
  %new = add i64 %old, 1
  store i64 %new, ptr @counter
  %z = load i64, ptr getelementptr ([1000 x i64], ptr @zeros, i64 0, i64 999)
  store i64 %new, ptr getelementptr ([1000 x i64], ptr @zeros, i64 0, i64 999)
  %s = add i64 %new, %z
  ret i64 %s
}
define i64 @ask(i64 %x) {
  %r = call i64 @outside(i64 %x)
  %d = load i64, ptr @outside.data
  %s = add i64 %r, %d
  ret i64 %s
}
define i64 @choose(i64 %k, i64 %x) {
  switch i64 %k, label %other [ i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e ]
a: %ra = call i64 @one()
  ret i64 %ra
b: %rb = mul i64 %x, %x
  ret i64 %rb
c: %rc = call i64 @ask(i64 %x)
  ret i64 %rc
d: %rd = udiv i64 %x, 7
  ret i64 %rd
e: %re = call i64 @three()
  ret i64 %re
other: ret i64 -1
}
"""
I64 = ctypes.c_int64


@pytest.fixture(scope="module")
def outside():
    call = ctypes.CFUNCTYPE(I64, I64)(lambda x: x + 100)
    data = np.array([1000], np.int64)
    yield {"outside": ctypes.cast(call, ctypes.c_void_p).value, "outside.data": data.ctypes.data}
    del call, data


@pytest.mark.parametrize("load", [jit.load_object, jit.load_with_llvm])
@pytest.mark.parametrize("opt", [0, 3])
def test_loaded_code_computes(load, opt, outside):
    loaded = load(jit.compile_ir(EVERYTHING, opt=opt), outside)

    def call(name, result, *arguments):
        types = [ctypes.c_double if isinstance(x, float) else I64 for x in arguments]
        return ctypes.CFUNCTYPE(result, *types)(loaded.address(name))(*arguments)

    assert call("constant", ctypes.c_double, 0.25) == pytest.approx(math.cos(math.pi / 4))
    assert [call("through_table", I64, k) for k in range(3)] == [1, 2, 3]
    assert [call("count", I64) for _ in range(3)] == [6, 13, 15]
    assert call("ask", I64, 7) == 1107
    assert [call("choose", I64, k, 70) for k in range(6)] == [1, 4900, 1170, 10, 3, -1]
    with pytest.raises(InternalError, match="no symbol 'absent'"):
        loaded.address("absent")


def test_unknown_outside_function_is_named(outside):
    text = (
        "declare void @vg_no_such_function()\ndefine void @f() { call void @vg_no_such_function() ret void }"
    )
    with pytest.raises(InternalError, match="vg_no_such_function"):
        jit.load_object(jit.compile_ir(text), {})


@pytest.mark.parametrize(
    "text", ["define i32 @f( {", "define i32 @f() { ret i64 1 }", "declare i32 @f()\ndefine i32"]
)
def test_invalid_text_is_an_internal_error(text):
    with pytest.raises(InternalError, match="LLVM refuses"):
        jit.compile_ir(text)


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="ELF loader is for x86-64"
)
def test_elf_loader_refuses_what_it_does_not_know():
    code = jit.compile_ir("define i32 @f() { ret i32 1 }")
    for broken in (b"", code[:40], code[:70], b"MZ" + code[2:], code[:18] + b"\xb7" + code[19:]):
        with pytest.raises(UnsupportedObject):
            load_elf(broken, lambda _: 0)
    # thread-local storage needs a real dynamic linker
    local = "@t = thread_local global i64 5\ndefine i64 @f() { %v = load i64, ptr @t\n ret i64 %v }"
    with pytest.raises(UnsupportedObject):
        load_elf(jit.compile_ir(local), jit.process_symbol)


def test_assembly_and_optimised_text():
    text = "define i64 @f(i64 %x) { %a = add i64 %x, 1 %b = add i64 %a, 1 ret i64 %b }"
    assert "add i64 %x, 2" in str(jit._optimised(text, 3)[0])
    assert "f:" in jit.assembly(text)


def test_threads_compile_and_load_at_once():
    answers = {}

    def work(k):
        code = jit.compile_ir(f"define i64 @f() {{ ret i64 {k} }}")
        loaded = jit.load_object(code, {})  # the code stays as long as this does
        answers[k] = ctypes.CFUNCTYPE(I64)(loaded.address("f"))()

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert answers == {k: k for k in range(8)}


def test_target_key_needs_no_llvm_and_is_stable():
    code = (
        "import sys; from vgraph.compiler.backends.jit import target_key; print(target_key());"
        "assert sys.platform != 'linux' or 'llvmlite' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == jit.target_key()
    assert os.uname().machine in jit.target_key()
