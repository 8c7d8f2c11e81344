"""Where the local variables of a function are declared.

Python's variables belong to the whole function; a `Let` of the IR belongs to a body. Each variable is declared in the
innermost body that contains all its uses, by its first assignment if that comes before everything else there, else by a
zero before the statement of that body in which it first occurs (outside of loops if a use might see an old value).
"""

from __future__ import annotations

from dataclasses import field

from vgraph.compiler.frontend import syntax as s
from vgraph.records import dataclass


@dataclass(frozen=True)
class _Step:
    """A statement in a body, on the way from the function to an occurrence of a name."""

    body: int
    position: int
    statement: s.Stmt | None = field(compare=False)
    in_loop: bool = field(compare=False)  # the body is that of a loop


_Path = tuple[_Step, ...]


@dataclass
class _Occurrence:
    path: _Path
    assigns: bool
    loop: s.For | None = None


@dataclass
class Plan:
    """For one function: its variables, the assignments that declare, and the zeros before statements (by identity);
    `once`: variables with a single assignment."""

    names: set[str] = field(default_factory=set)
    declares: set[int] = field(default_factory=set)
    once: set[str] = field(default_factory=set)
    zeros: dict[int, list[str]] = field(default_factory=dict)


def plan(body: s.Body, arguments: set[str]) -> Plan:
    """The declarations of a function's variables; `arguments` are bound already."""
    walker = _Walker()
    walker.body(body, (), False)
    made = Plan()
    for name, found in walker.found.items():
        if name in arguments or not any(o.assigns for o in found) or _is_loop_variable(found):
            continue
        made.names.add(name)
        _place(name, found, made)
        if sum(o.assigns for o in found) == 1:
            made.once.add(name)
    return made


def _is_loop_variable(found: list[_Occurrence]) -> bool:
    """True if the name is used in bodies of loops over it only, and no loop over it stands in another."""
    if any(o.assigns and o.loop is None for o in found):
        return False
    loops = {
        id(o.loop): sum(step.statement is o.loop for step in o.path) for o in found if o.loop is not None
    }
    return all(sum(id(step.statement) in loops for step in o.path) == 1 for o in found)


def _place(name: str, found: list[_Occurrence], made: Plan) -> None:
    paths = [o.path for o in found]
    depth = 0
    while all(len(p) > depth + 1 for p in paths) and len({p[: depth + 1] for p in paths}) == 1:
        depth += 1
    if len({(p[depth].body) for p in paths}) > 1:
        depth -= 1
    first = found[0]
    statement = first.path[depth].statement
    if len(first.path) == depth + 1 and isinstance(statement, s.Assign) and first.assigns:
        made.declares.add(id(statement))
        return
    if statement is None:  # bound by the loop whose body this is
        depth -= 1
        statement = first.path[depth].statement
    if not (isinstance(statement, s.If) and _always_assigns(statement, name)):
        for outer in range(1, depth + 1):
            if first.path[outer].in_loop:
                statement = first.path[outer - 1].statement
                break
    made.zeros.setdefault(id(statement), []).append(name)


def _always_assigns(statement: s.Stmt, name: str) -> bool:
    match statement:
        case s.Assign(target=s.Name(id=target)):
            return target == name
        case s.If(then=then, other=other):
            return all(any(_always_assigns(x, name) for x in body) for body in (then, other))
    return False


class _Walker:
    """Collects the occurrences of all names, in the order of evaluation."""

    def __init__(self) -> None:
        self.found: dict[str, list[_Occurrence]] = {}
        self.bodies = 0

    def body(self, body: s.Body, path: _Path, in_loop: bool) -> None:
        self.bodies += 1
        number = self.bodies
        for position, statement in enumerate(body):
            self.statement(statement, (*path, _Step(number, position, statement, in_loop)))

    def statement(self, statement: s.Stmt, path: _Path) -> None:
        match statement:
            case s.Assign(target=target, value=value):
                self.uses(value, path)
                self.target(target, path)
            case s.AssignTuple(targets=targets, value=value):
                self.uses(value, path)
                for target in targets:
                    self.target(target, path)
            case s.Augment(target=target, value=value):
                self.uses(target, path)
                self.uses(value, path)
                self.target(target, path)
            case s.For(target=target, iterable=iterable, body=body):
                self.uses(iterable, path)
                inside = _Step(self.bodies + 1, -1, None, True)
                self.note(target.id, _Occurrence((*path, inside), True, statement))
                self.body(body, path, True)
            case _:
                for part in vars(statement).values():
                    if isinstance(part, s.Expr):
                        self.uses(part, path)
                    elif isinstance(part, tuple):
                        self.body(part, path, isinstance(statement, s.While))

    def target(self, target: s.Expr, path: _Path) -> None:
        if isinstance(target, s.Name):
            self.note(target.id, _Occurrence(path, True))
        else:
            self.uses(target, path)

    def uses(self, e: s.Expr, path: _Path) -> None:
        for n in s.walk(e):
            if isinstance(n, s.Name):
                self.note(n.id, _Occurrence(path, False))

    def note(self, name: str, occurrence: _Occurrence) -> None:
        self.found.setdefault(name, []).append(occurrence)
