// CUDA C++ on the CPU: just enough of the language for the kernels that vgraph emits, so that the text of a kernel
// compiles with a host C++17 compiler and every thread of its grid runs as a fiber on one thread of the system.
// `runtime.cpp` is the scheduler behind it; `../emulator.py` compiles and launches.
//
// What it shows: missing or divergent barriers, mismatched masks, deadlocks, wrong indices, lost updates around
// atomics, use of shared memory before it was written (it begins as rubbish), groups of any size behind
// __activemask(). A schedule is drawn from a seed; other seeds give other interleavings.
//
// What it cannot show:
// - The memory model. Every store is seen at once by every thread (but for `emu_store_later`); a missing
//   __threadfence, a stale cache line or a value kept in a register that only nvcc would keep is not found.
// - Races between plain accesses that stand between two yield points (a yield point: a barrier, a collective, an
//   atomic, emu_yield, emu_load, emu_store, __nanosleep, fences), unless compiled with `every_access`.
// - Time, occupancy, coalescing, bank conflicts, registers. clock64() counts switches.
// - Undefined behaviour that the host defines, and the other way round (integer division by zero is a fault here).
//   Floats are rounded as the host does, without contraction to FMA and with the host's math library.
// - Types with constructors in __shared__ memory: CUDA refuses them, this does not notice and never runs them.
// Several devices may run the same kernel at the same time, each with a grid of its own: their threads interleave, too.
// Only one-dimensional grids and blocks; no textures, no streams. Dynamic shared memory by `emu_dynamic_shared`. `alignas` stands before
// `__shared__`. Signed integers wrap.
#pragma once

#include "interface.hpp"

#define memcpy __builtin_memcpy

#define VG_EMULATION 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_assume(x) ((void)0)
// Shared variables are what C++ calls thread_local, which in a function means static too and works in templates and
// lambdas. All fibers run on one thread of the system, so there is one copy: the scheduler swaps its bytes whenever
// it goes to another block.
#define __shared__ thread_local

#define EMU_INLINE inline __attribute__((always_inline))
#define EMU_AT const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace emu {
template <class T> EMU_INLINE emu_u64 to_bits(T value) {
    emu_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T> EMU_INLINE T from_bits(emu_u64 bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
template <class To, class From> EMU_INLINE To cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "a cast of bits keeps the size");
    return from_bits<To>(to_bits(from));
}
}  // namespace emu

// For headers: where another thread may run, that waiting threads should look again, a relaxed access with both.
EMU_INLINE void emu_yield() {
    if (--emu::countdown <= 0) emu::reschedule();
}
EMU_INLINE void emu_progress() {
    if (emu::napping) emu::wake();
}
EMU_INLINE void emu_pause(EMU_AT) { emu::pause(file, line); }
EMU_INLINE void emu_pause_for_host(EMU_AT) { emu::pause_for_host(file, line); }
EMU_INLINE emu_u64 emu_now() { return emu::now(); }
EMU_INLINE unsigned *emu_dynamic_shared() { return emu::dynamic_shared(); }
EMU_INLINE unsigned emu_dynamic_shared_bytes() { return emu::dynamic_shared_bytes(); }
template <class T> EMU_INLINE T emu_load(const T *address) {
    emu_yield();
    return *const_cast<const volatile T *>(address);
}
template <class T, class V> EMU_INLINE void emu_store(T *address, V value) {
    emu_yield();
    *const_cast<volatile T *>(address) = static_cast<T>(value);
    emu_progress();
}

// A store into the memory of another device: it is there at some time until the block's next fence of the system.
template <class T, class V> EMU_INLINE void emu_store_later(T *address, V value) {
    emu_yield();
    T kept = static_cast<T>(value);
    emu::store_later(address, &kept, sizeof(T));
}

