"""`phases`, `payload` and `pipeline`: one loop, or a producer and a consumer with a buffer between them."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.ir import EdgeApply
from vgraph.compiler.payload import obstacle, payload_bytes
from vgraph.schedule import Direction, Payload, Phases, spelled

FORMS = {Phases.GATHER_APPLY: Direction.PULL, Phases.APPLY_SCATTER: Direction.PUSH}
"""The direction of the form that each pair of phases divides in two."""


def choose_phases(c: Choice) -> Phases:
    """FUSED, unless two phases are asked for."""
    asked = c.asked("phases")
    if asked in (None, Phases.FUSED):
        return Phases.FUSED
    option = f"phases={spelled(asked)}"
    if not isinstance(c.apply, EdgeApply):
        reason = "a vertex operator writes its own vertex: there are no arcs between two phases"
        c.illegal(option, reason, "leave it out", c.operator.span)
    arcs = asked is Phases.GATHER_APPLY
    found = [obstacle(c.operator, p, arcs=arcs) for p in (Payload.COMPUTED, Payload.RAW)]
    if all(found):
        assert found[0] is not None
        c.illegal(option, found[0][0], "use phases=vg.FUSED or leave it out", found[0][1])
    c.because("phases", asked, "asked for")
    return Phases(asked)


def choose_payload(c: Choice) -> Payload:
    """Whichever moves fewer bytes."""
    phases = c.chosen["phases"]
    if phases is Phases.FUSED:
        return Payload(c.only("payload", Payload.COMPUTED, "a fused loop has no buffer"))
    asked = c.asked("payload")
    arcs = phases is Phases.GATHER_APPLY
    blocked = {p: obstacle(c.operator, p, arcs=arcs) for p in (Payload.RAW, Payload.COMPUTED)}
    if asked is not None:
        why = blocked[asked]
        if why is not None:
            c.illegal(f"payload={spelled(asked)}", why[0], "leave it out", why[1])
        c.because("payload", asked, f"asked for; {_counts(c)}")
        return Payload(asked)
    for payload, other in ((Payload.RAW, Payload.COMPUTED), (Payload.COMPUTED, Payload.RAW)):
        why = blocked[other]
        if why is not None:
            c.because("payload", payload, why[0])
            return payload
    raw, computed = _bytes(c)
    if phases is Phases.APPLY_SCATTER:
        # A record per vertex against one per arc; a vertex has two arcs or more even on a road network.
        fewer = Payload.RAW if raw <= 2 * computed else Payload.COMPUTED
    else:
        fewer = Payload.RAW if raw < computed else Payload.COMPUTED
    c.because("payload", fewer, f"it moves fewer bytes: {_counts(c)}")
    return fewer


def _bytes(c: Choice) -> tuple[int, int]:
    """Bytes of an element of the buffer: raw, computed."""
    arcs = c.chosen["phases"] is Phases.GATHER_APPLY
    touched = c.apply.out is not None
    target = c.program.target
    raw, computed = (
        payload_bytes(c.operator, p, target, arcs=arcs, touched=touched)
        for p in (Payload.RAW, Payload.COMPUTED)
    )
    return raw + (arcs and c.apply.frontier is not None), computed


def _counts(c: Choice) -> str:
    raw, computed = _bytes(c)
    unit = "an arc" if c.chosen["phases"] is Phases.GATHER_APPLY else "a vertex"
    return f"raw, {raw} bytes {unit}; computed, {computed} bytes an arc"


def choose_pipeline(c: Choice) -> int:
    """Phase after phase, unless chunks in flight are asked for."""
    asked = c.asked("pipeline")
    if asked and not c.context.abilities.pipelines:
        reason = f'device="{c.context.abilities.device}" runs no producer beside a consumer'
        c.illegal(f"pipeline={asked}", reason, "leave it out")
    if c.chosen["phases"] is Phases.FUSED:
        return int(c.only("pipeline", 0, "a fused loop has no producer and consumer"))
    if asked:
        c.because(
            "pipeline",
            asked,
            "asked for: producers and consumers side by side, with so many chunks in flight",
        )
    return int(asked or 0)
