"""Operators that gather vertices in a local list, and write them."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class ListInExpression(Refusal):
    """`f(vg.local_list(vg.vertex, 4))`."""

    title = "vg.local_list makes a list for a variable"
    label = "no variable is assigned"
    help = "write `cavity = vg.local_list(vg.vertex, 64)`, and use `cavity`"


class ListElsewhere(Refusal):
    title = "vg.local_list stands at the beginning of a vertex operator"
    label = "this is in {where}"
    help = "declare it there, outside of branches and loops, once for each visit"


class ListOfNumbers(Refusal):
    title = "a local list holds vertices"
    label = "not {found}"
    help = "write `vg.local_list(vg.vertex, 64)`; `vg.local(vg.int64, 64)` is an array of numbers"


class NoMoreRoom(Refusal):
    """`more=` that is no number, or not more."""

    title = "a second pass has more room than the first one, and a room that is known before the run"
    label = "not a number from {least:,} to {most:,}"
    help = "write `vg.local_list(vg.vertex, 64, more=1024)`"


class ListMethod(Refusal):
    title = "a local list has no `{name}`"
    label = "what a visit has gathered it keeps to its end"
    help = "there are `cavity.append(u)`, `len(cavity)`, `cavity[i]`, `u in cavity` and `for u in cavity:`"


class ElementOfList(Refusal):
    title = "the vertices of a local list stay as they are"
    label = "what a visit has gathered it keeps to its end"
    help = "append to it; `vg.local(vg.vertex, 64)` is an array whose elements are written"


class NothingGathered(Refusal):
    title = "nothing is appended to the local lists of this operator"
    label = "the list is declared here"
    help = "append the vertices that it writes, or leave the list out"


class NothingWritten(Refusal):
    """An operator with a local list that writes no vertex."""

    title = "vertices are gathered to be written, and this operator writes none"
    label = "the list is declared here"
    help = "vertices that are only read are kept in an array, `a = vg.local(vg.vertex, 64)`, and need no list"


class NotGathered(Refusal):
    title = "`{name}` is {how} at a vertex that this visit may not have gathered"
    label = "another visit may be writing it"
    help = (
        "`cavity.append(u)` before it makes u this visit's own until its end: the variable u, up to where it is"
        " assigned again, what a loop over the list gives, and `cavity[i]`; a property that the operator does not write"
        " is read anywhere"
    )
    also = ("write", "it is written here")


class NotCautious(Refusal):
    """An effect before the last vertex is gathered."""

    title = "an operator that gathers vertices has gathered all before it writes the first"
    label = "after this a further vertex may be gathered"
    help = (
        "where that vertex belongs to another visit, this one is begun anew, and nothing may have been done: gather in"
        " a first part, and write in a second one"
    )
    also = ("gather", "a vertex is gathered here")


class UnionOfGathered(Refusal):
    title = "an operator that gathers vertices unites no sets"
    label = "a set reaches beyond what was gathered"
    help = "unite them in a second operator"
