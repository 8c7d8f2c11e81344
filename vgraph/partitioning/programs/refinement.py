"""Refinement of k parts: label propagation with an afterburner, and rebalancing (Gilbert et al. 2023, "Jet").

All vertices move at once. A vertex is a candidate if its best other part costs little; of the candidates those move
that would gain if all better candidates moved before them. A vertex that moved rests for a turn. Losses are allowed,
the best balanced state is kept.
"""

from __future__ import annotations

import vgraph as vg

WIDE = 64
"""Parts that a vertex adds up what leads there at a time: in a table of its own, for one as long as there are vertices
would be needed for each of a GPU's visits."""


@vg.function
def clear(table):
    """A table begins anew."""
    for i in range(WIDE):
        table[i] = 0


@vg.operator
def choose(v, graph):
    """The best other part around v, and what going there gains; whether there is one. v is eager if it costs little."""
    inside = vg.int64(0)
    most = vg.int64(0)
    best = vg.int32(-1)
    toward = vg.local(vg.int64, WIDE)
    low = 0
    while low < k:
        for e in v.out_edges:
            part = e.dst.part
            i = part - low
            if part == v.part:
                inside += e.weight if low == 0 else 0
            elif i >= 0 and i < WIDE:
                toward[i] += e.weight
                if toward[i] > most or (toward[i] == most and vg.vertex(part).size < vg.vertex(best).size):
                    most = toward[i]
                    best = part
        low += WIDE
        if low < k:
            clear(toward)
    gain = most - inside
    v.gain = gain
    v.dest = best
    v.eager = gain >= 0 or -gain < vg.int64(boldness * inside)
    return best >= 0


@vg.operator
def rested(v, graph):
    """Whether v is a candidate of this turn: it wants to go, and did not move in the last one."""
    ready = v.eager and v.moved != graph.turn - 1
    if ready:
        v.turn = graph.turn
    return ready


@vg.operator
def afterburn(v, graph):
    """Whether v still gains if all better candidates around it move before it."""
    gain = vg.int64(0)
    for e in v.out_edges:
        u = e.dst
        part = u.part
        if u.turn == graph.turn and (u.gain > v.gain or (u.gain == v.gain and u < v)):
            part = u.dest
        if part == v.dest:
            gain += e.weight
        elif part == v.part:
            gain -= e.weight
    return gain >= 0


@vg.operator
def move(v, graph):
    """Go to the other part."""
    vg.vertex(v.part).size -= v.load
    vg.vertex(v.dest).size += v.load
    v.old = v.part
    v.part = v.dest
    v.moved = graph.turn


@vg.operator
def settle(v, graph):
    """What the move of v changed of the cut, twice; half of it where the other end moved as well."""
    change = vg.int64(0)
    for e in v.out_edges:
        u = e.dst
        was = u.part
        share = vg.int64(2)
        if u.moved == graph.turn:
            was = u.old
            share = vg.int64(1)
        if was != v.old:
            change -= share * e.weight
        if u.part != v.part:
            change += share * e.weight
    graph.doubled += change


@vg.operator
def wake(src, edge, dst, graph):
    """Around what moved, vertices choose anew."""
    dst.woken = max(dst.woken, graph.turn)


@vg.function
def class_of(loss):
    """The class of a loss: gains first, then none, then by powers of two; the last has all above."""
    return min(classes - 1, 0 if loss < 0 else (1 if loss == 0 else 66 - vg.clz(loss)))


@vg.operator
def leave(v, graph):
    """Where v would go from a part that is too heavy, one with room, the best around it or one by lot; and the loss."""
    own = vg.vertex(v.part)
    exit = vg.int32(-1)
    if own.size > limit and 2 * v.load < 3 * (own.size - mean):
        loss = -v.gain
        exit = v.dest
        if exit < 0 or vg.vertex(exit).size + v.load > target:
            exit = vg.int32(-1)
            inside = vg.int64(0)
            most = vg.int64(0)
            toward = vg.local(vg.int64, WIDE)
            low = 0
            while low < k:
                for e in v.out_edges:
                    part = e.dst.part
                    i = part - low
                    if part == v.part:
                        inside += e.weight if low == 0 else 0
                    elif i >= 0 and i < WIDE and vg.vertex(part).size + v.load <= target:
                        toward[i] += e.weight
                        if toward[i] > most:
                            most = toward[i]
                            exit = part
                low += WIDE
                if low < k:
                    clear(toward)
            loss = inside - most
            for i in range(4):
                if exit < 0:
                    part = vg.int32(vg.random_below(k, v, graph.turn, i))
                    if vg.vertex(part).size + v.load <= target:
                        exit = part
            if exit < 0 and graph.lightest.size + v.load <= limit:
                exit = vg.int32(graph.lightest.id)
        if exit >= 0:
            v.loss = loss
            vg.vertex(v.part * classes + class_of(loss)).mass += v.load
    v.exit = exit
    return exit >= 0


@vg.operator
def survey(v, graph):
    """The heaviest part, and the one with the most room."""
    graph.heaviest = max(graph.heaviest, v.size)
    graph.least, graph.lightest = min((graph.least, graph.lightest), (v.size, v))


@vg.operator
def draw_line(v):
    """Of a part that is too heavy: the last class of losses that is needed, and the share of it."""
    v.coming = 0
    if v.size > limit:
        need = v.size - target
        last = 0
        while last < classes - 1 and vg.vertex(v.id * classes + last).mass < need:
            need -= vg.vertex(v.id * classes + last).mass
            last += 1
        v.line = last
        v.share = vg.float64(need) / vg.float64(max(vg.vertex(v.id * classes + last).mass, 1))


