"""Walks and samples of neighborhoods: steps and arcs are the graph's, and as many as asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *


def walks(graph: Graph, result: Result, given: Arguments) -> None:
    """Walks begin at their vertex, go along arcs that weigh something, and end where there are none. Not: how often."""
    n, path = graph.num_vertices, np.asarray(result.path, np.int64)
    s, t = arcs(graph)
    there = weights(graph, given["weight"]) > 0
    s, t = s[there], t[there]
    equal(path[:, 0], np.arange(n), "the first of the path")
    before, after = path[:, :-1], path[:, 1:]
    ends = np.bincount(s, minlength=n + 1)[before] == 0  # of -1, too, as the last one
    along = np.isin(before * (n + 1) + after, s * (n + 1) + t)
    wrong = np.where(ends, after != -1, (after == -1) | ~along)
    none_of(wrong.any(axis=1), lambda v: f"no step of a walk leads from {_step(path[v], wrong[v])}")


def _step(path: Any, wrong: Any) -> str:
    at = int(wrong.argmax())
    return f"{path[at]} to {path[at + 1]}, step {at + 1}"


def neighborhoods(graph: Graph, result: Result, given: Arguments) -> None:
    """As many arcs of each vertex as its layer takes, none more often than it is there, and the layers follow."""
    n, (s, t) = graph.num_vertices, arcs(graph)
    hop, edges = result.hop.astype(np.int64), np.asarray(result.edges, np.int64)
    fan_out = np.r_[np.asarray(given["fan_outs"], np.int64), 0]
    seed = np.zeros(n, np.bool_)
    seed[np.asarray(given["seeds"], np.int64)] = True
    none_of((hop == 0) != seed, lambda v: f"hop is {hop[v]}, and it is {'a' if seed[v] else 'no'} seed")
    none_of((hop < -1) | (hop >= fan_out.size), lambda v: f"hop is {hop[v]}")
    wanted = np.where(hop >= 0, np.minimum(fan_out[hop], np.bincount(s, minlength=n)), 0)
    taken = np.bincount(edges[:, 0], minlength=n)
    none_of(taken != wanted, lambda v: f"{taken[v]} arcs are taken, and should be {wanted[v]}")
    found, count = np.unique(edges[:, 0] * n + edges[:, 1], return_counts=True)
    known, number = np.unique(np.r_[s * n + t, found], return_counts=True)
    often = number[np.searchsorted(known, found)] - 1  # those of the graph
    if (count > often).any():
        k = int((count > often).argmax())
        v, u = divmod(int(found[k]), n)
        raise VerificationError(
            f"vertex {v}: the arc to {u} is taken {count[k]} times, and there {often[k]} times"
        )
    first = np.full(n, fan_out.size)
    np.minimum.at(first, edges[:, 1], hop[edges[:, 0]] + 1)
    met = np.where(seed, 0, np.where(first < fan_out.size, first, -1))
    equal(hop, met, "hop")
    if (np.diff(hop[edges[:, 0]] * n + edges[:, 0]) < 0).any():
        raise VerificationError("the arcs are not in the order of layers and sources")
