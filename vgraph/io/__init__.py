"""Reading and writing graph files, one module per format."""

from __future__ import annotations

from vgraph.io.formats import read, write

__all__ = ["read", "write"]
