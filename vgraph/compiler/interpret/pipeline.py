"""A pipeline between threads that are interleaved at random; what lies outside the channel is poison."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.interpret.bodies import run_body
from vgraph.compiler.interpret.machine import Env, Item, Machine
from vgraph.compiler.interpret.memory import Steps

_SIDES: Final = {ir.Site.EDGE: ir.Orientation.OUT, ir.Site.EDGE_IN: ir.Orientation.IN}


class Channel:
    """The pieces of the domain, and which of them lie between producer and consumer."""

    def __init__(self, m: Machine, env: Env, node: ir.Pipeline, domain: list[Item]) -> None:
        self.m, self.env, self.node = m, env, node
        self.side = _SIDES.get(m.properties[node.buffers[0]].site)
        self.waiting = deque(self.pieces(domain))
        self.filled: deque[list[Item]] = deque()
        self.in_flight = 0
        self.producers = (m.threads + 1) // 2
        self.close()

    def pieces(self, domain: list[Item]) -> list[list[Item]]:
        """The domain in pieces, of random size if the machine is random; their order is random too."""
        m, found = self.m, []
        while domain:
            size = 1 if m.rng is None else int(m.rng.integers(1, 4))
            found.append(domain[:size])
            domain = domain[size:]
        return m.ordered(found)

    def run(self, piece: list[Item], body: ir.Body) -> Steps:
        """One side of the pipeline, for the items of a piece in order."""
        for v, place in piece:
            self.m.take(v)
            local: Env = {**self.env, self.node.vertex: self.m.vid.type(v)}
            if self.node.position is not None:
                local[self.node.position] = np.int64(place)
            yield from run_body(self.m, local, body)
        return None

    def produce(self) -> Steps:
        """Take a piece and fill the channel with it."""
        piece = self.waiting.popleft()
        self.in_flight += 1
        yield from self.run(piece, self.node.producer)
        self.filled.append(piece)
        return None

    def consume(self) -> Steps:
        """Empty the channel of the piece that came first."""
        piece = self.filled.popleft()
        yield from self.run(piece, self.node.consumer)
        for item in piece:
            self.spoil(item)
        self.in_flight -= 1
        return None

    def alone(self) -> Steps:
        """One thread: a piece is consumed as soon as it is produced."""
        while self.waiting:
            yield from self.produce()
            yield from self.consume()
        return None

    def thread(self, number: int) -> Steps:
        """Thread `number` of several: the first half produce while there is room, all consume what is left."""
        while self.waiting or self.in_flight:
            if number < self.producers and self.waiting and self.in_flight < self.node.chunks:
                yield from self.produce()
            elif self.filled:
                yield from self.consume()
            yield
        return None

    def spoil(self, item: Item) -> None:
        """Forget the elements of an item, so that whoever reads them is found out."""
        v, place = item
        at: Any = [place] if self.side is None else [e for _, e in self.m.arcs(v, self.side)]
        for name in self.node.buffers:
            self.m.spoil(name, at)

    def close(self) -> None:
        """Nothing is in the buffers outside the pipeline."""
        for name in self.node.buffers:
            self.m.spoil(name, ...)
