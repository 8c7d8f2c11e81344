"""`print(...)`: CPython prints, compiled code is as if it were not there, and says so."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

import vgraph as vg
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.text import print_program
from vgraph.runtime.executor import signature_of
from vgraph.runtime.prints import PrintWarning

GRAPH = vg.Graph.from_edges([0, 0, 1], [1, 2, 2], weight=[4, 9, 3])


def loud() -> vg.AlgorithmDef:
    @vg.function
    def through(u, edge):
        print("through", u)
        return u.dist + edge.weight

    @vg.operator
    def relax(src, edge, dst):
        """A test and what it guards are still one."""
        d = through(src, edge)
        if d < dst.dist:
            print(f"{src} -> {dst}: {dst.dist:>3}, then", d, [int(u) for u in dst.in_neighbors], sep=" ")
            dst.dist = d
        if dst.dist < 5:
            print("near")
        elif dst.dist < 9:
            print("not far")

    @vg.operator
    def peak(v):
        print(v, v.parent, f"<{v.parent:>8}>", 7 // 2, v.dist == vg.inf, vg.none)
        for u in v.out_neighbors:
            print("beside", u)
        for u in v.out_neighbors:
            if u.dist < v.dist:
                print("lower")
                return False
        return True

    @vg.algorithm
    def program(graph, source: vg.vertex):
        dist = graph.vertex_property(vg.int32, fill=9)
        parent = graph.vertex_property(vg.vertex)
        dist[source] = 0
        frontier = graph.frontier(source)
        while frontier:
            print("round", frontier, len(frontier), dist, dist[source] + 1)
            frontier = graph.edge_apply(relax, frontier)
        peaks = graph.vertex_filter(peak)
        return dist, peaks

    return program


def quiet() -> vg.AlgorithmDef:
    @vg.function
    def through(u, edge):
        return u.dist + edge.weight

    @vg.operator
    def relax(src, edge, dst):
        d = through(src, edge)
        if d < dst.dist:
            dst.dist = d

    @vg.operator
    def peak(v):
        for u in v.out_neighbors:
            if u.dist < v.dist:
                return False
        return True

    @vg.algorithm
    def program(graph, source: vg.vertex):
        dist = graph.vertex_property(vg.int32, fill=9)
        parent = graph.vertex_property(vg.vertex)
        dist[source] = 0
        frontier = graph.frontier(source)
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
        peaks = graph.vertex_filter(peak)
        return dist, peaks

    return program


def line_of(text: str) -> int:
    """The line of this file that has `text`."""
    lines, first = inspect.getsourcelines(loud)
    return next(k for k, line in enumerate(lines, first) if text in line)


def test_the_program_is_as_if_it_did_not_print() -> None:
    types = {"source": 0}
    with_it, without = (
        print_program(build_program(a, signature_of(GRAPH, argument_types(a, types))))
        for a in (loud(), quiet())
    )
    assert with_it == without


def test_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    result = vg.run(loud(), GRAPH, source=0, device="python")
    assert result.dist.tolist() == [0, 4, 7]
    text = capsys.readouterr().out.splitlines()
    assert text[:6] == [
        "round frontier(0) 1 [0 9 9] 1",
        "through 0",
        "0 -> 1:   9, then 4 [0]",
        "near",
        "through 0",
        "round frontier(1) 1 [0 4 9] 1",
    ]
    assert text[-6:] == [
        "0 vg.none < vg.none> 3 False vg.none",
        "beside 1",
        "beside 2",
        "1 vg.none < vg.none> 3 False vg.none",
        "beside 2",
        "2 vg.none < vg.none> 3 False vg.none",
    ]


@pytest.mark.parametrize("device", [{"device": "cpu"}, {"checked": True}], ids=str)
def test_compiled_code_says_that_it_does_not(
    device: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    program = loud()
    for _ in range(2):  # from the cache, too
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert vg.run(program, GRAPH, source=0, **device).dist.tolist() == [0, 4, 7]
        assert {w.category for w in told} == {PrintWarning}
        assert {w.filename for w in told} == {__file__}
        assert len(told) == 8
        assert line_of('print("through", u)') in {w.lineno for w in told}
        assert str(told[0].message).startswith(
            'print(...) does nothing on device="cpu": device="python" prints'
        )
    assert capsys.readouterr().out == ""


def test_it_says_so_once_for_each_line() -> None:
    program = loud()
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        vg.run(program, GRAPH, source=0, device="cpu")
        vg.run(program, GRAPH, source=0, device="cpu")
    assert len(told) == 8


def test_explain_tells() -> None:
    found = vg.explain(loud(), GRAPH, source=0, passes=False).reasons.splitlines()
    line = line_of('print("lower")')
    assert f"test_print.py:{line}: print(...) is left out" in found


@vg.function
def doubled(x):
    return 2 * x


@vg.operator
def asks(v):
    v.x = doubled(v.x)
    print(doubled(v.x))


@vg.algorithm
def asking(graph):
    x = graph.vertex_property(vg.int32, fill=1)
    graph.vertex_apply(asks)
    return x


def test_helpers_are_not_called_in_it() -> None:
    with pytest.raises(vg.AlgorithmError, match="give its value to a variable, and print that"):
        vg.run(asking, GRAPH, device="python")


def test_another_print_is_the_user_s() -> None:
    @vg.function
    def print(v):
        v.x += 1

    @vg.operator
    def visit(v):
        print(v)

    @vg.algorithm
    def program(graph):
        x = graph.vertex_property(vg.int32)
        graph.vertex_apply(visit)
        return x

    for device in ("python", "cpu"):
        assert vg.run(program, GRAPH, device=device).x.tolist() == [1, 1, 1]
