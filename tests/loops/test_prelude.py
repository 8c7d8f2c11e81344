"""Helpers of the prelude, run by threads that take turns at every access to memory, and as machine code."""

from __future__ import annotations

import ctypes
import heapq
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loop_machine import Machine

from vgraph.compiler.backends import jit, native
from vgraph.compiler.backends.abi import (
    ARMS,
    BUCKETS_CELLS,
    CONTEXT,
    DESK,
    FORK,
    LEAVE,
    LIST,
    MAIL,
    OPEN,
    PEER,
    POOL,
    SEAT,
    SET,
    TILES,
    WORKER,
    WORKER_STRIDE,
    Layout,
    Steering,
    Way,
    type_sizes,
)
from vgraph.compiler.backends.llvm import buckets, heaps, tiles
from vgraph.compiler.backends.llvm.parallel import CHUNKS, NO_CHUNK
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import Unit
from vgraph.errors import InternalError

# --- heaps


def _more_heap(m: Machine, _: int, worker: int) -> int:
    """`vg_heap_grow`: room for two pairs more."""
    heap, capacity = (m.read(worker + WORKER.offset(f), 8) for f in ("heap", "heap_capacity"))
    new = m.allocate(16 * (capacity + 2))
    for at in range(0, 16 * capacity, 8):
        m.write(new + at, 8, m.read(heap + at, 8))
    m.write(worker + WORKER.offset("heap"), 8, new)
    m.write(worker + WORKER.offset("heap_capacity"), 8, capacity + 2)
    return 1


@pytest.mark.parametrize("key", ["i64", "f64"])
def test_a_heap_gives_the_lowest_key(key):
    rng, unit = random.Random(1), heaps.unit(key)
    m = Machine({"vg_heap_grow": _more_heap})
    worker, top, expected = m.allocate(WORKER.size, zero=True), m.allocate(16), list[float]()
    for step in range(150):
        if rng.random() < (0.7 if step < 80 else 0.3):
            number = rng.randrange(-20, 20)
            heapq.heappush(expected, number)
            m.call(unit, "push", 0, worker, number if key == "i64" else float(number), number & 0xFF)
        elif m.call(unit, "pop", worker, top):
            number = heapq.heappop(expected)
            assert m.read(top, 8) == number
            assert m.read(top + 8, 8) == int(number) & 0xFF
        else:
            assert not expected


# --- buckets


def _opened(m: Machine, sizes: list[list[int]]) -> tuple[int, int, dict[int, int]]:
    """Workers who have opened a cell with a chain of blocks, of so many ids each; the ids by where they stand."""
    unit, size = buckets.unit(32), buckets.BLOCK_IDS * 4
    ctx, workers = m.allocate(CONTEXT.size, zero=True), m.allocate(len(sizes) * WORKER_STRIDE, zero=True)
    ids: dict[int, int] = {}
    for rank, blocks in enumerate(sizes):
        worker, end = workers + rank * WORKER_STRIDE, 0
        m.write(worker + WORKER.offset("table"), 8, m.allocate(8 * len(blocks) + 8))
        for count in blocks:
            block = m.allocate(size, align=size)
            m.write(block, 8, end)
            ids |= {block + 8 + 4 * k: len(ids) + k for k in range(count)}
            end = block + 8 + 4 * count
        cell = worker + WORKER.size + 8 * 5
        m.write(cell, 8, end)
        assert m.call(unit, "lowest", worker, 3) == (5 if end else buckets.BUCKETS_NONE)
        m.call(unit, "open", worker, cell)
        assert m.read(worker + WORKER.offset("entries"), 8) == sum(blocks)
        assert m.call(unit, "lowest", worker, 3) == buckets.BUCKETS_NONE
    return ctx, workers, ids


