"""Random numbers without a state: Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3; SC 2011).

A block cipher for numbers: words that look random are a function of a key (the seed of a run) and a counter (what the
number is drawn for). The backends have the same function in their own languages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

_T = TypeVar("_T")

ROUNDS: Final = 10
MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
INCREMENTS: Final = (0x9E3779B9, 0xBB67AE85)
"""What is added to the two words of the key from round to round."""

SEED: Final = "run.seed"
"""The hidden parameter of programs that draw: an uint64."""
FRACTION: Final = 53
"""Bits of a float64 in [0, 1)."""
_WORD: Final = 0xFFFFFFFF


def philox4x32(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """The four 32-bit words that belong to four of a counter and two of a key."""
    a, b, c, d = counter
    k, m = key
    for _ in range(ROUNDS):
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, b, c, d = (second >> 32) ^ b ^ k, second & _WORD, (first >> 32) ^ d ^ m, first & _WORD
        k, m = (k + INCREMENTS[0]) & _WORD, (m + INCREMENTS[1]) & _WORD
    return a, b, c, d


def philox(key: int, low: int, high: int) -> int:
    """The function `philox` of the IR: the first 64 bits for a counter of 128."""
    words = philox4x32((low & _WORD, low >> 32, high & _WORD, high >> 32), (key & _WORD, key >> 32))
    return words[0] | words[1] << 32


def tag(count: int) -> int:
    """What the seed is combined with (by `^`), so that draws with different numbers of keys have nothing in common."""
    return count << 32


def chained(block: Callable[[_T, _T, _T], _T], key: _T, keys: Sequence[_T], zero: _T) -> _T:
    """The 64 bits for one or more keys: two go into the first block, each further one into one with the result."""
    found = block(key, keys[0], keys[1] if len(keys) > 1 else zero)
    for more in keys[2:]:
        found = block(key, found, more)
    return found
