"""Blocks read many numbers at a time, and a line at a time: the same graph, or the same refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz_readers import patched
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vgraph.errors import GraphFormatError
from vgraph.io import lists, streams, table, tokens
from vgraph.io.streams import TextSource
from vgraph.io.table import Layout

LAYOUTS = [
    Layout(("source", "target")),
    Layout(("source", "target", "weight"), num_vertices=50),
    Layout(("weight", "source", "lanes", "target"), (1, 3), quotes=True),
    Layout(("source", "target", "weight"), comma=True, quotes=True),
    Layout(("target", "source"), (1, 0), comma=True, quotes=True, num_vertices=9),
    Layout(("source", "target", "weight"), (0, 1), 1, 50, b"a", comments=b"c"),
    Layout(("source", "target"), (0, 1), 1, 50, comments=b"c"),
    Layout(("source", "target", "weight"), (0, 1), 1, 50, comments=b"%", values="integer"),
    Layout(("weight",), (), comments=b"%", values="unsigned"),
    Layout(("id", "value"), (0,), num_vertices=1 << 63, comments=b"#"),
]

digits = st.text("0123456789", min_size=1, max_size=3)
number = st.one_of(
    digits,
    st.integers(0, 1 << 65).map(str),
    st.integers(-(1 << 64), 1 << 64).map(str),
    st.sampled_from(
        [
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "-0",
            "+7",
            "0100",
            "1e400",
            "1.5D+02",
        ]
    ),
    st.floats().map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.text("0123456789.-+eEdDinfaty_", min_size=1, max_size=7),
)
word = st.one_of(
    number, number, number, st.sampled_from(["a", "#", "%", "c", '"', "", "\x0b", "\x00", "\xa0"])
)
quoted_word = st.one_of(word, word, word, number.map('"{}"'.format), number.map('" {} "'.format))
between = st.sampled_from([" ", " ", " ", ",", ",", ",", "\t", "  ", " , ", "\r", "\x0c"])
end = st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\n\n", " \n", "# c\n", "\na \n", "\n% c\n"])


@st.composite
def regular_blocks(draw: st.DrawFn, layout: Layout) -> bytes:
    """Lines as `layout` wants them, but for a word, a separator or an end here and there."""
    lines = draw(st.integers(0, 8))
    text = ""
    for _ in range(lines):
        usual = "," if layout.comma else " "
        fields = [
            draw(digits) if at in layout.ids else draw(st.one_of(number, digits))
            for at in range(len(layout.fields))
        ]
        text += (layout.mark.decode() + " " if layout.mark else "") + usual.join(fields) + "\n"
    if draw(st.booleans()) and text:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.one_of(quoted_word, between, end)) + text[at + draw(st.integers(0, 2)) :]
    return (text + "\n").encode("latin-1", "replace")


any_block = st.lists(st.tuples(quoted_word, st.one_of(between, between, end)), max_size=20).map(
    lambda parts: ("".join(first + last for first, last in parts) + "\n").encode("latin-1", "replace")
)
cases = st.sampled_from(LAYOUTS).flatmap(
    lambda layout: st.tuples(
        st.just(layout), st.one_of(regular_blocks(layout), regular_blocks(layout), any_block)
    )
)


class Refused:
    """A file whose faults are raised, with their lines, as those of a file are."""

    path = Path("a file")
    line_number = 1

    fail = TextSource.fail


def read_table(block: bytes, layout: Layout) -> Any:
    try:
        ids, values = table.read_block(Refused(), 5, block, layout)  # type: ignore[arg-type]
    except GraphFormatError as error:
        return error.line, error.reason
    return [(x.dtype, x.tolist() if x.dtype == object else x.tobytes()) for x in (*ids, *values)]


def agree_on_tables(case: tuple[Layout, bytes]) -> None:
    layout, block = case
    fast = read_table(block, layout)
    with patched(table, scan=lambda *_, **__: None):
        assert read_table(block, layout) == fast
    with patched(tokens, LARGE=0):  # in machine code, where it is regular
        assert read_table(block, layout) == fast


@given(cases)
@example((LAYOUTS[5], b"a \n1 2 3\n"))  # the mark and the numbers on lines of their own
@example((LAYOUTS[1], b"0 1 -0\n0 1 0.5\n"))
@example((LAYOUTS[1], b"0 1 18446744073709551615\n0 1 0.5\n"))
@example((LAYOUTS[1], b"0 1 -9223372036854775808\n"))
@example((LAYOUTS[1], b"+0 1 5\n"))
@example((LAYOUTS[2], b'"1" "2" " 3" 4\n'))
@example((LAYOUTS[3], b'"1","2",""\n'))
@example((LAYOUTS[7], b"1 2 3.0\n"))
@example((LAYOUTS[8], b"-0\n-1\n"))
@settings(max_examples=100)
def test_tables(case: tuple[Layout, bytes]) -> None:
    agree_on_tables(case)


@pytest.mark.slow
@given(cases)
@settings(max_examples=10_000)
def test_many_tables(case: tuple[Layout, bytes]) -> None:
    agree_on_tables(case)


def read_list(block: bytes) -> Any:
    try:
        values, lengths = lists._read_block(Refused(), 5, block, b"#%")  # type: ignore[arg-type]
    except GraphFormatError as error:
        return error.line, error.reason
    return values.dtype, values.tolist(), lengths.tolist()


def agree_on_lists(block: bytes) -> None:
    fast = read_list(block)
    with patched(lists, scan=lambda *_, **__: None):
        assert read_list(block) == fast


list_blocks = st.one_of(
    any_block,
    st.lists(st.lists(st.integers(0, 1 << 63).map(str)).map(" ".join)).map(
        lambda x: ("\n".join(x) + "\n").encode()
    ),
)


@given(list_blocks)
@example(b"1 +2\n")
@example(b" \n\n1\n#\n")
@settings(max_examples=100)
def test_lists(block: bytes) -> None:
    agree_on_lists(block)


@pytest.mark.slow
@given(list_blocks)
@settings(max_examples=5_000)
def test_many_lists(block: bytes) -> None:
    agree_on_lists(block)


SMALL_IDS = [
    layout for layout in LAYOUTS[:5] if layout.fields[:2] in (("source", "target"), ("target", "source"))
]


@given(st.sampled_from(SMALL_IDS).flatmap(regular_blocks), st.integers(1, 40))
@settings(max_examples=100)
def test_blocks_of_any_size(tmp_path: Path, text: bytes, size: int) -> None:
    """What a file gives does not depend on where it is cut into blocks."""
    from vgraph.io import read

    path = tmp_path / "x.csv"
    path.write_bytes(text)
    found = []
    for block in (streams.BLOCK, size):
        with patched(streams, BLOCK=block):
            try:
                graph = read(path)
            except GraphFormatError as error:
                found.append(str(error))
            else:
                arrays = graph.out.row_offsets, graph.out.column_indices, *graph.edge_properties.values()
                found.append([(array.dtype, array.tobytes()) for array in arrays])
    assert found[0] == found[1]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: "-".join(layout.fields))
def test_regular_blocks_are_read_fast(layout: Layout) -> None:
    """The quick way is gone, otherwise, and this file compares one way with itself."""
    separator = "," if layout.comma else " "
    line = (layout.mark.decode() + " " if layout.mark else "") + separator.join("2" for _ in layout.fields)
    block = (line + "\n").encode() * 3
    ids, values = table._read_fast(block, layout) or ([], [])
    assert [part.tolist() for part in ids] == [[2 - layout.base] * 3] * len(layout.ids)
    assert [part.tolist() for part in values] == [[2] * 3] * len(layout.others)
    assert all(part.dtype == np.int64 for part in values)
