// Memory where threads meet: relaxed accesses, compare-and-swap, and reductions on every type.
#pragma once

namespace vg {

#ifdef __CUDA_ARCH__
// Words of 16 bytes, whole: from compute capability 9.0 on.
VG_DEVICE u128 wide_relaxed(const u128* place) {
  u64 high = 0, low = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b128 x; ld.relaxed.gpu.b128 x, [%2]; mov.b128 {%0, %1}, x; }"
               : "=l"(low), "=l"(high) : "l"(place) : "memory");
#else
  __trap();
#endif
  return (u128)high << 64 | low;
}
VG_DEVICE u128 wide_cas(u128* place, u128 expected, u128 desired) {
  u64 high = 0, low = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b128 x, e, d; mov.b128 e, {%3, %4}; mov.b128 d, {%5, %6}; atom.relaxed.gpu.cas.b128 x, [%2], e, d; "
      "mov.b128 {%0, %1}, x; }"
      : "=l"(low), "=l"(high)
      : "l"(place), "l"((u64)expected), "l"((u64)(expected >> 64)), "l"((u64)desired), "l"((u64)(desired >> 64))
      : "memory");
#else
  __trap();
#endif
  return (u128)high << 64 | low;
}
#endif

// A place that others may write at the same time, in global or in shared memory: read past the L1 cache, which does not
// see their writes.
template <class T>
VG_DEVICE T relaxed(const T* place) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    u32 bits;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(bits) : "l"(place) : "memory");
    return bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 8) {
    u64 bits;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
    return bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 16) {
    return wide_relaxed(place);
  } else {
    return bit_cast<T>(*(const volatile Bits<T>*)place);
  }
#else
  emu_yield();
  return bit_cast<T>(*(const volatile Bits<T>*)place);
#endif
}
template <class T, int N>
VG_DEVICE Vec<T, N> relaxed(const Vec<T, N>* place) {
  Vec<T, N> result;
  for (int k = 0; k < N; ++k) result.x[k] = relaxed(&place->x[k]);
  return result;
}

// The same where an older value, of this round, does as well: the L1 cache may have it.
template <class T>
VG_DEVICE T stale(const T* place) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    u32 bits;
    asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(bits) : "l"(place));
    return bit_cast<T>(bits);
  } else if constexpr (sizeof(T) == 8) {
    u64 bits;
    asm volatile("ld.relaxed.cta.u64 %0, [%1];" : "=l"(bits) : "l"(place));
    return bit_cast<T>(bits);
  }
#endif
  return relaxed(place);
}

template <class T>
VG_DEVICE void put_relaxed(T* place, T value) { *(volatile Bits<T>*)place = bit_cast<Bits<T>>(value); }
template <class T, int N>
VG_DEVICE void put_relaxed(Vec<T, N>* place, Vec<T, N> value) {
  for (int k = 0; k < N; ++k) put_relaxed(&place->x[k], value.x[k]);
}

// A place that nobody writes while the kernel runs.
template <class T>
VG_DEVICE T fixed(const T* place) {
  if constexpr (sizeof(T) == 1 || sizeof(T) == 16) return *place;
  else if constexpr (sizeof(T) == 2) return bit_cast<T>(__ldg((const u16*)place));
  else return __ldg(place);
}
template <class T, int N>
VG_DEVICE Vec<T, N> fixed(const Vec<T, N>* place) {
  Vec<T, N> result;
  for (int k = 0; k < N; ++k) result.x[k] = fixed(&place->x[k]);
  return result;
}

// Read now, not where the value is first needed.
template <class T>
VG_DEVICE T early(const T* place) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    u32 bits;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(bits) : "l"(place));
    return (T)bits;
  } else {
    u64 bits;
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(bits) : "l"(place));
    return (T)bits;
  }
#else
  return *place;
#endif
}

// Ask for what will be read soon, by whatever block.
template <class... T>
VG_DEVICE void warm(const T*... places) {
#ifdef __CUDA_ARCH__
  auto ask = [](const void* place) { asm volatile("prefetch.global.L2 [%0];" : : "l"(place)); };
  (ask(places), ...);
#endif
}

// The bits that were there; `desired` is there now if they are `expected`.
template <class B>
VG_DEVICE B cas_bits(B* place, B expected, B desired) {
  if constexpr (sizeof(B) == 1) {
    auto address = (u64)place;
    auto word = (u32*)(address & ~3ull);
    u32 shift = 8 * (u32)(address & 3);
    for (u32 seen = relaxed(word);;) {
      u8 here = (u8)(seen >> shift);
      if (here != expected) return here;
      u32 next = (seen & ~(0xffu << shift)) | ((u32)desired << shift);
      u32 old = atomicCAS(word, seen, next);
      if (old == seen) return expected;
      seen = old;
    }
#ifdef __CUDA_ARCH__
  } else if constexpr (sizeof(B) == 16) {
    return wide_cas(place, expected, desired);
#endif
  } else {
    return atomicCAS(place, expected, desired);
  }
}

// If the place holds `expected` put `value`; looks first, for most attempts fail there.
template <class T>
VG_DEVICE bool claim(T* place, T expected, T value) {
  T old = relaxed(place);
  if (!(old == expected)) return false;
  auto seen = bit_cast<Bits<T>>(old);
  return cas_bits((Bits<T>*)place, seen, bit_cast<Bits<T>>(value)) == seen;
}

// Take the lock of a vertex if it is free: 0. Who has it sees what those did that had it before.
VG_DEVICE bool take_lock(i32* place) {
  if (!claim<i32>(place, 0, 1)) return false;
  __threadfence();
  return true;
}

VG_DEVICE void give_lock(i32* place) {
  __threadfence();
  atomicExch(place, 0);
}

