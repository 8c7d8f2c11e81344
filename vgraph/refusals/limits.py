"""Programs that are too much for the compiler."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class TooDeep(Refusal):
    """Expressions, blocks or calls of helpers stand so deep inside each other that Python's stack does not suffice."""

    title = "this is nested too deeply"
    label = "the compiler's recursion does not fit below Python's limit of {limit} frames"
    help = "compute parts in statements of their own: `part = ...`; sys.setrecursionlimit raises the limit"


class TooLong(Refusal):
    """A program has more operations than the compiler takes, before any helper is inlined."""

    title = "the program is too long"
    label = "up to here it has more than {budget:,} operations"
    help = "an apply counts as {apply}; what is repeated belongs in a loop over range(...) or over neighbors"


class LocalsTooLong(Refusal):
    title = "the local arrays of this operator take {size:,} bytes"
    label = "{limit:,} is what a thread has, all of an operator and of the helpers that it calls together"
    help = (
        "shorten them, or keep what is longer in a property: `graph.vertex_property(vg.vector(...))` has elements for"
        " each vertex, `graph.scratch(...)` one for each vertex that a visit comes to"
    )


class InlinedTooOften(Refusal):
    """Helpers that call helpers make too large a program, as each call is inlined."""

    title = "calls of `{helper}` make the program too long"
    label = "each of {count:,} calls is inlined; the program then has more than {budget:,} operations"
    help = "call it once and keep its value in a variable, or call it in a loop over range(...)"
