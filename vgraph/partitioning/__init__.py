"""Graphs in parts: vertices, edges and orders, by vgraph's own methods and by other libraries behind the same calls."""

from __future__ import annotations

from vgraph.partitioning.edges import EDGE_METHODS, EdgePartition, edge_partition
from vgraph.partitioning.files import read_parts, write_parts
from vgraph.partitioning.methods import METHODS, measured, partition
from vgraph.partitioning.result import Balance, LevelStats, Partition

__all__ = [
    "EDGE_METHODS", "METHODS", "Balance", "EdgePartition", "LevelStats", "Partition", "edge_partition",
    "measured", "partition", "read_parts", "write_parts",
]  # fmt: skip
