"""Numbers from text, many at a time: a block of lines becomes arrays, with no Python code per number.

Large blocks that hold nothing but digits and one separator between two numbers are read in machine code
(`compiler/backends/prelude/tokens.loops`), all others by NumPy: eight digits are read as one 64-bit integer and
folded with three multiplications (see D. Lemire, "Quickly parsing eight digits", 2022). Decimals up to 15 digits are
a mantissa divided by a power of ten, both exact in float64, so that the quotient is rounded correctly (W. D. Clinger,
"How to read floating point numbers accurately", 1990); longer ones and exponents go through `float`.
"""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import machine
from vgraph.records import dataclass

PAD = 24  # bytes before the first token, so that the 8-byte windows of long tokens stay inside the buffer

LARGE = 1 << 17  # bytes of a block from which on machine code pays that has to be compiled once
_MAKING = threading.Lock()

MAX_NUMBER = 2048  # characters of a number; the longest of a float64, in full, has 1077
_FORTRAN = bytes.maketrans(b"Dd", b"ee")
_DIGIT, _SEPARATOR, _DOT, _SIGN, _OTHER, _BAD = range(6)
_NEWLINE, _COMMA, _MINUS = b"\n,-"
_MAX_DIGITS = 19  # what a uint64 holds
_INT64_MAX = np.uint64((1 << 63) - 1)
_EXACT = np.uint64(1 << 53)
_POWERS = 10.0 ** np.arange(20)
_INTEGER_POWERS = np.uint64(10) ** np.arange(20, dtype=np.uint64)


def _byte_classes() -> NDArray[np.uint8]:
    classes = np.full(256, _BAD, np.uint8)
    for members, kind in (
        (b"0123456789", _DIGIT),
        (b" \t\n\r,", _SEPARATOR),
        (b".", _DOT),
        (b"+-", _SIGN),
        (b"eEdDinftyaINFTYA", _OTHER),
    ):
        classes[np.frombuffer(members, np.uint8)] = kind
    return classes


_CLASSES = _byte_classes()


@dataclass(frozen=True)
class Tokens:
    """The numbers of a block, in reading order.

    `values` uint64: the digits, without sign and decimal point. `per_line` int64: numbers on each line, blank
    lines included; None if every line has just the number of columns asked for. `forms`: None if every number
    is a plain sequence of digits.
    """

    values: NDArray[np.uint64]
    per_line: NDArray[np.int64] | None
    forms: Forms | None = None

    def plain(self, part: slice) -> NDArray[np.uint64] | None:
        """The numbers `part`, or None if one of them is not a plain sequence of digits."""
        forms = self.forms
        if forms is not None and (forms.signed[part] | forms.fractional[part]).any():
            return None
        return self.values[part]

    def numbers(self, part: slice) -> NDArray[Any] | None:
        """The numbers `part`: int64, or float64 if any has a point or exponent.

        None if an integer does not fit int64, or if it is the least of all: `parse_number` reads what is larger.
        """
        values, forms = self.values[part], self.forms
        fractional = None if forms is None else forms.fractional[part]
        if values.max(initial=0) > _INT64_MAX:
            large = values > _INT64_MAX
            if fractional is None or (large & ~fractional).any():
                return None
        if forms is None or fractional is None or not fractional.any():
            whole = values.astype(np.int64)
            if forms is not None:
                np.negative(whole, out=whole, where=forms.negative[part])
            return whole
        floats: NDArray[np.float64] = values / _POWERS[forms.scale[part]]
        minus = forms.negative[part] & (fractional | (values > 0))  # -0 is 0, -0.0 is not
        np.negative(floats, out=floats, where=minus)
        if forms.odd is not None:
            np.copyto(floats, forms.floats[part], where=forms.odd[part])
        return floats


@dataclass(frozen=True)
class Forms:
    """How numbers are written: with a sign, a minus; with a point or exponent; with `scale` digits behind the point.

    `odd` marks those whose value is in `floats` instead; it is None if there are none.
    """

    signed: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    fractional: NDArray[np.bool_]
    scale: NDArray[np.int64]
    odd: NDArray[np.bool_] | None
    floats: NDArray[np.float64]


