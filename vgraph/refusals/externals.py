"""Refusals of calls of functions that Numba compiled."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NumbaArguments(Refusal):
    title = "`{name}` does not take these arguments"
    label = "it is declared for {wanted}; given: {given}"
    help = "convert the arguments (`vg.float64(x)`), or leave the signature to Numba: `@numba.njit`"


class NumbaVector(Refusal):
    title = "`{name}` takes scalars only"
    label = "this is {given}"
    help = "pass the elements, one by one"


class NumbaFunction(Refusal):
    """A Numba function that cannot become a part of native code."""

    title = "`{name}` cannot be compiled into the operator"
    label = "called with {given}: {reason}"
    help = "a Numba function in an operator takes and gives scalars, and raises nothing"


class NumbaDevice(Refusal):
    title = "this Numba function cannot be called on device {device}"
    label = "{reason}"
    help = "run it with device='cpu', or write the function with @vg.function"
