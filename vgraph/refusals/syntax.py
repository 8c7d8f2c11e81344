"""Python that the language leaves out, construct by construct."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotUnderstood(Refusal):
    title = "this syntax is not part of the language"
    label = "not understood from here on"
    help = "docs/language.md lists the statements and expressions that operators and algorithms may use"


class MatchStatement(Refusal):
    title = "`match` is not part of the language"
    label = "pattern matching is not compiled"
    help = "write a chain of `if` and `elif`"


class TryStatement(Refusal):
    title = "`try` is not part of the language"
    label = "nothing in a compiled program raises an exception"
    help = (
        "test for the condition with `if`; every operation has a defined result (integer division by 0 "
        "gives 0)"
    )


class WithStatement(Refusal):
    title = "`with` is not part of the language"
    label = "there are no context managers in a compiled program"
    help = "open resources outside, around vg.run"


class ClassStatement(Refusal):
    title = "classes cannot be defined here"
    label = "a compiled program has numbers, vertices, properties and frontiers only"
    help = "keep the fields of a record in one vertex property each"


class NestedFunction(Refusal):
    title = "functions cannot be defined inside a function of the language"
    label = "a nested function"
    help = "define it at the top level of the module, under @vg.function or @vg.operator"


class AsyncCode(Refusal):
    title = "asynchronous code is not part of the language"
    label = "`async` and `await` have no meaning in a compiled program"
    help = "leave the word out; operators run in parallel by themselves"


class Lambda(Refusal):
    title = "`lambda` is not part of the language"
    label = "functions are not values here"
    help = "write a function under @vg.function and call it by its name"


class Comprehension(Refusal):
    title = "comprehensions are not part of the language"
    label = "this would build a collection"
    help = (
        "write a loop: `total = 0`, then `for u in v.out_neighbors: total += u.x`; vertices are chosen by"
        " `graph.frontier(v for v in graph.vertices if v.x > 0)`"
    )


class Walrus(Refusal):
    title = "`:=` is not part of the language"
    label = "an assignment inside an expression"
    help = "assign in a statement of its own before this one"


class Starred(Refusal):
    title = "`*` and `**` unpacking is not part of the language"
    label = "what this stands for is known only at run time"
    help = "write the arguments one by one"


class StarredParameter(Refusal):
    """`*args`, `**kwargs`, `/` or `*` among the parameters."""

    title = "parameters are plain names"
    label = "`*`, `**` and `/` are not part of the language"
    help = "name each parameter"


class ParameterDefault(Refusal):
    title = "parameters of operators and helper functions have no defaults"
    label = "a default value"
    help = "pass the value in every call; only an algorithm's parameters may have defaults"


class Slice(Refusal):
    """`x[a:b]` of something else than a vector, of bounds that are not known, with a step, or on the left."""

    title = "a slice is read of a vector, between bounds that are known before the run"
    label = "{reason}"
    help = "for example `v.feature[1:3]`; else loop over `range(...)` and use one index at a time"


class Yield(Refusal):
    title = "`yield` is not part of the language"
    label = "functions of the language are not generators"
    help = "return the results at the end of the algorithm"


class DictOrSet(Refusal):
    title = "dicts and sets are not part of the language"
    label = "this would build a collection"
    help = "a map from vertices to values is a property: graph.vertex_property(vg.int32)"


class FormattedString(Refusal):
    title = "f-strings and bytes are not part of the language"
    label = "text is not computed in a compiled program"
    help = "plain string literals may stand in label=... and vg.fail(...), any text in print(...)"


class ComplexNumber(Refusal):
    title = "complex numbers are not part of the language"
    label = "an imaginary literal"
    help = "keep the real and the imaginary part in two properties, or in a vg.vector(vg.float64, 2)"


class EllipsisLiteral(Refusal):
    title = "`...` is not part of the language"
    label = "nothing is left out in a compiled program"
    help = "write `pass` for an empty body"


class ChainedAssignment(Refusal):
    title = "what is assigned to several targets is a constant, a variable or a property that stays as it is"
    label = "several targets"
    help = "write one statement for each target; `a, b = graph.vertex_property(...)` makes two properties"


class TupleAssignment(Refusal):
    """`a, b = ...`."""

    title = "tuples cannot be unpacked"
    label = "several targets at once"
    help = (
        "write one assignment for each variable; to swap two, use a third; of a call, `found = bfs(graph, source)` and "
        "`found.level`. What goes with the best value is `x, y = min((x, y), (a, b))`; `a, b = "
        "graph.vertex_property(...)` makes two properties, and `a = b = 0` sets both"
    )


class AnnotatedVariable(Refusal):
    title = "local variables are not annotated"
    label = "the compiler infers the type"
    help = "write `x = e`; for a certain type, `x = vg.float32(e)`"


class Delete(Refusal):
    title = "`del` is not part of the language"
    label = "variables live until their function ends"
    help = "leave the statement out"


class Raise(Refusal):
    title = "`raise` is not part of the language"
    label = "a compiled program raises no exceptions"
    help = 'in an algorithm, `vg.fail("message")` ends the run with vg.AlgorithmError'


class Assert(Refusal):
    title = "`assert` is not part of the language"
    label = "a compiled program raises no exceptions"
    help = 'in an algorithm, `if not ...: vg.fail("message")` ends the run with vg.AlgorithmError'


class Import(Refusal):
    title = "`import` cannot stand here"
    label = "an import inside a function of the language"
    help = "import at the top of the module; names are read from there"


class GlobalStatement(Refusal):
    title = "`global` is not part of the language"
    label = "module variables are constants in a compiled program"
    help = "a scalar that all operators see is an attribute of the graph: `graph.x = 0`, `graph.x += 1`"


class Nonlocal(Refusal):
    title = "`nonlocal` is not part of the language"
    label = "variables of enclosing functions are constants in a compiled program"
    help = "a scalar that all operators see is an attribute of the graph: `graph.x = 0`, `graph.x += 1`"


class ForTarget(Refusal):
    """`for a, b in ...`."""

    title = "a loop has one variable"
    label = "only `for i, u in enumerate(...):` has two"
    help = "write `for u in v.out_neighbors:`, or `for e in v.out_edges:` and then e.src, e.dst, e.weight"
