"""The IR: one node family for all three levels, each node with the span of the user's text it came from.

- *algorithm*: what the user wrote, typed; reductions recognised; operators apart from the driver loop.
- *scheduled*: the same, every apply carrying a resolved `ApplySchedule`.
- *kernel*: no operators and no applies left; explicit parallel loops, atomics, frontier pushes, collectives.

Each class declares its text, where it may stand and what its fields hold (`node.py`); printer, grammar, parser
(`forms.py`) and verifier (`verify.py`) follow from it. Expressions are pure except for the order in which they read
memory. All operands of an operation have the same type: the frontend inserts every cast.

Kernel level runs SPMD: every thread executes the whole body. Scalars of the driver loop (`Let`, `Assign`, globals)
are private copies with equal values everywhere. `ParFor`, `Single` and the frontier collectives are entered by all
threads together and end with a barrier; they have no barrier at their start (`insert-barriers` adds what is needed).
"""

from __future__ import annotations

from vgraph.compiler.ir.algorithm import *
from vgraph.compiler.ir.domains import *
from vgraph.compiler.ir.expressions import *
from vgraph.compiler.ir.hubs import *
from vgraph.compiler.ir.kernel import *
from vgraph.compiler.ir.legality import ACCUMULATING, MONOTONE
from vgraph.compiler.ir.node import *
from vgraph.compiler.ir.program import *
from vgraph.compiler.ir.statements import *
from vgraph.compiler.ir.trees import *