@vg.operator
def is_chosen(v, graph):
    """Whether v is among the least losses that make its part light enough."""
    own = vg.vertex(v.part)
    mine = class_of(v.loss)
    chosen = mine < own.line or (mine == own.line and vg.random(v, graph.turn) <= own.share)
    if chosen:
        vg.vertex(v.exit).coming += v.load
    return chosen


@vg.operator
def is_let_in(v, graph):
    """Whether v is among those for whom the other part has room."""
    there = vg.vertex(v.exit)
    room = limit - there.size
    v.dest = v.exit
    return there.coming <= room or vg.random(v, graph.turn, 4) * there.coming <= room


@vg.operator
def empty(v):
    """Clear the table of losses."""
    v.mass = 0


@vg.operator
def fill(v):
    """What part v weighs."""
    v.size = weights[v.id]


@vg.operator
def join(v):
    """Back to the best state."""
    v.part = v.best


@vg.function
def surveyed(graph, parts):
    """Look at the weights of the parts."""
    graph.heaviest = 0
    graph.least = vg.int64(vg.inf)
    graph.lightest = vg.vertex(0)
    graph.vertex_apply(survey, parts)


@vg.function
def improving(graph, rim):
    """The candidates that move, if they gain after the better ones."""
    rising = graph.vertex_filter(rested, rim)
    return graph.vertex_filter(afterburn, rising)


@vg.function
def leaving(graph, givers, parts, cells):
    """The vertices that leave parts that are too heavy."""
    graph.vertex_apply(empty, cells)
    going = graph.vertex_filter(leave, givers)
    graph.vertex_apply(draw_line, parts)
    going = graph.vertex_filter(is_chosen, going)
    return graph.vertex_filter(is_let_in, going)


@vg.function
def going(graph, rim, parts, cells):
    """The vertices that move in this turn: those that improve the cut, or what leaves parts that are too heavy, of the
    rim or, where that has none, of all."""
    moving = graph.frontier()
    if graph.heaviest <= limit:
        moving = improving(graph, rim)
        graph.stuck = False
    elif graph.stuck:
        moving = leaving(graph, graph.vertices, parts, cells)
    else:
        moving = leaving(graph, rim, parts, cells)
        graph.stuck = len(moving) == 0
    return moving


@vg.function
def reconsidered(graph, rim, gone):
    """The vertices that may want to go, after some have gone: around those all choose anew."""
    around = graph.edge_apply(wake, gone) | gone
    return (rim - around) | graph.vertex_filter(choose, around)


@vg.function
def turned(graph, rim, parts, cells):
    """A turn; the rim after it."""
    moving = going(graph, rim, parts, cells)
    graph.vertex_apply(move, moving)
    graph.vertex_apply(settle, moving)
    surveyed(graph, parts)
    around = reconsidered(graph, rim, moving)
    graph.turn += 1
    return around


@vg.function
def returned(graph, rim):
    """Back to the best state; the rim there."""
    strayed = graph.frontier(v for v in graph.vertices if v.part != v.best)
    graph.vertex_apply(join, strayed)
    return reconsidered(graph, rim, strayed)


@vg.algorithm
def refinement(
    graph,
    start: vg.vertex_property(vg.int32),
    border: vg.vertex_property(vg.bool_),
    weights: vg.array(vg.int64),
    first,
    table,
    doubled: vg.int64,
    k: vg.int64,
    limit: vg.int64,
    mean: vg.int64,
    target: vg.int64,
    classes: vg.int64,
    boldness: vg.float64,
    patience: vg.int64,
):
    """Better parts than `start`, none above `limit` if such were found; twice their cut, the heaviest, and turns.

    `border`: all vertices with a neighbor in another part, and maybe others; `border_now` has those of the new parts.
    `weights`: of the parts. `doubled`: twice the cut. `first`: the vertices 0 to k - 1, which stand for parts.
    `table`: the first `k * classes`, which stand for losses. What leaves a part that is too heavy brings it down to
    `target`, and fills others up to that. It ends when `patience` turns were of little use.
    """
    part, best, old, exit, turn, moved, woken = graph.vertex_property(vg.int32)
    dest = graph.vertex_property(vg.int32, fill=-1)
    gain, loss = graph.vertex_property(vg.int64)
    size, coming, mass, line = graph.vertex_property(vg.int64)  # of parts, and of classes of losses
    share = graph.vertex_property(vg.float64)
    eager, border_now = graph.vertex_property(vg.bool_)
    parts = graph.frontier(first)
    cells = graph.frontier(table)
    part[:] = start
    best[:] = start
    graph.turn = vg.int32(2)
    graph.doubled = doubled
    graph.vertex_apply(fill, parts)
    surveyed(graph, parts)
    cut = graph.doubled
    heaviest = graph.heaviest
    rim = graph.vertex_filter(choose, graph.frontier(border))
    graph.stuck = False
    idle = 0
    turns = 0
    while idle < patience:
        rim = turned(graph, rim, parts, cells)
        turns += 1
        idle += 1
        better = graph.heaviest <= limit and graph.doubled < cut
        if heaviest > limit and graph.heaviest < heaviest:
            idle = 0
            better = True
        elif better and 1000 * graph.doubled < 999 * cut:
            idle = 0
        if better:
            cut = graph.doubled
            heaviest = graph.heaviest
            best[:] = part
    rim = returned(graph, rim)
    border_now = dest >= 0
    return best, border_now, cut, heaviest, turns
