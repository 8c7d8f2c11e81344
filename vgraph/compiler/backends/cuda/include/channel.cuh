// Members of a set of GPUs: each writes what it has for another into that one's memory, then they meet.
//
// Where not all of them reach each other's memory, as beside groups of CPU threads, a GPU has a desk instead: it tells a
// thread of the host there what it wants, and waits for the answer. Its buffers are then in the host's memory.
//
// Nothing is written into a mailbox that its owner may still read: exchanges use two halves of each mailbox in turn, and
// whoever comes to the next but one knows by the one between that everybody has read what the last but one brought.
#pragma once

namespace vg {

// The elements that go from this member to another in one way: `count` from `place` on, to `at` of the other's mailbox,
// which takes `room` elements from all members together.
struct Route {
  u64 place, count, at, room;
};

// What goes where in turn t has the way TO_TURNS + t, with routes of its own and the mailboxes of all turns.
constexpr u32 WAYS = 5;
enum Way : u32 { TO_OWNERS, TO_GHOSTS, TO_ALL, TO_EACH, TO_TURNS };
VG_DEVICE u32 kind_of(u32 way) { return way < TO_TURNS ? way : TO_TURNS; }

// In the host's memory, as in `abi.py`.
struct Desk {
  u64 asked, mails, count, got, unused[4];
  u64 answered, left, free[6];
  struct {
    u64 out, got, way, bytes, unused[4];
  } mail[1];
};

// Of one member, in its memory; the host fills it in (`devices/gpu_sets.py`).
struct Peers {
  u64 members, me;
  u64 patience;          // times that it looks whether another has come
  u64 received, waited;  // bytes from others, nanoseconds
  Desk* desk;            // or nullptr; with one it knows of no other members
  u64 rooms[WAYS];       // elements of a half of a mailbox
  u64 ways;              // those of turns one by one
  // For each member where it notes who has come (a u64 for each, in its memory); then by way how many elements come from
  // others; then by way routes to each member; then by mailbox where that of each member is.
  u64 words[1];

  VG_DEVICE u64* arrivals(u64 p) const { return (u64*)words[p]; }
  VG_DEVICE u64 incoming(u32 way) const { return words[members + way]; }
  VG_DEVICE const Route& route(u32 way, u64 p) const {
    return ((const Route*)(words + members + ways))[way * members + p];
  }
  VG_DEVICE u64 mailbox(u32 number, u64 p) const {
    return words[members + ways + ways * members * (sizeof(Route) / 8) + number * members + p];
  }
};

// A buffer, the number of the mailbox that it goes to, and the way; `which`: it goes only where it is said how much.
template <class T>
struct Mail {
  const T* out;
  u32 number, way;
  bool which;

  VG_DEVICE u64 most(u64 count, u64 said) const { return which && (i64)said < 0 ? 0 : vg::min(count, said); }
};
template <class T>
VG_DEVICE Mail<T> mail(const T* out, u32 number, u32 way, bool which = false) { return {out, number, way, which}; }

// Where it is said how many elements go to each member of those that are not for all; or nullptr.
template <class T, class... More>
VG_DEVICE const u64* sizes_in(Mail<T> first, More...) { return first.way == TO_EACH ? (const u64*)first.out : nullptr; }

// A store into the memory of another GPU.
template <class T>
VG_DEVICE void put_far(T* place, T value) {
#ifdef __CUDA_ARCH__
  *place = value;
#else
  emu_store_later(place, value);
#endif
}
template <class T, int N>
VG_DEVICE void put_far(Vec<T, N>* place, const Vec<T, N>& value) {
  for (int k = 0; k < N; ++k) put_far(&place->x[k], value.x[k]);
}

// Behind a fence.
VG_DEVICE void note_arrival(u64* place, u64 turn) {
#ifdef __CUDA_ARCH__
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(place), "l"(turn) : "memory");
#else
  atomicExch(place, turn);
#endif
}
VG_DEVICE u64 acquire_system(const u64* place) {
#ifdef __CUDA_ARCH__
  u64 seen;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(place) : "memory");
  return seen;
#else
  return relaxed(place);
#endif
}

VG_DEVICE void wait_for_host() {
#ifndef __CUDA_ARCH__
  emu_pause_for_host();
#endif
}

// A thread's view of the set. All threads of all members make the same calls in the same order.
struct Channel {
  Peers* peers;
  u64 turn;   // exchanges so far
  u64 asked;  // in one thread: what it asked the host for so far

  VG_DEVICE explicit Channel(Peers* p) : peers(p), turn(0), asked(0) {}

  // Where in a mailbox what the last exchange brought begins.
  VG_DEVICE u64 begin(u32 way) const { return turn % 2 * peers->rooms[kind_of(way)]; }

  // All threads of the grid, the first one what there is a single element of; whether this one has sent anything.
  template <class T>
  VG_DEVICE bool send(Mail<T> mail, const u64* sizes) const {
    bool sent = false;
    for (u64 p = 0; p < peers->members; ++p) {
      Route route = peers->route(mail.way, p);
      T* box = (T*)peers->mailbox(mail.number, p) + turn % 2 * route.room + route.at;
      u64 count = sizes && mail.way < TO_ALL ? mail.most(route.count, sizes[p]) : route.count;
      for (u64 k = thread_number(); k < count; k += num_threads()) {
        put_far(&box[k], mail.out[route.place + k]);
        sent = true;
      }
    }
    return sent;
  }

