"""What the interpreter with checks says of numbers that name no neighbor and no element of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.interpret.expressions import EXPRESSIONS, evaluate, indices_of
from vgraph.compiler.interpret.machine import Env
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.types import Vector
from vgraph.refusals.checks import OutOfBounds

if TYPE_CHECKING:
    from vgraph.compiler.interpret.checked import CheckedMachine


def local_arrays(program: ir.Program) -> frozenset[str]:
    """The locals of which single elements are written."""
    return frozenset(
        n.name for n in ir.walk(program) if isinstance(n, ir.Assign) and one_element(n) is not None
    )


def neighbor(m: CheckedMachine, env: Env, n: ir.Neighbor) -> Any:
    """`neighbor.out(v, k)`."""
    v, k = int(evaluate(m, env, n.vertex)), int(evaluate(m, env, n.k))
    degree = len(m.neighbors(v, n.orientation))
    if not 0 <= k < degree:
        raise OutOfBounds(m.span(n), f"neighbor {k} of vertex {v}", degree)
    return EXPRESSIONS[ir.Neighbor](m, env, n)


def lookup(m: CheckedMachine, env: Env, n: ir.Lookup) -> Any:
    """`array[[i, j]]` of a parameter."""
    indices, shape = indices_of(m, env, n), m.arrays[n.prop].shape
    if arithmetic.element_at(indices, shape) is None:
        number, size = (", ".join(map(str, indices)), " x ".join(map(str, shape)))
        raise OutOfBounds(m.span(n), f"element {number} in `{n.prop}`", size, f"i < len({n.prop})")
    return EXPRESSIONS[ir.Lookup](m, env, n)


def element(m: CheckedMachine, env: Env, n: ir.Element | ir.Insert) -> Any:
    """`x[[i]]` and `insert(x, i, e)`: i is taken modulo the length, of an array in other runs only."""
    vector, t = n.vector, n.vector.type
    if isinstance(vector, ir.Var) and isinstance(t, Vector) and vector.name in m.local_arrays:
        i = int(evaluate(m, env, n.index))
        if not -t.length <= i < t.length:
            raise OutOfBounds(m.span(n), f"element {i} of the local array", t.length, "i < len(x)")
    return EXPRESSIONS[type(n)](m, env, n)
