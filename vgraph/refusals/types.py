"""Values of the wrong type."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotAValue(Refusal):
    title = "a value is needed here"
    label = "this is {what}"
    help = "{advice}"


class NotAVariable(Refusal):
    title = "this cannot be kept in a variable"
    label = "this is {what}"
    help = (
        "variables hold numbers, bools, vertices and vectors; in an algorithm frontiers and lists of frontiers, too; "
        "neighbors are written where they are used: in loops, `in` and `len(...)`"
    )


class NotABool(Refusal):
    title = "a condition is needed here"
    label = "this is {what}"
    help = "{advice}"


class NotAnInteger(Refusal):
    title = "{what} is an integer"
    label = "this is {type}"
    help = "write `int(x)` to cut off the fraction"


class NotAVertex(Refusal):
    title = "a vertex is needed here"
    label = "this is {type}"
    help = (
        "vertices come from src, dst, v, neighbors, vertex parameters and properties of type vg.vertex;"
        " `vg.vertex(i)` is that of a number, and `vg.none` no vertex"
    )


class TypeMismatch(Refusal):
    title = "`{op}` does not take {left} and {right}"
    label = "{left} {op} {right}"
    help = "convert one side, for example `vg.int64(x)` or `vg.float64(x)`"


class ChoiceMismatch(Refusal):
    title = "both choices must have one type"
    label = "{left} or {right}"
    help = "convert one of them"


class IncompatibleAssignment(Refusal):
    title = "`{name}` cannot hold both {old} and {new}"
    label = "{new} here, {old} elsewhere"
    help = "use two variables, or convert one of the values"


class LossyStore(Refusal):
    title = "{place} holds {wanted}, not {given}"
    label = "{given} where {wanted} is kept"
    help = "{advice}"


class LiteralOutOfRange(Refusal):
    title = "{value} does not fit {type}"
    label = "{value} is used as {type} here"
    help = "declare a wider type, or convert: `vg.int64(x)`"


class VectorTooLong(Refusal):
    title = "this vector has {length:,} elements"
    label = "one of more than {limit:,} is read and written by single elements only"
    help = "loop over them: `for i in range(len(v.x)): total += v.x[i]`"


class NumberHasNoAttributes(Refusal):
    title = "{type} has no attribute `{name}`"
    label = "attributes belong to vertices and edges"
    help = "read properties at a vertex: `v.{name}`"


class VectorHasNoMethods(Refusal):
    title = "{type} has no `{name}`"
    label = "it has elements, as many as its type says"
    help = (
        "read or write an element, `x[i]`; count in a variable how many are in use: `x[n] = y` and `n += 1`"
    )


class WrongIndices(Refusal):
    title = "`{name}` takes {wanted}"
    label = "{given} given"
    help = (
        "`{name}: vg.array(vg.float64)` is read as `{name}[i]`, `vg.array(vg.float64, 2)` as `{name}[i, j]`"
    )


class NoSuchDimension(Refusal):
    """`table.shape[2]`."""

    title = "an array has {dimensions} of these sizes"
    label = "which one is a number that is written here, from 0"
    help = (
        "`len(table)` is `table.shape[0]`; `cost.shape[1]` are the columns of `cost: vg.array(vg.float64, 2)`"
    )


class NoIndex(Refusal):
    title = "{what} has no elements"
    label = "it cannot be indexed"
    help = (
        "vectors, neighbors (`v.out_neighbors[k]`), and, in an algorithm, properties, arrays and lists of"
        " frontiers have elements"
    )


class BitsOfWrongType(Refusal):
    """`& | ^ ~ << >>` of floats, `~ << >>` of bools."""

    title = "`{op}` is for {types}"
    label = "this is {type}"
    help = "for conditions use `and`, `or`, `not`"


class MatrixProduct(Refusal):
    title = "`@` is not part of the language"
    label = "there are no matrices"
    help = "the dot product of two vectors is `vg.dot(a, b)`"


class VectorComparison(Refusal):
    title = "vectors are equal or not, and have no order"
    label = "`{op}` takes single numbers"
    help = "`==` and `!=` compare vectors as a whole; else compare elements `x[i]`, or `vg.sum` and `vg.dot` of vectors"


class NotVectors(Refusal):
    title = "{function} takes vectors"
    label = "this is {what}"
    help = "vectors are properties of type `vg.vector(vg.float32, n)`; add up other things in a loop"


class CannotCast(Refusal):
    title = "{source} cannot become {target}"
    label = "no such conversion"
    help = "convert elements `x[i]` one by one"


class NoValues(Refusal):
    title = "there are no values of type float16"
    label = "it is how properties are stored"
    help = "what is read of them is float32, and is rounded where it is written: write `vg.float32(x)`"


class StoredOnly(Refusal):
    """`dst.x += e` of a float16."""

    title = "{place} is stored as float16, where values of several visits do not combine"
    label = "others may write it at the same time"
    help = "declare it with vg.float32; a float16 is written by one visit at a time, such as that of its own vertex"


class AmongNumbers(Refusal):
    title = "`in` asks for a neighbor, and stands in loops"
    label = "there are no collections of numbers"
    help = "compare: `x == 1 or x == 2`, `0 <= x < n`"


class Membership(Refusal):
    """`x in y` of something else than neighbors."""

    title = "`in` asks for a neighbor, and stands in loops"
    label = "this is {what}"
    help = (
        "write `u in v.out_neighbors`; whether a frontier has a vertex, `len(f & graph.frontier(v)) > 0` tells in an"
        " algorithm, a bool property in an operator"
    )


class NotNeighbors(Refusal):
    """An operator between neighbors and something else, or one that sets do not have."""

    title = "`{op}` does not combine {what}"
    label = "neighbors are combined with neighbors"
    help = "the `&`, `|` and `-` of neighbors are sets, to loop over or for len(): `v.out_neighbors & u.out_neighbors`"


class Identity(Refusal):
    """`x is y` of run-time values."""

    title = "`is` is for `x is None` with a parameter"
    label = "objects have no identity in a compiled program"
    help = "compare with `==`; for vertices `v == vg.none`"


class BadReduction(Refusal):
    title = "values of type {type} do not combine by `{op}`"
    label = "{type} under `{op}`"
    help = "numbers combine by +, *, min, max; bools by `or`, `and`; integers by |, &; vertices by min, max"
