"""A few hundred mutated files by default, many thousands in a watched process under `slow`."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import fuzz_readers
import pytest
from mutated_files import mutation, seeds

from vgraph.graph import arrays


def test_valid_files_are_read(tmp_path: Path) -> None:
    for files in seeds():
        assert fuzz_readers.outcome(tmp_path, files, {}) == "graph", files


@pytest.mark.parametrize("part", range(4))
def test_mutated_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(arrays, "memory", lambda: 1 << 24)
    cases = seeds()
    counts: Counter[str] = Counter()
    for index in range(100):
        rng = random.Random(f"{part} {index}")
        files, options = mutation(rng, cases)
        counts[fuzz_readers.outcome(tmp_path, files, options, rng.choice(fuzz_readers.BLOCKS))] += 1
    assert counts["graph"] > 5
    assert counts["GraphFormatError"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_many_mutated_files(seed: int, tmp_path: Path) -> None:
    assert fuzz_readers.main(["--mutations", "10000", "--seed", f"{seed}", "--keep", f"{tmp_path}"]) == 0


def test_a_raw_error_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fuzz_readers, "read", lambda *_, **__: {}["absent"])
    with pytest.raises(KeyError):
        fuzz_readers.outcome(tmp_path, {"plain.el": b"0 1\n"}, {})


def test_parsers_that_differ_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fuzz_readers.table, "is_comment", lambda *_: True)  # of the slow parser alone
    with pytest.raises(AssertionError, match="read line by line"):
        fuzz_readers.outcome(tmp_path, {"plain.el": b"0 1\n"}, {})
