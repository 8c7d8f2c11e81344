"""Types of arguments, and the messages for arguments that do not fit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.frontend import ArrayType, PropertyArgument, StaticValue, argument_types
from vgraph.compiler.types import BOOL, F32, F64, I32, I64, VID, Vector


@vg.algorithm
def everything(
    graph,
    source: vg.vertex,
    count,
    damping: vg.float64 = 0.85,
    tolerance=1e-9,
    exact=False,
    preference: vg.vertex_property(vg.float64) = None,
    features: vg.vertex_property(vg.vector(vg.float32, 2)) = None,
    sources: list[vg.vertex] = (),
    dtype=vg.float32,
    seeds=None,
):
    dist = graph.vertex_property(vg.int32)
    return dist  # noqa: RET504


def test_types_follow_annotations_defaults_and_values() -> None:
    found = argument_types(everything, {"source": 3, "count": np.int32(4)})
    assert found == {
        "source": VID,
        "count": I32,
        "damping": F64,
        "tolerance": F64,
        "exact": BOOL,
        "preference": StaticValue(None),
        "features": StaticValue(None),
        "sources": ArrayType(VID),
        "dtype": StaticValue(vg.float32),
        "seeds": StaticValue(None),
    }


@pytest.mark.parametrize(
    ("name", "value", "type_"),
    [
        ("count", 4, I64),
        ("count", 4.5, F64),
        ("count", True, BOOL),
        ("count", np.float32(1), F32),
        ("damping", 1, F64),
        ("tolerance", 1, F64),
        ("preference", np.zeros(3), PropertyArgument(F64)),
        ("preference", [1, 2, 3], PropertyArgument(F64)),
        ("features", np.zeros((3, 2)), PropertyArgument(Vector(F32, 2))),
        ("sources", range(4), ArrayType(VID)),
        ("seeds", [1, 2], ArrayType(I64)),
        ("seeds", np.zeros(3, np.float32), ArrayType(F32)),
        ("seeds", [0.5], ArrayType(F64)),
        ("dtype", vg.int64, StaticValue(vg.int64)),
    ],
)
def test_type_of_one_argument(name: str, value: object, type_: object) -> None:
    assert argument_types(everything, {"source": 0, "count": 1, name: value})[name] == type_


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"count": 1}, "everything needs source=...: a vertex"),
        ({"source": 0, "count": 1, "dampning": 1.0}, "no parameter 'dampning'.*did you mean 'damping'"),
        ({"source": 0.5, "count": 1}, "source=0.5 is not a vertex"),
        ({"source": True, "count": 1}, "source=True is not a vertex"),
        ({"source": 0, "count": 1, "damping": "high"}, "damping='high' is not a number"),
        ({"source": 0, "count": 1, "exact": 1}, "exact=1 is not True or False"),
        ({"source": 0, "count": 1, "preference": 3}, "preference=3 is not an array of vg.float64"),
        ({"source": 0, "count": 1, "features": np.zeros((2, 3))}, "is not an array of vg.vector"),
        ({"source": 0, "count": 1, "sources": [0.5]}, "is not an array of vg.vertex"),
        ({"source": 0, "count": {}}, "count={} is not a number, a bool"),
        ({"source": 0, "count": [[1]]}, "one-dimensional"),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(vg.ParameterError, match=message):
        argument_types(everything, values)


def test_an_annotation_that_names_nothing() -> None:
    @vg.algorithm
    def wrong(graph, x: vg.int23):
        return x

    with pytest.raises(vg.ParameterError, match=r"annotation of wrong.*int23"):
        argument_types(wrong, {"x": 1})


def test_the_warm_path_loads_no_parser() -> None:
    program = (
        "import sys; sys.path.insert(0, 'tests/frontend'); import language_programs as programs;"
        "from vgraph.compiler.frontend import argument_types, source_parts;"
        "argument_types(programs.claims, {'source': 0}); source_parts(programs.claims);"
        "assert 'lark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