def _taken(m: Machine, ctx: int, workers: int, rank: int, count: int) -> list[int]:
    """Where the entries stand that a thread gets."""
    found, span = [], m.allocate(16)
    while m.call(buckets.unit(32), "take", ctx, workers, workers + rank * WORKER_STRIDE, count, span):
        found += range(m.read(span, 8), m.read(span + 8, 8), 4)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_threads_take_each_entry_once(seed):
    m = Machine(seed=seed)
    sizes = [[[150, 3]], [[70], [], [2, 1]], [[1], [9, 130]]][seed % 3]
    ctx, workers, ids = _opened(m, sizes)
    n = len(sizes)
    parts = m.run([partial(_taken, m, ctx, workers, r, n) for r in range(n)])
    assert sorted(at for part in parts for at in part) == sorted(ids)
    for rank in range(n):
        m.call(buckets.unit(32), "clear", workers + rank * WORKER_STRIDE)
        assert m.read(workers + rank * WORKER_STRIDE + WORKER.offset("blocks"), 8) == 0


def test_a_thread_alone_takes_its_own_chain_and_gives_it_back():
    m = Machine()
    ctx, workers, _ = _opened(m, [[]])
    cell = workers + WORKER.size + 8 * (BUCKETS_CELLS - 1)
    end = 0
    for _ in range(3):
        block = m.allocate(2048, align=2048)
        m.write(workers + WORKER.offset("free"), 8, block)
        m.write(block, 8, 0)
        end = m.call(buckets.unit(32), "room", ctx, workers, end) + 4
    m.write(cell, 8, end)
    m.write(workers + WORKER.offset("cell"), 8, cell)
    assert len(_taken(m, ctx, workers, 0, 0)) == 3
    free, blocks = m.read(workers + WORKER.offset("free"), 8), 0
    while free:
        free, blocks = m.read(free, 8), blocks + 1
    assert blocks == 3


def test_a_cancelled_run_takes_nothing():
    m = Machine()
    ctx, workers, _ = _opened(m, [[4]])
    m.write(ctx + CONTEXT.offset("cancel"), 4, 1)
    assert _taken(m, ctx, workers, 0, 1) == []


# --- tiles


def _tiles(m: Machine, count: int, group: int) -> tuple[Unit, int, dict[str, int]]:
    """Nothing waits in `count` tiles; where their arrays lie."""
    numbers = {**tiles.UNIT.numbers, "GROUP": group}
    unit = Unit(f"tiles {Path(__file__).parent / 'tiles'}", numbers=numbers)
    table = m.allocate(TILES.size, zero=True)
    arrays = {name: m.allocate(8 * count) for name in ("least", "groups", "busy")}
    for name, value in {"count": count, **arrays}.items():
        m.write(table + TILES.offset(name), 8, value)
    m.call(unit, "reset", table)
    return unit, table, arrays


@pytest.mark.parametrize("seed", range(4))
def test_threads_visit_tiles_until_nothing_waits(seed):
    count, m = 9, Machine({"vg_pause": lambda *_: 0}, seed=seed)
    unit, table, _ = _tiles(m, 5, 2)
    ctx, owner = m.allocate(CONTEXT.size, zero=True), m.allocate(40, zero=True)
    flags, values = m.allocate(count, zero=True), m.allocate(8 * count)
    for v in range(count):
        m.write(values + 8 * v, 8, 1000 if v else 0)
    m.call(unit, "push", table, flags, 0, 0)
    found = [m.allocate(16) for _ in range(3)]
    m.run([partial(m.call, unit, "work", ctx, table, flags, values, count, f, owner) for f in found])
    far = {0: 0}
    for _ in range(count):
        for v, value in sorted(far.items()):
            for u, length in (((v + 1) % count, 1), ((v * 5 + 2) % count, 3)):
                far[u] = min(far.get(u, 1000), value + length)
    assert [m.read(values + 8 * v, 8) for v in range(count)] == [far[v] for v in range(count)]
    assert m.read(table + TILES.offset("pending"), 8) == 0
    m.write(ctx + CONTEXT.offset("cancel"), 4, 1)
    m.call(unit, "push", table, flags, 3, 0)
    assert not m.call(unit, "next", ctx, table, found[0])


def test_no_tile_of_a_group_is_overlooked():
    for seed in range(20):
        m = Machine(seed=seed)
        unit, table, arrays = _tiles(m, 3, 3)
        looks = partial(m.call, unit, "look_again", table, 0)
        m.run([looks, partial(m.call, unit, "wait", table, 0, 5), partial(m.call, unit, "wait", table, 1, 7)])
        assert m.read(arrays["groups"], 8) == 5


