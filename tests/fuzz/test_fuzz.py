"""Random programs give the same on every device; so do those that once did not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vgraph.refusals.base import Refusal

from .programs import program_text
from .runs import SMALL, Runs, Subject, Way, check, compare, noted

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.py"))
FEATURES = sorted((Path(__file__).parent / "features").glob("*.py"))
QUICK = 6
"""Random programs of a default run, three to a test. `python -m tests.fuzz` runs more, in `.ci/run` too."""
EACH = 3


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.stem)
def test_what_once_failed(path: Path) -> None:
    """Every program of the corpus, in the ways in which it failed and in some others."""
    text = path.read_text()
    for seed in range(2):
        subject = Subject(text, seed)
        for given in noted(text, "way"):
            runs = Runs(subject, Way(**json.loads(given)))
            for shape in SMALL:
                compare(runs, shape, subject.expected(subject.graph(shape)))
        if seed == 0:
            check(subject)


@pytest.mark.parametrize("path", FEATURES, ids=lambda p: p.stem)
def test_features(path: Path) -> None:
    """Programs that use one piece of the language in every place that has it."""
    for seed in range(2):
        check(Subject(path.read_text(), seed), cuda=seed == 0, large=seed == 1)


@pytest.mark.parametrize("first", range(0, QUICK, EACH))
def test_random_programs(first: int) -> None:
    for seed in range(first, first + EACH):
        try:
            subject = Subject(program_text(seed), seed)
        except Refusal:
            continue
        check(subject, cuda=seed % 10 == 0, large=seed % 4 == 0)
