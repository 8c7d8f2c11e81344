"""The CUDA emulation itself: small kernels written by hand, right ones and ones with a planted fault."""

from __future__ import annotations

import emulator
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(emulator.unavailable() is not None, reason=str(emulator.unavailable()))

WARP = 32
SEEDS = range(20)


def kernel(body: str, before: str = "", **options: object) -> emulator.Emulated:
    """A kernel with arguments `u64 *in, *out, *more` and `u64 n`."""
    text = f"""
typedef unsigned long long u64;
struct Args {{ u64 *in; u64 *out; unsigned *more; u64 n; }};
{before}
extern "C" __global__ void __launch_bounds__(VG_BLOCK) vg_main(const __grid_constant__ Args a) {{
    const unsigned lane = threadIdx.x & 31, id = blockIdx.x * blockDim.x + threadIdx.x;
{body}
}}
"""
    return emulator.compile_text(text, **options)  # type: ignore[arg-type]


class Memory:
    """Arguments of such a kernel and what they point to."""

    def __init__(self, given: object = (), room: int = 1, n: int = 0) -> None:
        self.given = np.array(given, np.uint64)
        self.out = np.zeros(room, np.uint64)
        self.more = np.zeros(max(room, 16), np.uint32)
        self.words = np.array([x.ctypes.data for x in (self.given, self.out, self.more)] + [n], np.uint64)


def run(
    compiled: emulator.Emulated,
    grid: int = 1,
    seed: int = 0,
    *,
    given: object = (),
    room: int = 1,
    n: int = 0,
) -> np.ndarray:
    memory = Memory(given, room, n)
    compiled.launch(memory.words, grid, seed=seed, seconds=300)
    return memory.out


def fault(compiled: emulator.Emulated, seed: int = 0, grid: int = 1, seconds: float = 300) -> str:
    memory = Memory(room=1024)
    with pytest.raises(emulator.KernelFault) as caught:
        compiled.launch(memory.words, grid, seed=seed, seconds=seconds)
    return str(caught.value)


FAR_SUM = """
    if (a.n == 0) {{  // the first device sends: values, then word
        if (threadIdx.x < 32) emu_store_later(&a.in[threadIdx.x], (u64)threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) {{
            {fence}
            atomicExch(&a.more[0], 1u);
        }}
    }} else {{
        if (threadIdx.x == 0) {{
            while (emu_load(&a.more[0]) == 0) __nanosleep(20);
            for (int k = 0; blockIdx.x == 0 && k < 32; ++k) a.out[0] += a.in[k];
        }}
    }}
    a.out[1 + blockIdx.x] = gridDim.x;
"""


@pytest.mark.parametrize("fence", ["", "__threadfence_system();"])
def test_stores_to_another_device_arrive_late_without_a_fence(fence: str) -> None:
    compiled = kernel(FAR_SUM.format(fence=fence))
    found = set()
    for seed in range(1, 12):
        first, second = Memory([7] * 32, 8, 0), Memory([7] * 32, 8, 1)
        first.words[0] = second.words[0] = (
            second.given.ctypes.data
        )  # what the first sends lies with the second
        first.words[2] = second.words[2]
        left = np.zeros(2, np.uint32)
        compiled.launch_on([(first.words, 1), (second.words, 2)], 32, seed, left=left)
        assert left.all()
        assert first.out[1:4].tolist() == [1, 0, 0]
        assert second.out[1:4].tolist() == [2, 2, 0]
        found.add(int(second.out[0]))
    assert (found == {sum(range(32))}) == bool(fence)


