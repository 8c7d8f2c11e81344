"""Names that mean nothing where they stand."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class UndefinedName(Refusal):
    title = "`{name}` is not defined"
    label = "no variable, parameter or module name is called so{hint}"
    help = (
        "names are looked up in the function, the parameters of the algorithm, the functions around it, "
        "and its module"
    )


class PythonsOwn(Refusal):
    title = "`{name}` is a name of Python's own"
    label = "what it means to CPython, a compiled program does not know"
    help = "use a name without the underscores around it"


class AlgorithmsVariable(Refusal):
    title = "`{name}` is a variable of the algorithm `{algorithm}`"
    label = "of an algorithm's names, operators see the parameters only"
    help = "{advice}"


class TwoMeanings(Refusal):
    """A parameter of the algorithm has a name that an operator from elsewhere knows already."""

    title = "`{name}` has two meanings here"
    label = "a parameter of the algorithm `{algorithm}`, and a name where this function was defined"
    help = "rename one of them: only for functions defined beside the algorithm its parameters come first"


class CapturedArray(Refusal):
    title = "{what} of the module is not read here"
    label = "of the names around it, a program sees numbers, types and functions"
    help = (
        "give it as a parameter of the algorithm: `table: vg.array(vg.float64)` is read as `table[i]`, "
        "`vg.array(vg.float64, 2)` as `table[i, j]`; `vg.vertex_property(vg.float64)`, of one element per vertex, as "
        "`v.table`; one without annotation is looped over, or made a frontier: `graph.frontier(seeds)`"
    )


class ArrayInOperator(Refusal):
    title = "`{name}` is an array"
    label = "operators read a parameter by its name if it is a number, and an array vertex by vertex"
    help = (
        "read one element with `v.{name}`; for that it is annotated `{name}: vg.vertex_property(vg.float64)`. "
        "What is read as `{name}[i]` is annotated `{name}: vg.array(vg.float64)`"
    )


class UsedBeforeAssignment(Refusal):
    title = "`{name}` has no value yet"
    label = "read here, but first assigned later"
    help = "assign it before this line"


class OutsideItsLoop(Refusal):
    """A loop's variable, or one of a branch never taken, is used where it means nothing."""

    title = "`{name}` has no value here"
    label = "it exists in a loop, or in a branch that is never taken"
    help = "keep what you need in a variable of its own, assigned on every way to this line"


class ArgumentAssigned(Refusal):
    title = "`{name}` cannot be assigned"
    label = "an argument or loop variable ({what}) stays what it is"
    help = "use a new name"


class LocalReplaced(Refusal):
    """A variable that holds a local array is assigned something else, or the other way round."""

    title = "`{name}` is a local array in one place, and something else in another"
    label = "here it is assigned again"
    help = "write the elements one by one, `{name}[i] = ...`, or use a new name"


class NoVertexProperty(Refusal):
    title = "vertices have no property `{name}`"
    label = "neither the algorithm nor the graph has a vertex property of this name{hint}"
    help = "declare it in the algorithm: `{name} = graph.vertex_property(vg.float64)`"


class NoEdgeProperty(Refusal):
    title = "edges have no property `{name}`"
    label = "the graph has no edge property of this name{hint}"
    help = (
        "edge properties of this graph: {known}; give one when the graph is made: `Graph.from_edges(..., "
        "{name}=values)`"
    )


class NoSuchGlobal(Refusal):
    title = "the graph has no `{name}`"
    label = "no global of this name was set before{hint}"
    help = "{advice}"


class NoAttribute(Refusal):
    title = "there is no `{name}` here"
    label = "{owner} has no attribute `{name}`{hint}"


class UndirectedReverse(Refusal):
    title = "`edge.reverse` is for directed graphs"
    label = "both arcs of an undirected edge have the same values"
    help = "read `edge.x` itself"


class DirectedGraph(Refusal):
    title = "`{name}` is for undirected graphs"
    label = "this graph is directed"
    help = "say which side: `out_{name}` or `in_{name}`"


class NameClash(Refusal):
    title = "two properties are called `{name}`"
    label = "the program uses another property of this name already"
    help = "rename one of them: a vertex and an edge property used in one program need different names"