# --- the native runtime


def _realloc(m: Machine, old: int, size: int) -> int:
    new = m.allocate(size)
    for at in [at for at in m.cells if old <= at < old + 4096 and old]:
        m.cells[new + at - old] = m.cells[at]
    return new


def _memcpy(m: Machine, to: int, source: int, size: int) -> int:
    at = source
    while at < source + size:
        width, _ = m.cells.get(at, (4, 0))
        m.write(to + at - source, width, m.read(at, width))
        at += width
    return to


MEMORY = {"realloc": _realloc, "memcpy": _memcpy, "free": lambda m, p: 0}


def test_a_list_keeps_frontiers():
    m, unit = Machine(MEMORY), native.unit()
    kept, ids, expected = m.allocate(LIST.size, zero=True), m.allocate(64), []
    for k in range(70):
        for i in range(k % 7):
            m.write(ids + 4 * i, 4, 100 * k + i)
        m.call(unit, "vg_list_append", 0, kept, ids, k % 7, 4)
        expected.append([100 * k + i for i in range(k % 7)])
        if k % 5 == 4:
            m.call(unit, "vg_list_pop", kept)
            expected.pop()
    assert m.call(unit, "vg_list_length", kept) == len(expected)
    for k, there in enumerate(expected):
        at, count = m.call(unit, "vg_list_ids", kept, k), m.call(unit, "vg_list_count", kept, k)
        assert [m.read(at + 4 * i, 4) for i in range(count)] == there
    m.call(unit, "vg_list_free", kept)
    assert m.call(unit, "vg_list_length", kept) == 0


def _sleeper(m: Machine, word: int, old: int, _: int) -> int:
    """`sleep_while`, as a futex: asleep while the word is as it was, until somebody wakes all."""
    if m.read(word, 4) == old:
        woken = m.read(word + 8, 4)
        for _ in range(2000):
            if m.read(word + 8, 4) != woken:
                return 0
            m.step()
        raise InternalError("a wake-up is lost")
    return 0


def _wake(m: Machine, word: int) -> int:
    m.write(word + 8, 4, m.read(word + 8, 4) + 1)
    return 0


@pytest.mark.parametrize("seed", range(20))
def test_no_wake_up_is_lost(seed):
    m = Machine({"sleep_while": _sleeper, "wake_all": _wake, "pause": lambda m: 0}, seed)
    word, unit = m.allocate(64, zero=True), native.unit()
    waits = [partial(m.call, unit, "wait_change", word, 0, word + 4, seed % 3)] * 2
    m.run([*waits, partial(m.call, unit, "advance", word, word + 4)])
    assert m.read(word + 4, 4) == 0