BLOCK_SUM = """
template <class T> __device__ __forceinline__ T block_sum(T value) {
    __shared__ T part[32];
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    T sum = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) sum += part[i];
    __syncthreads();
    return sum;
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_block_reduces_with_shuffles(seed: int) -> None:
    compiled = kernel(
        "u64 whole = block_sum<u64>(a.in[id]); float half = block_sum<float>(0.5f);\n"
        "a.out[id] = whole + (u64)half;",
        BLOCK_SUM,
        block=128,
    )
    given = np.arange(3 * 128) ** 2
    out = run(compiled, 3, seed, given=given, room=len(given))
    assert np.array_equal(out, np.repeat(given.reshape(3, 128).sum(1) + 64, 128))


GRID_BARRIER = """
__device__ void grid_barrier(unsigned *arrived, unsigned *generation) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = *(volatile unsigned *)generation;
        __threadfence();
        if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
            *(volatile unsigned *)arrived = 0;
            __threadfence();
            *(volatile unsigned *)generation = now + 1;
        } else {
            while (*(volatile unsigned *)generation == now) __nanosleep(20);
        }
        __threadfence();
    }
    __syncthreads();
}
"""


@pytest.mark.parametrize("seed", range(8))
def test_rounds_with_a_grid_barrier(seed: int) -> None:
    """Each round every thread reads what its neighbour wrote in the last one."""
    compiled = kernel(
        "const unsigned all = gridDim.x * blockDim.x;\n"
        "for (u64 round = 0; round < a.n; ++round) {\n"
        "    u64 value = a.out[(id + 1) % all];\n"
        "    grid_barrier(a.more, a.more + 1);\n"
        "    a.out[id] = value + id;\n"
        "    grid_barrier(a.more, a.more + 1);\n"
        "}",
        GRID_BARRIER,
        block=64,
    )
    expected = np.zeros(5 * 64, np.uint64)
    for _ in range(7):
        expected = np.roll(expected, -1) + np.arange(len(expected), dtype=np.uint64)
    assert np.array_equal(run(compiled, 5, seed, room=len(expected), n=7), expected)


def test_appends_of_a_warp_go_in_groups_of_every_size() -> None:
    compiled = kernel(
        "if (a.in[id] % 3) {\n"
        "    unsigned group = __activemask(), leader = __ffs(group) - 1, base;\n"
        "    if (lane == leader) base = atomicAdd(a.more, __popc(group));\n"
        "    base = __shfl_sync(group, base, leader);\n"
        "    a.out[base + __popc(group & ((1u << lane) - 1))] = (u64)__popc(group) << 32 | a.in[id];\n"
        "}",
        block=64,
    )
    given = np.arange(4 * 64)
    kept = np.extract(given % 3 != 0, given)
    sizes: set[int] = set()
    for seed in SEEDS:
        out = run(compiled, 4, seed, given=given, room=len(kept))
        assert np.array_equal(np.sort(out & np.uint64(0xFFFFFFFF)), kept)
        sizes |= set((out >> np.uint64(32)).tolist())
    assert 1 in sizes
    assert max(sizes) > 20
    assert len(sizes) > 10


def test_different_places_are_different_groups() -> None:
    """Two appends of one inlined function: a group never spans both."""
    compiled = kernel(
        "if (lane & 1) append(a.out, a.more, id); else append(a.out + 64, a.more + 1, id);",
        """