// Replace what is there by next(old) until no other thread comes between; stop where stop(old).
template <class T, class Stop, class Next>
VG_DEVICE bool exchange(T* place, Stop stop, Next next) {
  auto bits = (Bits<T>*)place;
  for (auto seen = relaxed(bits);;) {
    T old = bit_cast<T>(seen);
    if (stop(old)) return false;
    auto found = cas_bits(bits, seen, bit_cast<Bits<T>>(next(old)));
    if (found == seen) return true;
    seen = found;
  }
}

// `place op= value`; whether that changed it (sums and products: always).
template <class Op>
struct Atomic {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) {
    return exchange(
        place, [&](T old) { if constexpr (Op::monotone) return !Op::better(value, old); else return false; },
        [&](T old) { return Op::apply(old, value); });
  }
};

// `place += value`, in global memory, without an answer.
template <class T>
VG_DEVICE void add_to(T* place, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" : : "l"(place), "f"((f32)value) : "memory");
  else asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" : : "l"(place), "d"((f64)value) : "memory");
#else
  atomicAdd(place, value);
#endif
}

template <>
struct Atomic<Sum> {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) {
    if constexpr (sizeof(T) == 1) {
      if (value) exchange(place, [](T old) { return old; }, [](T) { return true; });
    } else if constexpr (Limits<T>::real) {
      add_to(place, value);
    } else {
      atomicAdd((Bits<T>*)place, (Bits<T>)value);
    }
    return true;
  }
};

// Without a look first, where there was one already.
template <bool LEAST, class T>
VG_DEVICE bool try_extreme(T* place, T value) {
  if constexpr (Limits<T>::real || sizeof(T) == 1 || sizeof(T) == 16) {
    if constexpr (LEAST) {
      return exchange(place, [&](T seen) { return !Min::better(value, seen); }, [&](T) { return value; });
    } else {
      return exchange(place, [&](T seen) { return !Max::better(value, seen); }, [&](T) { return value; });
    }
  } else if constexpr (LEAST) {
    return atomicMin(place, value) > value;
  } else {
    return atomicMax(place, value) < value;
  }
}
template <class T>
VG_DEVICE bool try_claim(T* place, T expected, T value) {
  return cas_bits((Bits<T>*)place, bit_cast<Bits<T>>(expected), bit_cast<Bits<T>>(value)) == bit_cast<Bits<T>>(expected);
}

template <bool LEAST, class T>
VG_DEVICE bool atomic_extreme(T* place, T value) {
  T old = relaxed(place);
  if (LEAST ? !Min::better(value, old) : !Max::better(value, old)) return false;
  return try_extreme<LEAST>(place, value);
}

template <>
struct Atomic<Min> {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) { return atomic_extreme<true>(place, value); }
};
template <>
struct Atomic<Max> {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) { return atomic_extreme<false>(place, value); }
};
template <>
struct Atomic<Or> {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) {
    T old = relaxed(place);
    if (!Or::better(value, old)) return false;
    if constexpr (sizeof(T) == 1) return exchange(place, [](T seen) { return seen; }, [](T) { return true; });
    else return Or::better(value, (T)atomicOr((Bits<T>*)place, (Bits<T>)value));
  }
};
template <>
struct Atomic<And> {
  template <class T>
  static VG_DEVICE bool reduce(T* place, T value) {
    T old = relaxed(place);
    if (!And::better(value, old)) return false;
    if constexpr (sizeof(T) == 1) return exchange(place, [](T seen) { return !seen; }, [](T) { return false; });
    else return And::better(value, (T)atomicAnd((Bits<T>*)place, (Bits<T>)value));
  }
};

// The sum behind an addition.
template <class T>
VG_DEVICE T add_and_see(T* place, T value) {
  if constexpr (Limits<T>::real) return add(atomicAdd(place, value), value);
  else return add((T)atomicAdd((Bits<T>*)place, (Bits<T>)value), value);
}

template <class Op, class T>
VG_DEVICE bool atomic_reduce(T* place, T value) { return Atomic<Op>::reduce(place, value); }
template <class Op, class T, int N>
VG_DEVICE bool atomic_reduce(Vec<T, N>* place, Vec<T, N> value) {
  bool changed = false;
  for (int k = 0; k < N; ++k) changed |= Atomic<Op>::reduce(&place->x[k], value.x[k]);
  return changed;
}

// `place += value` where lanes of a warp often come to the same place at once, with the same value: one adds for all.
template <class T>
VG_DEVICE void add_together(T* place, T value) {
  u32 together = __match_any_sync(__activemask(), (u64)place);
  if (__ffs(together) - 1 == lane()) Atomic<Sum>::reduce(place, mul(value, (T)__popc(together)));
}

// What a place holds before it grows by one: each thread gets another number.
VG_DEVICE i64 reserve(i64* place) {
  u32 together = __match_any_sync(__activemask(), (u64)place);
  u32 leader = __ffs(together) - 1;
  u64 base = 0;
  if (lane() == leader) base = atomicAdd((u64*)place, (u64)__popc(together));
  return (i64)shuffle(base, leader, together) + __popc(together & lanes_below());
}

// The same where no other thread comes.
template <class Op, class T>
VG_DEVICE bool reduce(T* place, T value) {
  if constexpr (Op::monotone) {
    if (!Op::better(value, *place)) return false;
  }
  *place = Op::apply(*place, value);
  return true;
}
template <class Op, class T, int N>
VG_DEVICE bool reduce(Vec<T, N>* place, Vec<T, N> value) {
  bool changed = false;
  for (int k = 0; k < N; ++k) changed |= reduce<Op>(&place->x[k], value.x[k]);
  return changed;
}

}  // namespace vg