class Pool:
    """A pool of workers and a run of rounds, each of so many chunks that code for one thread or for a team takes."""

    ROUNDS, FEW, MANY = 3, 2, 13

    def __init__(self, workers: int, seed: int, steering: Steering, chunks: int) -> None:
        self.unit, self.workers, self.ended, self.count = native.unit(), workers, set[int](), chunks
        self.m = m = Machine(
            {name[1:]: getattr(self, name) for name in vars(Pool) if name[0] == "_" != name[1]}, seed
        )
        self.woken, self.clock, self.state, self.taken = dict[int, int](), 0, 0, list[tuple[int, int]]()
        self.pool, self.ctx = (m.allocate(size, 64, zero=True) for size in (POOL.size, CONTEXT.size))
        arms, forks, threads = (m.allocate(size, zero=True) for size in (ARMS.size, FORK.size, 8 * workers))
        for k in range(workers):
            m.write(threads + 8 * k, 8, k + 1)
        self.put(POOL, self.pool, threads=threads, num_workers=workers)
        self.put(FORK, forks, least=1)
        self.put(CONTEXT, self.ctx, arms=arms, forks=forks, seed=seed + 1, num_threads=workers, num_forks=1)
        counters = m.allocate(64 * workers, zero=True)
        seats = m.allocate(SEAT.size * workers, zero=True)
        self.put(CONTEXT, self.ctx, spin_limit=2, steering=int(steering), counters=counters)
        self.put(CONTEXT, self.ctx, partials=seats, partials_stride=SEAT.size)

    def put(self, layout: Layout, address: int, **fields: int) -> None:
        for name, value in fields.items():
            self.m.write(address + layout.offset(name), type_sizes[layout.type(name)], value)

    def call(self, name: str, *args: int) -> int:
        return int(self.m.call(self.unit, name, *args) or 0)

    def chunks(self, round_: int, rank: int) -> None:
        """The loop of a round."""
        helped = self.m.allocate(8, zero=True)
        call = partial(self.m.call, CHUNKS, "next", self.ctx, rank, self.workers, self.count, helped)
        while (chunk := call()) != NO_CHUNK:
            self.taken.append((round_, chunk))

    def _invoke(self, m: Machine, function: int, ctx: int, *args: int) -> int:
        return self.alone(*args) if function == 1 else self.team(*args)

    def alone(self, at: int) -> int:
        """Code for one thread, from a fork point on, or from the start."""
        if at:
            self.here()
        while self.state < self.ROUNDS:
            if self.call("vg_fork", self.ctx, 1, 5) == LEAVE:
                return 1
            self.here()
        return -1 & 0xFFFFFFFF

    def here(self) -> None:
        self.taken += [(self.state, chunk) for chunk in range(self.count)]
        self.state += 1

    def team(self, rank: int, at: int, generation: int) -> int:
        """Code for a team: whoever joins goes on where the first thread says."""
        round_ = self.state
        while True:
            self.chunks(round_, rank)
            round_ += 1
            generation = generation if rank else 0
            team = self.call("vg_barrier", self.ctx, rank, generation, 1)
            if not team or round_ == self.ROUNDS:
                return -1 & 0xFFFFFFFF
            if rank == 0:
                self.state = round_
                way = self.call("vg_meet", self.ctx, 1, 5, team)
                if way == LEAVE:
                    return 1
                if way == OPEN:
                    self.call("vg_open", self.ctx, 1)

    def _sleep_while(self, m: Machine, word: int, old: int, ns: int) -> None:
        woken = self.woken.get(word, 0)
        for _ in range(20_000 if ns == (1 << 64) - 1 else 10):
            if m.read(word, 4) != old or self.woken.get(word, 0) != woken:
                return
            m.step()
        assert ns != (1 << 64) - 1, "a wake-up is lost"

    def _wake_all(self, m: Machine, word: int) -> None:
        self.woken[word] = self.woken.get(word, 0) + 1

    def _vg_now(self, m: Machine) -> int:
        self.clock += 100
        return self.clock

    def _idle(self, m: Machine) -> int:
        return 0

    def _pause(self, m: Machine) -> None:
        pass

    def _usleep(self, m: Machine, us: int) -> None:
        pass

    def _pthread_join(self, m: Machine, thread: int, _: int) -> int:
        while thread not in self.ended:
            m.step()
        return 0

    def worker(self) -> None:
        self.call("worker", self.pool)
        self.ended.add(len(self.ended) + 1)

    def host(self) -> None:
        assert self.call("vg_submit", self.pool, self.ctx, 1, 2) == 1
        while not self.call("vg_wait", self.ctx, 1000):
            pass
        while not self.call("vg_pool_end", self.pool):
            pass


@pytest.mark.parametrize("seed", range(12))
def test_a_team_that_comes_and_goes_does_each_chunk_once(seed):
    """With few chunks, for which one counter is enough, and with a block of them for each pair of threads."""
    chunks = Pool.MANY if seed >= 6 else Pool.FEW
    pool = Pool(3 if seed >= 6 else 2 + seed % 2, seed, Steering(seed % 3), chunks)
    pool.m.run([pool.host, *[pool.worker] * pool.workers])
    assert sorted(pool.taken) == [(r, c) for r in range(Pool.ROUNDS) for c in range(chunks)]
    assert len(pool.ended) == pool.workers


def _put(m: Machine, layout: Layout, address: int, **fields: int) -> None:
    for name, value in fields.items():
        m.write(address + layout.offset(name), type_sizes[layout.type(name)], value)


