"""Writes that operators may not make."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotAReduction(Refusal):
    title = "{place} is written by several edges at once"
    label = "this{how} assignment does not say how their values combine"
    help = (
        "use a reduction: `x = min(x, e)`, `max`, `x += e`, `x |= e`, `x &= e`; or a claim, `if x == c: x"
        " = e`, for the first writer"
    )


class GlobalNotReduced(Refusal):
    title = "{place} is written by all visits at once"
    label = "this{how} assignment does not say how their values combine"
    help = (
        "use a reduction, such as `graph.x += e` or `graph.x = max(graph.x, e)`; the algorithm may set it"
        " freely"
    )


class WriteToSource(Refusal):
    title = "an edge operator writes to its destination and its edge, or to both ends"
    label = "`{name}` of the source, and nothing of the destination is written"
    help = (
        "let it write `dst.{name}` from src, and apply it with reverse=True: src is then the head of each arc, dst its"
        " tail; or write it in a vertex operator that loops over `v.out_edges`. Where it writes both ends, activations"
        " come one after the other"
    )


class WriteToEdge(Refusal):
    title = "`{name}` of an edge belongs to the graph"
    label = "it cannot be written"
    help = "declare a property of your own in the algorithm: `x = graph.edge_property(vg.int32, fill=0)`"


class SharedEdge(Refusal):
    title = "{place} may be written by several visits at once"
    label = "this{how} assignment does not say how their values combine"
    help = (
        "both arcs of an undirected edge share its value, and a vertex operator reaches arcs of other vertices, too: "
        "use a reduction, `x += e`, `x = min(x, e)`, `max`, `x |= e`, `x &= e`, `x = True`. In a directed graph, "
        "what an edge operator visits and what `v.out_edges` of its own vertex gives is written freely"
    )


class EdgeOfTwoVisits(Refusal):
    """An edge property that an operator writes at arcs of its own, and uses at the same arcs of other visits."""

    title = "`{name}` is used where another visit may write it"
    label = "the same edge may be one that another vertex writes"
    help = "an operator that writes an edge property comes to edges in one way: use two operators"
    also = ("write", "it is written here")


class WriteElsewhere(Refusal):
    title = "an edge operator writes to its destination and its edge, or to both ends"
    label = "this is another vertex or edge"
    help = "write to it in a vertex operator: there, reductions may go to any vertex"


class ReadsBeyondEnds(Refusal):
    title = "`{name}` is read at a vertex that another activation may be writing"
    label = "an operator that writes both ends of its edge is alone with these two, and with no other vertex"
    help = "read it in a second operator, or read a copy: a property that this operator does not write"
    also = ("write", "it is written here")


class UnionBesideBothEnds(Refusal):
    title = "an operator that writes both ends of its edge unites no sets"
    label = "a set reaches beyond the two ends"
    help = "unite them in a second edge operator"


class ReadOnly(Refusal):
    title = "`{name}` cannot be written"
    label = "{reason}"
    help = "declare a property of your own: `x = graph.vertex_property(...)`"


class DisjointSets(Refusal):
    title = "`{name}` holds disjoint sets"
    label = "they change by vg.union only"
    help = "write `vg.union(src.{name}, dst.{name})`"


class BadUnion(Refusal):
    title = "vg.union takes the same disjoint sets of two vertices"
    label = "not a property of disjoint sets"
    help = "declare `component = graph.disjoint_sets()` and write `vg.union(src.component, dst.component)`"


class NotAssignable(Refusal):
    title = "this cannot be assigned to"
    label = "not a variable, a property of a vertex or an element of one, or a global `graph.x`"


class ElementOfValue(Refusal):
    """`x[i] = e` where x is a variable that holds a vector."""

    title = "the elements of `{name}` stay as they are"
    label = "a variable holds the values that it was given"
    help = (
        "`{name} = vg.local(vg.float32, 8)` makes an array whose elements can be written; those of a property are"
        " written where it is: `v.x[i] = ...`"
    )


class WriteInHelper(Refusal):
    title = "`{name}` computes a value, it may not write"
    label = "a write in a helper function"
    help = (
        "return the value and write it in the caller, or call a helper that only writes, as a statement "
        "of its own"
    )


class MixedWrites(Refusal):
    title = "`{name}` is updated in two different ways"
    label = "together they would depend on the order of the visits"
    help = "use two properties, or two operators applied one after the other"
    also = ("other", "the other update")


class ReadsWhatItReduces(Refusal):
    title = "`{name}` is read while other visits change it"
    label = "the value depends on the order of the visits"
    help = "test and update in one statement (`x = min(x, e)`), or read it in a second operator"
    also = ("write", "it is reduced here")


class ReadsWhatItClaims(Refusal):
    title = "`{name}` is read while other visits claim it"
    label = "whether it is claimed yet depends on the order of the visits"
    help = "put what belongs to the claim under the same `if`, and everything else into a second operator"
    also = ("write", "it is claimed here")


class DependentWrites(Refusal):
    """More statements under `if e < x: x = e`."""

    title = "only one value can be updated in one step"
    label = "{place} may change again before this statement runs"
    help = (
        "keep the update alone (`x = min(x, e)`); what goes with the best value is updated with it, in one step: "
        "`dst.dist, dst.parent = min((dst.dist, dst.parent), (e, src))`"
    )


class GuardMismatch(Refusal):
    """`if e < x: x = f`."""

    title = "this is not a minimum or maximum"
    label = "{place} is compared with one value and assigned another"
    help = "assign the value that was compared: `if e < x: x = e`"


class ElseOfUpdate(Refusal):
    title = "a guarded update has no `else`"
    label = "whether this runs depends on the order of the visits"
    help = "put this into a second operator, applied before or after"
    also = ("update", "the update")


class ClaimFromVariable(Refusal):
    title = "a claim starts from a value that is the same everywhere"
    label = "{place} is compared with something that differs from visit to visit"
    help = "compare with a constant such as -1 or vg.none, or with a global `graph.x`"


class VectorClaim(Refusal):
    title = "vectors cannot be claimed"
    label = "{place} is too large for one step"
    help = "claim a bool or int property and write the vector under the same `if`"


class TupleShape(Refusal):
    """`a, b = min((a, b), e)` where e is not as many values."""

    title = "as many values are compared as there are places"
    label = "not {count} values in parentheses"
    help = "write `x, y = min((x, y), (a, b))`"


class TuplePlaces(Refusal):
    """Places that are not updated in one step."""

    title = "these are not updated together"
    label = "{reason}"
    help = "what is updated together are different properties of one vertex, or different globals"


class TupleType(Refusal):
    """A place that is no field of a word."""

    title = "{place} has no order"
    label = "a {found}"
    help = "numbers, bools and vertices are compared one after the other"


class TupleTooWide(Refusal):
    """More bits than one step takes."""

    title = "{bits} bits are too many to compare in one step"
    label = "at most {widest}; {fields}"
    help = "use narrower types, such as vg.int32 or vg.float32, or fewer places"


class TupleApart(Refusal):
    """Another update of what is updated together with something else."""

    title = "`{name}` is updated together with `{others}`"
    label = "here it is updated {how}"
    help = "update the same places together wherever operators meet, or use another property here"
    also = ("other", "the update together")
