"""`python -m vgraph.nx_backend [--all] [options of pytest]`: NetworkX's own test suite with this backend.

By default the files that concern what is implemented, without fallback; with `--all` the whole suite, where NetworkX
itself answers what is not implemented. Both say at the end how many calls really ran in vgraph.
"""

from __future__ import annotations

import os
import subprocess
import sys

FILES = (
    "assortativity.tests.test_correlation", "centrality.tests.test_betweenness_centrality",
    "centrality.tests.test_betweenness_centrality_subset", "centrality.tests.test_closeness_centrality",
    "centrality.tests.test_degree_centrality", "centrality.tests.test_eigenvector_centrality",
    "centrality.tests.test_harmonic_centrality", "centrality.tests.test_katz_centrality",
    "coloring.tests.test_coloring", "community.tests.test_leiden", "community.tests.test_louvain",
    "community.tests.test_quality", "components.tests.test_biconnected", "components.tests.test_connected",
    "components.tests.test_strongly_connected", "components.tests.test_weakly_connected",
    "flow.tests.test_maxflow", "link_analysis.tests.test_hits", "link_analysis.tests.test_pagerank",
    "shortest_paths.tests.test_astar", "shortest_paths.tests.test_generic",
    "shortest_paths.tests.test_unweighted", "shortest_paths.tests.test_weighted", "tests.test_bridges",
    "tests.test_cluster", "tests.test_core", "tests.test_dag", "tests.test_distance_measures",
    "tests.test_link_prediction", "tests.test_matching", "tests.test_max_weight_clique",
    "tests.test_richclub", "tests.test_similarity", "tests.test_triads", "tests.test_simple_paths",
    "traversal.tests.test_bfs", "tree.tests.test_mst",
)  # fmt: skip
"""Modules of `networkx.algorithms` that test what is implemented."""


def main(arguments: list[str]) -> int:
    """Run the suite; pytest's exit status. The configuration of a project around this folder is not read."""
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "vgraph"}
    everything = "--all" in arguments
    if everything:
        environment["NETWORKX_FALLBACK_TO_NX"] = "True"
    modules = ["networkx"] if everything else [f"networkx.algorithms.{file}" for file in FILES]
    options = [a for a in arguments if a != "--all"]
    # Every expected failure is formatted: pytest's own tracebacks would take nine tenths of the time.
    quick = ["--tb=native", "-p", "no:cacheprovider"]
    base = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, *quick, "--pyargs"]
    return subprocess.run([*base, *options, *modules], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
