"""Readers under a fuzzer that is guided by coverage: what `fuzz_readers.py` does, with inputs that reach new code.

    pip install atheris
    python tests/io/fuzz_atheris.py corpus -max_total_time=600

The first byte of an input says which format, direction and block size; the rest is the file. `corpus` is a folder that
is made, and filled with valid files, if there is none. What fails is written beside it, and ends the run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["vgraph.io", "vgraph.graph"]):
    import fuzz_readers
    from mutated_files import seeds

from vgraph.graph import arrays

NAMES = ["x.el", "x.csv", "x.gr", "x.mtx", "x.graph", "x.adj", "x.npz", "x", "x.v", "x.col"]
BESIDE = {"x.e": b"10 20 5\n20 10 6\n"}
BLOCKS = (1 << 18, 64, 7)


def read_one(folder: Path, data: bytes) -> None:
    """Read one input."""
    kind, text = data[0] if data else 0, data[1:]
    rest, name = divmod(kind, len(NAMES))
    options = {"directed": (None, True, False)[rest % 3]}
    fuzz_readers.outcome(folder, {NAMES[name]: text, **BESIDE}, options, BLOCKS[rest // 3 % 3])


def fill(corpus: Path) -> None:
    """Valid files, as inputs."""
    corpus.mkdir()
    for number, files in enumerate(seeds()):
        name, data = next(iter(files.items()))
        kinds = [kind for kind, known in enumerate(NAMES) if Path(known).suffix == Path(name).suffix]
        (corpus / f"{number}").write_bytes(bytes(kinds[:1] or [0]) + data)


if __name__ == "__main__":
    arrays.memory = lambda: fuzz_readers.MEMORY  # type: ignore[assignment]
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    if folders and not folders[0].exists():
        fill(folders[0])
    with tempfile.TemporaryDirectory() as name:
        atheris.Setup(sys.argv, lambda data: read_one(Path(name), data))
        atheris.Fuzz()
