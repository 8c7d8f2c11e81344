"""The tables of `library.py`: from its rows, as it prints them and as the page of results has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import harness

LATE = "more than"
"""How a reason begins that a call was too long."""

BEHIND: Final = {
    "adamic_adar": "arcs are few: the call, and a graph with a vertex for each pair",
    "a_star": (
        "ours looks at all arcs within a bound that grows, in rounds; NetworKit's at the nearest vertex of a "
        "heap, one after the other, of which a guided search meets few"
    ),
    "assortativity": "igraph's one thread takes one pass, ours two, so that no differences from the mean are lost",
    "bellman_ford": "rounds over frontiers, for any number of threads",
    "bipartite_matching": (
        "SciPy's one thread begins with a search of its own from each vertex; ours grows trees from all, in "
        "rounds"
    ),
    "conjugate_gradient": "the call, and a product whose rows are summed in the order that all devices keep",
    "degree_centrality": (
        "the call: arguments, checks and the context of a run take 0.3 ms, and three results of float64 are "
        "written; the others give one"
    ),
    "k_truss": "a graph is new in each call: naming its edges is four fifths of ours, and kept for the next call",
    "kcore": "one thread of bins, a vertex at a time, beside rounds of two threads",
    "label_components": (
        "the least label goes one step a round, which is what label_components is for; igraph's are searched for, "
        "as connected_components does here"
    ),
    "label_propagation": "ten rounds of all vertices at once, as LDBC has it; NetworKit's one by one, and end sooner",
    "leiden": "one thread moves one vertex after the other in the others, and finds other partitions",
    "louvain": "one thread moves one vertex after the other in NetworKit, and finds other partitions",
    "maximum_clique": "one thread in both; NetworKit's bound is another",
    "most_similar": "SciPy counts common neighbors of all pairs and ranks nothing",
    "path_counts": "python-graphblas keeps no levels for the way back",
    "spmm": "the matrix given is copied, for a graph keeps what nobody may change",
    "spmv": "the call, longer than the product: 0.3 ms of arguments, checks and the context of a run",
    "strongly_connected_components": (
        "one depth-first walk of one thread, where ours searches both ways and colors, in rounds that two threads "
        "share badly"
    ),
    "topological_order": "the call; and vertices are sorted by level, then by number, where igraph's order is any",
}
"""Why a compiled library is faster at a case, where one is: what it does less of, or otherwise."""


def cell(row: Mapping[str, Any], library: str) -> str:
    """One ratio of a row; what has none is too late, or lacks the algorithm."""
    if library in row["ratios"]:
        return _short(row["ratios"][library])
    if library in row["once"]:
        return f"{_short(row['once'][library])} (once)"
    reason = row["missing"].get(library, "")
    return reason.replace(LATE, ">") if reason.startswith(LATE) else "-"


def _short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def table(rows: Sequence[Mapping[str, Any]], libraries: Sequence[str]) -> str:
    """The rows of one graph."""
    body = [
        [row["case"], "-" if row["ms"] is None else f"{row['ms']:.2f}", *(cell(row, n) for n in libraries)]
        for row in rows
    ]
    return harness.table(["case", "vgraph ms", *libraries], body)


def remarks(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the tables do not say: why vgraph has no time, what failed, and what was not checked."""
    for row in rows:
        where = f"{row['graph']}, {row['case']}"
        if row["ms"] is None:
            yield f"{where}: vgraph: {row['missing']['vgraph']}"
        if not row["checked"]:
            yield f"{where}: the check of the result did not end in time, so this one is unchecked"
        for library, reason in row["missing"].items():
            if library != "vgraph" and not reason.startswith(("it has no", LATE)):
                yield f"{where}: {library}: {reason}"


def lost(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For each case in which a compiled library is faster on some graph: where, how much, and why."""
    behind: dict[str, list[str]] = {}
    for row in rows:
        ratios = {k: v for k, v in {**row["ratios"], **row["once"]}.items() if not k.startswith("networkx")}
        best = min(ratios, key=ratios.__getitem__, default="")
        if best and ratios[best] < 1:
            behind.setdefault(row["case"], []).append(f"{best} {_short(ratios[best])} on {row['graph']}")
    for case, where in behind.items():
        yield f"{case} ({', '.join(where)}): {BEHIND.get(case, 'not looked into')}"


def lines(content: Mapping[str, Any]) -> str:
    """Lines of user code of each algorithm, in two columns of algorithms."""
    cells = [
        [name, str(counted["vgraph"]), str(counted.get("graphblas", ""))]
        for name, counted in content["lines"].items()
    ]
    half = (len(cells) + 1) // 2
    right = [*cells[half:], *[["", "", ""]] * (2 * half - len(cells))]
    header = ["algorithm", "vgraph", "python-graphblas"]
    return harness.table(header * 2, [a + b for a, b in zip(cells[:half], right, strict=True)])


def page(content: Mapping[str, Any]) -> str:
    """All tables: lines, a table for each graph, how the work differs, and the remarks."""
    rows, libraries = content["rows"], list(content["libraries"])
    versions = ", ".join(f"{name} {version}" for name, version in content["libraries"].items())
    parts = [f"Beside {versions}.", f"Lines of user code:\n\n{lines(content)}"]
    for name in dict.fromkeys(row["graph"] for row in rows):
        of_graph = [row for row in rows if row["graph"] == name]
        size = f"{of_graph[0]['vertices']:,} vertices, {of_graph[0]['arcs']:,} stored arcs"
        title = f"{name} ({size}, {of_graph[0]['threads']} threads)"
        parts.append(f"{title}:\n\n{table(of_graph, libraries)}")
    notes = {row["case"]: row["note"] for row in rows if row["note"]}
    for title, listed in (
        ("Where a compiled library is faster, and why", list(lost(rows))),
        ("Where the work is not the same", [f"{case}: {note}" for case, note in notes.items()]),
        ("What has no figure, and why", list(remarks(rows))),
    ):
        if listed:
            parts.append(f"{title}:\n\n" + "\n".join(f"- {line}" for line in listed))
    return "\n\n".join(parts)
