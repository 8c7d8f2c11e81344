"""2-D blocks of the adjacency matrix for several devices: blocks of one turn share no row and no column.

Kaleem 2016, section 4.5. There devices take blocks as they come, and fetch the rows and columns of each, the next one
of the same row if there is one. Here who has which block in which turn is fixed, so that the result is that of one
order: rows stay where they are, and a device hands over the columns of a block to who needs them next.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.conflicts.base import Ends, FirstFit, Plan, by_cells, shuffled
from vgraph.graph.conflicts.diagonals import ARCS, PARTS, dealt
from vgraph.records import dataclass


def dealt_blocks(ends: Ends, first_fit: FirstFit, parts: int) -> Plan:
    """As many turns as parts; in each some blocks, and in these phases of smaller ones, as in `blocked_diagonals`.

    Vertices are dealt to parts by degree. Where sources and targets are different vertices, turn t has the blocks of
    row a and column a + t. Elsewhere a block has the arcs between two parts, in both directions, and turns are the
    rounds of a tournament, of which the last has the blocks between each part and itself.
    """
    deal = _Deal(ends, parts)
    turn, seat = deal.place(deal.a, deal.b)
    s = deal.inner
    x, y = (deal.small[of].astype(np.int64) % s for of in (ends.sources, ends.targets))
    low_first = deal.a <= deal.b
    low, high = (x, y) if deal.apart else (np.where(low_first, x, y), np.where(low_first, y, x))
    phase = (high - low) % s
    if not deal.apart and s > 1:  # within a part
        own = deal.a == deal.b
        low, high = np.where(own, np.minimum(x, y), low), np.where(own, np.maximum(x, y), high)
        meet = np.where(high == s - 1, 2 * low, low + high) % (s - 1)
        phase = np.where(own, np.where(low == high, s - 1, meet), phase)
    cell = np.where(low_first | deal.apart, deal.a, deal.b) * s + low
    return by_cells(ends, first_fit, (turn * deal.seats + seat) * s + shuffled(phase), cell)


class _Deal:
    """The parts of vertices, and who meets whom."""

    def __init__(self, ends: Ends, parts: int) -> None:
        n = ends.num_vertices
        self.parts = parts
        self.rows, self.columns = np.zeros(n, bool), np.zeros(n, bool)
        self.rows[ends.sources] = self.columns[ends.targets] = True
        self.apart = not (self.rows & self.columns).any()
        several = min(PARTS, int((ends.sources.size / ARCS) ** 0.5)) // parts
        self.inner = max(1, several if self.apart else several // 2 * 2)
        self.small = dealt(self.rows, ends.degrees, parts * self.inner)
        self.part = self.small // self.inner
        self.a, self.b = (self.part[of].astype(np.int64) for of in (ends.sources, ends.targets))
        self.seats = parts if self.apart else parts // 2
        """Blocks of a turn, of which each is at one of them."""

    def place(
        self, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The turn and the seat of the block of two parts.

        In turn c of a tournament of an even number of players, the last of them sits with player c at seat 0, and at
        seat k players c + k and c - k: so from turn to turn each moves on to the next seat, or stays.
        """
        p = self.parts
        if self.apart:
            return (b - a) % p, a
        if p == 2:
            return np.where(a == b, 1, 0), np.zeros_like(a)
        low, high = np.minimum(a, b), np.maximum(a, b)
        turn = np.where(high == p - 1, low, (low + high) * (p // 2) % (p - 1))
        turn = np.where(low == high, p - 1, turn)
        return turn, np.where(low == high, self.seat(low, np.full_like(low, p - 2)), self.seat(low, turn))

    def seat(self, player: NDArray[np.int64], turn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where a player sits in a turn of the tournament."""
        round_ = self.parts - 1
        away = (player - turn) % round_
        return np.where(player == round_, 0, np.minimum(away, round_ - away))

    def holders(self, members: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bands of vertices, as a number for each vertex (-1 without arcs), and by turn and band the member that has
        it: seats are dealt to members in ranges."""
        p, parts = self.parts, np.arange(self.parts)
        member = np.arange(self.seats) * members // self.seats
        used = self.rows | self.columns
        if self.apart:
            band = np.where(used, self.part + p * self.columns, -1)
            at = [np.r_[parts, (parts - t) % p] for t in range(p)]
        else:
            band = np.where(used, self.part, -1)
            turns = [*range(p - 1), max(p - 2, 0)]
            at = [self.seat(parts, np.full(p, t)) if p > 2 else np.zeros(p, np.int64) for t in turns]
        return band, member[np.stack(at)]


@dataclass(frozen=True, eq=False)
class Turns:
    """What a member does in the turns of `dealt_blocks`: which phases are its own, what it hands over behind them."""

    spans: NDArray[np.int64]
    """For each turn the first of its phases and the one behind the last, and in the same way the places in `gone` and
    in `got` of what goes to others and comes from them."""
    gone: NDArray[np.int64]
    """The vertices of which it hands over what it has, turn by turn, by member; behind the last turn all that it has
    goes to everybody."""
    got: NDArray[np.int64]
    """Those of which it gets what others have, in their order."""
    sent: NDArray[np.uint64]
    """For each turn where what goes to member k begins, from that turn's first, and where the last ends."""
    came: NDArray[np.uint64]
    """And what comes from it."""

    @property
    def most(self) -> int:
        """What goes to others in a turn at most."""
        return int(self.sent[:, -1].max(initial=0))

    @property
    def room(self) -> int:
        """What comes from others in a turn at most."""
        return int(self.came[:, -1].max(initial=0))


def turns(ends: Ends, plan: Plan, parts: int, members: int) -> tuple[Turns, ...]:
    """What each of so many members does in the turns of a plan of `dealt_blocks`."""
    deal = _Deal(ends, parts)
    band, holder = deal.holders(members)
    order = np.argsort(band, kind="stable")
    starts = np.searchsorted(band[order], np.arange(holder.shape[1] + 1))
    of_band = [order[i:j] for i, j in pairwise(starts)]
    # phases by turn and member
    first = plan.phases[:-1] if plan.cells is None else plan.cells[plan.phases[:-1]]
    arcs = plan.order[first]
    turn, seat = deal.place(deal.a[arcs], deal.b[arcs])
    member = seat * members // deal.seats
    phases = np.searchsorted(turn * members + member, np.arange(parts * members + 1))

    lists = [[[np.zeros(0, np.int64)] * members for _ in range(members)] for _ in range(parts)]
    """By turn, sender and receiver."""
    for t in range(parts):
        for m in range(members):
            has = [k for k, at in enumerate(holder[t]) if at == m]
            for to in range(members):
                goes = has if t == parts - 1 else [k for k in has if holder[t + 1, k] == to]
                if to != m and goes:
                    lists[t][m][to] = np.concatenate([of_band[k] for k in goes])
    made = []
    for m in range(members):
        out = [lists[t][m] for t in range(parts)]
        into = [[lists[t][other][m] for other in range(members)] for t in range(parts)]
        sent, came = (
            np.array([np.r_[0, np.cumsum([x.size for x in row])] for row in rows], np.uint64)
            for rows in (out, into)
        )
        gone, got = (np.concatenate([x for row in rows for x in row]) for rows in (out, into))
        own = phases[np.arange(parts) * members + m], phases[np.arange(parts) * members + m + 1]
        columns = list(own)
        for offsets in (sent, came):
            after = np.cumsum(offsets[:, -1].astype(np.int64))
            columns += [after - offsets[:, -1].astype(np.int64), after]
        made.append(Turns(np.stack(columns, axis=1).ravel().astype(np.int64), gone, got, sent, came))
    return tuple(made)
