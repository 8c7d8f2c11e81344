"""Calls and returns that the language refuses."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotAFunction(Refusal):
    """A call of something that is no function."""

    title = "this cannot be called"
    label = "this is {what}"
    help = "functions are min, max, abs, len, range, casts, those of vgraph, and your own under @vg.function"

    what: str


class UnsupportedCall(Refusal):
    """A call of a Python function that is not compiled."""

    title = "`{name}` cannot be called here"
    label = "not a function of the language{hint}"
    help = "functions are min, max, abs, len, range, casts, those of vgraph, and your own under @vg.function"

    name: str
    hint: str


class MethodOfNumber(Refusal):
    """`v.id.bit_count()`."""

    title = "numbers have no methods here"
    label = "`{name}` is one of Python's"
    help = "write {instead}"

    name: str
    instead: str


class CallOfOperator(Refusal):
    """A call of an operator."""

    title = "`{name}` is an operator, not a function"
    label = "it cannot be called directly"
    help = "it runs by graph.edge_apply or graph.vertex_apply"

    name: str


class WrongArity(Refusal):
    """A call with the wrong number of arguments."""

    title = "`{name}` takes {wanted}"
    label = "{given} given"

    name: str
    wanted: str
    given: int


class NoSums(Refusal):
    """`vg.random_choice` of something else than an array of numbers."""

    title = "`vg.random_choice` chooses from an array of running sums"
    label = "this is {what}"
    help = "give a parameter of the algorithm, `sums: vg.array(vg.float64)`, given `np.cumsum(weights)`"

    what: str


class RandomWithoutKey(Refusal):
    """A random number that is drawn for nothing."""

    title = "`{name}` takes one or more keys"
    label = "for what is it drawn?"
    help = (
        "equal keys give equal numbers: name what makes this draw another than the others, such as "
        "`vg.random(v, graph.round)`, or `vg.random(src, dst)`; `seed=` of vg.run changes all of them"
    )

    name: str


class UnexpectedKeyword(Refusal):
    """A keyword that the function does not have."""

    title = "`{name}` takes no `{keyword}=`"
    label = "unknown keyword{hint}"

    name: str
    keyword: str
    hint: str


class Recursion(Refusal):
    """A helper or an algorithm that calls itself, or one that calls it."""

    title = "`{name}` calls itself"
    label = "recursion cannot be inlined"
    help = "write a loop"

    name: str


class NoReturn(Refusal):
    """A helper without a value at its end."""

    title = "`{name}` must return a value"
    label = "no value comes back on some way through it"
    help = "end every branch with `return ...`"

    name: str


class OtherReturns(Refusal):
    """A helper that gives a frontier by one return, and something else by another."""

    title = "`{name}` returns a frontier and something else"
    label = "every way through it has to give the same kind"
    help = "make two helpers of it; a number beside a frontier may be a global, `graph.x = ...`"

    name: str


class AfterReturn(Refusal):
    """Statements that never run."""

    title = "this line never runs"
    label = "the statement before it leaves this block"
    help = "delete one of the two"


class UselessStatement(Refusal):
    """An expression whose value nobody takes."""

    title = "this statement does nothing"
    label = "its value is not used"
    help = "assign it, or delete the line"


class NotIterable(Refusal):
    """A loop over something without elements."""

    title = "a loop cannot run over {what}"
    label = "{what}{advice}"
    help = (
        "loops run over range(...), neighbors and edges of a vertex, and, in an algorithm, arrays and "
        "lists of frontiers"
    )

    what: str
    advice: str


class RangeOutsideFor(Refusal):
    """`range` or `reversed` outside the head of a loop."""

    title = "`{name}` stands in the head of a loop only"
    label = "there are no collections of numbers"
    help = "write `for i in {name}(...):`"

    name: str


class NoLength(Refusal):
    """`len` of something without one."""

    title = "{what} has no length"
    label = "len takes frontiers, lists of frontiers, arrays, vectors and neighbors"
    help = "a property has a value for each vertex: `graph.num_vertices`"

    what: str


class FailInOperator(Refusal):
    """vg.fail in an operator."""

    title = "`vg.fail` stands in algorithms only"
    label = "an operator runs in parallel and cannot end the run"
    help = (
        "count in the operator, `graph.bad += 1`, and test in the algorithm: `if graph.bad > 0: vg.fail(...)`"
    )


class UnionIsAStatement(Refusal):
    """vg.union where a value is needed, or in an algorithm."""

    title = "`vg.union` is a statement of operators"
    label = "it gives no value"
    help = "write `vg.union(src.component, dst.component)` on a line of its own in an operator"


class BadVectorType(Refusal):
    """vg.vector with wrong arguments."""

    title = "this is no vector type"
    label = "{reason}"
    help = "for example `{example}`"

    reason: str
    example: str


class BadLocal(BadVectorType):
    """vg.local with wrong arguments."""

    title = "this is no array"


class BadLocalList(BadVectorType):
    """vg.local_list with wrong arguments."""

    title = "this is no list"


class LocalInExpression(Refusal):
    """`f(vg.local(vg.int32, 4))`."""

    title = "vg.local makes an array for a variable"
    label = "no variable is assigned"
    help = "write `a = vg.local(vg.int32, 32)`, and use `a`"


class LocalInAlgorithm(Refusal):
    """vg.local in the driver loop."""

    title = "vg.local stands in operators and helpers"
    label = "this is in an algorithm"
    help = (
        "a visit of an operator has such arrays; the algorithm has properties, globals and lists of frontiers"
    )
