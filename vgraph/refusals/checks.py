"""Faults that a checked run finds: `vg.run(..., checked=True)`."""

from __future__ import annotations

from vgraph.errors import CheckError
from vgraph.refusals.base import Refusal


class OutOfBounds(Refusal, CheckError):
    """An element that an array does not have, or a neighbor that a vertex does not have."""

    title = "there is no {what}"
    label = "there are {size}, numbered from 0"
    help = "test the number before it is used, as in `if {test}: ...`"
    test = "k < v.out_degree"


class ReductionOverflow(Refusal, CheckError):
    """A sum or a product of integers that its type does not hold, and that is kept or used."""

    title = "{what} overflows"
    label = "{value} is beyond {type}, and becomes {wrapped}"
    help = "use a wider type, up to vg.int64, or floats"


class NaNAppears(Refusal, CheckError):
    """A NaN is stored that no operand was before."""

    title = "{what} becomes NaN"
    label = "the operands are numbers, and the result is none"
    help = (
        "test the operands before: inf - inf, 0 * inf, 0 / 0 and the square root of a number below 0 are NaN"
    )
    also = ("stored", "it is stored here")


class UninitialisedRead(Refusal, CheckError):
    title = "{what} is read before it is written"
    label = "nothing was stored there"
    help = "if no pass of yours changed the program, this is a bug in vgraph: please report it, with the schedule"


class DataRace(Refusal, CheckError):
    """Two accesses of one place by two threads, one of them a write and not both atomic."""

    title = "two threads may be at {what} at once"
    label = "a thread {here} it"
    help = "if no pass of yours changed the program, this is a bug in vgraph: please report it, with the schedule"
    also = ("other", "another {there} it, with no barrier between the two")
