"""Graphs in parts: vertices, edges and orders, by vgraph's own methods and by other libraries behind the same calls."""

from __future__ import annotations

from vgraph.partitioning.files import read_parts, write_parts
from vgraph.partitioning.methods import METHODS, measured, partition
from vgraph.partitioning.result import Balance, LevelStats, Partition

__all__ = [
    "METHODS",
    "Balance",
    "LevelStats",
    "Partition",
    "measured",
    "partition",
    "read_parts",
    "write_parts",
]
