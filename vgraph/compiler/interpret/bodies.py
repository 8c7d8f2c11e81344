"""Bodies: statements one after the other; generators yield where another thread may step in."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.interpret.machine import Env, Machine
from vgraph.compiler.interpret.memory import Jump, Steps

JUMPS: Final[dict[type[ir.Stmt], Jump]] = {ir.Break: Jump.BREAK, ir.Continue: Jump.CONTINUE}


def run_body(m: Machine, env: Env, body: ir.Body, *, own_scope: bool = True) -> Steps:
    """Run statements in order until one jumps; locals declared here are gone afterwards."""
    before = set(env) if own_scope else set()
    jump: Jump | None = None
    for stmt in body:
        if m.interleaved:
            yield
        simple = m.simple.get(type(stmt))
        if simple is not None:
            simple(m, env, stmt)
        elif type(stmt) in JUMPS:
            jump = JUMPS[type(stmt)]
            break
        else:
            jump = yield from m.compound[type(stmt)](m, env, stmt)
            if jump is not None:
                break
    if own_scope and len(env) > len(before):
        for name in [n for n in env if n not in before]:
            del env[name]
    return jump


def finish(steps: Steps) -> None:
    for _ in steps:
        pass
