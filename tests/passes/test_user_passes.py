"""Passes of the user's own: where they stand, their options, what they are blamed for, and the code that they made."""

from __future__ import annotations

import dataclasses
import os
import re
import runpy
import subprocess
import sys
import types as python_types
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.cache import CacheWarning
from vgraph.compiler import __main__ as tool
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.user_passes import fingerprints
from vgraph.config import scope
from vgraph.graph import Graph
from vgraph.passes import (
    Context,
    Level,
    ir,
    parse_program,
    pipeline,
    print_program,
    registered,
    transform,
    types,
    walk,
)
from vgraph.passes import with_fields as changed
from vgraph.runtime.devices import compiled
from vgraph.runtime.plan import Plan

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_pass_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path / "cache"))  # where code is kept, passes do not run
    assert registered() == ()
    yield
    for own in registered():
        own.remove()


@pytest.fixture
def graph():
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 60, (2, 300))
    return Graph.from_edges(src, dst, num_vertices=60, weight=rng.integers(1, 9, 300).astype(np.int32))


def same(program, context):
    return program


def stand(name, **place):
    return vg.schedule_pass(name=name, **place)(same)


# --- places ---------------------------------------------------------------------------------------------------


def test_passes_stand_where_they_are_told_in_the_order_of_registration():
    for name, place in [("b", "after"), ("a", "after"), ("d", "before"), ("c", "before")]:
        stand(name, **{place: "double-buffer"})
    names = [p.name for p in pipeline()]
    at = names.index("double-buffer")
    assert names[at - 2 : at + 3] == ["d", "c", "double-buffer", "b", "a"]
    assert [n for n in names if n not in "abcd"] == [p.name for p in PIPELINE]
    assert [p.name for p in registered()] == ["b", "a", "d", "c"]


@pytest.mark.parametrize(
    ("place", "level"),
    [
        ({"after": "simplify"}, Level.ALGORITHM),
        ({"before": "choose-schedule"}, Level.ALGORITHM),
        ({"after": "choose-schedule"}, Level.SCHEDULED),
        ({"before": "lower-storage"}, Level.SCHEDULED),
        ({"after": "lower-storage"}, Level.KERNEL),
        ({"after": PIPELINE[-1].name}, Level.KERNEL),
    ],
)
def test_the_level_follows_from_the_place(place, level, graph):
    made = stand("here", **place)
    assert (made.takes, made.gives) == (level, level)
    seen = []
    with vg.schedule_pass(name="look", **place)(lambda p, c: seen.append(p.level) or p):
        vg.explain(vg.algorithms.sssp, graph)
    assert seen == [level]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (
            {"after": "lower-applies"},
            "there is no pass 'lower-applies' to stand beside; the passes are pack-tuples, simplify, .*choose-",
        ),
        ({"before": "mine"}, "there is no pass 'mine'"),
        ({}, "either after= or before="),
        ({"after": "simplify", "before": "simplify"}, "either after= or before="),
        ({"after": "simplify", "name": "simplify"}, "'simplify' is a pass of vgraph's own"),
        ({"after": "simplify", "options": {"direction": int}}, "'direction' is an option of vgraph's own"),
        ({"after": "simplify", "options": {"a b": int}}, "'a b' cannot be an option"),
        (
            {"after": "simplify", "options": {"cap": list}},
            r"the option 'cap' is given by a type \(int, float",
        ),
        ({"after": "simplify", "options": {"cap": (int, 3)}}, "the option 'cap' is given by a type"),
        ({"after": "simplify", "options": {"taken": int}}, "the option 'taken' belongs to the pass owner"),
    ],
)
def test_what_cannot_be_registered(place, message):
    vg.schedule_pass(after="simplify", name="owner", options={"taken": int})(same)
    stand("mine", after="simplify")
    with pytest.raises(vg.ScheduleError, match=message):
        vg.schedule_pass(**place)(same)
    assert [p.name for p in registered()] == ["owner", "mine"]


def test_only_functions_are_passes():
    with pytest.raises(TypeError, match="goes on a function"):
        vg.schedule_pass(after="simplify")(42)


def test_the_same_name_again_replaces_the_pass_at_its_place():
    first = vg.schedule_pass(after="simplify", name="x", options={"old": int})(same)
    stand("y", after="simplify")
    second = vg.schedule_pass(after="simplify", name="x", options={"new": int})(same)
    assert [p.name for p in registered()] == ["x", "y"]
    assert registered()[0] is second
    vg.Schedule().at("relax", new=1)
    with pytest.raises(vg.ScheduleError, match="unknown schedule option 'old'"):
        vg.Schedule().at("relax", old=1)
    first.remove()  # it is gone already
    assert registered()[0] is second