// Barriers, fences, time.
EMU_INLINE void __syncthreads(EMU_AT) { emu::syncthreads(emu::SYNCTHREADS, 0, file, line); }
EMU_INLINE int __syncthreads_or(int v, EMU_AT) { return emu::syncthreads(emu::SYNCTHREADS_OR, v != 0, file, line); }
EMU_INLINE int __syncthreads_and(int v, EMU_AT) { return emu::syncthreads(emu::SYNCTHREADS_AND, v != 0, file, line); }
EMU_INLINE int __syncthreads_count(int v, EMU_AT) {
    return emu::syncthreads(emu::SYNCTHREADS_COUNT, v != 0, file, line);
}
EMU_INLINE void __syncwarp(unsigned mask = ~0u, EMU_AT) { emu::collective(emu::SYNCWARP, mask, 0, 0, file, line); }
EMU_INLINE void __threadfence() { emu_yield(); }
EMU_INLINE void __threadfence_block() { emu_yield(); }
EMU_INLINE void __threadfence_system() {
    emu_yield();
    emu::fence_system();
}
EMU_INLINE void __nanosleep(unsigned, EMU_AT) { emu::pause(file, line); }
EMU_INLINE long long clock64() { return emu::now(); }
EMU_INLINE long clock() { return emu::now(); }
EMU_INLINE void __trap(EMU_AT) { emu::fail("__trap()", file, line); }
#ifndef assert
#define assert(condition) ((condition) ? (void)0 : emu::fail("assert(" #condition ")", __FILE__, __LINE__))
#endif
extern "C" {
int printf(const char *, ...);
void *memcpy(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
int memcmp(const void *, const void *, size_t) noexcept;
}

// Votes, shuffles and the like: the lanes of the mask meet, then all go on.
EMU_INLINE unsigned __activemask(EMU_AT) { return emu::activemask(file, line); }
EMU_INLINE unsigned __ballot_sync(unsigned mask, int vote, EMU_AT) {
    return emu::collective(emu::BALLOT, mask, vote != 0, 0, file, line);
}
EMU_INLINE int __any_sync(unsigned mask, int vote, EMU_AT) { return __ballot_sync(mask, vote, file, line) != 0; }
EMU_INLINE int __all_sync(unsigned mask, int vote, EMU_AT) { return __ballot_sync(mask, !vote, file, line) == 0; }

#define EMU_SHUFFLES(T)                                                                                             \
    EMU_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMU_AT) {                          \
        unsigned lane = threadIdx.x & 31, from = (lane & -width) | (source & (width - 1));                          \
        return emu::from_bits<T>(emu::collective(emu::SHFL, mask, emu::to_bits(value), from, file, line));          \
    }                                                                                                               \
    EMU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMU_AT) {                   \
        unsigned lane = threadIdx.x & 31, from = (lane & (width - 1)) < delta ? lane : lane - delta;                \
        return emu::from_bits<T>(emu::collective(emu::SHFL, mask, emu::to_bits(value), from, file, line));          \
    }                                                                                                               \
    EMU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMU_AT) {                 \
        unsigned lane = threadIdx.x & 31, from = (lane & (width - 1)) + delta >= unsigned(width) ? lane : lane + delta;       \
        return emu::from_bits<T>(emu::collective(emu::SHFL, mask, emu::to_bits(value), from, file, line));          \
    }                                                                                                               \
    EMU_INLINE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, EMU_AT) {                        \
        unsigned lane = threadIdx.x & 31, from = lane ^ bits;                                                       \
        from = from > (lane | (width - 1)) ? lane : from;                                                           \
        return emu::from_bits<T>(emu::collective(emu::SHFL, mask, emu::to_bits(value), from, file, line));          \
    }                                                                                                               \
    EMU_INLINE unsigned __match_any_sync(unsigned mask, T value, EMU_AT) {                                          \
        return emu::collective(emu::MATCH_ANY, mask, emu::to_bits(value), 0, file, line);                           \
    }
EMU_SHUFFLES(int)
EMU_SHUFFLES(unsigned)
EMU_SHUFFLES(long)
EMU_SHUFFLES(unsigned long)
EMU_SHUFFLES(long long)
EMU_SHUFFLES(unsigned long long)
EMU_SHUFFLES(float)
EMU_SHUFFLES(double)
#undef EMU_SHUFFLES

#define EMU_REDUCE(name, T, kind)                                                                                   \
    EMU_INLINE T name(unsigned mask, T value, EMU_AT) {                                                             \
        return T(emu::collective(emu::kind, mask, emu_u32(value), 0, file, line));                                  \
    }
EMU_REDUCE(__reduce_add_sync, unsigned, REDUCE_ADD)
EMU_REDUCE(__reduce_add_sync, int, REDUCE_ADD)
EMU_REDUCE(__reduce_min_sync, unsigned, REDUCE_MIN)
EMU_REDUCE(__reduce_min_sync, int, REDUCE_MIN_SIGNED)
EMU_REDUCE(__reduce_max_sync, unsigned, REDUCE_MAX)
EMU_REDUCE(__reduce_max_sync, int, REDUCE_MAX_SIGNED)
EMU_REDUCE(__reduce_and_sync, unsigned, REDUCE_AND)
EMU_REDUCE(__reduce_or_sync, unsigned, REDUCE_OR)
EMU_REDUCE(__reduce_xor_sync, unsigned, REDUCE_XOR)
#undef EMU_REDUCE

