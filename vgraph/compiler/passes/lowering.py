"""What the lowerings of all forms share: names, hidden declarations, and how a write takes effect."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from vgraph.compiler.ir import (
    Assign,
    Binary,
    Body,
    Break,
    BucketsDecl,
    Claim,
    Compare,
    CompareAndSwap,
    Const,
    EdgeApply,
    Expr,
    FrontierClear,
    FrontierConvert,
    FrontierDecl,
    FrontierPush,
    FrontierSize,
    FrontierSwap,
    Global,
    GlobalVar,
    GraphSize,
    If,
    InFrontier,
    Layout,
    Let,
    Load,
    Logical,
    Node,
    Operator,
    Origin,
    Param,
    Program,
    Property,
    Reduce,
    Single,
    Site,
    Stmt,
    Store,
    Trace,
    Union,
    Var,
    VertexApply,
    While,
)
from vgraph.compiler.rewrite import (
    LOCAL_NAMES,
    FreshNames,
    fresh_names,
    rename,
    transform_body,
    walk,
    with_fields,
)
from vgraph.compiler.types import BOOL, I64, VID, Scalar, Type, element_of
from vgraph.schedule import ApplySchedule, Drive, FrontierLayout

FALSE, TRUE = Const(False, BOOL), Const(True, BOOL)


def layout_of(layout: FrontierLayout) -> Layout:
    """The IR's word for a schedule's layout."""
    return Layout.BITMAP if layout is FrontierLayout.BITMAP else Layout.SPARSE


@dataclass
class Lowering:
    """One program on its way to kernel level: gives fresh names, collects what has to be declared."""

    program: Program
    warps: bool = False
    """Whether the device has lanes that can share the arcs of a vertex."""
    directed: bool = False
    """Whether the transpose of the graph may not have been built."""
    deterministic: bool = False
    """Whether the result may not depend on the order in which threads come."""
    fresh: FreshNames = field(init=False)
    frontiers: dict[str, FrontierDecl] = field(default_factory=dict)
    globals: dict[str, Global] = field(default_factory=dict)
    buckets: dict[str, BucketsDecl] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    mixed: set[str] = field(default_factory=set)
    """Hidden frontiers that are filled in one layout or the other, as the round goes."""
    params: dict[str, Param] = field(default_factory=dict)
    at_loop: list[Stmt] = field(default_factory=list)
    """What has to stand before the innermost loop around the apply that is being lowered."""

    def __post_init__(self) -> None:
        self.fresh = fresh_names(with_fields(self.program, {"operators": ()}))

    def operator(self, name: str) -> Operator:
        """The operator with its locals renamed apart from everything in the driver loop and in other loops."""
        found = self.program.operator(name)
        names: dict[str, str] = {}
        for n in walk(found):
            if isinstance(n, Var):
                continue
            for attribute in LOCAL_NAMES.get(type(n), ()):
                value = n.__dict__[attribute]
                for local in value if isinstance(value, tuple) else (value,):
                    if local is not None and local not in names:
                        names[local] = self.fresh(local)
        return rename(found, names)

    def counter(self, hint: str = "arcs") -> str:
        """A global that counts the arcs walked in one round, or what `hint` names."""
        name = self.fresh(hint)
        self.globals[name] = Global(name, I64)
        return name

    def number(self, name: str, t: Scalar = I64) -> Var:
        """A hidden parameter, `policy.*` or `graph.*`."""
        if all(p.name != name for p in self.program.params):
            self.params[name] = Param(name, t)
        return Var(name, t)

    def buffer(self, hint: str, t: Type, site: Site) -> str:
        """A property that lies between two parallel loops."""
        name = self.fresh(hint)
        self.properties[name] = Property(name, t, site, Origin.LOCAL)
        return name

    def target(self, frontier: str) -> str:
        """A hidden frontier that a round fills before it takes the place of `frontier`."""
        name = self.fresh(f"{frontier}.next")
        self.frontiers[name] = FrontierDecl(name)
        return name


# --- frontiers ------------------------------------------------------------------------------------------------


def input_layout(apply: EdgeApply | VertexApply, *, membership: bool) -> Layout:
    """The layout in which a traversal wants its frontier: BITMAP where it asks for membership."""
    assert apply.schedule is not None
    return Layout.BITMAP if membership else layout_of(apply.schedule.frontier)


def wants_membership(schedule: ApplySchedule) -> bool:
    """True if a loop over vertices asks of each whether it is active."""
    return schedule.drive is Drive.TOPOLOGY


def before_round(apply: EdgeApply | VertexApply, target: str | None, given: Layout) -> Body:
    """Put the frontier into its layout and empty the bitmap that the round fills."""
    assert apply.schedule is not None
    body: list[Stmt] = []
    if apply.frontier is not None:
        body.append(FrontierConvert(apply.frontier, given, span=apply.span))
    if target is not None and layout_of(apply.schedule.frontier) is Layout.BITMAP:
        body.append(FrontierClear(target, Layout.BITMAP, span=apply.span))
    return tuple(body)


def after_round(
    apply: EdgeApply | VertexApply,
    target: str | None,
    direction: str,
    arcs: Expr,
    mixed: Collection[str] = (),
) -> Body:
    """Record the round; the frontier that was filled takes its place."""
    assert apply.schedule is not None
    active: Expr = GraphSize("num_vertices") if apply.frontier is None else FrontierSize(apply.frontier)
    body: list[Stmt] = []
    if not apply.label.endswith(".copy"):
        body.append(Trace(apply.label, direction, active, arcs, span=apply.span))
    if target is not None:
        assert apply.out is not None
        swap: list[Stmt] = [FrontierSwap(apply.out, target, span=apply.span)]
        if layout_of(apply.schedule.frontier) is Layout.SPARSE or target in mixed:
            swap.append(FrontierClear(target, Layout.SPARSE, span=apply.span))
        body.append(Single(tuple(swap), span=apply.span))
    return tuple(body)


def push(apply: EdgeApply | VertexApply, target: str, vertex: Expr, *, own: bool) -> Stmt:
    """Put `vertex` into the frontier that the round fills; `own`: each vertex is pushed by one thread only."""
    assert apply.schedule is not None
    layout = layout_of(apply.schedule.frontier)
    dedupe = layout is Layout.BITMAP or (apply.schedule.deduplicate and not own)
    return FrontierPush(target, vertex, layout, dedupe, span=apply.span)


def active_only(apply: EdgeApply | VertexApply, vertex: str, body: Body) -> Body:
    """The body for members of the frontier only."""
    if apply.frontier is None:
        return body
    return (If(InFrontier(apply.frontier, Var(vertex, VID)), body, span=apply.span),)


# --- writes ---------------------------------------------------------------------------------------------------


def took_effect(new: Expr, old: Expr) -> Expr:
    """Whether a reduction changed a value; NaN stays NaN without counting as a change."""
    changed = Compare("!=", new, old)
    kind = element_of(new.type)
    return Logical("and", changed, Compare("==", old, old)) if kind.is_float else changed


def shared_writes(low: Lowering, body: Body, hit: str | None) -> Body:
    """Writes that may meet those of others: reductions tell through `hit`, claims and unions become swaps."""

    def rule(n: Node) -> Stmt | tuple[Stmt, ...] | None:
        match n:
            case Reduce():
                return with_fields(n, {"changed": hit}) if hit else None
            case Claim():
                ok = low.fresh("claimed")
                mark: Body = (Assign(hit, TRUE),) if hit else ()
                return (
                    Let(ok, BOOL, FALSE),
                    CompareAndSwap(ok, n.prop, n.index, n.expected, n.value),
                    If(Var(ok, BOOL), (*mark, *n.body)),
                )
            case Union(prop=prop, a=a, b=b):
                return unite(low, prop, a, b)
        return None

    return transform_body(body, rule)


def updates(low: Lowering, apply: EdgeApply, operator: Operator, target: str | None) -> Body:
    """What is done for an arc in a loop over those that leave a vertex: `dst` enters `target` where it is changed."""
    if target is None:
        return shared_writes(low, operator.body, None)
    hit = low.fresh("hit")
    writes = shared_writes(low, operator.body, hit)
    pushed = push(apply, target, Var(operator.args[2], VID), own=False)
    return (Let(hit, BOOL, FALSE), *writes, If(Var(hit, BOOL), (pushed,)))


def unite(low: Lowering, prop: str, a: Expr, b: Expr) -> Body:
    """Hook the larger root under the smaller until both ends have one root (Sutton et al. 2018, Afforest: link)."""
    x, y, high, low_, above, ok = (low.fresh(n) for n in ("x", "y", "high", "low", "above", "hooked"))

    def at(v: Expr) -> Expr:
        return Load(prop, v, VID)

    def var(name: str) -> Expr:
        return Var(name, VID)

    def start(v: Expr) -> Expr:
        # `union(a.component, b.component)` names the sets by their ids; a vertex names its own.
        return v if isinstance(v, Load) and v.prop == prop else at(v)

    hook: Body = (
        Let(ok, BOOL, FALSE),
        CompareAndSwap(ok, prop, var(high), var(high), var(low_)),
        If(Var(ok, BOOL), (Break(),)),
    )
    step: Body = (
        Let(high, VID, Binary("max", var(x), var(y))),
        Let(low_, VID, Binary("min", var(x), var(y))),
        Let(above, VID, at(var(high))),
        If(Compare("==", var(above), var(low_)), (Break(),)),
        If(Compare("==", var(above), var(high)), hook),
        Assign(x, at(at(var(high)))),
        Assign(y, at(var(low_))),
    )
    return (
        Let(x, VID, start(a)),
        Let(y, VID, start(b)),
        While(Compare("!=", var(x), var(y)), step),
    )


def scalar(value: int, t: Scalar = I64) -> Const:
    """A constant."""
    return Const(value, t)


def hoist_loads(low: Lowering, body: Body, vertex: str) -> tuple[Body, Body]:
    """Reads of properties at `vertex`, done once before the loop over its arcs; (declarations, new body)."""
    lets: dict[str, Let] = {}

    def rule(n: Node) -> Node | None:
        if isinstance(n, Load) and isinstance(n.index, Var) and n.index.name == vertex:
            if n.prop not in lets:
                lets[n.prop] = Let(low.fresh(f"{vertex}.{n.prop}"), n.type, n, span=n.span)
            return Var(lets[n.prop].name, n.type, span=n.span)
        return None

    new = transform_body(body, rule)
    return tuple(lets.values()), new


def store(prop: str, vertex: str, value: Expr) -> Store:
    """`prop[vertex] = value`."""
    return Store(prop, Var(vertex, VID), value)


def count_of(name: str) -> Expr:
    """A hidden counter as a value."""
    return GlobalVar(name, I64)