def test_a_pass_is_removed_by_its_with_block_and_comes_back_with_the_next():
    mine = vg.schedule_pass(after="simplify", options={"cap": int})(same)
    assert mine.name == "same"
    with mine as inside:
        assert inside is mine
        assert registered() == (mine,)
    assert registered() == ()
    with pytest.raises(vg.ScheduleError, match="unknown schedule option 'cap'"):
        vg.Schedule().at("relax", cap=1)
    with mine:
        vg.Schedule().at("relax", cap=1)
    mine.remove()


# --- options --------------------------------------------------------------------------------------------------

VALUES = {"count": 1000, "share": 0.5, "eager": True, "way": 'a "b" ü\n', "tiny": 1e-7, "below": -3}
KINDS = {"count": int, "share": float, "eager": bool, "way": str, "tiny": float, "below": int}


def test_options_reach_passes_results_plans_and_texts(graph):
    seen = {}

    @vg.schedule_pass(after="lower-storage", options=KINDS)
    def read(program, context: Context):
        seen.update({name: context.option("relax", name) for name in KINDS})
        assert context.option("relax", "nothing", 5) == context.option("nowhere", "count", 5) == 5
        return program

    schedule = vg.Schedule().at("relax", **VALUES)
    result = vg.run(vg.algorithms.sssp, graph, source=0, schedule=schedule)
    assert seen == VALUES
    assert dict(result.schedule.labels["relax"].extra) == VALUES
    loaded = compiled._loaded[next(reversed(compiled._loaded))]
    assert Plan.unpack(loaded.plan.pack("code")) == (loaded.plan, "code")
    assert loaded.plan.schedule.labels["relax"].extra == tuple(sorted(VALUES.items()))
    explained = vg.explain(vg.algorithms.sssp, graph, schedule=schedule)
    assert "count=1000" in explained.schedule
    text = explained.passes["choose-schedule"]
    assert 'below=-3, count=1000, eager=true, share=0.5, tiny=1e-07, way="a \\"b\\" \\u00fc\\n")' in text
    program = parse_program(text)
    assert print_program(program) == text
    apply = next(n for n in walk(program) if isinstance(n, ir.EdgeApply))
    assert dict(apply.schedule.extra) == VALUES
    read.remove()
    with pytest.raises(vg.VGraphError, match="a schedule names each choice once"):
        parse_program(text)
    with pytest.raises(vg.ScheduleError, match="unknown schedule option 'below'"):
        vg.run(vg.algorithms.sssp, graph, source=0, schedule=schedule)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cap": 0}, "cap=0 is not a positive int"),
        ({"cap": True}, "cap=True is not a positive int"),
        ({"cap": 2.0}, "cap=2.0 is not a positive int"),
        ({"share": "1"}, "share='1' is not a number"),
        ({"share": float("inf")}, "share=inf is not a number"),
        ({"flag": 1}, "flag=1 is not True or False"),
        ({"word": 1}, "word=1 is not a string"),
        (
            {"caps": 1},
            "unknown schedule option 'caps'.*; the options are direction.*, cap, share, flag, word",
        ),
    ],
)
def test_values_are_checked(options, message):
    cap = (int, lambda n: n > 0, "a positive int")
    given = {"cap": cap, "share": float, "flag": bool, "word": str}
    vg.schedule_pass(after="simplify", options=given)(same)
    with pytest.raises(vg.ScheduleError, match=message):
        vg.Schedule().at("relax", **options)
    assert vg.Schedule().at("relax", cap=1, share=2).at("relax", cap=vg.AUTO).labels["relax"].extra == (
        ("share", 2),
    )


# --- faults ---------------------------------------------------------------------------------------------------

