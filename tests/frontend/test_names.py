"""Names and numbers that mean something to Python, to vgraph or to the languages of the generated code, or are odd."""

from __future__ import annotations

import importlib.util
import unicodedata
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler import build
from vgraph.compiler.backends.cuda.backend import CUDABackend
from vgraph.compiler.frontend import argument_types, build_program, source_parts
from vgraph.errors import shown
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.devices.cpu import backend
from vgraph.runtime.executor import signature_of

HUGE = 10**5000  # Python does not print ints of more than 4,300 digits
ROLES = {
    "helper": "helper",
    "argument": "given",
    "local": "x",
    "operator": "relax",
    "src": "src",
    "property": "dist",
    "edge_property": "w",
    "graph_property": "h",
    "glob": "counter",
    "algorithm": "main",
    "parameter": "start",
    "frontier": "f",
    "label": "label",
}
PROGRAM = """import vgraph as vg

@vg.function
def {helper}({argument}):
    {local} = {argument} + 1
    return {local}

@vg.operator
def {operator}({src}, edge, dst, graph):
    {local} = {helper}({src}.{property}) + edge.{edge_property} + {src}.{graph_property}
    dst.{property} = min(dst.{property}, {local})
    graph.{glob} += 1

@vg.algorithm
def {algorithm}(graph, {parameter}=3):
    {property} = graph.vertex_property(vg.int64, fill=vg.inf)
    {property}[0] = {parameter}
    graph.{glob} = 0
    {frontier} = graph.frontier(0)
    while {frontier}:
        {frontier} = graph.edge_apply({operator}, {frontier}, label="{label}")
    return {property}, graph.{glob}
"""
WORDS = """
    self cls graph v src dst edge arc vid eid i32 f64 all none empty single size count length level
    trace push swap fold id let run program operator param property frontier list scratch relaxed
    atomic entry exit ctx tid thread vg_main num_threads main auto double template new this struct
    const static char short signed float4 threadIdx blockIdx warpSize atomicAdd NULL inf nan
    INFINITY NAN errno far y1 j0 gamma piece items chunk index result stats min max int print
    range value fill op label source target sum abs floor end out kernel status stop done old
    now answer number change door leave enter team generation at begin nowhere
    hit walked ok more left degree neighbors é ñ 变量 x1 _ __x
""".split()
ODD = ("\ufb01", "\u00aa", "\u00b5", "\u017f", "e\u0301", "\u210c", "x\uff11")
"""Names that Python reads in another form."""


def load(text: str, folder: Path, algorithm: str = "main") -> AlgorithmDef:
    path = folder / f"program_{len(list(folder.iterdir()))}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: AlgorithmDef = getattr(module, unicodedata.normalize("NFKC", algorithm))
    return found


def graph(edge_property: str = "w", graph_property: str = "h") -> vg.Graph:
    made = vg.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], directed=True, **{edge_property: [1, 2, 1, 3]})
    return made.with_vertex_property(graph_property, np.zeros(4, np.int64))


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_words_of_other_languages_are_names(tmp_path: Path, every: int) -> None:
    """Each word in one role, which is another one for each; the long run has each in all."""
    cases = [(word, role) for word in WORDS for role in ROLES]
    compiled = 0
    for word, role in cases[:: every + (every > 1)]:
        names = {**ROLES, role: word}
        on = graph(names["edge_property"], names["graph_property"])
        with suppress(vg.Diagnostic, SyntaxError):  # `edge` and `graph` name parameters already
            main = load(PROGRAM.format(**names), tmp_path, names["algorithm"])
            for to in (backend(), CUDABackend()):
                build(build_program(main, signature_of(on, argument_types(main, {}))), to)
            compiled += 1
    assert compiled > 0.9 * len(cases[:: every + (every > 1)])


@pytest.mark.parametrize("name", ODD)
def test_a_name_is_what_python_makes_of_it(tmp_path: Path, name: str) -> None:
    plain = unicodedata.normalize("NFKC", name)
    main = load(PROGRAM.format(**{**ROLES, "property": name}), tmp_path)
    found = vg.run(main, graph(), device="cpu", threads=1)
    expected = vg.run(main, graph(), device="python")
    assert getattr(found, plain).tolist() == getattr(expected, plain).tolist() == [3, 5, 8, 7]
    for role in ROLES.keys() - {"edge_property", "graph_property"}:
        names = {**ROLES, role: name}
        main = load(PROGRAM.format(**names), tmp_path, names["algorithm"])
        given = {plain: 4} if role == "parameter" else {}
        assert vg.run(main, graph(), device="python", **given).stats.rounds
        build(build_program(main, signature_of(graph(), argument_types(main, given))), backend())