WAYS = Way.OWNERS, Way.GHOSTS, Way.ALL


class Members:
    """Members of a set, each with two ghosts at every other member; rounds of an exchange in all ways."""

    def __init__(self, count: int, seed: int) -> None:
        self.unit, self.count = native.unit(), count
        outside = {"sleep_while": self.nap, "wake_all": lambda m, word: None, "pause": lambda m: None}
        self.m = m = Machine({**MEMORY, **outside, "vg_now": lambda m: 0}, seed)
        self.set, self.peers = m.allocate(SET.size, zero=True), m.allocate(count * PEER.size, 64, zero=True)
        _put(m, SET, self.set, members=count, peers=self.peers, spin_limit=seed % 3)
        self.contexts = [m.allocate(CONTEXT.size, zero=True) for _ in range(count)]
        self.outs = [[m.allocate(4 * 2 * count) for _ in WAYS] for _ in range(count)]
        self.gots = [[m.allocate(4 * 2 * count, zero=True) for _ in WAYS] for _ in range(count)]
        self.mails = [m.allocate(len(WAYS) * MAIL.size) for _ in range(count)]
        for k in range(count):
            starts = m.allocate(8 * (count + 1))
            for p in range(count + 1):
                m.write(starts + 8 * p, 8, 2 * (p - (p > k)))
            me = self.peers + k * PEER.size
            outs = m.allocate(8 * len(WAYS))
            _put(m, PEER, me, set=self.set, ghosts=starts, shared=starts, number=k, outs=outs)
            _put(m, CONTEXT, self.contexts[k], peer=me)
            for way in WAYS:
                mail = self.mails[k] + int(way) * MAIL.size
                _put(m, MAIL, mail, out=self.outs[k][way], got=self.gots[k][way], way=int(way), bytes=4)

    def nap(self, m: Machine, word: int, old: int, ns: int) -> None:
        assert ns > 0, "whoever is cancelled has to notice"
        for _ in range(5):
            m.step()

    def run(self, k: int, rounds: int) -> list[list[list[int]]]:
        """What member k gets in each round, by way."""
        m, found = self.m, []
        for round_ in range(rounds):
            for way in WAYS:
                for i in range(2 * (self.count - 1)):
                    m.write(self.outs[k][way] + 4 * i, 4, 100 * round_ + 10 * k + i)
            m.call(self.unit, "vg_exchange", self.contexts[k], self.mails[k], len(WAYS))
            found.append([[m.read(at + 4 * i, 4) for i in range(self.got(way))]
                          for way, at in zip(WAYS, self.gots[k], strict=True)])  # fmt: skip
        return found

    def got(self, way: Way) -> int:
        return self.count if way is Way.ALL else 2 * (self.count - 1)


@pytest.mark.parametrize("seed", range(12))
def test_members_of_a_set_get_what_others_have_for_them(seed):
    members = Members(2 + seed % 3, seed)
    n = members.count
    results = members.m.run([partial(members.run, k, 3) for k in range(n)])
    for k, rounds in enumerate(results):
        for round_, (owners, ghosts, everybody) in enumerate(rounds):
            others = [p for p in range(n) if p != k]
            at = [100 * round_ + 10 * p + 2 * (k - (k > p)) + i for p in others for i in range(2)]
            assert owners == ghosts == at
            assert everybody == [100 * round_ + 10 * p for p in range(n)]
    for k in range(n):
        me = members.peers + k * PEER.size
        assert members.m.read(me + PEER.offset("received"), 8) == 3 * (2 * 2 * 4 + 4) * (n - 1)


