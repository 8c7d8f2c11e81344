"""Effects: what an operator reads and writes, where, and the reduction class of every write.

From these the schedule passes decide what is legal and what it costs: who needs atomics, who needs double buffering,
which update may be seen early. Operators are analysed after `simplify`, so a vertex is named by the argument itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from vgraph.compiler import ir
from vgraph.compiler.types import EID, Kind, Scalar, Type, Vector, limits
from vgraph.records import dataclass
from vgraph.source import Span


class Role(Enum):
    """Which vertex or arc an access names, seen from the operator."""

    SRC = "src"
    DST = "dst"
    EDGE = "edge"
    OWN = "v"
    NEIGHBOR = "neighbor"


class WriteClass(Enum):
    """The reduction class of a write: it decides which schedules are legal."""

    MONOTONE = "monotone"
    """min, max, |, &: idempotent, any order, any number of times."""
    ACCUMULATING = "accumulating"
    """+, *: exactly once per round."""
    CLAIMING = "claiming"
    """The first writer wins."""
    OWNED = "owned"
    """A vertex operator writes its own vertex, or an edge that no other visit comes to."""
    MERGING = "merging"
    """Disjoint sets united: idempotent, any order."""
    EXCLUSIVE = "exclusive"
    """An edge operator that writes both ends of its edge, or a vertex operator all vertices that it gathers: while it
    runs, it is alone with them. Any order."""


@dataclass(frozen=True)
class Read:
    """A read of `prop` at `role`."""

    prop: str
    role: Role
    span: Span | None


@dataclass(frozen=True)
class Write:
    """A write of `prop` at `role`, by `op` (min, +, claim, =, union)."""

    prop: str
    role: Role
    kind: WriteClass
    op: str
    span: Span | None


@dataclass(frozen=True)
class Effects:
    """All accesses of one operator."""

    operator: str
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    globals_read: frozenset[str]
    globals_reduced: frozenset[str]

    @property
    def written(self) -> frozenset[str]:
        """The properties that the operator writes."""
        return frozenset(w.prop for w in self.writes)

    @property
    def stale_reads(self) -> tuple[Read, ...]:
        """Reads that must see the round's start although the round writes the property: they need double buffering.

        Disjoint sets are exempt: while they are united, a read gives some id of the set. Exclusive activations come one
        after the other, so that each sees what those before it wrote.
        """
        written = {w.prop for w in self.writes if w.kind not in (WriteClass.MERGING, WriteClass.EXCLUSIVE)}
        return tuple(r for r in self.reads if r.prop in written and r.role in (Role.SRC, Role.NEIGHBOR))

    @property
    def exclusive(self) -> Write | None:
        """The first write to a source, or of a vertex operator the first, if activations exclude each other on the
        vertices that they touch."""
        found = (w for w in self.writes if w.kind is WriteClass.EXCLUSIVE and w.role in _FIRST_OF)
        return next(found, None)

    def classes(self) -> frozenset[WriteClass]:
        """The classes of all writes."""
        return frozenset(w.kind for w in self.writes)

    def describe(self) -> str:
        """The effects as text, one line per kind of access."""
        reads = sorted({f"{r.role.value}.{r.prop}" for r in self.reads})
        writes = sorted({f"{w.role.value}.{w.prop} ({w.kind.value}, {w.op})" for w in self.writes})
        lines = [
            f"{self.operator}: reads {', '.join(reads) or 'nothing'}",
            f"  writes {', '.join(writes) or 'nothing'}",
        ]
        if self.globals_read:
            lines.append(f"  reads globals {', '.join(sorted(self.globals_read))}")
        if self.globals_reduced:
            lines.append(f"  reduces globals {', '.join(sorted(self.globals_reduced))}")
        return "\n".join(lines)


_FIRST_OF = (Role.SRC, Role.OWN, Role.NEIGHBOR)


def role_of(operator: ir.Operator, index: ir.Expr) -> Role:
    """The role of an index expression inside `operator`."""
    if isinstance(index, ir.Var) and index.name in operator.args:
        roles = (Role.SRC, Role.EDGE, Role.DST) if operator.is_edge else (Role.OWN,)
        return roles[operator.args.index(index.name)]
    return Role.EDGE if index.type == EID else Role.NEIGHBOR


def is_exclusive(operator: ir.Operator) -> bool:
    """Whether an operator writes both ends of its edge (nothing else may store at a source), or what it acquires."""
    if not operator.is_edge:
        return any(isinstance(n, ir.Acquire) for n in ir.walk(operator))
    stores = (n for n in ir.walk(operator) if isinstance(n, ir.Store))
    return any(role_of(operator, n.index) is Role.SRC for n in stores)


@ir.per_operator
def effects(operator: ir.Operator) -> Effects:
    """The effects of `operator`."""
    reads: list[Read] = []
    writes: list[Write] = []
    alone = WriteClass.EXCLUSIVE if is_exclusive(operator) else WriteClass.OWNED
    for n in ir.walk(operator):
        match n:
            case ir.Load(prop=prop, index=index):
                reads.append(Read(prop, role_of(operator, index), n.span))
            case ir.Reduce(prop=prop, index=index, op=op):
                kind = WriteClass.MONOTONE if op in ir.MONOTONE else WriteClass.ACCUMULATING
                writes.append(Write(prop, role_of(operator, index), kind, op, n.span))
            case ir.Claim():
                writes.extend(_claim_writes(operator, n))
            case ir.Store(prop=prop, index=index):
                role = role_of(operator, index)
                if role in (Role.OWN, Role.EDGE) or alone is WriteClass.EXCLUSIVE:
                    writes.append(Write(prop, role, alone, "=", n.span))
            case ir.Union(prop=prop):
                writes.append(Write(prop, Role.DST, WriteClass.MERGING, "union", n.span))
    nodes = list(ir.walk(operator))
    return Effects(
        operator.name,
        tuple(reads),
        tuple(dict.fromkeys(writes)),
        frozenset(n.name for n in nodes if isinstance(n, ir.GlobalVar)),
        frozenset(n.name for n in nodes if isinstance(n, ir.ReduceGlobal)),
    )


def _claim_writes(operator: ir.Operator, claim: ir.Claim) -> Iterator[Write]:
    role = role_of(operator, claim.index)
    yield Write(claim.prop, role, WriteClass.CLAIMING, "claim", claim.span)
    for inner in claim.body:
        for n in ir.walk(inner):
            if isinstance(n, ir.Store) and role_of(operator, n.index) not in (Role.OWN, Role.EDGE):
                yield Write(n.prop, role_of(operator, n.index), WriteClass.CLAIMING, "claim", n.span)


def only_claims(body: ir.Body) -> bool:
    """True if the body does nothing but claim, perhaps under conditions: after one success the rest is a no-op."""
    if len(body) != 1:
        return False
    match body[0]:
        case ir.Claim():
            return True
        case ir.If(then=then, other=()):
            return only_claims(then)
    return False


def the_claim(body: ir.Body) -> ir.Claim:
    """The claim of a body for which `only_claims` holds."""
    head = body[0]
    while isinstance(head, ir.If):
        head = head.then[0]
    assert isinstance(head, ir.Claim)
    return head


def fixed_claim(operator: ir.Operator) -> ir.Claim | None:
    """The claim of an edge operator, if it is all that can happen and what it expects is the same for every arc.

    Then it can be looked at before the arcs are walked, and needs no second look: the first success is the last.
    """
    if not only_claims(operator.body):
        return None
    claim = the_claim(operator.body)
    varies = any(isinstance(n, ir.Var) and n.name in operator.args[:2] for n in ir.walk(claim.expected))
    return None if varies else claim


# --- fixpoints ------------------------------------------------------------------------------------------------


def async_obstacle(program: ir.Program, apply: ir.Apply) -> tuple[str, Span | None] | None:
    """Why updates of `apply` may not become visible within the round; None if every order gives the same result."""
    if not effects(program.operator(apply.op)).stale_reads:
        return None
    return any_order_obstacle(program, apply)


def any_order_obstacle(program: ir.Program, apply: ir.Apply) -> tuple[str, Span | None] | None:
    """Why the active vertices may not be visited in any order, in any round and any number of times; None if they may.

    Legal when (1) every write is min, max, | or & on properties, or a union; (2) each value written is a
    non-decreasing function of what the operator reads and writes, so chaotic iteration has one fixpoint
    (Cousot and Cousot 1977); (3) the apply is the whole body of `while frontier:`, so rounds cannot be observed.
    """
    operator = program.operator(apply.op)
    found = effects(operator)
    for write in found.writes:
        if write.role is Role.EDGE:
            return f"`{write.prop}` is written at edges, once for each arc of a round", write.span
        if write.kind not in (WriteClass.MONOTONE, WriteClass.MERGING):
            return f"`{write.prop}` is {_ONCE[write.kind]}", write.span
    for n in ir.walk(operator):
        if isinstance(n, ir.ReduceGlobal):
            return f"`{n.name}` is reduced into once per visit, and how many there are would vary", n.span
    blocked = _not_monotone(operator, found)
    if blocked is not None:
        return blocked
    if not is_fixpoint_loop(program, apply):
        return "its rounds can be observed: it is not the whole body of a `while frontier:` loop", apply.span
    return None


_ONCE = {
    WriteClass.ACCUMULATING: "written by an accumulating update, which must happen once per round",
    WriteClass.CLAIMING: "claimed, and who is first would depend on when updates are seen",
    WriteClass.OWNED: "set to a value that depends on what its neighbors hold in that round",
    WriteClass.EXCLUSIVE: "written by visits that come one after the other, each once in a round",
}


def is_fixpoint_loop(program: ir.Program, apply: ir.Apply) -> bool:
    """True if `apply` is the only statement of a loop that runs until its own frontier is empty."""
    for n in _statements(program.body):
        if isinstance(n, ir.While) and n.body == (apply,):
            return is_round_loop(n, apply)
    return False


def is_round_loop(loop: ir.While, apply: ir.Apply) -> bool:
    """True if the loop runs until the frontier of `apply`, which it changes, is empty."""
    if apply.frontier is None or apply.frontier != apply.out:
        return False
    return _tests_nonempty(loop.condition, apply.frontier)


def _tests_nonempty(condition: ir.Expr, frontier: str) -> bool:
    match condition:
        case ir.Compare(op=">" | "!=", left=ir.FrontierSize(frontier=name), right=ir.Const(value=0)):
            return name == frontier
    return False


def _not_monotone(operator: ir.Operator, found: Effects) -> tuple[str, Span | None] | None:
    """A place where a value written might fall when a value read rises, if there is one."""
    updates = [w for w in found.writes if w.kind is WriteClass.MONOTONE]
    for w in updates:
        if w.op != updates[0].op:
            return (
                f"a reduction by {w.op} beside one by {updates[0].op}: not all move in one direction",
                w.span,
            )
    order = _Order(found.written, updates[0].op if updates else None)
    while True:  # a loop may read a local before it is set: again until no more locals are found
        known = len(order.tainted)
        for statement in _statements(operator.body):
            obstacle = _obstacle(statement, order)
            if obstacle is not None:
                return obstacle, statement.span
        if len(order.tainted) == known:
            return None


def _obstacle(statement: ir.Stmt, order: _Order) -> str | None:
    """Why a statement is not monotone; remembers a local that is set to what depends on an updated property."""
    match statement:
        case (
            ir.Let(name=name, value=value)
            | ir.Assign(name=name, value=value)
            | ir.Accumulate(name=name, value=value)
        ):
            shape = order.dependence(value)
            if shape is _Shape.MONOTONE and not isinstance(statement, ir.Accumulate):
                order.tainted.add(name)
            elif shape is not _Shape.CONSTANT:
                return "a local depends on an updated property in a way that may not be monotone"
        case ir.Reduce(value=value, index=index):
            if order.dependence(index) is not _Shape.CONSTANT:
                return "where is written depends on an updated property"
            if order.dependence(value) is _Shape.OTHER:
                return "the value written may fall when the value read rises"
        case ir.If(condition=ir.Compare(op="==", left=a, right=b)) if a == b:
            return None  # not NaN: an update that is left out is seen when its value is a number
        case ir.If(condition=c, then=then, other=()) if order.stays(c) and _only_reduces(then):
            return None  # an update that is left out is made when the value has moved on
        case ir.If(condition=c) | ir.While(condition=c):
            if order.dependence(c) is not _Shape.CONSTANT:
                return "a condition depends on an updated property"
        case _:
            if any(order.dependence(e) is not _Shape.CONSTANT for e in _direct(statement)):
                return "a statement depends on an updated property"
    return None


def _only_reduces(body: ir.Body) -> bool:
    return all(isinstance(n, ir.Reduce) for n in body)


def _statements(body: ir.Body) -> Iterator[ir.Stmt]:
    for top in body:
        for n in ir.walk(top):
            if isinstance(n, ir.Stmt):
                yield n


def _direct(statement: ir.Stmt) -> Iterator[ir.Expr]:
    return (c for c in ir.children(statement) if isinstance(c, ir.Expr))


class _Shape(Enum):
    CONSTANT = 0
    MONOTONE = 1
    OTHER = 2


class _Order:
    """The order in which updates move: numbers by size under min and max, bits by inclusion under | and &.

    `tainted` holds the locals that depend on a `written` property. Sums are taken not to overflow.
    """

    def __init__(self, written: frozenset[str], op: str | None) -> None:
        self.written, self.op = written, op
        self.subsets = op in ("|", "&")
        self.tainted: set[str] = set()

    def dependence(self, e: ir.Node) -> _Shape:
        """How `e` depends on the properties written: not at all, non-decreasing, or anyhow."""
        match e:
            case ir.Load(prop=prop, index=index):
                if self.dependence(index) is not _Shape.CONSTANT:
                    return _Shape.OTHER
                return _Shape.MONOTONE if prop in self.written else _Shape.CONSTANT
            case ir.Var(name=name):
                return _Shape.MONOTONE if name in self.tainted else _Shape.CONSTANT
        parts = [self.dependence(c) for c in ir.children(e)]
        if all(p is _Shape.CONSTANT for p in parts):
            return _Shape.CONSTANT
        return _Shape.OTHER if _Shape.OTHER in parts or not self._keeps(e, parts) else _Shape.MONOTONE

    def stays(self, condition: ir.Expr) -> bool:
        """Whether a condition that is true remains so as updates move on: below a bound of minima, above one of maxima.

        With NaN every comparison is false, and it is what minima and maxima of floats may end with: there the condition
        is `not x >= bound`, as after `if x >= bound: return`.
        """
        negated = isinstance(condition, ir.Unary) and condition.op == "not"
        compare = condition.operand if isinstance(condition, ir.Unary) else condition
        if self.subsets or not isinstance(compare, ir.Compare) or compare.op not in ("<", "<=", ">", ">="):
            return False
        moves = self.dependence(compare.left), self.dependence(compare.right)
        if _Shape.OTHER in moves or moves.count(_Shape.CONSTANT) != 1:
            return False
        large = (compare.op in (">", ">=")) == (moves[0] is _Shape.MONOTONE)  # what the comparison is true of
        t = compare.left.type
        ordered = negated or (isinstance(t, Scalar) and not t.is_float)
        return ordered and (large == negated) == (self.op == "min")

    def _keeps(self, e: ir.Node, parts: list[_Shape]) -> bool:
        """Whether `e` is non-decreasing in its operands, of which `parts` tells which ones depend."""
        match e:
            case ir.Binary(op="|" | "&"):
                return self.subsets
            case ir.Binary(op="<<" | ">>"):
                return self.subsets and parts[1] is _Shape.CONSTANT
            case ir.Binary(op="min" | "max" | "+"):
                return not self.subsets
            case ir.Binary(op="-", type=Scalar(kind=Kind.SIGNED | Kind.FLOAT)):
                return not self.subsets and parts[1] is _Shape.CONSTANT
            case ir.Pack():
                return not self.subsets  # if none of the values falls, neither does the word
            case ir.Field(k=0):
                return True  # what comes first decides
            case ir.Cast(operand=operand, to=to):
                if self.subsets:
                    return _keeps_bits(operand.type, to)
                return _keeps_size(operand.type, to) or _is_clamped(operand, to)
        return False


def _keeps_bits(old: Type, new: Type) -> bool:
    return not any(isinstance(t, Vector) or t.is_float for t in (old, new))


def _keeps_size(old: Type, new: Type) -> bool:
    """Whether numbers keep their order when type `old` becomes `new`."""
    if isinstance(old, Vector) or isinstance(new, Vector):
        return False
    match old.kind, new.kind:
        case (Kind.SIGNED, Kind.SIGNED) | (Kind.UNSIGNED, Kind.UNSIGNED) | (Kind.FLOAT, Kind.FLOAT):
            return new.bits >= old.bits
        case Kind.UNSIGNED, Kind.SIGNED:
            return new.bits > old.bits
        case (Kind.SIGNED | Kind.UNSIGNED | Kind.BOOL, Kind.FLOAT) | (Kind.BOOL, Kind.SIGNED | Kind.UNSIGNED):
            return True
    return old == new


def _is_clamped(e: ir.Expr, to: Type) -> bool:
    """Whether an integer is brought into the range of `to` by minima and maxima with constants, so that it is kept."""
    t = e.type
    if not (isinstance(t, Scalar) and isinstance(to, Scalar) and t.is_integer and to.is_integer):
        return False
    low, high = limits(t)
    while isinstance(e, ir.Binary) and e.op in ("min", "max") and isinstance(e.right, ir.Const):
        bound = int(e.right.value)
        low, high = (low, min(high, bound)) if e.op == "min" else (max(low, bound), high)
        e = e.left
    return limits(to)[0] <= low and high <= limits(to)[1]