__device__ __forceinline__ void append(u64 *list, unsigned *count, unsigned id) {
    unsigned group = __activemask(), leader = __ffs(group) - 1, base, lane = threadIdx.x & 31;
    if (lane == leader) base = atomicAdd(count, __popc(group));
    list[__shfl_sync(group, base, leader) + __popc(group & ((1u << lane) - 1))] = id;
}
""",
        block=128,
    )
    for seed in SEEDS:
        odd, even = np.sort(run(compiled, 1, seed, room=128).reshape(2, 64))
        assert np.array_equal(odd, np.arange(1, 128, 2))
        assert np.array_equal(even, np.arange(0, 128, 2))


@pytest.mark.parametrize("every_access", [False, True])
def test_shared_memory_belongs_to_a_block(every_access: bool) -> None:
    """In templates of several types, in generic lambdas, of class type, aligned, at namespace scope, per block."""
    compiled = kernel(
        "auto mine = [&](auto value) {\n"
        "    __shared__ decltype(value) cell[VG_BLOCK];\n"
        "    cell[threadIdx.x] = value;\n"
        "    __syncthreads();\n"
        "    auto read = cell[VG_BLOCK - 1 - threadIdx.x];\n"
        "    __syncthreads();\n"
        "    return read;\n"
        "};\n"
        "outside[threadIdx.x] = id;\n"
        "u64 aligned = 0;\n"
        "unsigned t = turned<unsigned, 1>(id, aligned), u = turned<unsigned, 2>(id + 1, aligned);\n"
        "double d = turned<double, 1>(id, aligned);\n"
        "unsigned short s = mine((unsigned short)id);\n"
        "float f = mine((float)id);\n"
        "__syncthreads();\n"
        "bool same = t + 1 == u && t == d && t == s && t == f && outside[VG_BLOCK - 1 - threadIdx.x] == t;\n"
        "a.out[id] = same && aligned == 0 ? t : ~0ull;",
        """
