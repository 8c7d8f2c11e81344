// The grid as one team: its barrier, and what all threads combine.
#pragma once

namespace vg {

// Shared with the host; the layout stands in layout.py. All zero when a kernel starts.
struct Control {
  u64 arrived;
  u32 cancel, status;
  u64 payload;
  u64 records;
  u64 needed;
  u64 hubs[2];
  u32 rounds, active;
  u64 words[1];  // results, counters of frontiers, lists, buckets, slots of reductions
};

enum Status : u32 { OK = 0, ABORTED = 4, OVERFLOW = 100, STALLED = 101 };

constexpr u64 STOP = 1ull << 63;
constexpr u32 TURNS = 3;

// A word where threads combine numbers. It begins as 0: what is kept is coded so that 0 changes nothing.
template <class Op, class T>
struct Slot;

template <class T>
struct Slot<Sum, T> {
  static VG_DEVICE void merge(u64* word, T value) {  // in shared memory, too
    if constexpr (Limits<T>::real) atomicAdd((T*)word, value);
    else Atomic<Sum>::reduce((T*)word, value);
  }
  static VG_DEVICE T read(u64 word) {
    T value;
    memcpy(&value, &word, sizeof(T));
    return value;
  }
  static VG_DEVICE void pass_on(u64* word, u64 part) { merge(word, read(part)); }
};
template <>
struct Slot<Sum, bool> {
  static VG_DEVICE void merge(u64* word, bool value) { if (value) atomicOr(word, 1ull); }
  static VG_DEVICE bool read(u64 word) { return word != 0; }
  static VG_DEVICE void pass_on(u64* word, u64 part) { merge(word, read(part)); }
};
template <class T>
struct Slot<Product, T> {
  static VG_DEVICE u64 code(T value) { return (u64)(bit_cast<Bits<T>>(value) ^ bit_cast<Bits<T>>((T)1)); }
  static VG_DEVICE T read(u64 word) { return bit_cast<T>((Bits<T>)((Bits<T>)word ^ bit_cast<Bits<T>>((T)1))); }
  static VG_DEVICE void merge(u64* word, T value) {
    exchange(word, [](u64) { return false; }, [&](u64 old) { return code(mul(read(old), value)); });
  }
  static VG_DEVICE void pass_on(u64* word, u64 part) { merge(word, read(part)); }
};

// Numbers in an order-keeping code: the larger, the later; 0 is the first. NaN comes last.
template <class T>
struct Ordered {
  using B = Bits<T>;
  static constexpr B TOP = (B)1 << (8 * sizeof(B) - 1);
  static VG_DEVICE u64 code(T value) {
    if constexpr (sizeof(T) == 1) {
      return value;
    } else if constexpr (Limits<T>::real) {
      if (value != value) return (B)~(B)0;
      B bits = bit_cast<B>(value);
      return (B)((B)(bits & TOP ? ~bits : bits | TOP) - first());
    } else {
      return (B)((B)value - (B)Limits<T>::least());
    }
  }
  static VG_DEVICE T value(u64 word) {
    if constexpr (sizeof(T) == 1) {
      return word != 0;
    } else if constexpr (Limits<T>::real) {
      if ((B)word == (B)~(B)0) return not_a_number<T>();
      B bits = (B)((B)word + first());
      return bit_cast<T>((B)(bits & TOP ? bits & ~TOP : ~bits));
    } else {
      return (T)((B)word + (B)Limits<T>::least());
    }
  }
  static VG_DEVICE B first() { return (B)~bit_cast<B>(Limits<T>::least()); }  // minus infinity is moved to 0
};
template <class T>
struct Slot<Max, T> {
  static VG_DEVICE u64 code(T value) { return Ordered<T>::code(value); }
  static VG_DEVICE void merge(u64* word, T value) { atomicMax(word, code(value)); }
  static VG_DEVICE T read(u64 word) { return Ordered<T>::value(word); }
  static VG_DEVICE void pass_on(u64* word, u64 part) { atomicMax(word, part); }
};
template <class T>
struct Slot<Min, T> {
  // Negated: minus the number for floats, the complement for integers.
  static VG_DEVICE T turned(T value) {
    if constexpr (sizeof(T) == 1) return !value;
    else if constexpr (Limits<T>::real) return -value;
    else return (T)~(Bits<T>)value;
  }
  static VG_DEVICE u64 code(T value) { return Ordered<T>::code(turned(value)); }
  static VG_DEVICE void merge(u64* word, T value) { atomicMax(word, code(value)); }
  static VG_DEVICE T read(u64 word) { return turned(Ordered<T>::value(word)); }
  static VG_DEVICE void pass_on(u64* word, u64 part) { atomicMax(word, part); }
};
template <class T>
struct Slot<Or, T> {
  static VG_DEVICE void merge(u64* word, T value) { atomicOr(word, (u64)bit_cast<Bits<T>>(value)); }
  static VG_DEVICE T read(u64 word) { return bit_cast<T>((Bits<T>)word); }
  static VG_DEVICE void pass_on(u64* word, u64 part) { atomicOr(word, part); }
};
template <class T>
struct Slot<And, T> {
  static VG_DEVICE T turned(T value) {
    if constexpr (sizeof(T) == 1) return !value;
    else return (T)~(Bits<T>)value;
  }
  static VG_DEVICE void merge(u64* word, T value) { atomicOr(word, (u64)bit_cast<Bits<T>>(turned(value))); }
  static VG_DEVICE T read(u64 word) { return turned(bit_cast<T>((Bits<T>)word)); }
  static VG_DEVICE void pass_on(u64* word, u64 part) { atomicOr(word, part); }
};

template <class Op, class T>
VG_DEVICE T warp_reduce(T value) {
  for (u32 distance = 16; distance; distance /= 2) value = Op::apply(value, shuffle_xor(value, distance));
  return value;
}

template <class Op>
VG_DEVICE constexpr bool is_extreme() { return false; }
template <>
VG_DEVICE constexpr bool is_extreme<Max>() { return true; }
template <>
VG_DEVICE constexpr bool is_extreme<Min>() { return true; }

// A warp adds its values to a slot in shared memory; `nothing` is what adds nothing. Of two halves of a code in turn the
// largest is found in one step.
template <class Op, class T>
VG_DEVICE void into_slot(u64* slot, T value, T nothing) {
  __syncwarp();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (is_extreme<Op>()) {
    u64 code = Slot<Op, T>::code(value);
    u32 high = __reduce_max_sync(ALL, (u32)(code >> 32));
    u32 low = __reduce_max_sync(ALL, (u32)(code >> 32) == high ? (u32)code : 0);
    if (lane() == 0 && (high || low)) atomicMax(slot, (u64)high << 32 | low);
    return;
  }
#endif
  value = warp_reduce<Op>(value);
  if (lane() == 0 && !(value == nothing)) Slot<Op, T>::merge(slot, value);
}
template <class Op, class T, int N>
VG_DEVICE void into_slot(u64* slots, Vec<T, N> value, T nothing) {
  for (int i = 0; i < N; ++i) into_slot<Op>(slots + i, value.x[i], nothing);
}

VG_DEVICE void pause() { __nanosleep(20); }

VG_DEVICE u64 acquire(const u64* place) {
#ifdef __CUDA_ARCH__
  u64 seen;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(place) : "memory");
  return seen;
#else
  return relaxed(place);
#endif
}

