"""Numba's functions as external ones: `@numba.njit` and `@numba.cfunc` scalar functions that operators call.

Numba types and compiles the function for the types of the call, with `error_model="numpy"`, without its run-time system
and without checks of bounds; its LLVM code becomes a module with one function of the language's own types. Numba is
imported by the user only (`frontend/foreign.py` recognises its objects by their class).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any, Final

from vgraph.compiler.fingerprints import NoFingerprintError, fingerprint
from vgraph.compiler.foreign.externals import PREFIX, External, external, remember
from vgraph.compiler.types import BOOL, NUMPY_NAMES, Scalar, Type

_LLVM: Final = {
    "bool": "i1",
    "i32": "i32",
    "i64": "i64",
    "u32": "i32",
    "u64": "i64",
    "f32": "float",
    "f64": "double",
}
_OPTIONS: Final = {
    "error_model": "numpy",
    "boundscheck": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
_KEPT: Final = ("fastmath",)  # of the user's options, those that change what is computed


class NumbaRefusal(Exception):
    """Numba, or vgraph, cannot use the function: the text says why."""


def python_function(value: Any) -> FunctionType:
    """The function under the decorator."""
    found: FunctionType = getattr(value, "py_func", None) or value._pyfunc
    return found


def content(value: Any) -> str:
    """All that the function's code depends on. Raises NumbaRefusal where that cannot be written down."""
    try:
        mark = fingerprint(python_function(value))
    except NoFingerprintError as problem:
        raise NumbaRefusal(f"{problem}: only numbers and functions may be captured") from None
    version = getattr(sys.modules.get("numba"), "__version__", "")
    return f"numba {version} {mark} {options_of(value)!r} {[str(s) for s in declared(value)]}"


def options_of(value: Any) -> list[tuple[str, str]]:
    """The options given to the decorator that change what is computed."""
    given: dict[str, Any] = (
        getattr(value, "targetoptions", None) or getattr(value, "_targetoptions", None) or {}
    )
    return [(name, repr(given[name])) for name in _KEPT if name in given]


def declared(value: Any) -> list[tuple[Any, ...]]:
    """The argument types of the signatures that the decorator was given; none where Numba infers them."""
    if hasattr(value, "_sig"):
        return [tuple(value._sig.args)]
    if getattr(value, "_can_compile", True):
        return []
    return [tuple(s.args) for s in value.nopython_signatures]


def declared_types(value: Any) -> list[tuple[Scalar, ...]]:
    """The same in types of the language. Raises NumbaRefusal for a type that it has not."""
    return [tuple(_scalar(t) for t in args) for args in declared(value)]


def _scalar(t: Any) -> Scalar:
    name = "bool" if str(t) == "bool" else str(t)
    found = BOOL if name == "boolean" else NUMPY_NAMES.get(name)
    if found is None:
        raise NumbaRefusal(f"it takes or gives {t}; types are {', '.join(NUMPY_NAMES)}")
    return found


def compiled(value: Any, args: Sequence[Type]) -> External:
    """The function for arguments of types `args`. Raises NumbaRefusal with the reason where it cannot be used."""
    digest = hashlib.sha256(f"{content(value)} {[str(t) for t in args]}".encode()).hexdigest()[:16]
    name = f"{PREFIX}{python_function(value).__name__}.x{digest}"
    return external(name) or remember(_compile(name, value, tuple(args)))


def _compile(name: str, value: Any, args: tuple[Type, ...]) -> External:
    import numba

    names = {t: n for n, t in NUMPY_NAMES.items()}
    types = tuple(numba.boolean if t == BOOL else getattr(numba, names[t]) for t in args)  # type: ignore[index]
    given = getattr(value, "targetoptions", None) or getattr(value, "_targetoptions", None) or {}
    kept = {k: given[k] for k in _KEPT if k in given}
    again = numba.njit(**_OPTIONS, **kept)(python_function(value))
    try:
        with _without_vectors():
            again.compile(types)
    except Exception as problem:
        raise NumbaRefusal(_short(problem)) from None
    made = again.overloads[types]
    if hasattr(value, "_sig") and made.signature.return_type != value._sig.return_type:
        raise NumbaRefusal(
            f"it is declared to give {value._sig.return_type} but gives {made.signature.return_type}"
        )
    result = _scalar(made.signature.return_type)
    text = _module(name, made, args, result)
    # For CPython it is Numba's too: on NumPy's scalars the bare function would have NumPy's types.
    called = numba.njit(error_model=_OPTIONS["error_model"], **kept)(python_function(value))
    return External(name, args, result, text, called)


