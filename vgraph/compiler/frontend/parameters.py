"""How an algorithm uses its parameters: which ints are vertices, which arrays are looped over."""

from __future__ import annotations

from dataclasses import dataclass, field

from vgraph.compiler.frontend import syntax as s


@dataclass
class Usage:
    """Names by use: `vertices` index properties or start a frontier, `looped` are arrays that a loop or index reads,
    `vertex_arrays` those of them whose elements are vertices."""

    vertices: set[str] = field(default_factory=set)
    looped: set[str] = field(default_factory=set)
    vertex_arrays: set[str] = field(default_factory=set)


def usage(body: s.Body) -> Usage:
    """What the names in an algorithm's body are used for."""
    found = Usage()
    nodes = [n for statement in body for n in s.walk(statement)]
    lists = {
        n.target.id
        for n in nodes
        if isinstance(n, s.Assign) and isinstance(n.target, s.Name) and isinstance(n.value, s.Items)
    }
    for n in nodes:
        match n:
            case s.Index(value=s.Name(id=owner), index=s.Name(id=index)) if owner not in lists:
                found.vertices.add(index)
            case s.Attribute(value=s.Name(id=vertex), name=name) if name != "dtype":
                found.vertices.add(vertex)
            case s.Call(function=s.Attribute(name="frontier"), args=(s.Name(id=vertex),)):
                found.vertices.add(vertex)
            case s.Call(function=s.Name(id="len"), args=(s.Name(id=array),)):
                found.looped.add(array)
    loops = [n for n in nodes if isinstance(n, s.For) and isinstance(n.iterable, s.Name)]
    for loop in loops:
        assert isinstance(loop.iterable, s.Name)
        found.looped.add(loop.iterable.id)
        if loop.target.id in found.vertices:
            found.vertex_arrays.add(loop.iterable.id)
    return found