VG_DEVICE void arrive(u64* place, u64 amount) {
#ifdef __CUDA_ARCH__
  asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(place), "l"(amount) : "memory");
#else
  atomicAdd(place, amount);
#endif
}

// All threads of a cluster: what was written before it is seen behind it.
VG_DEVICE void meet_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" : : : "memory");
#endif
}

VG_DEVICE u64 now() {  // nanoseconds
#ifdef __CUDA_ARCH__
  u64 time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
#else
  return 0;
#endif
}

// What a block shares: parts of reductions on their way to the grid, and the totals that came back.
template <int SLOTS>
struct Board {
  u64 parts[SLOTS];
  u64 totals[SLOTS];
  u32 stop;
};

struct Nothing {
  VG_DEVICE void operator()() const {}
};
template <class A>
VG_DEVICE constexpr bool does_nothing() { return false; }
template <>
VG_DEVICE constexpr bool does_nothing<Nothing>() { return true; }

// This thread's view of the grid. All threads make the same calls in the same order. A CREW is a grid of one cluster, for
// many small rounds: hardware makes its barrier.
template <int SLOTS, bool CREW = false>
struct Team {
  static constexpr bool CLUSTER = CREW && CLUSTERS;
  Control* control;
  u64* slots;  // TURNS sets of SLOTS words, which take turns: one is zeroed while others are in use
  Board<SLOTS>* board;
  u32 turn;
  u64 target;     // thread 0: arrivals that end the next barrier
  u32 cancelled;  // thread 0 of block 0: whether the host asked to stop

