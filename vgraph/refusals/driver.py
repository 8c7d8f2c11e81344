"""What algorithms refuse, and applies of the wrong kind."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class AlgorithmParameters(Refusal):
    title = "`{name}` needs the graph as its first parameter"
    label = "no parameters"
    help = "write `def {name}(graph, ...):`"


class ScratchType(Refusal):
    """Scratch of a type whose zero is no number."""

    title = "graph.scratch holds numbers or bools"
    label = "this is {type}"
    help = "keep a vertex as its number: `vg.int64`"


class ScratchOutside(Refusal):
    title = "`{name}` is private to one visit of a vertex operator"
    label = "there is no visit here"
    help = "write what should last into a property: `x = graph.vertex_property(...)`"


class OperatorParameters(Refusal):
    title = "`{name}` is neither an edge nor a vertex operator"
    label = "its parameters are ({given})"
    help = (
        "an edge operator is `(src, edge, dst)`, a vertex operator `(v)`, each with `graph` as one more "
        "first or last parameter if it needs globals"
    )


class NotAnOperator(Refusal):
    title = "graph.{kind} takes an operator first"
    label = "this is {what}"
    help = "put @vg.operator on the function and pass it by its name, which no variable of the algorithm may have, too"


class WrongOperatorKind(Refusal):
    title = "graph.{kind} cannot run `{name}`"
    label = "`{name}` is {is_kind}"
    help = "use {instead}"


class ResultIgnored(Refusal):
    """vertex_apply of a filter."""

    title = "`{name}` returns a bool that nobody takes"
    label = "vertex_apply gives no frontier"
    help = "write `frontier = graph.vertex_filter({name}, ...)`, or delete the return"


class FilterWithoutResult(Refusal):
    title = "`{name}` returns nothing"
    label = "a filter keeps the vertices for which its operator returns True"
    help = "end the operator with `return <bool>`, or use graph.vertex_apply"


class EdgeOperatorReturns(Refusal):
    title = "the edge operator `{name}` returns a value"
    label = "edges are not filtered"
    help = "write to dst; edge_apply gives the vertices that changed"


class AppliesInOperator(Refusal):
    title = "`graph.{name}` stands in algorithms only"
    label = "an operator is one visit of a round"
    help = "{advice}"


class NoWholeProperty(Refusal):
    """graph.sum and the like of a number."""

    title = "`graph.{name}` takes an expression with a whole property in it"
    label = "no property"
    help = "write `graph.{name}(x)`, where x is a vertex property; a number is the same at every vertex"


class ReturnsNothing(Refusal):
    """The value of vertex_apply."""

    title = "graph.vertex_apply gives no frontier"
    label = "it has no value"
    help = "graph.vertex_filter gives the vertices for which its operator returns True"


class NotAFrontier(Refusal):
    title = "a frontier is needed here"
    label = "this is {what}"
    help = (
        "frontiers come from graph.frontier(x), x being a vertex, an array of vertices or a property of bools, "
        "graph.vertices, edge_apply, vertex_filter, `|`, `&` and `-` of frontiers, and lists of them"
    )


class NotVertices(Refusal):
    title = "no frontier is made of this"
    label = "this is {what}"
    help = (
        "it is made of a vertex, of an array parameter of vertex ids (integers), of a vertex property of bools, or of a"
        " condition: `graph.frontier(v for v in graph.vertices if v.x > 0)`"
    )


class NotTheVertex(Refusal):
    """`graph.frontier(v.x > 0 for v in graph.vertices)`."""

    title = "a frontier is made of vertices"
    label = "this is not the vertex `{name}`"
    help = "write the condition behind `if`: `graph.frontier({name} for {name} in graph.vertices if ...)`"


class NotInCondition(Refusal):
    """A frontier or list inside the condition of another."""

    title = "what is evaluated at every vertex sees numbers and properties"
    label = "this is {what}"
    help = "combine frontiers with `|`, `&` and `-`; take len() of one before, into a variable"


class FrontierArithmetic(Refusal):
    title = "`{op}` does not combine these"
    label = "a frontier is a set of vertices"
    help = "two frontiers are combined by `|`, `&` and `-`; the size of one is len(frontier)"


class KindChanged(Refusal):
    title = "`{name}` holds {what} already"
    label = "a variable keeps its kind"
    help = "use another name"

    name: str


class Alias(Refusal):
    title = "`{name}` would be a second name of {what}"
    label = "{what} has one name"
    help = (
        "keep the first name; values as they were when the round began are kept for you, so no second "
        "copy is needed for that; `{name}[:] = ...` copies the values of a property into another"
    )


class Redeclared(Refusal):
    title = "`{name}` is declared twice"
    label = "{new} here, {old} before"
    help = "use two names, or one type"
    also = ("first", "declared here first")


class DeclarationInExpression(Refusal):
    title = "`graph.{name}` needs a name"
    label = "its value is assigned to a variable of its own"
    help = "write `x = graph.{name}(...)`; operators find the property by that name"


class NotADtype(Refusal):
    title = "a type is needed here"
    label = "this is {what}{meant}"
    help = (
        "types are vg.bool_, vg.int32, vg.int64, vg.uint32, vg.uint64, vg.float32, vg.float64, vg.float16, vg.vertex,"
        " vg.vector(type, n), and graph.weight.dtype"
    )


class AttributeInDriver(Refusal):
    """`v.x` in an algorithm."""

    title = "in an algorithm, properties are indexed"
    label = "`.{name}` of a vertex"
    help = "write `{name}[v]`"


class NeighborsInDriver(Refusal):
    title = "loops over neighbors stand in operators"
    label = "the algorithm visits no vertices itself"
    help = "write a vertex operator with this loop and apply it to `graph.frontier(v)`"


class ListMethod(Refusal):
    title = "lists of frontiers have no `{name}`"
    label = "not a method of the language"
    help = "lists take `append`, an index, len() and loops"


class LabelNotLiteral(Refusal):
    title = "a label is a string"
    label = "computed at run time"
    help = 'write label="name"; schedules address it by that name'


class ReverseNotConstant(Refusal):
    title = "reverse= takes True or False"
    label = "not known when the program is compiled"
    help = "write reverse=True, or two applies under an `if`"


class FailMessage(Refusal):
    title = "vg.fail takes a string literal"
    label = "computed at run time"
    help = "write the message itself; return numbers as results"


class NoResult(Refusal):
    title = "`{name}` returns nothing"
    label = "an algorithm ends with `return`"
    help = "return the properties and scalars that are the result: `return dist, rounds`"


class UnnamedResult(Refusal):
    title = "a result needs a name"
    label = "this expression has none"
    help = "assign it to a variable first: `mean = ...`, then `return mean`"


class OtherResults(Refusal):
    title = "all returns of an algorithm give the same results"
    label = "the last statement returns others"
    help = "name the same results in the same order here and at the end"


class ResultTwice(Refusal):
    title = "the result `{name}` is given twice"
    label = "returned before"
    help = "return it once"


class ReservedResult(Refusal):
    title = "a result cannot be called `{name}`"
    label = "every result has a `{name}` of its own"
    help = "give it another name; `converged` is for a bool, whether an iteration met its criterion"


class NotAResult(Refusal):
    title = "{what} cannot be returned"
    label = "results are properties, frontiers and scalars"
    help = (
        "return a frontier of it, or count in a variable and return that; of a vector, its elements: `first = a[0]`; "
        "of a call, what it found: `level = found.level`"
    )