def scan(block: bytes, columns: int = 0, *, comma: bool = False) -> Tokens | None:
    """The numbers of `block`, whole lines of numbers between blanks; None if it holds anything else.

    `columns`: what `per_line` is compared with. `comma`: exactly one comma, and no blank, between numbers.
    None means that the block has to be read line by line, to find the fault or because it is unusual.
    """
    if columns and len(block) >= LARGE and (plain := _plain(block, columns, comma)) is not None:
        return Tokens(plain, None)
    buffer = np.frombuffer(b"\n" * PAD + block, np.uint8)
    breaks = np.flatnonzero((buffer - np.uint8(48)) > 9)
    characters = buffer[breaks[PAD:]]
    lengths = np.diff(breaks[PAD - 1 :])
    lengths -= 1
    breaks = breaks[PAD:]
    kinds = _CLASSES[characters]
    if kinds.max() != _SEPARATOR:
        return None if kinds.max() == _BAD else _signed(buffer, breaks, lengths, kinds, columns, comma)
    regular = _is_regular(characters, columns, comma) and lengths.min() > 0
    if not regular and _has_comma(characters, comma):
        return None
    used = lengths > 0
    values = _unsigned(buffer, breaks, lengths) if regular else _unsigned(buffer, breaks[used], lengths[used])
    if values is None:
        return None
    return Tokens(values, None if regular else _per_line(characters, used))


