"""What priority queues refuse."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class QueueMethod(Refusal):
    title = "priority queues have no `{name}`"
    label = "not a method of the language"
    help = "a queue takes `pop()`: the vertices of the lowest value; those whose values change move by themselves"


class NotAPriority(Refusal):
    title = "a priority queue orders vertices by an integer property of the algorithm"
    label = "this is {what}"
    help = "declare one: `degree = graph.vertex_property(vg.int32)`; int32, int64 and uint32 will do"


class OtherPriority(Refusal):
    """A queue made again over another property."""

    title = "`{name}` is a queue over `{prop}` already"
    label = "another property"
    help = "use another name"
