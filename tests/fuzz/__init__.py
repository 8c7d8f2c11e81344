"""The program fuzzer: random programs on random graphs under random legal schedules, the same on every device.

`expressions.py`, `operators.py` and `programs.py` write the text of a program, one function for each feature of the
language; `graphs.py` makes graphs for it; `runs.py` runs it on the reference, on the interpreter at every level, on
the CPU and on the emulated GPU, and compares; `shrink.py` makes a failure small. `corpus/` keeps what once failed.
`python -m tests.fuzz` runs many.
"""