  // One thread of the grid: false if the host asks to stop, or nobody comes.
  VG_DEVICE bool meet(Control* control) const {
    u64 began = now();
    for (u64 p = 0; p < peers->members; ++p) note_arrival(&peers->arrivals(p)[peers->me], turn);
    const u64* arrived = peers->arrivals(peers->me);
    for (u64 p = 0; p < peers->members; ++p) {
      for (u64 looks = 0; acquire_system(&arrived[p]) < turn; ++looks) {
        if (looks % 32 == 0 && relaxed(&control->cancel)) return false;
        if (looks == peers->patience) {
          control->payload = p;
          control->status = STALLED;
          return false;
        }
#ifndef __CUDA_ARCH__
        pause();
#endif
      }
    }
    peers->waited += now() - began;
    return true;
  }

  // One thread, behind `meet`: the bytes that came from others, who may have said how many elements. What one gets in
  // the first of the ways it has as much of as of what it sends in the other.
  template <class T>
  VG_DEVICE u64 came(Mail<T> mail, const u64* said) const {
    if (!said || mail.way >= TO_ALL) return peers->incoming(mail.way) * sizeof(T);
    u64 count = 0;
    for (u64 p = 0; p < peers->members; ++p) {
      count += mail.most(peers->route(TO_GHOSTS - mail.way, p).count, acquire_system(&said[p]));
    }
    return count * sizeof(T);
  }
  template <class T, class... More>
  VG_DEVICE void note_received(Mail<T> first, More... more) const {
    auto said = first.way == TO_EACH ? (const u64*)peers->mailbox(first.number, peers->me) + begin(TO_EACH) : nullptr;
    peers->received += (came(first, said) + ... + came(more, said));
  }

  // The same through the host.
  template <class... T>
  VG_DEVICE bool hand_over(Control* control, Mail<T>... mails) {
    peers->desk->mails = 0;
    (put(mails.out, peers->mailbox(mails.number, 0), mails.way, sizeof(T)), ...);
    return ask(control);
  }
  VG_DEVICE void put(const void* out, u64 got, u32 way, u64 bytes) const {
    Desk* desk = peers->desk;
    auto& mail = desk->mail[desk->mails++];
    mail.out = (u64)out, mail.got = got, mail.way = way, mail.bytes = bytes;
  }

  // One thread of the grid: wait until the host has done what stands at the desk; false if it asks to stop.
  VG_DEVICE bool ask(Control* control) {
    __threadfence_system();
    note_arrival(&peers->desk->asked, ++asked);
    for (u64 looks = 0; acquire_system(&peers->desk->answered) < asked; ++looks) {
      if (looks % 32 == 0 && relaxed(&control->cancel)) return false;
      wait_for_host();
    }
    return true;
  }
};

// A store into a buffer from which others get something: with a desk it is in the host's memory.
template <class T, class V>
VG_DEVICE void put_out(const Channel& channel, T* place, V value) {
#ifndef __CUDA_ARCH__
  if (channel.peers->desk) return put_far(place, (T)value);
#endif
  *place = value;
}

// A barrier of the grid in which one thread does something when all have come: true if the run is to stop, as that thread
// says with false.
template <class Team, class Action>
VG_DEVICE bool meet_around(Team& team, bool sent, Action action) {
  if (threadIdx.x == 0) {
    Control* control = team.control;
    if (sent) __threadfence_system();  // what this block has sent is there
    team.target += gridDim.x;
    arrive(&control->arrived, 1);
    if (blockIdx.x == 0) {
      while (acquire(&control->arrived) < team.target) {
#ifndef __CUDA_ARCH__
        pause();
#endif
      }
      __threadfence_system();  // what all blocks have sent, before anybody learns that it is there
      bool go = action(control) && !team.cancelled;
      arrive(&control->arrived, go ? 1 : 1 | STOP);
    }
    team.target += 1;
    u64 seen = acquire(&control->arrived);
    while (seen < team.target) {
#ifndef __CUDA_ARCH__
      pause();
#endif
      seen = acquire(&control->arrived);
    }
    team.board->stop = seen >> 63;
    if (blockIdx.x == 0) team.cancelled = relaxed(&control->cancel);
  }
  __syncthreads();
  return team.board->stop;
}

// What is behind a barrier in this member's buffers comes to the others, and theirs here, behind the barrier of the set
// that this is. True if the run is to stop.
template <class Team, class... T>
VG_DEVICE bool all_to_all(Team& team, Channel& channel, Mail<T>... mails) {
  ++channel.turn;
  Peers* peers = channel.peers;
  const u64* sizes = sizes_in(mails...);
  bool sent = __syncthreads_or(!peers->desk && (0 | ... | (int)channel.send(mails, sizes)));
  return meet_around(team, sent || peers->desk, [&](Control* control) {
    if (peers->desk) return channel.hand_over(control, mails...);
    if (!channel.meet(control)) return false;
    channel.note_received(mails...);
    return true;
  });
}

// Iterations of a divided loop of `count`: from the first number at `got` to before the second. True if the run is to stop.
template <class Team>
VG_DEVICE bool take(Team& team, Channel& channel, i64 count, i64* got) {
  __syncthreads();
  return meet_around(team, true, [&](Control* control) {
    Desk* desk = channel.peers->desk;
    desk->mails = 0, desk->count = (u64)count, desk->got = (u64)got;
    return channel.ask(control);
  });
}

}  // namespace vg