struct Pair { unsigned key; u64 value; };
template <class T, unsigned N> struct Array { T items[N]; __device__ T &operator[](unsigned i) { return items[i]; } };
__shared__ unsigned outside[VG_BLOCK];
template <class T, int Tag> __device__ T turned(T value, u64 &aligned) {
    alignas(128) __shared__ Array<T, VG_BLOCK> first;
    __shared__ __align__(64) Pair second[VG_BLOCK];
    static __shared__ bool flag;
    aligned |= (u64)&first % 128 | (u64)&second % 64;
    first[threadIdx.x] = value;
    second[threadIdx.x] = Pair{threadIdx.x, (u64)value};
    if (threadIdx.x == 0) flag = true;
    __syncthreads();
    unsigned other = VG_BLOCK - 1 - threadIdx.x;
    T result = flag && second[other].key == other && second[other].value == (u64)first[other] ? first[other] : T(0);
    __syncthreads();
    return result;
}
""",
        block=96,
        every_access=every_access,
    )
    expected = np.arange(4 * 96).reshape(4, 96)[:, ::-1].ravel()
    for seed in range(8):
        assert np.array_equal(run(compiled, 4, seed, room=4 * 96), expected)


def test_two_libraries_do_not_share_shared_memory() -> None:
    """The same function with another size of block in a second library of the process."""
    for block in (32, 64, 1024):
        compiled = kernel("a.out[id] = block_sum<u64>(1);", BLOCK_SUM, block=block)
        assert np.array_equal(run(compiled, 2, 3, room=2 * block), np.full(2 * block, block))


def test_shared_memory_begins_as_rubbish() -> None:
    compiled = kernel(
        "__shared__ u64 cell[4]; if (a.n) cell[lane % 4] = id; if (id < 4) a.out[id] = cell[id];"
    )
    assert run(compiled, room=4).all()


@pytest.mark.parametrize("seed", range(4))
def test_votes_and_matches_of_part_of_a_warp(seed: int) -> None:
    compiled = kernel(
        "const u64 mine = a.in[lane];\n"
        "if (lane < 20) {\n"
        "    const unsigned part = 0xfffff;\n"
        "    a.out[lane] = __ballot_sync(part, mine & 1);\n"
        "    a.out[32 + lane] = __match_any_sync(part, mine);\n"
        "    a.out[64 + lane] = __any_sync(part, mine == 2) * 2 + __all_sync(part, mine < 4);\n"
        "    a.out[96 + lane] = __reduce_add_sync(part, (unsigned)mine);\n"
        "    a.out[128 + lane] = __reduce_max_sync(part, -(int)mine);\n"
        "} else {\n"
        "    a.out[lane] = __ballot_sync(0xfff00000, 1);\n"
        "}",
        block=32,
    )
    given = np.arange(32) * 7 % 4
    out = run(compiled, 1, seed, given=given, room=160).reshape(5, 32)
    part = given[:20]
    ballot = sum(1 << i for i in range(20) if part[i] & 1)
    assert out[0].tolist() == [ballot] * 20 + [0xFFF00000] * 12
    assert out[1, :20].tolist() == [sum(1 << i for i in range(20) if part[i] == x) for x in part]
    assert set(out[2, :20].tolist()) == {3}
    assert set(out[3, :20].tolist()) == {int(part.sum())}
    assert set(out[4, :20].astype(np.int64).tolist()) == {0}


@pytest.mark.parametrize("width", [32, 8])
def test_shuffles_as_the_programming_guide_says(width: int) -> None:
    compiled = kernel(
        f"const double x = lane + 0.5; const int w = {width};\n"
        "a.out[lane] = __shfl_sync(~0u, x, 5, w) * 2;\n"
        "a.out[32 + lane] = __shfl_up_sync(~0u, (long long)lane, 3, w);\n"
        "a.out[64 + lane] = __shfl_down_sync(~0u, (int)lane, 3, w);\n"
        "a.out[96 + lane] = __shfl_xor_sync(~0u, x, 12, w) * 2;",
        block=32,
    )
    lane = np.arange(32)
    first = lane // width * width
    crossed = np.where((lane ^ 12) < first + width, lane ^ 12, lane)
    expected = [
        (first + 5) * 2 + 1,
        np.where(lane - 3 < first, lane, lane - 3),
        np.where(lane + 3 >= first + width, lane, lane + 3),
        crossed * 2 + 1,
    ]
    for seed in (0, 1):
        assert np.array_equal(run(compiled, 1, seed, room=128).reshape(4, 32), expected)


@pytest.mark.parametrize("barrier", ["__syncthreads();", ""])
def test_a_missing_syncthreads_is_found(barrier: str) -> None:
    compiled = kernel(
        "__shared__ unsigned cell[VG_BLOCK];\n"
        f"cell[threadIdx.x] = threadIdx.x; {barrier}\n"
        "a.out[id] = cell[(threadIdx.x + 1) % VG_BLOCK];",
        block=64,
    )
    expected = np.roll(np.arange(64), -1)
    wrong = [seed for seed in SEEDS if not np.array_equal(run(compiled, 1, seed, room=64), expected)]
    assert bool(wrong) == (barrier == "")


@pytest.mark.parametrize("barrier", ["grid_barrier(a.more, a.more + 1);", ""])
def test_a_missing_barrier_between_rounds_is_found(barrier: str) -> None:
    """Every block reads all that the last round wrote, then writes; only the second barrier is planted."""
    compiled = kernel(
        "for (u64 round = 1; round <= a.n; ++round) {\n"
        "    atomicAdd(a.out, 1ull);\n"
        "    grid_barrier(a.more, a.more + 1);\n"
        "    if (*(volatile u64 *)a.out != round * gridDim.x * blockDim.x) a.out[1] = 1;\n"
        f"    {barrier}\n"
        "}",
        GRID_BARRIER,
        block=32,
    )
    wrong = [seed for seed in SEEDS if run(compiled, 4, seed, room=2, n=5)[1]]
    assert bool(wrong) == (barrier == "")


def test_lost_updates_of_plain_accesses() -> None:
    """`x = x + 1` by two threads loses one only where plain accesses interleave."""
    lost = [
        any(
            run(kernel("a.out[0] = a.out[0] + 1;", block=64, every_access=every), 1, s)[0] < 64 for s in SEEDS
        )
        for every in (False, True)
    ]
    assert lost == [False, True]


def test_atomics_are_whole_where_plain_accesses_interleave() -> None:
    compiled = kernel("a.out[1 + atomicAdd(a.out, 1ull)] = id;", block=64, every_access=True)
    for seed in SEEDS:
        count, *ids = run(compiled, 2, seed, room=129).tolist()
        assert (count, sorted(ids)) == (128, list(range(128)))


def test_seeds_give_other_orders_and_the_same_seed_the_same() -> None:
    compiled = kernel("a.out[atomicAdd(a.more, 1u)] = id;", block=64)
    orders = {seed: tuple(run(compiled, 4, seed, room=256).tolist()) for seed in SEEDS}
    assert orders[0] == tuple(range(256))
    assert len(set(orders.values())) > 10
    assert all(tuple(run(compiled, 4, seed, room=256).tolist()) == orders[seed] for seed in SEEDS)
    assert any(order[0] >= 64 for order in orders.values())  # another block than the first may begin


def test_threads_that_have_ended_are_not_waited_for() -> None:
    compiled = kernel(
        "if (threadIdx.x % 2) return;\n"
        "a.out[id] = __syncthreads_count(threadIdx.x < 10) + __popc(__ballot_sync(~0u, 1));",
        block=50,
    )
    for seed in SEEDS:
        out = run(compiled, 1, seed, room=50).reshape(25, 2)
        assert out[:, 1].tolist() == [0] * 25
        assert out[:, 0].tolist() == [5 + 16] * 16 + [5 + 9] * 9


# Planted faults.


def test_a_deadlock_says_where_everybody_waits() -> None:
    compiled = kernel("if (lane < 8) a.out[id] = __shfl_sync(~0u, lane, 0);\nelse __syncthreads();", block=64)
    for seed in range(4):
        text = fault(compiled, seed)
        assert "deadlock: no thread can run" in text
        assert "threads 0-7, 32-39 at __shfl_sync mask 0xffffffff (kernel.cu:7)" in text
        assert "threads 8-31, 40-63 at __syncthreads (kernel.cu:8)" in text


def test_a_deadlock_inside_a_function_names_the_caller() -> None:
    compiled = kernel(
        "if (threadIdx.x < 32) rest();\nelse\n    while (!emu_load(a.more)) __nanosleep(1);",
        '__device__ __noinline__ void rest() { __syncthreads(); asm volatile(""); }',
        block=64,
    )
    text = fault(compiled, 1)
    assert "spin for what no thread will ever do" in text
    assert "threads 0-31 at __syncthreads (kernel.cu:4) <- kernel.cu:4 <- kernel.cu:7" in text
    assert "threads 32-63 at __nanosleep (kernel.cu:9)" in text


def test_a_divergent_syncthreads() -> None:
    compiled = kernel("if (threadIdx.x < 10) __syncthreads();\nelse __syncthreads();", block=64)
    for seed in range(4):
        assert "divergent __syncthreads" in fault(compiled, seed)


def test_two_masks_that_never_meet() -> None:
    compiled = kernel("a.out[id] = __ballot_sync(lane < 4 ? 0xffu : 0xffffffffu, 1);", block=32)
    assert "deadlock" in fault(compiled, 3)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("__syncwarp(lane == 3 ? 1u : ~0u);", "with mask 0x1 called by lane 3, which is not in it (kernel.cu:7"),
        ("if (id == 40) *(volatile int *)8 = 1;", "memory fault at address 0x8 in block 0, thread 40 <- kernel.cu:7"),
        ("a.out[id] = 7 / (int)a.n;", "integer division by zero"),
        ("if (id == 5) __trap();", "__trap() failed in block 0, thread 5 (kernel.cu:7)"),
        ("assert(id < 9);", "assert(id < 9) failed in block 0, thread 9"),
        ("a.out[0] = deep(id + 1);", "stack overflow in block 0, thread 0"),
        ("__shared__ int x = 3; a.out[id] = x++;", "a __shared__ variable has an initial value"),
    ],
)  # fmt: skip
def test_faults_become_exceptions(body: str, text: str) -> None:
    deep = "__device__ u64 deep(u64 n) { volatile char x[4096]; x[n % 99] = 1; return n ? deep(n + 1) + x[9] : 0; }"
    compiled = kernel(body, deep, block=64)
    assert text in fault(compiled)
    assert text in fault(compiled)  # and the process goes on


def test_a_loop_without_end() -> None:
    quiet = kernel('while (a.out[0] == 0) asm volatile("" ::: "memory");', block=32)
    assert "not done after 0 s; one thread never yields" in fault(quiet, seconds=0.2)
    busy = kernel("while (emu_load(a.out) == 0) {}", block=32)
    assert "not done after 0 s" in fault(busy, seconds=0.2, seed=2)


def test_dynamic_shared_memory() -> None:
    """Each block has its own, of the size of the launch; it begins as rubbish."""
    compiled = kernel(
        """
    unsigned *pool = emu_dynamic_shared();
    if (threadIdx.x == 0 && pool[0] == 0 && pool[1] == 0) a.more[0] = 1;
    __syncthreads();
    pool[threadIdx.x] = id;
    __syncthreads();
    a.out[id] = 1000 * emu_dynamic_shared_bytes() + pool[blockDim.x - 1 - threadIdx.x];
