"""How words of a command line become values and schedules; what files hold; what a terminal is shown."""

from __future__ import annotations

import io
import math
import sys

import numpy as np
import pytest

import vgraph as vg
from vgraph.cli import progress
from vgraph.cli.inputs import parse_schedule, parse_value
from vgraph.cli.report import counted, describe_values, rate, reached, write_result
from vgraph.runtime.result import duration


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("0.85", 0.85),
        ("1e-9", 1e-9),
        ("true", True),
        ("False", False),
        ("none", None),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("[1, 2]", [1, 2]),
    ],
)
def test_values(text, value):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_a_type_and_a_file(tmp_path):
    assert parse_value("float32") is vg.float32
    np.save(tmp_path / "seeds.npy", np.arange(3))
    assert parse_value(f"@{tmp_path / 'seeds.npy'}").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "here",
        "1 +",
        "",
        "__import__('os')",
        "@absent.npy",
        "9" * 5000,
        "[" * 5000,
        "{[]: 1}",
        "1\0",
        "-" * 9000 + "1",
    ],
)
def test_no_values(text):
    with pytest.raises(vg.VGraphError):
        parse_value(text)


def test_files_that_hold_no_array(tmp_path):
    np.savez(tmp_path / "several.npy.npz", np.arange(3))
    (tmp_path / "empty.npy").write_bytes(b"")
    np.save(tmp_path / "object.npy", np.array([None]))
    (tmp_path / "large.npy").write_bytes(
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<u8', 'fortran_order': False, 'shape': (1"
        + b"0" * 14
        + b",), }\n"
    )
    for path in tmp_path.iterdir():
        with pytest.raises(vg.VGraphError, match=r"cannot be read as a \.npy file"):
            parse_value(f"@{path}")
    with pytest.raises(vg.VGraphError, match=r"cannot be read as a \.npy file"):
        parse_value("@nul\0.npy")


def test_schedules():
    assert parse_schedule([]) is None
    words = ["relax: direction=push, drive = DATA", "update:sync=bsp,deduplicate=true"]
    assert parse_schedule(words) == (
        vg.Schedule()
        .at("relax", direction=vg.PUSH, drive=vg.DATA)
        .at("update", sync=vg.BSP, deduplicate=True)
    )
    assert parse_schedule(["relax: direction=push", "relax: direction=pull"]) == vg.Schedule().at(
        "relax", direction=vg.PULL
    )


def test_reached():
    assert reached(np.array([0, -1, 5, 2**31 - 1], np.int32)).tolist() == [True, False, True, False]
    assert reached(np.array([0, 2**32 - 1], np.uint32)).tolist() == [True, False]
    assert reached(np.array([0.0, -1.0, np.inf, np.nan])).tolist() == [True, True, False, False]
    assert reached(np.array([True, False])).all()


def test_values_in_words():
    assert describe_values(np.array([0, 7, 2**31 - 1], np.int32)) == "int32[3], 0 to 7, 1 not reached"
    assert describe_values(np.array([True, False])) == "bool[2], 1 true"
    assert describe_values(np.array([np.inf])) == "float64[1], nothing reached"
    assert describe_values(np.zeros((2, 3))) == "float64[2, 3], 0.0 to 0.0"
    assert describe_values(45) == "45"


def test_plurals():
    assert [counted(1, "vertices"), counted(1, "rounds")] == ["1 vertex", "1 round"]
    assert [counted(0, "edges"), counted(2000, "vertices")] == ["0 edges", "2,000 vertices"]


def test_units():
    assert [duration(t) for t in (2.5, 0.0125, 3e-5, 0.0)] == ["2.5 s", "12.5 ms", "30 us", "0 us"]
    assert rate(3_000_000, 2) == "1.5 M"
    assert rate(5, 1) == "5"
    assert rate(5, 0) == "0"


def test_a_vector_property_has_a_column_per_element(tmp_path):
    values = {"place": np.array([[1, 2], [3, 4]]), "rounds": 7, "rank": np.array([0.5, 0.25])}
    write_result(tmp_path / "r.csv", values, num_vertices=2)
    assert (tmp_path / "r.csv").read_text().split() == [
        "vertex,place_0,place_1,rank",
        "0,1,2,0.5",
        "1,3,4,0.25",
    ]


def test_a_number_is_no_row_per_vertex(tmp_path):
    with pytest.raises(vg.VGraphError, match=r"\.npz"):
        write_result(tmp_path / "r.csv", {"triangles": 45}, num_vertices=2)


# --- progress ---


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_without_a_terminal(capsys):
    with progress.reading("big.gr", 1 << 30) as report, progress.working("counting"):
        assert report is None
    assert capsys.readouterr() == ("", "")


def test_small_files_are_read_without_a_word(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.reading("small.gr", 1000) as report:
        assert report is None


@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_sees_how_far_reading_is(monkeypatch, rich):
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.reading("big.gr", 100_000_000) as report:
        assert report is not None
        report(50_000_000, 100_000_000)
    assert "reading big.gr" in terminal.getvalue()
    assert "50" in terminal.getvalue()


def test_the_line_is_gone_in_the_end(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.working("counting"):
        pass
    assert "counting" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_values_of_edges_are_no_columns_of_vertices(tmp_path):
    values = {"rank": np.array([0.5, 1.5]), "flow": np.array([3, 4])}
    write_result(tmp_path / "r.csv", values, 2, frozenset({"flow"}))
    assert (tmp_path / "r.csv").read_text().splitlines() == ["vertex,rank", "0,0.5", "1,1.5"]
