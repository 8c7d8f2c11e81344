"""Cliques of a given size at each vertex: a search in depth, with stacks of the operator's own."""

from __future__ import annotations

import vgraph as vg

LARGEST = 8


@vg.function
def extends(members, top, w):
    """Whether w comes after the members of a clique, and is a neighbor of all of them."""
    for i in range(top + 1):
        if w.id <= members[i].id or w not in members[i].neighbors:
            return False
    return True


@vg.operator
def count(v):
    """Come to each clique that has v as its smallest member, and count it at all of them."""
    members = vg.local(vg.vertex, LARGEST)
    following = vg.local(vg.int64, LARGEST)  # which neighbor of v is tried next, by the size of the clique
    members[0] = v
    top = 0
    while top >= 0:
        k = following[top]
        following[top] += 1
        if k == v.degree:
            top -= 1
        elif extends(members, top, v.neighbors[k]):
            top += 1
            members[top] = v.neighbors[k]
            following[top] = k + 1
            if top == size - 1:
                for i in range(size):
                    members[i].cliques += 1
                top -= 1


@vg.algorithm
def cliques(graph, size: vg.between(2, LARGEST) = 4):
    """How many cliques of so many vertices each vertex belongs to, in an undirected graph."""
    cliques = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    return cliques


def main() -> None:
    """Print how many cliques Les Misérables has, and who is in most of them."""
    graph = vg.read(vg.data.path("lesmis"), directed=False)
    for size in range(3, LARGEST + 1):
        found = vg.run(cliques, graph, size=size).cliques
        print(f"{found.sum() // size} cliques of {size}; vertex {found.argmax()} is in {found.max()} of them")


if __name__ == "__main__":
    main()
