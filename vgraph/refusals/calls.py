"""Calls and returns that the language refuses."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotAFunction(Refusal):
    title = "this cannot be called"
    label = "this is {what}"
    help = "functions are min, max, abs, len, range, casts, those of vgraph, and your own under @vg.function"


class UnsupportedCall(Refusal):
    title = "`{name}` cannot be called here"
    label = "not a function of the language{hint}"
    help = "functions are min, max, abs, len, range, casts, those of vgraph, and your own under @vg.function"


class MethodOfNumber(Refusal):
    """`v.id.bit_count()`."""

    title = "numbers have no methods here"
    label = "`{name}` is one of Python's"
    help = "write {instead}"


class CallOfOperator(Refusal):
    title = "`{name}` is an operator, not a function"
    label = "it cannot be called directly"
    help = "it runs by graph.edge_apply or graph.vertex_apply"


class WrongArity(Refusal):
    title = "`{name}` takes {wanted}"
    label = "{given} given"


class NoSums(Refusal):
    title = "`vg.random_choice` chooses from an array of running sums"
    label = "this is {what}"
    help = "give a parameter of the algorithm, `sums: vg.array(vg.float64)`, given `np.cumsum(weights)`"


class RandomWithoutKey(Refusal):
    title = "`{name}` takes one or more keys"
    label = "for what is it drawn?"
    help = (
        "equal keys give equal numbers: name what makes this draw another than the others, such as "
        "`vg.random(v, graph.round)`, or `vg.random(src, dst)`; `seed=` of vg.run changes all of them"
    )


class UnexpectedKeyword(Refusal):
    title = "`{name}` takes no `{keyword}=`"
    label = "unknown keyword{hint}"


class Recursion(Refusal):
    title = "`{name}` calls itself"
    label = "recursion cannot be inlined"
    help = "write a loop"


class NoReturn(Refusal):
    title = "`{name}` must return a value"
    label = "no value comes back on some way through it"
    help = "end every branch with `return ...`"


class OtherReturns(Refusal):
    title = "`{name}` returns a frontier and something else"
    label = "every way through it has to give the same kind"
    help = "make two helpers of it; a number beside a frontier may be a global, `graph.x = ...`"


class AfterReturn(Refusal):
    title = "this line never runs"
    label = "the statement before it leaves this block"
    help = "delete one of the two"


class UselessStatement(Refusal):
    title = "this statement does nothing"
    label = "its value is not used"
    help = "assign it, or delete the line"


class NotIterable(Refusal):
    title = "a loop cannot run over {what}"
    label = "{what}{advice}"
    help = (
        "loops run over range(...), neighbors and edges of a vertex, and, in an algorithm, arrays and "
        "lists of frontiers"
    )


class RangeOutsideFor(Refusal):
    title = "`{name}` stands in the head of a loop only"
    label = "there are no collections of numbers"
    help = "write `for i in {name}(...):`"


class NoLength(Refusal):
    title = "{what} has no length"
    label = "len takes frontiers, lists of frontiers, arrays, vectors and neighbors"
    help = "a property has a value for each vertex: `graph.num_vertices`"


class FailInOperator(Refusal):
    title = "`vg.fail` stands in algorithms only"
    label = "an operator runs in parallel and cannot end the run"
    help = (
        "count in the operator, `graph.bad += 1`, and test in the algorithm: `if graph.bad > 0: vg.fail(...)`"
    )


class UnionIsAStatement(Refusal):
    title = "`vg.union` is a statement of operators"
    label = "it gives no value"
    help = "write `vg.union(src.component, dst.component)` on a line of its own in an operator"


class BadVectorType(Refusal):
    title = "this is no vector type"
    label = "{reason}"
    help = "for example `{example}`"


class BadLocal(BadVectorType):
    title = "this is no array"


class BadLocalList(BadVectorType):
    title = "this is no list"


class LocalInExpression(Refusal):
    """`f(vg.local(vg.int32, 4))`."""

    title = "vg.local makes an array for a variable"
    label = "no variable is assigned"
    help = "write `a = vg.local(vg.int32, 32)`, and use `a`"


class LocalInAlgorithm(Refusal):
    title = "vg.local stands in operators and helpers"
    label = "this is in an algorithm"
    help = (
        "a visit of an operator has such arrays; the algorithm has properties, globals and lists of frontiers"
    )
