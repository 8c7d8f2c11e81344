"""Collections of garbage wait while a program is compiled, and only then."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

import vgraph as vg
from vgraph.garbage import uncollected
from vgraph.runtime.devices import compiling


@vg.operator
def count(v):
    v.x = v.x + 1


@vg.algorithm
def counted(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(count)
    return x


def test_it_is_as_before_afterwards() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), uncollected():
        raise ValueError("inside")
    assert gc.isenabled()


def test_an_interrupt_right_behind_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    off = gc.disable

    def interrupted() -> None:
        off()
        raise KeyboardInterrupt

    monkeypatch.setattr(gc, "disable", interrupted)
    with pytest.raises(KeyboardInterrupt), uncollected():
        pass
    assert gc.isenabled()


def test_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """One comes in while another is inside, which leaves first."""
    first, second = uncollected(), uncollected()
    with first:
        second.__enter__()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_while_a_program_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    own = compiling.compile_program

    def watched(*given):
        seen.append(gc.isenabled())
        return own(*given)

    monkeypatch.setattr(compiling, "compile_program", watched)
    monkeypatch.setenv("VGRAPH_NO_CACHE", "1")
    graph = vg.Graph.from_edges([0], [1])
    assert vg.run(counted, graph, device="cpu").x.tolist() == [1, 1]
    assert seen == [False]
    assert gc.isenabled()


LOADED = """
import gc, sys
from vgraph.garbage import uncollected

looked = []
gc.callbacks.append(lambda phase, about: looked.append(phase))
for loaded in (100, 0):
    with uncollected():
        sys.modules |= {f"loaded{n}": None for n in range(loaded)}
        looked.clear()
        made = [[] for _ in range(100_000)]
    more = [[] for _ in range(100)]
    del made
    print(bool(looked), gc.isenabled(), gc.get_freeze_count())
"""


def test_modules_that_were_loaded_inside_are_not_looked_through() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False True 0", "True True 0"]
