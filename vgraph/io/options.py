"""What all readers take: how to build the graph, and where to report progress."""

from __future__ import annotations

from vgraph.graph.build import BuildOptions, MultiEdges
from vgraph.io.streams import Progress
from vgraph.records import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """The options of `vgraph.read` that do not depend on the format; `directed` None: as the file says."""

    directed: bool | None = None
    self_loops: bool = True
    multi_edges: MultiEdges = True
    id_bits: int | None = None
    progress: Progress | None = None

    def build(self, *, directed: bool) -> BuildOptions:
        """The options of the builder, for a file that is `directed` unless the caller says otherwise."""
        chosen = directed if self.directed is None else self.directed
        return BuildOptions(chosen, self.self_loops, self.multi_edges, self.id_bits)
