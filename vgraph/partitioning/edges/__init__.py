"""Edges in parts: `edge_partition`, its methods, and what is measured of a result."""

from __future__ import annotations

from vgraph.partitioning.edges.methods import EDGE_METHODS, edge_partition
from vgraph.partitioning.edges.result import EdgePartition

__all__ = ["EDGE_METHODS", "EdgePartition", "edge_partition"]