@contextlib.contextmanager
def _without_vectors() -> Iterator[None]:
    """Let Numba leave loops as they are: the CPU's backend makes vectors of them later, and a GPU has none.

    Functions that it calls and that Numba compiles meanwhile are left so for their owner, too.
    """
    import numba.core.config
    from numba.core.compiler_lock import global_compiler_lock

    config: Any = numba.core.config
    with global_compiler_lock:
        kept = config.LOOP_VECTORIZE
        config.LOOP_VECTORIZE = 0
        try:
            yield
        finally:
            config.LOOP_VECTORIZE = kept


def _short(problem: Exception) -> str:
    """The line of Numba's message that says what is wrong."""
    lines = [line.strip() for line in str(problem).splitlines()]
    kept = [
        x for x in lines if x and not x.startswith(("Failed in", "During:", "File", "<source", "^", ">>>"))
    ]
    return kept[0] if kept else type(problem).__name__


# --- the code -------------------------------------------------------------------------------------------------


def _module(name: str, made: Any, args: tuple[Type, ...], result: Scalar) -> str:
    """A module that defines `name` and nothing else that is seen from outside.

    Numba's function takes the address of its result and of an exception, and gives a status. A second function here
    gives that status: optimised, it must be the constant 0, or the function may raise.
    """
    import llvmlite.binding as llvm

    text = made.library.get_llvm_str() + _wrappers(name, made.fndesc.llvm_func_name, args, result)
    checked = _optimised(llvm, text, "status")
    status = checked.get_function("status")
    returned = [str(i).strip() for block in status.blocks for i in block.instructions if i.opcode == "ret"]
    if returned != ["ret i32 0"]:
        raise NumbaRefusal("it may raise an exception, which native code on many threads cannot pass on")
    module = _optimised(llvm, text, name)
    foreign = [f.name for f in module.functions if f.is_declaration and not _is_provided(f.name)]
    if foreign:
        raise NumbaRefusal(f"its code needs {', '.join(foreign)} of Numba's or Python's run-time system")
    return str(module)


def _wrappers(name: str, target: str, args: tuple[Type, ...], result: Scalar) -> str:
    inside = {BOOL: "i8"}
    kind, held = _LLVM[str(result)], inside.get(result, _LLVM[str(result)])
    parameters = ", ".join(f"{_LLVM[str(t)]} %a{i}" for i, t in enumerate(args))
    wide = [f"  %w{i} = zext i1 %a{i} to i8" for i, t in enumerate(args) if t == BOOL]
    passed = "".join(f", i8 %w{i}" if t == BOOL else f", {_LLVM[str(t)]} %a{i}" for i, t in enumerate(args))
    head = [
        f"  %result = alloca {held}",
        "  %exception = alloca ptr",
        f"  store {held} zeroinitializer, ptr %result",
        *wide,
        f'  %status = call i32 @"{target}"(ptr %result, ptr %exception{passed})',
    ]
    tail = [f"  %held = load {held}, ptr %result"]
    if result == BOOL:
        tail += ["  %truth = icmp ne i8 %held, 0", "  ret i1 %truth"]
    else:
        tail += [f"  ret {kind} %held"]
    value = "\n".join([f'define {kind} @"{name}"({parameters}) alwaysinline nounwind {{', *head, *tail, "}"])
    status = "\n".join([f'define i32 @"status"({parameters}) nounwind {{', *head, "  ret i32 %status", "}"])
    return f"\n{value}\n\n{status}\n"


def _optimised(llvm: Any, text: str, kept: str) -> Any:
    """The module with everything but `kept` made internal, inlined and cleaned up."""
    from vgraph.compiler.backends.jit import host_machine, locked

    with locked():
        module = llvm.parse_assembly(text)
        for item in (*module.functions, *module.global_variables):
            if not item.is_declaration and item.name != kept:
                item.linkage = llvm.Linkage.internal
        machine = host_machine()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module


@functools.cache
def _is_provided(name: str) -> bool:
    """Whether a function is LLVM's own, or the C library's mathematics."""
    import ctypes

    if name.startswith("llvm."):
        return True
    if name.startswith(("Py", "_Py", "NRT", "numba", "_numba")):
        return False
    return hasattr(ctypes.CDLL(None), name)


__all__ = ["NumbaRefusal", "compiled", "content", "declared_types", "python_function"]
