"""What a block knows of disjoint sets: a table in shared memory (`unions.cuh`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda.emitter import Emitter, Region
from vgraph.compiler.backends.scan import walk_body

ENTRY: Final = 8
"""Bytes of an entry."""


def open_tables(f: Emitter, body: ir.Body, region: Region) -> None:
    """Tables for the sets that a parallel loop unites, empty."""
    entries = {n.prop: n.entries for n in walk_body(body) if isinstance(n, ir.KnownSet)}
    f.shared = max(f.shared, ENTRY * sum(entries.values()))
    for k, (prop, most) in enumerate(sorted(entries.items())):
        table = region.sets[prop] = f.temporary(f"{prop} known")
        f.line(f"auto {table} = open_sets<vid>({k}, {len(entries)}, {most}, {f.num_vertices});")


def emit_known(f: Emitter, node: ir.KnownSet) -> str:
    """`known component(x) of 4096`."""
    assert f.region is not None
    return f"{f.region.sets[node.prop]}.known({f.expr(node.vertex)})"


def emit_know(f: Emitter, node: ir.KnowSet) -> None:
    """`know component(x) is y of 4096`: true however many lanes say it."""
    assert f.region is not None
    f.line(f"{f.region.sets[node.prop]}.know({f.expr(node.vertex)}, {f.expr(node.same)});")


NODES: Final[dict[type[ir.Node], Callable[..., Any]]] = {ir.KnownSet: emit_known, ir.KnowSet: emit_know}

__all__ = ["NODES", "open_tables"]
