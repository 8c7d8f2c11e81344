"""Frontiers in algorithms, and lists of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, Uses
from vgraph.compiler.frontend.lowering.names import alias, declared
from vgraph.compiler.frontend.lowering.statements import block
from vgraph.compiler.frontend.lowering.values import arguments, entity, int64, integer
from vgraph.compiler.ir.legality import WORDS
from vgraph.compiler.types import I64
from vgraph.source import Span


def made(
    ctx: AlgorithmContext,
    make: Callable[[str], ir.Stmt | ir.Body],
    span: Span,
    done: Callable[[], None] | None = None,
) -> en.Made:
    """The frontier that statements put where `make` is told: in the variable assigned to, or in one of our own."""

    def put(name: str) -> None:
        found = make(name)
        ctx.emit(*(found if isinstance(found, tuple) else (found,)))

    def held() -> en.FrontierRef:
        name = ctx.names.fresh("frontier")
        ctx.unit.frontiers.append(name)
        put(name)
        return en.FrontierRef(name, span)

    found = en.Made(held, lambda statement, target: put(variable(ctx, target)), done)
    found.whole = lambda: found
    return found


def variable(ctx: AlgorithmContext, target: s.Name) -> str:
    """The IR's name of a variable that holds a frontier, declared on first use."""

    def make(name: str) -> en.FrontierRef:
        ctx.unit.frontiers.append(name)
        return en.FrontierRef(name, target.span)

    return declared(ctx, target, en.FrontierRef, make).name


def frontier(ctx: Context, e: s.Expr) -> str:
    """The variable that holds the frontier `e`."""
    found = entity(ctx, e)
    if not isinstance(found, en.FrontierRef):
        raise refusals.driver.NotAFrontier(e.span, en.words(found))
    return found.name


def whole(ctx: AlgorithmContext, span: Span) -> en.Made:
    """`graph.vertices`."""
    return made(ctx, lambda out: ir.FrontierSet(out, ir.FrontierKind.ALL, span=span), span)


def _combine(ctx: Context, op: str, left: en.Entity, right: en.Entity, span: Span) -> en.Made:
    """`a | b`, `a & b`, `a - b`."""
    if op not in WORDS["SetOperation"] or not isinstance(ctx, AlgorithmContext):
        raise refusals.driver.FrontierArithmetic(span, op)
    if not (isinstance(left, en.FrontierRef) and isinstance(right, en.FrontierRef)):
        raise refusals.driver.FrontierArithmetic(span, op)
    return made(ctx, lambda out: ir.FrontierCombine(out, left.name, op, right.name, span=span), span)


def _loop(ctx: Context, statement: s.For, over: en.FrontierRef) -> None:
    advice = "; visit its vertices with graph.vertex_apply(op, frontier)"
    raise refusals.calls.NotIterable(statement.iterable.span, over.words, advice)


def _copy(ctx: AlgorithmContext, statement: s.Assign, target: s.Name, found: en.FrontierRef) -> None:
    """`x = frontier`."""
    if found.free and target.id not in ctx.frame.objects:
        declared(ctx, target, en.FrontierRef, lambda name: en.FrontierRef(found.name, target.span))
        return
    out = variable(ctx, target)
    if out != found.name:
        ctx.emit(ir.FrontierCopy(out, found.name, span=statement.span))


USES = Uses(
    size=lambda ctx, f, span: ir.FrontierSize(f.name, span=span),
    truth=True,
    loop=_loop,
    bind=_copy,
    combine=_combine,
)


# --- lists


def items(ctx: Context, e: s.Items) -> en.Made:
    """`levels = []`, `levels = [frontier]`."""

    def put(statement: s.Assign, target: s.Name) -> None:
        assert isinstance(ctx, AlgorithmContext)
        held = [frontier(ctx, item) for item in e.items]
        name = declared(ctx, target, en.ListRef, lambda name: en.ListRef(name, target.span)).name
        if name not in ctx.unit.lists:
            ctx.unit.lists.append(name)
        ctx.emit(ir.ListClear(name, span=e.span))
        for item in held:
            ctx.emit(ir.ListAppend(name, item, span=e.span))

    advice = "operators have `a = vg.local(vg.int64, 8)`"
    if isinstance(ctx, AlgorithmContext):
        advice = (
            "only `levels = []` and `return a, b` take one; other arrays are parameters of the algorithm, as in "
            "`graph.frontier(seeds)`, and so `vg.run(..., seeds=[0, 1])`"
        )
    held = en.refuse(lambda: refusals.types.NotAValue(e.span, "a list or tuple", advice))
    return en.Made(held, put if e.kind == "list" and isinstance(ctx, AlgorithmContext) else None)


def append(ctx: Context, call: s.Call, owner: en.ListRef) -> en.Made:
    """`levels.append(frontier)`."""

    def done() -> None:
        (arg,) = arguments(call, "append", 1)
        ctx.emit(ir.ListAppend(owner.name, frontier(ctx, arg), span=call.span))

    return en.Made(en.refuse(lambda: refusals.driver.ListMethod(call.function.span, "append")), done=done)


def _list_index(ctx: AlgorithmContext, e: s.Index, owner: en.ListRef) -> en.Made:
    """`levels[i]`."""
    index = integer(ctx, e.index, "the position in a list")
    return made(ctx, lambda out: ir.ListGet(out, owner.name, index, span=e.span), e.span)


def _list_loop(ctx: AlgorithmContext, statement: s.For, over: en.ListRef, backwards: bool = False) -> None:
    """`for frontier in levels:`, `for frontier in reversed(levels):`."""
    span = statement.target.span
    out = variable(ctx, statement.target)
    name = ctx.names.fresh("position")
    size = ir.ListSize(over.name, span=statement.iterable.span)
    get = ir.ListGet(out, over.name, ir.Var(name, I64, span=span), span=span)
    body = (get, *block(ctx, statement.body))
    zero, one, minus = (int64(k, span) for k in (0, 1, -1))
    last = ir.Binary("-", size, one, span=span)
    start, stop, step = (last, minus, minus) if backwards else (zero, size, one)
    ctx.emit(ir.For(name, start, stop, step, body, span=statement.span))


LIST_USES = Uses(
    attribute=lambda ctx, e, owner: en.Method(owner, e.name, e.span),
    index=_list_index,
    size=lambda ctx, owner, span: ir.ListSize(owner.name, span=span),
    truth=True,
    loop=_list_loop,
    backwards=partial(_list_loop, backwards=True),
    bind=alias,
    combine=_combine,
    no_method=lambda span, name: refusals.driver.ListMethod(span, name),
)