BROKEN = {
    "a local that is not there": lambda p: changed(
        p, {"body": (ir.Assign("q", ir.Const(1, types.I64)), *p.body)}
    ),
    "no frontiers": lambda p: changed(p, {"frontiers": ()}),
    "another level": lambda p: changed(p, {"level": Level.ALGORITHM}),
    "no IR": lambda p: changed(p, {"body": (None,)}),
    "no program": lambda p: None,
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("entry", [vg.run, vg.explain])
def test_who_breaks_the_ir_is_named(graph, how, entry):
    @vg.schedule_pass(after="lower-storage")
    def clumsy(program, context):
        return BROKEN[how](program)

    with pytest.raises(vg.PassError) as caught:
        entry(vg.algorithms.sssp, graph, source=0)
    error = caught.value
    assert isinstance(error, vg.VGraphError)
    assert error.name == "clumsy"
    assert str(error).startswith(f"the pass clumsy ({__file__}:")
    assert "VGRAPH_DEBUG=4" in str(error)
    assert error.before.startswith("program sssp: kernel")
    if how == "a local that is not there":
        assert error.rule == "no local is called q"
        assert isinstance(error.node, ir.Assign)
        assert "Assign `q = 1:i64`" in str(error)
        assert "  q = 1:i64\n" in error.after


def test_the_ir_before_a_broken_pass_is_shown_by_the_knob(graph, capsys):
    vg.schedule_pass(after="lower-storage", name="clumsy")(lambda p, c: changed(p, {"frontiers": ()}))
    with scope(debug=4), pytest.raises(vg.PassError):
        vg.run(vg.algorithms.sssp, graph, source=0)
    assert "== sssp: after lower-storage ==\nprogram sssp: kernel" in capsys.readouterr().err


def test_an_exception_keeps_its_traceback_and_says_in_which_pass(graph):
    @vg.schedule_pass(after="simplify")
    def wrong(program, context):
        return program.nothing

    with pytest.raises(AttributeError) as caught:
        vg.run(vg.algorithms.sssp, graph, source=0)
    assert caught.value.__notes__[0].startswith(f"raised in the pass wrong ({__file__}:")


def test_an_own_pass_is_verified_though_the_manager_is_told_not_to():
    clumsy = vg.schedule_pass(before="choose-schedule", name="clumsy")(
        lambda p, c: changed(p, {"frontiers": ()})
    )
    program = parse_program("program p: algorithm, ids 32, offsets 32\nfrontier f\nrun {\n  f = all\n}\n")
    with pytest.raises(vg.PassError):
        PassManager().run(program, [clumsy], verify=False)


# --- code that is kept ----------------------------------------------------------------------------------------

STEP = 1


def add(program, amount):
    """Every constant 1 of type i64 becomes 1 + amount: hops are counted in other steps."""

    def rule(n):
        return changed(n, {"value": n.value + amount}) if isinstance(n, ir.Const) and n.value == 7 else None

    return transform(program, rule)


@vg.operator
def count(v):
    """A constant for the passes below to change."""
    v.x = 7


@vg.algorithm
def sevens(graph):
    """Seven everywhere."""
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    return x


def first(graph):
    """The number that the program gives, and whether its code was compiled now."""
    before = dict(compiled._loaded)
    result = vg.run(sevens, graph)
    return int(result.x[0]), compiled._loaded.keys() != before.keys()


def test_a_changed_pass_makes_new_code(graph, monkeypatch, tmp_path):
    assert first(graph)[0] == 7

    @vg.schedule_pass(after="simplify", name="shift")
    def shift(program, context):
        return add(program, STEP)

    assert first(graph) == (8, True)
    assert first(graph) == (8, False)
    monkeypatch.setitem(globals(), "STEP", 2)  # a value that the pass uses
    assert first(graph) == (9, True)

    @vg.schedule_pass(after="simplify", name="shift")
    def shift_more(program, context):
        return add(program, STEP + 10)

    assert first(graph) == (19, True)
    monkeypatch.setitem(globals(), "add", lambda program, amount: program)  # a function that it calls
    assert first(graph) == (7, True)
    monkeypatch.undo()
    shift_more.remove()
    assert first(graph)[0] == 7


PASS = """
import vgraph as vg
from vgraph.passes import ir, transform, with_fields

@vg.schedule_pass(after="simplify")
def shift(program, context):
    change = lambda n: with_fields(n, {"value": STEP}) if isinstance(n, ir.Const) and n.value == 7 else None
    return transform(program, change)

@vg.operator
def count(v):
    v.x = 7

@vg.algorithm
def sevens(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    return x

result = vg.run(sevens, vg.Graph.from_edges([0], [1]))
print(result.x[0], result.stats.cached)
"""


def test_code_on_disk_belongs_to_the_pass_as_it_is(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    file = tmp_path / "own.py"

    def run(step):
        file.write_text(PASS.replace("STEP", step))
        done = subprocess.run(
            [sys.executable, file], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run("8") == ["8", "False"]
    assert run("8") == ["8", "True"]
    assert run("9") == ["9", "False"]
    assert run("8") == ["8", "True"]


class Opaque:
    """Holds something that no text says."""


THING = Opaque()


def test_a_pass_without_a_fingerprint_is_compiled_anew(graph, tmp_path, monkeypatch):
    compiled._tell_uncached.cache_clear()

    added = [1, 1, 2]

    @vg.schedule_pass(after="simplify")
    def odd(program, context):
        return add(program, id(THING) * 0 + added.pop(0))

    with pytest.warns(CacheWarning, match="compiled anew for each run: the pass odd: THING is a Opaque"):
        assert first(graph) == (8, False)
    assert first(graph) == (8, False)  # told once
    assert first(graph) == (9, False)
    assert not added  # it was asked each time


def constant(value):
    def own(program, context):
        return value

    return vg.schedule_pass(after="simplify", name="own")(own)


@dataclasses.dataclass(frozen=True)
class Pair:
    a: int
    b: tuple[int, ...]


def test_fingerprints_tell_values_apart():
    made = [
        1,
        1.0,
        True,
        "1",
        None,
        (1,),
        [1],
        {1},
        {1: 2},
        {1: 3},
        Pair(1, (2,)),
        Pair(1, (3,)),
        Pair,
        np.int32(1),
    ]
    marks = [fingerprints([constant(value)]) for value in made]
    assert len(set(marks)) == len(made)
    assert marks == [fingerprints([constant(value)]) for value in made]


def test_a_module_of_the_users_is_looked_into(tmp_path, monkeypatch):
    helpers = python_types.ModuleType("some_helpers")
    helpers.__file__ = str(tmp_path / "some_helpers.py")
    exec("LIMIT = 1\ndef f():\n    return LIMIT", helpers.__dict__)

    @vg.schedule_pass(after="simplify")
    def own(program, context):
        return helpers.f()

    before = fingerprints([own])
    assert before == fingerprints([own])
    helpers.LIMIT = 2
    assert before != fingerprints([own])


# --- the example of docs/passes.md ----------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [2, 1000, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 7))])
def test_a_capped_frontier_ends_in_the_same_fixpoint(tmp_path, monkeypatch, cap):
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    file = tmp_path / "own_cap.py"
    file.write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    runpy.run_path(str(file))
    plain = vg.Schedule().at("relax", direction=vg.PUSH, drive=vg.DATA, frontier=vg.SPARSE)
    text = ""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        src, dst = rng.integers(0, 15, (2, 60))
        weight = rng.integers(0, 9, 60).astype(np.int32)
        graph = Graph.from_edges(src, dst, num_vertices=15, weight=weight)
        programs = []
        for schedule in (plain, plain.at("relax", frontier_cap=cap)):
            context = Context(schedule, threads=0)
            text = text or vg.explain(vg.algorithms.sssp, graph).passes["frontend"]
            programs.append(PassManager(context).run(parse_program(text), pipeline()))
        want = interpret(programs[0], graph, {"source": 0})
        rounds = []
        found = interpret(programs[1], graph, {"source": 0}, seed=seed, threads=3, trace=rounds)
        np.testing.assert_array_equal(found["dist"], want["dist"])
        assert rounds


# --- the tool -------------------------------------------------------------------------------------------------


def test_the_tool_loads_modules_with_passes(tmp_path, capsys, graph):
    module, file = tmp_path / "more.py", tmp_path / "p.ir"
    module.write_text(
        "import vgraph as vg\nfrom vgraph.passes import with_fields\n\n"
        "@vg.schedule_pass(before='pack-tuples')\ndef call_it_q(program, context):\n"
        "    return with_fields(program, {'name': 'q'})\n"
    )
    file.write_text("program p: algorithm, ids 32, offsets 32\nrun {\n}\n")
    assert tool.main([str(file), "--load", str(module), "--passes", "call-it-q"]) == 0
    assert capsys.readouterr().out.startswith("program q: algorithm")
    assert tool.main(["--load", str(module), "--list"]) == 0
    assert capsys.readouterr().out.startswith("call-it-q")
    with pytest.raises(SystemExit, match=r"nowhere\.py"):
        tool.main(["--load", str(tmp_path / "nowhere.py"), "--list"])