""",
        block=64,
    )
    for seed in range(3):
        memory = Memory(room=192)
        compiled.launch(memory.words, 3, seed=seed, shared=256)
        ids = np.arange(192).reshape(3, 64)[:, ::-1].reshape(-1)
        assert memory.out.tolist() == (256_000 + ids).tolist()
        assert memory.more[0] == 0


def test_arguments_are_checked() -> None:
    compiled = kernel("a.out[id] = 1;", block=32)
    with pytest.raises(emulator.KernelFault, match="the kernel takes 32 bytes, not 8"):
        compiled.launch(np.zeros(1, np.uint64), 1)
    with pytest.raises(emulator.KernelFault, match="grid of 0 blocks"):
        compiled.launch(np.zeros(4, np.uint64), 0)
    with pytest.raises(emulator.EmulationError, match=r"kernel\.cu:7.*was not declared"):
        kernel("unknown(a);")


def test_numbers_and_bits() -> None:
    compiled = kernel(
        "u64 *o = a.out;\n"
        "o[0] = __popc(0xf0f0u) + __popcll(~0ull); o[1] = __ffs(8) + __ffsll(1ll << 40);\n"
        "o[2] = __clz(1) + __clz(0) + __clzll(1) + __clzll(0); o[3] = __brev(1);\n"
        "o[4] = __umulhi(1u << 31, 6) + __umul64hi(1ull << 63, 6); o[5] = __float_as_uint(1.0f);\n"
        "o[6] = __double_as_longlong(sqrt(4.0)); o[7] = __float_as_uint(pow(3.0f, 2.0f));\n"
        "o[8] = min(-3, 5) + max(7u, 2u) + max(2, 9u);\n"
        "o[9] = __double_as_longlong(fmin(1.5, __longlong_as_double(-1)));\n"
        "double zero = 0; o[10] = isnan(zero / zero) + isinf(1 / zero) + isfinite(zero);\n"
        "float f = 1; atomicAdd(&f, 0.5f); o[11] = __float_as_uint(f);\n"
        "long long x = -5; atomicMin(&x, -7ll); o[12] = atomicMax(&x, 3ll) + x;\n"
        "unsigned c = 4; o[13] = atomicCAS(&c, 4u, 9u) + atomicCAS(&c, 4u, 1u) + atomicExch(&c, 2u) + c;\n"
        "int4 v = make_int4(1, 2, 3, 4); o[14] = v.x + v.w + sizeof(int4) + alignof(double2);",
        block=1,
    )
    one, three_halves = (int(np.float32(x).view(np.uint32)) for x in (1, 1.5))
    assert run(compiled, room=15).tolist() == [
        8 + 64, 4 + 41, 31 + 32 + 63 + 64, 1 << 31, 3 + 3, one, int(np.float64(2).view(np.uint64)),
        int(np.float32(9).view(np.uint32)), 13, int(np.float64(1.5).view(np.uint64)), 3, three_halves,
        (1 << 64) - 4, 4 + 9 + 9 + 2, 1 + 4 + 16 + 16,
    ]  # fmt: skip