def test_a_property_is_called_as_python_reads_it() -> None:
    with pytest.raises(vg.GraphError, match="would be read as 'fi'"):
        graph().with_edge_property("\ufb01", [1, 2, 3, 4])


@pytest.mark.parametrize(
    "name", ["algorithm", "device", "schedule", "threads", "progress", "memory", "relabel"]
)
def test_a_parameter_with_the_name_of_an_option(tmp_path: Path, name: str) -> None:
    main = load(PROGRAM.format(**{**ROLES, "parameter": name}), tmp_path)
    for call in (vg.run, vg.explain, vg.autotune):
        with pytest.raises(vg.ParameterError, match=f"vg.run has a parameter '{name}' of its own"):
            call(main, graph())


@pytest.mark.parametrize("name", ["cls", "self", "graph", "edge", "src", "weight"])
def test_an_edge_property_may_be_called_so(name: str) -> None:
    assert vg.Graph.from_edges([0], [1], **{name: [5]}).edge_properties[name].tolist() == [5]
    assert vg.Graph.from_csr([0, 1, 1], [1], **{name: [5]}).edge_properties[name].tolist() == [5]


@pytest.mark.parametrize("name", ["num_vertices", "directed", "self_loops", "multi_edges", "id_bits"])
def test_an_option_is_no_property(name: str) -> None:
    for values in ([5, 6], np.array([5, 6]), HUGE, "x"):
        with pytest.raises(vg.GraphError, match=name.replace("num_vertices", "vertices")):
            vg.Graph.from_edges([0, 1], [1, 2], **{name: values})


# --- numbers --------------------------------------------------------------------------------------------------


def test_huge_numbers_are_shown() -> None:
    assert shown(HUGE).startswith("0x")
    assert len(shown(HUGE)) == 60
    assert shown([HUGE]).startswith("<list object")
    assert shown("x" * 100) == "'" + "x" * 56 + "..."


def test_huge_numbers_in_programs(tmp_path: Path) -> None:
    for expression in (f"0x{'f' * 5000}", "HUGE", "HUGE + 1", "-HUGE", "HUGE * HUGE"):
        text = (
            PROGRAM.format(**ROLES)
            .replace("+ 1", f"+ {expression}")
            .replace("vg\n", "vg\nHUGE = 10**5000\n", 1)
        )
        main = load(text, tmp_path)
        assert source_parts(main)
        for device in ("cpu", "python"):
            with pytest.raises(vg.Diagnostic, match=r"does not fit int64"):
                vg.run(main, graph(), device=device)


@vg.algorithm
def takes(
    graph, a: vg.vertex = 0, b: vg.int32 = 0, c: vg.float64 = 0.0, d: vg.float32 = 0.0, e=1, f=0.5, g: int = 3
):
    x = graph.vertex_property(vg.float64, fill=c + d + f)
    x[a] = b + e + g
    return x


@pytest.mark.parametrize("name", "abcdefg")
@pytest.mark.parametrize("value", [HUGE, -HUGE, [HUGE]], ids=["huge", "negative", "listed"])
def test_huge_arguments(name: str, value: object) -> None:
    for device in ("cpu", "python"):
        with pytest.raises(vg.ParameterError, match=name):
            vg.run(takes, graph(), device=device, **{name: value})


@pytest.mark.parametrize(
    "make",
    [
        lambda: vg.SPLIT(HUGE),
        lambda: vg.delta_stepping(HUGE),
        lambda: vg.Schedule().at("x", segments=HUGE),
        lambda: vg.Schedule().at("x", direction=HUGE),
        lambda: vg.run(takes, graph(), threads=-HUGE),
        lambda: vg.run(takes, graph(), output=HUGE),
        lambda: vg.run(takes, graph(), relabel=HUGE),
        lambda: vg.run(takes, graph(), schedule=HUGE),
        lambda: vg.run(HUGE, graph()),
        lambda: vg.vector(vg.int32, HUGE),
        lambda: vg.vector(HUGE, 3),
        lambda: vg.Graph.from_edges([HUGE], [1]),
        lambda: vg.Graph.from_edges([0], [1], num_vertices=HUGE),
        lambda: vg.Graph.from_edges([0], [1], w=[HUGE]),
        lambda: vg.operator(HUGE),
    ],
)
def test_huge_options(make: object) -> None:
    assert callable(make)
    with pytest.raises(vg.VGraphError):
        make()