@pytest.mark.parametrize("seed", range(4))
def test_members_say_how_much_each_other_gets(seed):
    """None, one or both of what its ghosts have; -1 is all, but not of the numbers that tell which."""
    members = Members(3, seed)
    m, sent, came = members.m, {}, {}
    for k in range(3):
        out, came[k] = m.allocate(8 * 3), m.allocate(8 * 3, zero=True)
        for p in range(3):
            sent[k, p] = (k + 2 * p + seed) % 4 - 1
            m.write(out + 8 * p, 8, sent[k, p] % (1 << 64))
        mails = m.allocate(3 * MAIL.size)
        _put(m, MAIL, mails, out=out, got=came[k], way=int(Way.EACH), bytes=8)
        for row in (1, 2):
            buffers = {"out": members.outs[k][0], "got": members.gots[k][row - 1]}
            _put(m, MAIL, mails + row * MAIL.size, **buffers, way=0, bytes=4)
        for i in range(4):
            m.write(members.outs[k][0] + 4 * i, 4, 10 * k + i + 1)
        members.mails[k] = mails
    m.run(
        [
            partial(m.call, members.unit, "vg_exchange", members.contexts[k], members.mails[k], 3)
            for k in range(3)
        ]
    )
    for k in range(3):
        assert [m.read(came[k] + 8 * p, 8) for p in range(3)] == [sent[p, k] % (1 << 64) for p in range(3)]
        which, values = [], []
        for p in (p for p in range(3) if p != k):
            count = sent[p, k] % (1 << 64)
            told = [10 * p + 2 * (k - (k > p)) + i + 1 if i < count else 0 for i in range(2)]
            which, values = which + (told if sent[p, k] >= 0 else [0, 0]), values + told
        got = [[m.read(at + 4 * i, 4) for i in range(4)] for at in members.gots[k][:2]]
        assert got == [which, values]


def test_a_member_that_is_cancelled_waits_for_nobody():
    members = Members(2, 0)
    _put(members.m, CONTEXT, members.contexts[0], cancel=1)
    ((owners, _, _),) = members.run(0, 1)
    assert owners == [0, 0]


@pytest.mark.parametrize("seed", range(8))
def test_a_thread_acts_for_a_gpu_at_its_desk(seed):
    """Two rounds, and iterations that it asks for; the other member is native code."""
    members = Members(2, seed)
    m, me = members.m, members.peers + PEER.size
    desk = m.allocate(DESK.size + len(WAYS) * MAIL.size, zero=True)
    _put(m, PEER, me, desk=desk)
    m.externals["invoke"] = lambda m, function, ctx, count, got: m.write(got, 8, 10 * count)

    def ask(turn: int, **what: int) -> None:
        _put(m, DESK, desk, **what)
        m.step()
        _put(m, DESK, desk, asked=turn)
        while m.read(desk + DESK.offset("answered"), 8) < turn:
            m.step()

    def gpu() -> list[list[int]]:
        found, got = [], m.allocate(8)
        for turn in (1, 2):
            for way in WAYS:
                for i in range(2):
                    m.write(members.outs[1][way] + 4 * i, 4, 100 * turn + 10 + i)
                mail = desk + DESK.size + int(way) * MAIL.size
                buffers = {"out": members.outs[1][way], "got": members.gots[1][way]}
                _put(m, MAIL, mail, **buffers, way=int(way), bytes=4)
            ask(turn, mails=len(WAYS))
            found.append([m.read(members.gots[1][way] + 4 * i, 4) for way in WAYS for i in range(2)])
        ask(3, mails=0, count=7, got=got)
        found.append([m.read(got, 8)])
        _put(m, DESK, desk, left=1)
        return found

    serve = partial(m.call, members.unit, "vg_serve", members.contexts[1], 0)
    native, found, end = m.run([partial(members.run, 0, 2), gpu, serve])
    assert found == [[0, 1, 0, 1, 0, 110], [100, 101, 100, 101, 100, 210], [70]]
    assert [[*owners, *ghosts] for owners, ghosts, _ in native] == [[110, 111] * 2, [210, 211] * 2]
    assert end == (1 << 32) - 1


def test_a_thread_that_acts_for_a_gpu_leaves_when_it_is_cancelled():
    members = Members(2, 0)
    m, desk = members.m, members.m.allocate(DESK.size, zero=True)
    _put(m, PEER, members.peers, desk=desk)
    serve = partial(m.call, members.unit, "vg_serve", members.contexts[0], 0)
    m.run([serve, lambda: _put(m, CONTEXT, members.contexts[0], cancel=1)])


