"""`vgraph partition`: parts to a file, figures of a file, a map."""

from __future__ import annotations

import json
from pathlib import Path

import vgraph as vg


def test_parts_go_to_a_file_and_come_back(vgraph):
    out = vgraph("partition", "3", "-g", "karate", "--threads", "1", "--out", "karate.part.3").stdout
    assert "3 parts by vgraph" in out
    parts = [int(line) for line in Path("karate.part.3").read_text().splitlines()]
    found = vg.partition(vg.read(vg.data.path("karate"), directed=False), 3, threads=1)
    assert parts == found.parts.tolist()
    again = json.loads(vgraph("partition", "3", "-g", "karate", "--parts", "karate.part.3", "--json").stdout)
    assert (again["cut"], again["volume"], again["method"]) == (found.cut, found.volume, "given")


def test_a_map(vgraph):
    Path("roads.gr").write_text("p sp 3 2\na 1 2 1\na 2 3 1\n")
    Path("roads.co").write_text("p aux sp co 3\nv 1 0 0\nv 2 1 0\nv 3 1 1\n")
    vgraph("partition", "2", "-g", "roads.gr", "--method", "blocks", "--plot", "parts.png")
    assert Path("parts.png").stat().st_size > 0


def test_mistakes_are_told(vgraph):
    assert "the methods are" in vgraph("partition", "2", "-g", "karate", "--method", "best", code=2).stderr
    assert (
        "there is no folder" in vgraph("partition", "2", "-g", "karate", "--out", "no/parts", code=2).stderr
    )
    Path("few.part").write_text("0\n1\n")
    assert "has 2 lines" in vgraph("partition", "2", "-g", "karate", "--parts", "few.part", code=2).stderr
    Path("high.part").write_text("7\n" * 34)
    assert "from 0 to 7" in vgraph("partition", "2", "-g", "karate", "--parts", "high.part", code=2).stderr
    assert "cannot be drawn" in vgraph("partition", "2", "-g", "karate", "--plot", "a.png", code=2).stderr
