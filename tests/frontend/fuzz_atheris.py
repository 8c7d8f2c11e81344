"""Texts under a fuzzer that is guided by coverage: what `fuzz_texts.py` does, with inputs that reach new code.

    pip install atheris
    python tests/frontend/fuzz_atheris.py corpus -max_total_time=600

The first byte of an input says what reads it; the rest is the text. `corpus` is a folder that is made, and filled with
valid texts, if there is none. What fails is written beside it, and ends the run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["vgraph.compiler", "vgraph.schedule", "vgraph.refusals"]):
    import fuzz_texts

KINDS = list(fuzz_texts.KINDS)


def read_one(data: bytes) -> None:
    """Read one input."""
    if data:
        fuzz_texts.attempt(KINDS[data[0] % len(KINDS)], data[1:].decode("utf-8", "replace"))


def fill(corpus: Path) -> None:
    """Valid texts, as inputs."""
    corpus.mkdir()
    for kind, name in enumerate(KINDS):
        for number, text in enumerate(fuzz_texts.KINDS[name][1]()):
            (corpus / f"{name}-{number}").write_bytes(bytes([kind]) + text.encode())


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    if folders and not folders[0].exists():
        fill(folders[0])
    atheris.Setup(sys.argv, read_one)
    atheris.Fuzz()
