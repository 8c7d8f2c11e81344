"""The loop level: helpers of generated code, between kernel IR and a machine.

A file of `prelude/` holds functions in Python's syntax with typed memory. `walker.py` says what they mean, `llvm.py`
makes functions of LLVM of them; tests run them with threads that take turns at every access to memory (`tests/loops`).

Types: `u8`, `u32`, `u64` (unsigned, as `i64` is signed), `f64`, `i1`, `ptr` (to bytes), `ptr[T]`, and the name of a
record for a pointer to it. A local has the type of its first value, or the one it is declared with. `worker.heap` is a
field, `heap[i]` an element (of records: a pointer to it), and a pointer plus a number is so many bytes further.
`a if c else b` computes both. `address(p.word)` is where it stands. Atomics name their order: `load(p.word, RELAXED)`,
`store(p.word, v, RELEASE)`, `add(p.word, 1, RELAXED)`, `swap(p.word, v, BOTH)`.
"""
