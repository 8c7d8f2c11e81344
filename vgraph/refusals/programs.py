"""What calls of algorithms by algorithms refuse."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class AlgorithmInOperator(Refusal):
    title = "`{name}` is an algorithm: an operator cannot call it"
    label = "an operator is one visit of a round"
    help = "call it in the algorithm, and read its result here: `level = {name}(graph, ...).level`, then `v.level`"


class NotTheGraph(Refusal):
    title = "`{name}` runs on the graph of its caller"
    label = "the graph is its first argument"
    help = "it is {signature}"


class ArgumentMissing(Refusal):
    title = "`{name}` needs {parameter}=..."
    label = "not given"
    help = "it is {signature}"


class NotAnArgument(Refusal):
    title = "`{parameter}` of `{name}` does not take this"
    label = "this is {what}"
    help = "it takes {wanted}"


class OtherType(Refusal):
    """A property given in the place of one of another type: no copy is made."""

    title = "`{parameter}` is read where it lies, and has another type"
    label = "{held} here, {wanted} there"
    help = "make a property of that type, and copy the values: `x[:] = y`"


class Finished(Refusal):
    title = "`{name}` cannot be called: its results are made in Python, after the run"
    label = "by `{hook}`, which finishes it"
    help = "run it by vg.run, and give what it found to this algorithm as a parameter"


class HookNeedsValue(Refusal):
    """An argument that a check in Python asks for before the run."""

    title = "`{parameter}` of `{name}` must be known before the run"
    label = "{who} asks for it in Python"
    help = "give a constant, or a parameter of this algorithm as it is, not what is computed in the run"


class NoSuchResult(Refusal):
    title = "`{algorithm}` gives no `{name}`"
    label = "no such result{hint}"
    help = "its results are {listed}"


class Derived(Refusal):
    title = "`{name}` of `{algorithm}` is found in Python, when the result of vg.run is asked for it"
    label = "not there during a run"
    help = "run it by vg.run, and give this to the algorithm as a parameter"


class EdgeResult(Refusal):
    title = "`{name}` cannot get the values of a property of edges"
    label = "the result of a call"
    help = "make it the variable's own, which has no other: `{name} = algorithm(graph, ...).{name}`"


class PropertyInHelper(Refusal):
    title = "`{helper}` is a helper: it makes no properties"
    label = "operators find a property by its name in the algorithm"
    help = (
        "make it in the algorithm, and give it to the helper; the results of a call are read without one: "
        "`found = bfs(graph, source)`, then `found.level`"
    )
