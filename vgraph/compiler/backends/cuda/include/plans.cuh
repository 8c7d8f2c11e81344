// Arcs in the order of a plan: the cells of a phase at the same time, and the grid meets between phases. And vectors
// whose elements the lanes of a group share.
#pragma once

namespace vg {

// --- vectors across lanes --------------------------------------------------------------------------------------

// Which of N elements each of L lanes has: chunks of four, as one load moves them, are dealt to the lanes.
template <u32 N, u32 L>
struct Deal {
  static constexpr u32 CHUNK = N % 4 == 0 ? 4 : 1;
  static constexpr u32 CHUNKS = N / CHUNK;
  static constexpr u32 EACH = (CHUNKS + L - 1) / L * CHUNK;  // elements of a lane
  static constexpr bool EVEN = CHUNKS % L == 0;
  static VG_DEVICE u32 at(u32 rank, u32 k) { return (k / CHUNK * L + rank) * CHUNK + k % CHUNK; }
  static VG_DEVICE bool has(u32 rank, u32 k) { return EVEN || at(rank, k) < N; }
  static VG_DEVICE u32 rank_of(u32 i) { return i / CHUNK % L; }
  static VG_DEVICE u32 place_of(u32 i) { return i / CHUNK / L * CHUNK + i % CHUNK; }
};

template <class T>
struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Chunk {
  T x[4];
};

// From `from` to `to`, CHUNK elements.
template <u32 CHUNK, class T>
VG_DEVICE void move_chunk(T* to, const T* from) {
#ifdef __CUDA_ARCH__
  if constexpr (CHUNK == 4) {
    *(Chunk<T>*)to = *(const Chunk<T>*)from;
    return;
  }
#endif
  for (u32 k = 0; k < CHUNK; ++k) to[k] = from[k];
}

// A lane's share of a vector in memory; what is no element is zero.
template <class Group, class T, int N>
VG_DEVICE auto share(Group lanes, const Vec<T, N>& from) {
  using D = Deal<N, Group::size>;
  alignas(16) Vec<T, D::EACH> mine;
#pragma unroll
  for (u32 k = 0; k < D::EACH; k += D::CHUNK) {
    if (D::has(lanes.rank(), k)) {
      move_chunk<D::CHUNK>(mine.x + k, from.x + D::at(lanes.rank(), k));
    } else {
      for (u32 j = 0; j < D::CHUNK; ++j) mine.x[k + j] = T();
    }
  }
  return mine;
}

// The other way round.
template <class Group, class T, int N, int M>
VG_DEVICE void put_share(Group lanes, Vec<T, N>& to, const Vec<T, M>& value) {
  using D = Deal<N, Group::size>;
  alignas(16) Vec<T, M> mine = value;
#pragma unroll
  for (u32 k = 0; k < D::EACH; k += D::CHUNK) {
    if (D::has(lanes.rank(), k)) move_chunk<D::CHUNK>(to.x + D::at(lanes.rank(), k), mine.x + k);
  }
}

// The sum of all elements: of each lane's, and then by halves.
template <class R, u32 N, class Group, class T, int M>
VG_DEVICE R sum_shares(Group lanes, const Vec<T, M>& mine) {
  using D = Deal<N, Group::size>;
  R total = R();
#pragma unroll
  for (u32 k = 0; k < (u32)M; ++k) {
    if (D::has(lanes.rank(), k)) total += (R)mine.x[k];
  }
  return lanes.template reduce<Sum>(total);
}

// Element i, for all lanes.
template <u32 N, class Group, class T, int M>
VG_DEVICE T shared_element(Group lanes, const Vec<T, M>& mine, i64 i) {
  using D = Deal<N, Group::size>;
  T found = mine.x[0];
#pragma unroll
  for (u32 k = 1; k < (u32)M; ++k) found = k == D::place_of((u32)i) ? mine.x[k] : found;
  return shuffle(found, lanes.leader() + D::rank_of((u32)i), lanes.mask());
}

// The same but for element i.
template <u32 N, class Group, class T, int M>
VG_DEVICE Vec<T, M> with_shared_element(Group lanes, Vec<T, M> mine, i64 i, T value) {
  using D = Deal<N, Group::size>;
#pragma unroll
  for (u32 k = 0; k < (u32)M; ++k) {
    if (D::at(lanes.rank(), k) == (u32)i) mine.x[k] = value;
  }
  return mine;
}

// Bits of what this lane will load: to have looked at it brings it into the L1 cache.
template <class T>
VG_DEVICE u32 bits_at(const T* place) {
  if constexpr (sizeof(T) % 4 == 0) return *(const u32*)place;
  else return *(const u8*)place * 0x01010101u;
}
template <class Group, class T>
VG_DEVICE u32 peek(Group lanes, const T& place) {
  return lanes.leads() ? bits_at(&place) : 0;
}
template <class Group, class T, int N>
VG_DEVICE u32 peek(Group lanes, const Vec<T, N>& place) {
  using D = Deal<N, Group::size>;
  u32 seen = 0;
#pragma unroll
  for (u32 k = 0; k < D::EACH; k += D::CHUNK) {
    if (D::has(lanes.rank(), k)) seen ^= bits_at(&place.x[D::at(lanes.rank(), k)]);
  }
  return seen;
}

// --- plans -----------------------------------------------------------------------------------------------------

struct Plan {
  const i64* phases;
  i64 count;
  i64 cells;  // 0: each arc is one
  const i64* bounds;
  const i64* firsts;
  const i64* steps;
};

// What a cell has: steps, and arcs.
struct Cell {
  i64 step, last, begin, end;
  VG_DEVICE Cell(const Plan& plan, i64 cell, i64 cells)
      : step(cell < cells ? fixed(&plan.firsts[cell]) : 0),
        last(cell < cells ? fixed(&plan.firsts[cell + 1]) : 0),
        begin(cell < cells ? fixed(&plan.bounds[cell]) : 0),
        end(cell < cells ? fixed(&plan.bounds[cell + 1]) : 0) {}
};

// Steps of a cell, one after the other, by a block, or ALONE by its first warp. Where the next begins, and what is fixed
// of its arcs, is read a step ahead. Steps come by falling size: the block leaves what one warp can do at once, that one
// steps of one arc; and a group that has an arc had one in the step before, so that nobody has changed what it knows of
// its ends (`again`).
template <bool ALONE, class Group, class Fetch, class Visit>
VG_DEVICE void over_steps(const Plan& plan, Cell& cell, Fetch fetch, Visit visit) {
  constexpr u32 GROUPS = (ALONE ? 32 : BLOCK) / Group::size, LEFT = ALONE ? 1 : 32 / Group::size;
  if (cell.step >= cell.last) return;
  const u32 own = threadIdx.x / Group::size;
  auto ahead = [&](i64 k) { return fetch(k < cell.end ? k : cell.end - 1); };
  i64 end = fixed(&plan.steps[cell.step + 1]);
  auto now = ahead(cell.begin + own);
  bool again = false;
  while (cell.step < cell.last && end - cell.begin > LEFT) {
    i64 after = cell.step + 1 < cell.last ? fixed(&plan.steps[cell.step + 2]) : end;
    auto next = ahead(end + own);
    for (i64 k = cell.begin + own; k < end; k += GROUPS) {
      visit(Group(), k, now, again);
      again = true;
      if (k + GROUPS < end) now = fetch(k + GROUPS);
    }
    if (ALONE) __syncwarp();
    else __syncthreads();
    cell.begin = end;
    end = after;
    now = next;
    ++cell.step;
  }
}

// Steps of one arc, by one group: the arcs that follow are known two ahead.
template <class Group, class Fetch, class Visit>
VG_DEVICE void one_by_one(const Cell& cell, Fetch fetch, Visit visit) {
  if (cell.begin >= cell.end) return;
  i64 last = cell.end - 1;
  auto now = fetch(cell.begin), next = fetch(cell.begin < last ? cell.begin + 1 : last);
  for (i64 k = cell.begin; k <= last; ++k) {
    auto after = fetch(k + 2 < last ? k + 2 : last);
    visit(typename Group::First(), k, now, k > cell.begin);
    now = next;
    next = after;
  }
}

// The arcs of a cell, shared by a block. It looks at all of them first where there are many steps, each of which would
// wait for what it reads.
template <class Group, class Fetch, class Visit, class Look>
VG_DEVICE void by_steps(const Plan& plan, Cell cell, Fetch fetch, Visit visit, Look look) {
  constexpr u32 GROUPS = BLOCK / Group::size;
  __shared__ u32 kept;
  if ((cell.last - cell.step) * GROUPS > cell.end - cell.begin) {
    u32 seen = 0;
    for (i64 k = cell.begin + threadIdx.x / Group::size; k < cell.end; k += GROUPS) seen ^= look(Group(), k);
    if (seen == 0x9e3779b9u) kept = seen;  // or nothing would be read
  }
  over_steps<false, Group>(plan, cell, fetch, visit);
  if (warp() == 0) over_steps<true, Group>(plan, cell, fetch, visit);
  if (threadIdx.x < Group::size) one_by_one<Group>(cell, fetch, visit);
  __syncthreads();
}

// True if the run is to stop. What tells of the next phase is read before the barrier.
template <class Group, class Team, class Fetch, class Visit, class Look>
VG_DEVICE bool by_plan(Team& team, const Plan& plan, Fetch fetch, Visit visit, Look look) {
  constexpr i64 SIZE = Group::size;
  if (plan.count == 0) return team.meet();
  i64 first = fixed(&plan.phases[0]), end = fixed(&plan.phases[1]);
  Cell cell(plan, first + blockIdx.x, plan.cells ? end : 0);
  for (i64 phase = 1; phase <= plan.count; ++phase) {
    if (plan.cells) {
      for (i64 k = first + blockIdx.x; k < end; k += gridDim.x) {
        by_steps<Group>(plan, k == first + blockIdx.x ? cell : Cell(plan, k, end), fetch, visit, look);
      }
    } else {
      for (i64 k = first + thread_number() / SIZE; k < end; k += num_threads() / SIZE) {
        visit(Group(), k, fetch(k), false);
      }
    }
    first = end;
    if (phase < plan.count) {
      end = fixed(&plan.phases[phase + 1]);
      cell = Cell(plan, first + blockIdx.x, plan.cells ? end : 0);
    }
    if (team.meet()) return true;
  }
  return false;
}

}  // namespace vg
