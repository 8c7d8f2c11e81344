"""Any text of an operator, an algorithm, textual IR or a schedule is read, or refused with a `vg.VGraphError`."""

from contextlib import suppress

import fuzz_texts
import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vgraph as vg
from vgraph.cli.inputs import parse_schedule
from vgraph.compiler.ir.text import parse_program

EDITS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 5), st.integers(0, 1000)), min_size=1, max_size=6
)


@pytest.mark.parametrize("kind", fuzz_texts.KINDS)
def test_texts_as_they_are(kind):
    seeds = fuzz_texts.KINDS[kind][1]()
    assert len(seeds) > 2
    read = [fuzz_texts.attempt(kind, seed) for seed in seeds]
    assert all(read) or (kind == "program" and read[0] and sum(read) > 5)  # some are for other graphs


@pytest.mark.parametrize("kind", fuzz_texts.KINDS)
def test_mutated_texts(kind):
    seeds, pool = fuzz_texts.KINDS[kind][1](), fuzz_texts.pool(kind)
    read = []

    @settings(max_examples=80)
    @given(st.sampled_from(seeds), EDITS)
    def attempt(seed, edits):
        read.append(fuzz_texts.attempt(kind, fuzz_texts.mutated(seed, edits, pool)))

    for k in range(4):  # few edited texts of the IR are read, of 80 sometimes none
        hypothesis.seed(k)(attempt)()
        if {True, False} == set(read):
            return
    raise AssertionError(f"of {len(read)} texts all or none were refused")


@pytest.mark.parametrize(("text", "read"), [(r"\ comes to dst", True), (r"\x comes to dst", False)])
def test_escape_sequences_that_python_does_not_know(text, read):
    """The one Python warns of where it reads the file; the other is an error there."""
    given = f'def f(src, edge, dst):\n    dst.x = min(dst.x, src.x)\n    """{text}"""\n'
    assert fuzz_texts.attempt("function", given) == read


@pytest.mark.parametrize(
    "reader", [parse_program, lambda text: parse_schedule([text])], ids=["ir", "schedule"]
)
@settings(max_examples=100)
@given(text=st.text(max_size=60))
def test_any_text(reader, text):
    with suppress(vg.VGraphError):
        reader(text)


HEAD = "program p: algorithm, ids 32, offsets 32\nglobal @x: i64\nrun {\n"


@pytest.mark.parametrize(
    "body",
    [
        "  @x = " + "9" * 5000 + ":i64\n}\n",
        "  @x = 1e5:i64\n}\n",
        "  @x = 1.0e400:i64\n}\n",
        "  @x = " + "(" * 3000 + "1:i64" + " + 1:i64)" * 3000 + "\n}\n",
        "  while true {\n" * 2000 + "  break\n" + "}\n" * 2001,
    ],
    ids=["digits", "exponent", "infinite", "brackets", "blocks"],
)
def test_ir_that_is_too_much(body):
    with pytest.raises(vg.VGraphError) as caught:
        parse_program(HEAD + body)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("digits", [20, 5000])
@pytest.mark.parametrize(
    "place", ["ids {}, offsets 32", "ids 32, offsets {}", "ids 32, offsets 32, threads {}"]
)
def test_numbers_of_the_head_of_ir(place, digits):
    with pytest.raises(vg.VGraphError):
        parse_program(f"program p: algorithm, {place.format('9' * digits)}\nrun {{\n}}\n")


@pytest.mark.parametrize("option", ["segments={}", "order=delta({})", "balance=split({})", "prefetch=-{}"])
def test_numbers_of_schedules(option):
    with pytest.raises(vg.ScheduleError) as caught:
        parse_schedule(["relax: " + option.format("9" * 5000)])
    assert len(str(caught.value)) < 1000
