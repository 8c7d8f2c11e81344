"""Programs of any length, one kind for each way in which a program grows: what `compile_time.py` and tests compile."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from vgraph.language.decorators import AlgorithmDef


def _over_vertices(body: str, before: str = "") -> str:
    """A program with one vertex operator of the statements `body`."""
    declared = (
        "    x = graph.vertex_property(vg.int64, fill=1)\n    y = graph.vertex_property(vg.int64, fill=2)\n"
    )
    algorithm = f"@vg.algorithm\ndef main(graph):\n{declared}    graph.vertex_apply(visit)\n    return x"
    return f"import vgraph as vg\n\n\n{before}@vg.operator\ndef visit(v):\n{body}\n\n\n{algorithm}\n"


def _over_edges(operators: str, driver: str, results: str = "x") -> str:
    """A program with edge operators and a driver loop."""
    algorithm = f"@vg.algorithm\ndef main(graph):\n{driver}\n    return {results}"
    return f"import vgraph as vg\n\n\n{operators}\n\n{algorithm}\n"


def _lines(template: str, count: int) -> str:
    return "\n".join(template.format(i=i, before=i - 1) for i in range(1, count + 1))


def statements(n: int) -> str:
    """A vertex operator of n statements."""
    return _over_vertices(f"    a0 = v.x\n{_lines('    a{i} = a{before} * 3 + v.y', n)}\n    v.x = a{n}")


def branches(n: int) -> str:
    """A vertex operator of n `if` statements, each with an `else`."""
    test = "    if v.y > {i}:\n        a = a + v.x\n    else:\n        a = a * 3"
    return _over_vertices(f"    a = v.x\n{_lines(test, n)}\n    v.x = a")


def calls(n: int) -> str:
    """A vertex operator that calls a helper n times."""
    helper = "@vg.function\ndef cut(x, y):\n    z = x * x\n    if z > y:\n        z = y\n    return z\n\n\n"
    return _over_vertices(f"    a = v.x\n{_lines('    a = cut(a * {i}, v.y)', n)}\n    v.x = a", helper)


def helpers(n: int) -> str:
    """n helpers, each of which calls the one before twice: 2**n calls to inline."""
    first = "@vg.function\ndef h0(x):\n    return x * 3 + 1\n\n\n"
    more = _lines("@vg.function\ndef h{i}(x):\n    return h{before}(x) + h{before}(x + {i})\n\n", n)
    return _over_vertices(f"    v.x = h{n}(v.x)", f"{first}{more}\n")


def loops(n: int) -> str:
    """A vertex operator of n loops over neighbors."""
    loop = "    for u in v.out_neighbors:\n        a += u.y * {i}"
    return _over_vertices(f"    a = 0\n{_lines(loop, n)}\n    v.x = a")


def properties(n: int) -> str:
    """An edge operator in a loop over frontiers that updates n properties."""
    declared = _lines("    p{i} = graph.vertex_property(vg.int32, fill={i})", n)
    driver = "    f = graph.frontier(0)\n    while f:\n        f = graph.edge_apply(relax, f)"
    body = _lines("    dst.p{i} = min(dst.p{i}, src.p{i} + 1)", n)
    operator = f"@vg.operator\ndef relax(src, edge, dst):\n{body}\n"
    return _over_edges(operator, f"{declared}\n{driver}", ", ".join(f"p{i}" for i in range(1, n + 1)))


def applies(n: int) -> str:
    """n edge operators, each applied once to a frontier."""
    operator = "@vg.operator\ndef relax{i}(src, edge, dst):\n    dst.x = min(dst.x, src.x + {i})\n\n"
    driver = "    x = graph.vertex_property(vg.int32, fill=9)\n    f0 = graph.frontier(0)\n"
    return _over_edges(
        _lines(operator, n), driver + _lines("    f{i} = graph.edge_apply(relax{i}, f{before})", n)
    )


def driver(n: int) -> str:
    """A driver of n branches between globals."""
    step = "    if a > {i}:\n        a = a + {i}\n    graph.b = graph.b + a"
    return _over_edges(
        "",
        f"    x = graph.vertex_property(vg.int32)\n    a = 3\n    graph.b = 0\n{_lines(step, n)}",
        "x, graph.b",
    )


KINDS: dict[str, Callable[[int], str]] = {
    f.__name__: f for f in (statements, branches, calls, helpers, loops, properties, applies, driver)
}


def load(text: str, folder: Path) -> AlgorithmDef:
    """The algorithm `main` of a program, from a file in `folder`."""
    path = folder / f"program_{len(list(folder.iterdir()))}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: AlgorithmDef = module.main
    return main