def test_the_first_failure_wins():
    for seed in range(4):
        m, unit = Machine(seed=seed), native.unit()
        ctx = m.allocate(CONTEXT.size, zero=True)
        m.run([partial(m.call, unit, "vg_fail", ctx, k, 10 * k) for k in (1, 2)])
        code = m.read(ctx + CONTEXT.offset("status"), 4)
        assert m.read(ctx + CONTEXT.offset("payload"), 8) == 10 * code


# --- the level itself

TEXT = """
@export
def mixed(n: u64, x: i64) -> i64:
    "Loops, jumps, and what is not computed where it is not needed."
    total: i64 = x
    k = 0
    while True:
        k += 1
        if k > n or (k == 7 and not x < 0):
            break
        if k & 1 == 1:
            continue
        for i in range(k, min(k + 3, n)):
            total = total * 3 - i64(i) if total < 1000 else total >> 2
            if total == 5:
                break
    return max(total, -7) + i64(u8(n << 7)) - (x >> 1)


@export
def bump(word: ptr[u64]) -> u64:
    word[0] = word[0] + 1
    return add(word[1], 2, RELAXED)


@export
def hand(word: ptr[u64]):
    word[0] = 7
    store(word[1], 1, ORDER)


@export
def get(word: ptr[u64]) -> u64:
    if load(word[1], ACQUIRE) == 1:
        return word[0]
    return 0
"""


def _unit(folder: Path, order: str = "RELEASE") -> Unit:
    (folder / "own.loops").write_text(TEXT.replace("ORDER", order))
    return Unit(str(folder / "own"))


def test_machine_code_does_what_the_machine_does(tmp_path):
    unit, into = _unit(tmp_path), dict[str, str]()
    for name in ("mixed", "bump"):
        functions(unit, name, {}, into, set())
    loaded = jit.load_object(jit.compile_ir("".join(into.values())), {})
    mixed: Any = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64)(loaded.address("mixed"))
    for n in range(12):
        for x in (-9, -1, 0, 5, 998, 10**6):
            assert mixed(n, x) == Machine().call(unit, "mixed", n, x), (n, x)
    words = (ctypes.c_uint64 * 2)(3, 5)
    bump: Any = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(loaded.address("bump"))
    assert (bump(ctypes.addressof(words)), *words) == (5, 4, 7)


def _words(m: Machine) -> int:
    return m.allocate(16, zero=True)


def test_races_are_found_and_what_is_handed_over_is_none(tmp_path):
    unit = _unit(tmp_path)
    for seed in range(8):
        m = Machine(seed=seed)
        word = _words(m)
        found = m.run([partial(m.call, unit, name, word) for name in ("hand", "get")])
        assert found[1] in (0, 7)
        with pytest.raises(InternalError, match="a race"):
            m.run([partial(m.call, unit, "bump", word)] * 2)
    (tmp_path / "loose").mkdir()
    loose = _unit(tmp_path / "loose", "RELAXED")
    refused = 0
    for seed in range(8):
        m = Machine(seed=seed)
        word = _words(m)
        try:
            m.run([partial(m.call, loose, name, word) for name in ("hand", "get")])
        except InternalError:
            refused += 1
    assert refused, "the second word is published without its contents"


def test_memory_that_was_not_written_is_not_read(tmp_path):
    with pytest.raises(InternalError, match="8 bytes are read"):
        Machine().call(_unit(tmp_path), "bump", 4096)


def test_what_a_member_that_left_has_for_others_stays():
    members = Members(2, 0)
    m = members.m

    def cancel(k: int) -> None:
        for _ in range(400):
            m.step()
        _put(m, CONTEXT, members.contexts[k], cancel=1)

    m.run([partial(members.run, 0, 1), partial(cancel, 0)])  # it has arrived, and waits for the other in vain
    for way in WAYS:  # its stack is somebody else's now
        _put(m, MAIL, members.mails[0] + int(way) * MAIL.size, out=8)
    ((owners, ghosts, everybody),), _ = m.run([partial(members.run, 1, 1), partial(cancel, 1)])
    assert (owners, ghosts, everybody) == ([0, 1], [0, 1], [0, 10])
