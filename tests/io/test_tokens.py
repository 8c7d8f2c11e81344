"""The block scanner against reading one number at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vgraph.io.tokens import _plain, parse_number, scan

token = st.one_of(
    st.integers(0, 10**19 - 1).map(str),
    st.integers(-(10**6), 10**6).map(str),
    st.floats().map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.text("0123456789.-+einfa", min_size=1, max_size=6),
)
gap = st.sampled_from([" ", "\t", "  ", "\n", "\n\n", " \n"])


@given(st.lists(st.tuples(token, gap), max_size=20))
@example([("1-2", "\n")])
@example([(".", "\n"), ("-", " "), ("-.", "\n")])
@example([("0.30000000000000004", " "), ("18446744073709551615", "\n")])
@example([("-9223372036854775808", " "), ("9223372036854775807", "\n")])
@example([("9223372036854775808", "\n")])
@example([("1e400", " "), ("-1d-5", "\n")])
def test_scan_is_parse_number(pieces: list[tuple[str, str]]) -> None:
    block = ("".join(text + space for text, space in pieces) + "\n").encode()
    words = block.split()
    tokens = scan(block)
    single = [parse_number(word) for word in words]
    if tokens is None:
        long = [word for word in words if sum(48 <= byte < 58 for byte in word) > 19]
        assert None in single or long
        return
    assert tokens.values.size == len(words)
    assert tokens.per_line is not None
    assert tokens.per_line.tolist() == [len(line.split()) for line in block.split(b"\n")[:-1]]
    for index, expected in enumerate(single):
        part = slice(index, index + 1)
        got = tokens.numbers(part)
        plain = tokens.plain(part)
        assert (plain is not None) == words[index].isdigit()
        if got is None:  # an integer beyond int64, or the least that it holds
            assert abs(int(words[index])) > (1 << 63) - 1
            continue
        assert expected is not None
        assert (got.dtype.kind == "f") == isinstance(expected, float)
        np.testing.assert_array_equal(got, np.array([expected]))
        if isinstance(expected, float):
            assert np.signbit(got[0]) == np.signbit(expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"+5", 5),
        (b"-0", 0),
        (b"1.5D+02", 150.0),
        (b"2d0", 2.0),
        (b"-9223372036854775808", -(1 << 63)),
        (b"9223372036854775808", 1 << 63),
        (b"18446744073709551615", (1 << 64) - 1),
        (b"18446744073709551616", None),
        (b"-9223372036854775809", None),
        (b"1e400", None),
        (b"1e-400", 0.0),
        (b"5-", None),
        (b"1_000", None),
        (b"1__0.0", None),
        (b"9" * 5000, None),
        (b"0." + b"1" * 2000, 1 / 9),
        (b"0." + b"1" * 5000, None),
        (b"infinity", np.inf),
        (b"-Inf", -np.inf),
    ],
)
def test_numbers(text: bytes, value: float | None) -> None:
    got = parse_number(text)
    assert got == value
    assert type(got) is type(value)


def test_a_minus_before_an_integer_zero_is_dropped_beside_decimals() -> None:
    tokens = scan(b"-0 -0.0 0.5\n")
    assert tokens is not None
    numbers = tokens.numbers(slice(None))
    assert numbers is not None
    assert np.signbit(numbers).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("block", "columns", "regular"),
    [
        (b"1 2\n3 4\n", 2, True),
        (b"1 2\n3\n4 5 6\n", 2, False),
        (b"1 2\n\n3 4\n", 2, False),
        (b"1 2 \n3 4\n", 2, False),
        (b"1.5 2\n3 -4\n", 2, True),
        (b"1.5 2 3\n-4\n", 2, False),
    ],
)
def test_regular_blocks(block: bytes, columns: int, regular: bool) -> None:
    tokens = scan(block, columns)
    assert tokens is not None
    assert (tokens.per_line is None) == regular


@pytest.mark.parametrize("block", [b"1,2\n3,4\n", b"1.5,2\n3,-4\n"])
def test_commas(block: bytes) -> None:
    assert scan(block, 2) is None
    tokens = scan(block, 2, comma=True)
    assert tokens is not None
    assert tokens.per_line is None
    assert scan(block.replace(b",", b" "), 2, comma=True) is None
    assert scan(block.replace(b",", b",,", 1), 2, comma=True) is None
    assert scan(block + b"\n", 2, comma=True) is None


@pytest.mark.parametrize(
    ("block", "columns", "comma", "values"),
    [
        (b"1 20\n300\t0\n", 2, False, [1, 20, 300, 0]),
        (b"1,20\n", 2, True, [1, 20]),
        (b"007\n999999999999999999\n", 1, False, [7, 10**18 - 1]),
        (b"", 2, False, []),
        (b"9999999999999999999\n", 1, False, None),
        (b"1,20\n", 2, False, None),
        (b"1 20\n", 2, True, None),
        (b"1  20\n", 2, False, None),
        (b"1 20 3\n", 2, False, None),
        (b"1\n20\n", 2, False, None),
        (b"1 -2\n", 2, False, None),
        (b"1 2.5\n", 2, False, None),
        (b"\n1 2\n", 2, False, None),
        (b"1 2\n3\n", 2, False, None),
    ],
)
def test_plain_blocks_are_read_in_machine_code(
    block: bytes, columns: int, comma: bool, values: list[int] | None
) -> None:
    found = _plain(block, columns, comma)
    assert (found if found is None else found.tolist()) == values
