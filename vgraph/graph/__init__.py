"""Graphs: how they are built, what they keep, and what algorithms prepare of them."""

from __future__ import annotations

from vgraph.graph.graph import Graph

__all__ = ["Graph"]
