"""The language on a page: what lowers each piece of it. What is new has a file with its checks, and a line here."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import COMBINED, Value
from vgraph.compiler.frontend.lowering import (
    access,
    algorithms,
    applies,
    arithmetic,
    arrays,
    calls,
    elements,
    frontiers,
    functions,
    gathered,
    graph,
    locals,
    names,
    neighbors,
    new_frontier,
    programs,
    properties,
    queues,
    random,
    statements,
    tuples,
    vectors,
    vertices,
    whole,
    writes,
)
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Rules, Uses
from vgraph.language import names as language


def _declaration(
    name: str, put: Callable[[AlgorithmContext, s.Call, s.Assign, s.Name], None]
) -> Callable[[AlgorithmContext, s.Call, en.GraphRef], en.Made]:
    """A method that only an assignment calls."""

    def rule(ctx: AlgorithmContext, e: s.Call, owner: en.GraphRef) -> en.Made:
        refused = en.refuse(lambda: refusals.driver.DeclarationInExpression(e.span, name))
        return en.Made(refused, lambda statement, target: put(ctx, e, statement, target))

    return rule


RULES: Final = Rules(
    expressions={
        s.Name: names.name,
        s.Literal: names.literal,
        s.Attribute: access.attribute,
        s.Index: access.index,
        s.Call: calls.call,
        s.Unary: arithmetic.unary,
        s.Binary: arithmetic.binary,
        s.Compare: arithmetic.compare,
        s.Bool: arithmetic.logical,
        s.Conditional: arithmetic.conditional,
        s.Items: frontiers.items,
        s.Comprehension: new_frontier.elsewhere,
        s.Slice: whole.elsewhere,
    },
    statements={
        s.Assign: whole.assign,
        s.AssignTuple: tuples.assign,
        s.Augment: whole.augment,
        s.Evaluate: calls.evaluate,
        s.If: writes.branch,
        s.While: statements.while_loop,
        s.For: statements.for_loop,
        s.Pass: lambda ctx, x: None,
        s.Break: lambda ctx, x: ctx.emit(ir.Break(span=x.span)),
        s.Continue: lambda ctx, x: ctx.emit(ir.Continue(span=x.span)),
        s.Leave: algorithms.leave,
    },
    uses={
        Value: Uses(
            attribute=vertices.attribute,
            index=access.element,
            size=vectors.length,
            store=writes.store,
            store_index=elements.store,
        ),
        en.Static: Uses(attribute=access.static_attribute),
        en.GraphRef: Uses(attribute=graph.attribute, store=writes.store),
        en.GraphProperty: properties.GRAPH_USES,
        en.Edge: Uses(attribute=vertices.edge_attribute, store=writes.store),
        en.Neighbors: neighbors.USES,
        en.NeighborSet: neighbors.SET_USES,
        en.PropertyRef: replace(properties.USES, bind=whole.bind),
        en.EdgePropertyRef: properties.EDGE_USES,
        en.ArrayRef: arrays.USES,
        en.ArrayShape: arrays.SHAPE_USES,
        en.FrontierRef: frontiers.USES,
        en.ListRef: frontiers.LIST_USES,
        en.Gathered: gathered.USES,
        en.QueueRef: queues.USES,
        en.Results: programs.USES,
    },
    functions={
        **functions.FUNCTIONS,
        language.fail: algorithms.fail,
        language.local: locals.local,
        language.local_list: gathered.local_list,
        language.union: writes.union,
        language.random: random.random,
        language.random_below: random.random_below,
        language.random_choice: random.random_choice,
        language.random_normal: random.random_normal,
        (en.GraphRef, "vertex_property"): _declaration("vertex_property", properties.vertex_property),
        (en.GraphRef, "edge_property"): _declaration("edge_property", properties.edge_property),
        (en.GraphRef, "scratch"): _declaration("scratch", properties.scratch),
        (en.GraphRef, "priority_queue"): _declaration("priority_queue", queues.priority_queue),
        (en.GraphRef, "disjoint_sets"): _declaration("disjoint_sets", properties.disjoint_sets),
        (en.GraphRef, "frontier"): new_frontier.new,
        (en.GraphRef, "edge_apply"): partial(applies.making, kind="edge_apply"),
        (en.GraphRef, "vertex_apply"): applies.vertex_apply,
        (en.GraphRef, "vertex_filter"): partial(applies.making, kind="vertex_filter"),
        **{(en.GraphRef, name): whole.combined for name in COMBINED},
        (en.GraphRef, "where"): whole.where,
        (en.ListRef, "append"): frontiers.append,
        (en.Gathered, "append"): gathered.append,
        (en.QueueRef, "pop"): queues.pop,
    },
    loops={builtins.range: statements.range_loop, builtins.reversed: statements.reversed_loop},
)