  VG_DEVICE Team(Control* c, u64* s, Board<SLOTS>* b) : control(c), slots(s), board(b), turn(0), target(0), cancelled(0) {
    if (threadIdx.x == 0) {
      for (int k = 0; k < SLOTS; ++k) board->parts[k] = 0;
    }
    __syncthreads();
  }

  // True in one thread of the grid; `last`: in another one, which has less to do.
  VG_DEVICE bool first() const { return threadIdx.x == 0 && blockIdx.x == 0; }
  VG_DEVICE bool last() const { return threadIdx.x == BLOCK - 1 && blockIdx.x == gridDim.x - 1; }

  // Add this thread's `value` to what slot `k` will hold at the next `meet`; `nothing` is what adds nothing.
  template <class Op, class T, class N>
  VG_DEVICE void give(int k, T value, N nothing) { into_slot<Op>(&board->parts[k], value, nothing); }

  // The barrier of the grid. Combines what was given to slots 0, 1, ... of the types `S`; thread 0 of each block then
  // does `after`, before the others of its block go on. True if the host asked to stop: all threads leave.
  // Counts of queues come by `counted`, whose reads are under way together with those of the totals.
  template <class... S, class Counted, class After>
  VG_DEVICE bool meet(Counted counted, After after) {
    constexpr int used = sizeof...(S);
    // In a cluster nobody looks whether to stop where there is nothing else to look at: such rounds are counted.
    constexpr bool looks = !CLUSTER || used > 0 || !does_nothing<Counted>() || !does_nothing<After>();
    if constexpr (looks) {
      __syncthreads();
    }
    u64 seen = 0;
    u64* mine = slots + (turn % TURNS) * SLOTS;
    if (threadIdx.x == 0) {
      if constexpr (used > 0) {
        int k = 0;
        (pass_on<S>(mine, k++), ...);
        if (blockIdx.x == 0) {
          u64* next = slots + ((turn + 1) % TURNS) * SLOTS;
          for (int i = 0; i < SLOTS; ++i) next[i] = 0;
        }
      }
      if constexpr (!CLUSTER) {
        target += gridDim.x;
        arrive(&control->arrived, cancelled ? 1 | STOP : 1);
        seen = acquire(&control->arrived);
        while (seen < target) {  // STOP passes too: a block that saw it at the barrier before has left for good
#ifndef __CUDA_ARCH__
          pause();
#endif
          seen = acquire(&control->arrived);
        }
      } else if (looks && cancelled) {
        arrive(&control->arrived, STOP);  // others may see it a barrier early: hardware does not wait for who has left
      }
    }
    if constexpr (CLUSTER) meet_cluster();
    if constexpr (looks) {
      if (threadIdx.x == 0) {
        if constexpr (CLUSTER) seen = relaxed(&control->arrived);
        u64 totals[used + 1];
        for (int k = 0; k < used; ++k) totals[k] = relaxed(&mine[k]);
        counted();
        board->stop = seen >> 63;
        for (int k = 0; k < used; ++k) board->totals[k] = totals[k];
        after();
        if (blockIdx.x == 0) cancelled = relaxed(&control->cancel);  // for the next barrier: nothing waits for it here
      }
      if (used > 0) ++turn;
      __syncthreads();
      return board->stop;
    }
    return false;
  }
  template <class... S, class Counted>
  VG_DEVICE bool meet(Counted counted) { return meet<S...>(counted, Nothing()); }
  template <class... S>
  VG_DEVICE bool meet() { return meet<S...>(Nothing(), Nothing()); }

  // What slot `k` held at the last `meet`.
  template <class Op, class T>
  VG_DEVICE T total(int k) const { return Total<Op, T>::read(board->totals + k); }

  // Thread 0 of each block alone, while the others of the block wait.
  template <class F>
  VG_DEVICE void alone(F f) const {
    __syncthreads();
    if (threadIdx.x == 0) f();
    __syncthreads();
  }

 private:
  template <class S>
  VG_DEVICE void pass_on(u64* mine, int k) {
    u64 part = board->parts[k];
    if (part != 0) {
      S::pass_on(mine + k, part);
      board->parts[k] = 0;
    }
  }
  template <class Op, class T>
  struct Total {
    static VG_DEVICE T read(const u64* words) { return Slot<Op, T>::read(*words); }
  };
  template <class Op, class T, int N>
  struct Total<Op, Vec<T, N>> {
    static VG_DEVICE Vec<T, N> read(const u64* words) {
      Vec<T, N> result;
      for (int k = 0; k < N; ++k) result.x[k] = Slot<Op, T>::read(words[k]);
      return result;
    }
  };
};

}  // namespace vg