def _plain(block: bytes, columns: int, comma: bool) -> NDArray[np.uint64] | None:
    """The numbers of a block in machine code; None unless all are of 1 to 18 digits, with one separator between two."""
    assert machine.maker is not None
    with _MAKING:  # threads that read blocks ask at the same time
        read = machine.maker(
            "tokens", "vg_tokens_read", {}, {"COLUMNS": columns, "COMMA": ord(", "[not comma])}
        )
    text, values = np.frombuffer(block, np.uint8), np.empty(len(block) // 2 + 2, np.uint64)
    found = np.empty(1, np.int64)
    read(0, text.size, text.ctypes.data, values.ctypes.data, found.ctypes.data)
    return values[: int(found[0])] if found[0] >= 0 else None


def _is_regular(separators: NDArray[np.uint8], columns: int, comma: bool) -> bool:
    """Whether the line ends after every `columns`-th separator, and only there."""
    if not columns or separators.size % columns:
        return False
    table = separators.reshape(-1, columns)
    inside = table[:, :-1]
    good = inside == _COMMA if comma else (inside != _NEWLINE) & (inside != _COMMA)
    return bool((table[:, -1] == _NEWLINE).all() and good.all())


def _has_comma(separators: NDArray[np.uint8], comma: bool) -> bool:
    return comma or bool((separators == _COMMA).any())


def _per_line(separators: NDArray[np.uint8], used: NDArray[np.bool_]) -> NDArray[np.int64]:
    per_line: NDArray[np.int64] = np.diff(np.cumsum(used)[separators == _NEWLINE], prepend=0)
    return per_line


def _unsigned(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint64] | None:
    """The values of digit strings; None if one has more than 19 digits."""
    windows: NDArray[Any] = np.ndarray((buffer.size - 7,), "<u8", buffer, 0, (1,))
    values = _eight_digits(windows[ends - 8], lengths)
    longest = int(lengths.max(initial=0))
    if longest > _MAX_DIGITS:
        return None
    for done in (8, 16):
        if longest > done:
            rest = np.flatnonzero(lengths > done)
            high = _eight_digits(windows[ends[rest] - done - 8], lengths[rest] - done)
            values[rest] += high * _INTEGER_POWERS[done]
    return values


def _eight_digits(window: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The value of the last min(length, 8) of the eight characters in each window (little endian)."""
    window &= _DIGIT_MASKS[np.minimum(lengths, 8)]
    window *= np.uint64(10 * 256 + 1)
    window >>= np.uint64(8)
    window &= np.uint64(0x00FF00FF00FF00FF)
    window *= np.uint64(100 * 65536 + 1)
    window >>= np.uint64(16)
    window &= np.uint64(0x0000FFFF0000FFFF)
    window *= np.uint64(10000 * (1 << 32) + 1)
    window >>= np.uint64(32)
    return window


# The last n of eight characters, and of each the low half, which is the digit.
_DIGIT_MASKS = np.array([0x0F0F0F0F0F0F0F0F >> 8 * (8 - n) << 8 * (8 - n) for n in range(9)], dtype=np.uint64)


def _signed(
    buffer: NDArray[np.uint8],
    breaks: NDArray[np.int64],
    lengths: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    columns: int,
    comma: bool,
) -> Tokens | None:
    """Tokens of several runs of digits, each ended by a break: a sign, a point, and at last a separator."""
    runs = _unsigned(buffer, breaks, np.minimum(lengths, _MAX_DIGITS))
    assert runs is not None
    last = np.flatnonzero(kinds == _SEPARATOR)
    parts = np.diff(last, prepend=-1)
    separators = buffer[breaks[last]]
    used = (parts > 1) | (lengths[last] > 0)
    per_line = None if _is_regular(separators, columns, comma) and used.all() else _per_line(separators, used)
    if per_line is not None:
        if _has_comma(separators, comma):
            return None
        last, parts = last[used], parts[used]

    digits = lengths[last]
    fractional = (parts > 1) & (kinds[last - 1] == _DOT)
    sign = last - 1 - fractional
    signed = (parts > 1 + fractional) & (kinds[sign] == _SIGN) & (lengths[sign] == 0)
    negative = signed & (buffer[breaks[sign]] == _MINUS)
    scale = np.where(fractional, digits, 0)
    whole_digits = np.where(fractional, lengths[last - 1], 0)
    digits += whole_digits
    odd = (parts != 1 + fractional + signed.astype(np.int64)) | (digits == 0)
    too_long = digits > _MAX_DIGITS
    if (too_long & ~fractional & ~odd).any():
        return None
    scale[too_long] = 0
    values = runs[last] + np.where(fractional, runs[last - 1], np.uint64(0)) * _INTEGER_POWERS[scale]
    odd |= fractional & (too_long | (values > _EXACT))
    fractional |= odd
    forms = _with_odd(buffer, breaks[last], Forms(signed, negative, fractional, scale, odd, np.empty(0)))
    return None if forms is None else Tokens(values, per_line, forms)


def _with_odd(buffer: NDArray[np.uint8], ends: NDArray[np.int64], forms: Forms) -> Forms | None:
    """The forms with the values of odd tokens, which end at `ends`; None if one is no number."""
    odd = np.flatnonzero(forms.odd) if forms.odd is not None else ends[:0]
    if not odd.size:
        return replace(forms, odd=None)
    texts = buffer.tobytes().replace(b",", b" ").split()
    numbers = [parse_number(texts[index]) for index in odd.tolist()]
    if None in numbers:
        return None
    floats = np.zeros(ends.size)
    floats[odd] = numbers
    return replace(forms, floats=floats)


def parse_number(text: bytes) -> int | float | None:
    """One number as `scan` reads it: an int if written as one, else a float; None if it is none, or does not fit.

    An exponent may be written with D, as Fortran does. Words are `inf`, `infinity` and `nan` in letters of any size.
    """
    if len(text) > MAX_NUMBER or b"_" in text:  # Python would take 1_000
        return None
    try:
        if is_integer(text):
            whole = int(text)
            return whole if -(1 << 63) <= whole < 1 << 64 else None
        number = float(text.translate(_FORTRAN))
    except ValueError:
        return None
    return None if math.isinf(number) and not text[-1:].isalpha() else number


def is_integer(text: bytes) -> bool:
    """Whether a number is written as an integer: a sign, perhaps, and digits."""
    return (text[1:] if text[:1] in (b"+", b"-") else text).isdigit()


def no_number(text: bytes) -> str:
    """Why `parse_number` gives None."""
    if len(text) > MAX_NUMBER:
        return f"has {len(text)} characters; numbers have at most {MAX_NUMBER}"
    word = text.translate(_FORTRAN).lower().replace(b"_", b"?")
    try:
        float(word)
    except ValueError:
        return "is not a number"
    return "does not fit 64 bits"
