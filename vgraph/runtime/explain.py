"""What the compiler makes of a program, for people to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import PurePath

from vgraph.compiler import ir, space
from vgraph.compiler.abilities import OF_SETS
from vgraph.compiler.analysis.effects import effects
from vgraph.compiler.analysis.placement import with_bytes
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.effort import effort_for
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.ir.text import print_program
from vgraph.compiler.space import Verdict
from vgraph.graph import Graph, layouts
from vgraph.graph.placement import Part
from vgraph.records import dataclass
from vgraph.runtime.arguments import layouts_of
from vgraph.runtime.devices.cpu import backend as cpu_backend
from vgraph.runtime.devices.cuda.executor import backend as cuda_backend
from vgraph.runtime.devices.groups import GPU, Member
from vgraph.runtime.devices.sets import parts_of
from vgraph.runtime.executor import Job
from vgraph.runtime.policy import with_deltas, with_numbers
from vgraph.runtime.prepare import shared_of
from vgraph.runtime.prints import notes_of_prints
from vgraph.schedule import kind_of, show


@dataclass
class Explanation:
    """The parts of an explanation, each a text; printing it prints them in order."""

    algorithm: str
    effects: str = ""
    schedule: str = ""
    reasons: str = ""
    layouts: str = ""
    members: str = ""
    passes: dict[str, str] = field(default_factory=dict)
    llvm: str = ""
    assembly: str = ""
    cuda: str = ""
    asked: tuple[ir.Program, Context] | None = None
    """The program as schedules are chosen for it, and what with."""

    @cached_property
    def legal(self) -> dict[str, dict[str, list[Verdict]]]:
        """A verdict on every value that a schedule may ask for, by label and axis: see `legal_text`."""
        return space.legal(*self.asked) if self.asked else {}

    def __str__(self) -> str:
        sections = [("effects", self.effects), ("schedule", self.schedule), ("reasons", self.reasons)]
        sections += [
            ("members", self.members),
            ("layouts", self.layouts),
            ("legal schedules", legal_text(self.legal)),
        ]
        shown_before = ""
        for name, text in self.passes.items():
            sections.append((f"IR after {name}", "(the same)" if text == shown_before else text))
            shown_before = text
        sections += [("LLVM IR", self.llvm), ("machine code", self.assembly), ("CUDA C++", self.cuda)]
        shown = [f"== {title} ==\n{text.rstrip()}" for title, text in sections if text]
        return "\n\n".join([f"{self.algorithm}", *shown])

    __repr__ = __str__


# --- what is legal --------------------------------------------------------------------------------------------


def legal_text(legal: Mapping[str, Mapping[str, list[Verdict]]]) -> str:
    """By label: the values that may be asked for, then every line of the program that forbids some, and why."""
    return "\n".join(
        row for label, axes in legal.items() for row in (label, *_allowed(axes), *_forbidden(axes))
    )


def _allowed(axes: Mapping[str, list[Verdict]]) -> Iterator[str]:
    """A row for each axis where there is a choice, and one for all others."""
    width = max(map(len, axes))
    fixed = []
    for axis, verdicts in axes.items():
        found = [v for v in verdicts if v.legal]
        if len(found) > 1:
            yield f"  {axis:{width}}  {_values(found)}"
        elif found:
            fixed.append(f"{axis}={_values(found)}")
    if fixed:
        yield f"  {'only':{width}}  {', '.join(fixed)}"


def _forbidden(axes: Mapping[str, list[Verdict]]) -> Iterator[str]:
    """What is refused when it is asked for alone, by the line that forbids it."""
    refused = [v for verdicts in axes.values() for v in verdicts if v.refusal is not None]
    for line in dict.fromkeys(map(_line, refused)):
        yield f"  {line or 'the program'}"
        here = [v for v in refused if _line(v) == line]
        for axis, reason in dict.fromkeys((v.axis, v.reason) for v in here):
            values = _values([v for v in here if (v.axis, v.reason) == (axis, reason)], "unless")
            yield f"    forbids {axis}={values}: {reason}"


def _values(verdicts: list[Verdict], need: str = "with") -> str:
    """The values as text, `delta` for all widths and `split` for all limits; `need` joins what a value needs."""
    words = []
    for v in verdicts:
        word = kind_of(v.value)
        needs = ", ".join(f"{axis}={show(value)}" for axis, value in v.needs)
        words.append(f"{word} ({need} {needs})" if needs else word)
    return ", ".join(dict.fromkeys(words))


def _line(verdict: Verdict) -> str:
    """`sssp.py:12: dst.dist = min(...)`: the line that forbids, if it is known."""
    span = verdict.span
    if span is None:
        return ""
    return f"{PurePath(span.source.name).name}:{span.line}: {span.source.line(span.line).strip()}"


# --- compiling without running --------------------------------------------------------------------------------


def explanation(job: Job, *, passes: bool, llvm: bool, assembly: bool) -> Explanation:
    """Compile without running, and write down what happens."""
    result = Explanation(job.algorithm.describe())
    reasons = [job.why] if job.why else []
    cuda = job.device == "cuda"
    backend = cuda_backend() if cuda else cpu_backend()
    context = Context(
        threads=job.single,
        facts=job.facts,
        abilities=OF_SETS[backend.abilities] if job.members else backend.abilities,
        deterministic=job.deterministic,
        divides=job.divides,
        cut=job.cut,
        mixed=job.mixed,
    )
    compiled = job.compiled(backend, observe=_observer(result, reasons, context, passes))
    reasons.extend(compiled.notes)
    reasons.extend(notes_of_prints(job.algorithm))
    if not cuda and (note := effort_for(compiled.source.text).note):
        reasons.append(note)
    names = (a.name for a in compiled.source.interface.args)
    result.schedule = str(with_deltas(compiled.schedule, names, job.graph, job.device, job.threads))
    result.reasons = with_numbers("\n".join(dict.fromkeys(reasons)), job.graph, job.device, job.threads)
    interface = compiled.source.interface
    if job.members:
        parts = parts_of(job.graph, interface, job.members, job.placement, shared_of(job))
        result.members = "\n".join(map(_member, job.members, parts))
        ghosts = sum(len(p.ghosts_at) for p in parts)
        result.reasons = with_bytes(result.reasons, ghosts, len(parts))
    result.layouts = "\n".join(line for key in layouts_of(interface) for line in _layout(job.graph, key))
    gpus = [m for m in job.members if isinstance(m, GPU)]
    beside = replace(job, device=gpus[0].name, threads=0) if gpus and not cuda else None
    result.cuda = (
        compiled.source.text if cuda else beside.compiled(cuda_backend()).source.text if beside else ""
    )
    result.llvm = compiled.source.text if llvm else ""
    result.assembly = jit.assembly(compiled.source.text) if assembly else ""
    return result


def _member(group: Member, part: Part) -> str:
    """What a member of a set of devices has of the graph."""
    return (
        f"{group.name}: {len(part.owned):,} vertices, {part.arcs:,} arcs, "
        f"{len(part.ghosts_at):,} ghosts, {part.nbytes / 1e6:.3g} MB"
    )


def _layout(graph: Graph, key: str) -> Iterator[str]:
    """What a layout of the graph's arcs took, wherever it has been built."""
    built = layouts.known(graph, key)
    for made in built:
        figures = (
            f", {made.numbers['count']} phases, d_max {made.numbers['d_max']}"
            if "d_max" in made.numbers
            else f", {made.numbers['parts']} parts in {made.numbers['count']} phases, {made.numbers['rows']} rows"
            if "parts" in made.numbers
            else ""
        )
        yield f"{made.key}: {made.nbytes / 1e6:.3g} MB, built in {made.seconds * 1e3:.3g} ms{figures}"
    if not built:
        yield f"{key}: built by the first run, or by vg.prepare"


def _observer(
    result: Explanation, reasons: list[str], context: Context, passes: bool
) -> Callable[[Pass | None, ir.Program], None]:
    """What writes passes, effects and what schedules are for into `result`, and into `reasons` why each was chosen."""
    before: list[ir.Program] = []

    def observe(step: Pass | None, program: ir.Program) -> None:
        name = step.name if step else "frontend"
        if passes:
            same = before and before[0] is program
            result.passes[name] = result.passes[list(result.passes)[-1]] if same else print_program(program)
        if name == "simplify":
            result.effects = "\n".join(effects(o).describe() for o in program.operators)
        if name == "choose-schedule":
            result.asked = before[0], context
            for n in ir.walk(program):
                if isinstance(n, ir.Apply) and n.schedule is not None:
                    reasons.extend(f"{n.label}: {reason}" for reason in n.schedule.reasons)
        before[:] = [program]

    return observe
