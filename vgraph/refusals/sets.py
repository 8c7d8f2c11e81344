"""Programs that do not run on a set of devices."""

from __future__ import annotations

from vgraph.refusals.base import Refusal


class NotOnASet(Refusal):
    """Something that members of a set of devices, each with its own part of the graph, cannot do for each other."""

    title = "`{algorithm}` does not run on a set of devices"
    label = "{reason}"
    help = "run it on one device"

    reason: str


class NotDivided(Refusal):
    """`share=` where no loop has iterations that any member may run."""

    title = "`{algorithm}` has no loop that members of a set of devices divide"
    label = "{reason}"
    help = "leave `share` out: every member then runs all of the program on its part of the graph"