// Atomics: one thread of the system runs everything, so plain code is atomic. Overloads are those of CUDA.
namespace emu {
// With `every_access` the accesses of an atomic are instrumented as well: no switch may come between them.
#ifdef __SANITIZE_THREAD__
struct Whole {
    int saved = countdown;
    Whole() {
        countdown = 1 << 30;
        __asm__ volatile("" ::: "memory");
    }
    ~Whole() {
        __asm__ volatile("" ::: "memory");
        countdown = saved;
    }
};
#else
struct Whole {
    Whole() {}
};
#endif
template <class T, class F> EMU_INLINE T update(T *address, F next) {
    emu_yield();
    Whole whole;
    volatile T *place = address;
    T old = *place, value = next(old);
    *place = value;
    if (__builtin_memcmp(&old, &value, sizeof(T)) != 0) emu_progress();
    return old;
}
}  // namespace emu
#define EMU_ATOMIC(name, T, expression)                                                                             \
    EMU_INLINE T name(T *address, T value) {                                                                        \
        return emu::update(address, [=](T old) -> T { return expression; });                                        \
    }                                                                                                               \
    EMU_INLINE T name##_block(T *address, T value) { return name(address, value); }                                 \
    EMU_INLINE T name##_system(T *address, T value) { return name(address, value); }
#define EMU_ATOMICS(T)                                                                                              \
    EMU_ATOMIC(atomicMin, T, value < old ? value : old)                                                             \
    EMU_ATOMIC(atomicMax, T, old < value ? value : old)                                                             \
    EMU_ATOMIC(atomicAnd, T, old &value)                                                                            \
    EMU_ATOMIC(atomicOr, T, old | value)                                                                            \
    EMU_ATOMIC(atomicXor, T, old ^ value)
#define EMU_CAS(T)                                                                                                  \
    EMU_INLINE T atomicCAS(T *address, T compare, T value) {                                                        \
        return emu::update(address, [=](T old) -> T { return old == compare ? value : old; });                      \
    }                                                                                                               \
    EMU_INLINE T atomicCAS_block(T *address, T compare, T value) { return atomicCAS(address, compare, value); }     \
    EMU_INLINE T atomicCAS_system(T *address, T compare, T value) { return atomicCAS(address, compare, value); }
EMU_ATOMICS(int)
EMU_ATOMICS(unsigned)
EMU_ATOMICS(unsigned long long)
EMU_ATOMIC(atomicMin, long long, value < old ? value : old)
EMU_ATOMIC(atomicMax, long long, old < value ? value : old)
EMU_ATOMIC(atomicAnd, long long, old &value)
EMU_ATOMIC(atomicOr, long long, old | value)
EMU_ATOMIC(atomicXor, long long, old ^ value)
EMU_ATOMIC(atomicAdd, int, int(unsigned(old) + unsigned(value)))
EMU_ATOMIC(atomicAdd, unsigned, old + value)
EMU_ATOMIC(atomicAdd, unsigned long long, old + value)
EMU_ATOMIC(atomicAdd, float, old + value)
EMU_ATOMIC(atomicAdd, double, old + value)
EMU_ATOMIC(atomicSub, int, int(unsigned(old) - unsigned(value)))
EMU_ATOMIC(atomicSub, unsigned, old - value)
EMU_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
EMU_ATOMIC(atomicExch, int, (void(old), value))
EMU_ATOMIC(atomicExch, unsigned, (void(old), value))
EMU_ATOMIC(atomicExch, unsigned long long, (void(old), value))
EMU_ATOMIC(atomicExch, float, (void(old), value))
EMU_CAS(int)
EMU_CAS(unsigned)
EMU_CAS(unsigned long long)
EMU_CAS(unsigned short)
EMU_CAS(unsigned __int128)
#undef EMU_ATOMIC
#undef EMU_ATOMICS
#undef EMU_CAS

#include "emulation_math.hpp"

// The launch: `EMU_ENTRY(kernel)` behind the text of a kernel with one parameter, passed by value.
namespace emu {
template <class Args, void (*kernel)(Args)> void call_kernel(const void *args) {
    Args copy;
    __builtin_memcpy(&copy, args, sizeof(Args));
    kernel(copy);
}
template <class> struct Parameter;
template <class Args> struct Parameter<void (*)(Args)> { using type = Args; };
}  // namespace emu
#define EMU_ENTRY(kernel)                                                                                           \
    extern "C" __attribute__((visibility("hidden"))) const emu::Entry emu_entry = {                                 \
        &emu::call_kernel<emu::Parameter<decltype(&kernel)>::type, &kernel>,                                        \
        sizeof(emu::Parameter<decltype(&kernel)>::type)};
