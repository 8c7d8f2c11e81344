"""Reading and writing graph files, one module per format."""

from __future__ import annotations

from vgraph.io.formats import read, write
from vgraph.io.ratings import from_ratings, read_ratings

__all__ = ["from_ratings", "read", "read_ratings", "write"]
