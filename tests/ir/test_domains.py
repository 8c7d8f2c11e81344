"""Every domain of parallel loops is walked by every device, or refused when a schedule asks for it."""

from __future__ import annotations

import pytest

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import parallel as on_cuda
from vgraph.compiler.backends.llvm import domains as on_cpu
from vgraph.compiler.interpret import parallel as on_python
from vgraph.schedule import AXES

TABLES = {"cpu": on_cpu.DOMAINS, "cuda": on_cuda.DOMAINS, "python": on_python.DOMAINS}
KINDS = [
    kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, ir.Domain) and kind.form
]


def test_there_are_domains():
    assert {ir.Vertices, ir.Segments} <= set(KINDS)


@pytest.mark.parametrize("device", TABLES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_device_walks_a_domain_or_refuses_the_axis_that_asks_for_it(kind, device):
    axis = AXES.get(kind.axis)
    refused = axis and all(axis.lack(v, device) for v in axis.candidates if v != axis.rest)
    if kind.device and device != "python":
        refused = kind.device != device
    assert (kind in TABLES[device]) != bool(refused), (
        "an entry in DOMAINS, or a Lack in the record of the axis"
    )
