// The scheduler of the emulation: every CUDA thread of the grid is a fiber, all on one thread of the system.
//
// A fiber runs until it waits (barrier, collective, __activemask, __nanosleep) or a yield point finds the countdown
// used up; then `choose` draws the next. Draws follow a `Mode` that changes now and then: one block, warp or thread
// runs far ahead or is left behind, as uniform draws alone hardly ever get far from lock step.
#include "interface.hpp"

#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "report.hpp"
#include "schedule.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
extern "C" const emu::Entry emu_entry;

namespace emu {

int countdown;
unsigned napping;

namespace {

// Shared memory: the bytes of the library's thread_local variables, swapped between blocks.
int find_shared(dl_phdr_info *info, size_t, void *) {
    auto self = reinterpret_cast<uintptr_t>(&find_shared);
    bool found = false;
    const ElfW(Phdr) *tls = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto &header = info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        if (header.p_type == PT_LOAD && self >= begin && self < begin + header.p_memsz) found = true;
        if (header.p_type == PT_TLS) tls = &header;
    }
    if (!found || !tls) return 0;
    grid->shared = static_cast<char *>(info->dlpi_tls_data);
    grid->shared_bytes = tls->p_memsz;
    if (tls->p_filesz) message = "a __shared__ variable has an initial value, which CUDA does not allow";
    return 1;
}
void enter_block(unsigned block) {
    if (block == grid->shared_of) return;
    memcpy(grid->blocks[grid->shared_of].shared.get(), grid->shared, grid->shared_bytes);
    memcpy(grid->shared, grid->blocks[block].shared.get(), grid->shared_bytes);
    grid->shared_of = block;
}

[[noreturn]] void leave(const std::string &what) {
    message = what;
    Context nowhere;
    change(nowhere, grid->home);
    __builtin_unreachable();
}
// Stores into the memory of other devices become visible, the oldest of a block first.
void arrive(Block &block, size_t count) {
    for (size_t i = 0; i < count; ++i) memcpy(block.far[i].place, block.far[i].bytes, block.far[i].size);
    block.far.erase(block.far.begin(), block.far.begin() + long(count));
    grid->far -= unsigned(count);
}
void some_arrive() {
    if (grid->seed == 0 || below(16)) return;
    Block &block = grid->blocks[below(unsigned(grid->blocks.size()))];
    if (!block.far.empty()) arrive(block, 1 + below(unsigned(block.far.size())));
}
// Whether a thread waits for what the host will do.
bool host_was_asked() {
    if (!grid->asks_host) return false;
    grid->asks_host = false;
    usleep(20);
    return true;
}
// Whether the host may still end a spin: a device has left, for which others wait.
bool host_may_help() {
    unsigned left = 0;
    for (const Device &d : grid->devices) left += d.alive == 0;
    if (!left || grid->spins > SPINS + 5000) return false;
    if (grid->spins > SPINS) usleep(200);
    return true;
}
Fiber *choose() {
    if (grid->far) some_arrive();
    if (overtime) leave("not done after " + std::to_string(int(seconds)) + " s" + where_everybody_waits());
    if (grid->runnable.empty()) {
        if (grid->naps.empty()) leave("deadlock: no thread can run" + where_everybody_waits());
        if (!host_was_asked() && ++grid->spins > SPINS && !host_may_help())
            leave("deadlock: threads spin for what no thread will ever do" + where_everybody_waits());
        wake_all();
    } else if (++grid->nap_age > 1024 && napping) {
        wake_all();
    }
    countdown = 64;
    Fiber *next = choose_fiber();
    if (next->waits == ACTIVEMASK) form_group(*next);
    return next;
}
void run(Fiber &next, Context &from) {
    ++grid->switches;
    enter_block(next.block);
    grid->current = &next;
    const Device &device = grid->devices[grid->blocks[next.block].device];
    threadIdx.x = next.thread;
    blockIdx.x = next.block - device.first;
    gridDim.x = unsigned(device.launch->blocks);
    change(from, next.context);
}
void next_fiber() {
    Fiber &self = *grid->current, &next = *choose();
    if (&next != &self) run(next, self.context);
}
struct Inside {  // the scheduler's own work: nothing may be torn out of it
    Inside() { in_kernel = false; }
    ~Inside() { in_kernel = true; }
};

// Barriers and collectives.
void finish_barrier(unsigned block) {
    Block &b = grid->blocks[block];
    if (b.arrived == 0 || b.arrived < b.alive) return;
    Fiber *all = &grid->fibers[block * grid->block_size], *first = nullptr;
    unsigned votes = 0;
    for (unsigned t = 0; t < grid->block_size; ++t) {
        Fiber &fiber = all[t];
        if (fiber.done) continue;
        if (!first) first = &fiber;
        if (fiber.waits != first->waits || fiber.line != first->line || strcmp(fiber.file, first->file) != 0)
            leave("divergent __syncthreads: threads of one block meet at different ones" + where_everybody_waits());
        votes += unsigned(fiber.value);
    }
    Kind kind = first->waits;
    unsigned result = kind == SYNCTHREADS_OR ? votes > 0 : kind == SYNCTHREADS_AND ? votes == b.alive : votes;
    b.arrived = 0;
    grid->spins = 0;
    for (unsigned t = 0; t < grid->block_size; ++t)
        if (!all[t].done) all[t].result = result, make_ready(all[t]);
}
emu_u64 reduce(Kind kind, Fiber *lanes, unsigned group) {
    unsigned total = unsigned(lanes[__builtin_ctz(group)].value);
    for (unsigned left = group & (group - 1); left; left &= left - 1) {
        auto v = unsigned(lanes[__builtin_ctz(left)].value);
        switch (kind) {
            case REDUCE_ADD: total += v; break;
            case REDUCE_MIN: total = v < total ? v : total; break;
            case REDUCE_MAX: total = v > total ? v : total; break;
            case REDUCE_MIN_SIGNED: total = int(v) < int(total) ? v : total; break;
            case REDUCE_MAX_SIGNED: total = int(v) > int(total) ? v : total; break;
            case REDUCE_AND: total &= v; break;
            case REDUCE_OR: total |= v; break;
            default: total ^= v;
        }
    }
    return total;
}
void finish_collective(Warp &warp, Kind kind, unsigned mask) {
    Fiber *lanes = &grid->fibers[warp.first];
    unsigned group = mask & warp.alive, ballot = 0;
    for (unsigned left = group; left; left &= left - 1) {
        const Fiber &lane = lanes[__builtin_ctz(left)];
        if (lane.waits != kind || lane.mask != mask) return;
        if (lane.value) ballot |= 1u << lane.lane;
    }
    if (!group) return;
    emu_u64 total = kind >= REDUCE_ADD ? reduce(kind, lanes, group) : ballot;
    for (unsigned left = group; left; left &= left - 1) {
        Fiber &lane = lanes[__builtin_ctz(left)];
        lane.result = total;
        if (kind == SHFL)  // from a lane that takes no part comes rubbish, as on the device
            lane.result = group >> lane.source & 1 ? lanes[lane.source].value : 0xdeadbeefdeadbeefull;
        if (kind == MATCH_ANY) {
            lane.result = 0;
            for (unsigned others = group; others; others &= others - 1) {
                unsigned other = __builtin_ctz(others);
                if (lanes[other].value == lane.value) lane.result |= 1u << other;
            }
        }
    }
    grid->spins = 0;
    for (unsigned left = group; left; left &= left - 1) make_ready(lanes[__builtin_ctz(left)]);
}
void start_fiber() {
    in_kernel = true;
    emu_entry.call(grid->devices[grid->blocks[grid->current->block].device].launch->args);
    in_kernel = false;
    Fiber &self = *grid->current;
    Block &own = grid->blocks[self.block];
    if (--grid->devices[own.device].alive == 0) {
        for (Block &b : grid->blocks)
            if (b.device == own.device) arrive(b, b.far.size());
        *const_cast<volatile unsigned *>(grid->devices[own.device].launch->left) = 1;
    }
    Warp &warp = grid->warps[self.warp];
    park(self, NOTHING, "", 0);
    self.done = true;
    warp.alive &= ~(1u << self.lane);
    --grid->blocks[self.block].alive;
    grid->spins = 0;
    finish_barrier(self.block);
    for (unsigned left = warp.alive; left; left &= left - 1)
        if (const Fiber &lane = grid->fibers[warp.first + __builtin_ctz(left)];
            lane.waits >= SYNCWARP && lane.waits < ACTIVEMASK && lane.mask >> self.lane & 1)
            finish_collective(warp, lane.waits, lane.mask);
    Context nowhere;
    if (--grid->alive == 0) change(nowhere, grid->home);
    run(*choose(), nowhere);
    __builtin_unreachable();
}

// Faults of the kernel become reports.
void on_signal(int number, siginfo_t *info, void *state) {
    if (number == SIGVTALRM) {
        overtime = true;
        if (!pthread_equal(pthread_self(), owner)) {
            pthread_kill(owner, number);
            return;
        }
        if (!in_kernel) return;  // the scheduler looks at `overtime` before it goes on
        message = "not done after " + std::to_string(int(seconds)) + " s; one thread never yields";
    } else if (!pthread_equal(pthread_self(), owner) || !in_kernel) {
        signal(number, SIG_DFL);  // not the kernel's
        return;
    } else {
        auto *place = static_cast<char *>(info->si_addr);
        if (number == SIGFPE)
            message = "integer division by zero or overflow";
        else if (place >= stacks.base && place < stacks.base + stacks.count * STACK)
            message = "stack overflow";
        else
            message = "memory fault at address " + hex(size_t(place));
    }
    message += " in block " + std::to_string(grid->current->block) + ", thread " + std::to_string(grid->current->thread) +
               program_counter(state);
    siglongjmp(fault_exit, 1);
}
struct Handlers {
    static constexpr int NUMBERS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM};
    struct sigaction before[4];
    stack_t stack_before;
    itimerval timer_before;
    std::vector<char> room = std::vector<char>(64 << 10);
    Handlers() {
        stack_t stack{};
        stack.ss_sp = room.data();
        stack.ss_size = room.size();
        sigaltstack(&stack, &stack_before);
        struct sigaction action{};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        for (int i = 0; i < 4; ++i) sigaction(NUMBERS[i], &action, &before[i]);
        itimerval timer{{1, 0}, {time_t(seconds), suseconds_t((seconds - time_t(seconds)) * 1e6)}};
        setitimer(ITIMER_VIRTUAL, &timer, &timer_before);
    }
    ~Handlers() {
        setitimer(ITIMER_VIRTUAL, &timer_before, nullptr);
        for (int i = 0; i < 4; ++i) sigaction(NUMBERS[i], &before[i], nullptr);
        sigaltstack(&stack_before, nullptr);
    }
};

bool enough_stacks(size_t count) {
    if (stacks.count >= count) return true;
    if (stacks.base) munmap(stacks.base, stacks.count * STACK);
    stacks = {};
    void *base = mmap(nullptr, count * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    for (size_t i = 0; i < count; ++i)  // a page at the low end that nobody may touch
        if (mprotect(static_cast<char *>(base) + i * STACK, PAGE, PROT_NONE) != 0) {
            munmap(base, count * STACK);
            return false;
        }
    stacks = {static_cast<char *>(base), count};
    return true;
}
bool prepare_grid(const Launch *launches, unsigned count, unsigned block) {
    Grid &g = *grid;
    unsigned blocks = 0;
    for (unsigned d = 0; d < count; ++d) {
        g.devices.push_back({launches + d, blocks, unsigned(launches[d].blocks) * block});
        blocks += unsigned(launches[d].blocks);
    }
    g.block_size = block;
    g.warps_per_block = (block + 31) / 32;
    g.alive = blocks * block;
    g.fibers.resize(g.alive);
    g.warps.resize(size_t(blocks) * g.warps_per_block);
    g.blocks.resize(blocks);
    if (!enough_stacks(g.alive)) return false;
    for (unsigned i = 0; i < g.alive; ++i) {
        Fiber &fiber = g.fibers[i];
        fiber.block = i / block, fiber.thread = i % block, fiber.lane = fiber.thread % 32;
        fiber.warp = fiber.block * g.warps_per_block + fiber.thread / 32;
        Warp &warp = g.warps[fiber.warp];
        if (fiber.lane == 0) warp.first = i;
        warp.alive |= 1u << fiber.lane;
        prepare(fiber.context, stacks.base + i * STACK, STACK, start_fiber);
        make_ready(fiber);
    }
    for (unsigned d = 0; d < count; ++d)
        for (unsigned b = 0; b < launches[d].blocks; ++b) g.blocks[g.devices[d].first + b].device = d;
    for (Block &b : g.blocks) {
        b.alive = block;
        b.shared.reset(new char[g.shared_bytes]);
        for (size_t i = 0; i < g.shared_bytes; ++i) b.shared[i] = char(0xa5 ^ draw());
        b.dynamic.reset(new emu_u64[g.dynamic_bytes / 16 * 2 + 2 + GUARD / 8]);
        auto bytes = reinterpret_cast<char *>(b.dynamic.get());
        for (unsigned i = 0; i < g.dynamic_bytes; ++i) bytes[i] = char(0xa5 ^ draw());
        memset(bytes + g.dynamic_bytes, 0x5a, GUARD);
    }
    return true;
}

}  // namespace

void reschedule() {
    Inside inside;
    grid->current->frame = static_cast<void **>(__builtin_frame_address(0));
    next_fiber();
}
void wake() {
    Inside inside;
    grid->spins = 0;
    wake_all();
}
void pause(const char *file, int line) {
    Inside inside;
    Fiber &self = *grid->current;
    self.frame = static_cast<void **>(__builtin_frame_address(0));
    park(self, PAUSE, file, line);
    grid->naps.push_back(unsigned(&self - grid->fibers.data()));
    napping = 1;
    next_fiber();
}
void pause_for_host(const char *file, int line) {
    grid->asks_host = true;
    pause(file, line);
}
unsigned syncthreads(Kind kind, unsigned value, const char *file, int line) {
    Inside inside;
    Fiber &self = *grid->current;
    self.frame = static_cast<void **>(__builtin_frame_address(0));
    self.value = value;
    park(self, kind, file, line);
    ++grid->blocks[self.block].arrived;
    finish_barrier(self.block);
    next_fiber();
    return unsigned(self.result);
}
emu_u64 collective(Kind kind, unsigned mask, emu_u64 value, unsigned source, const char *file, int line) {
    Inside inside;
    Fiber &self = *grid->current;
    self.frame = static_cast<void **>(__builtin_frame_address(0));
    if (!(mask >> self.lane & 1))
        leave(std::string(name_of(kind)) + " with mask " + hex(mask) + " called by lane " + std::to_string(self.lane) +
              ", which is not in it (" + at(file, line) + ", block " + std::to_string(self.block) + ", thread " +
              std::to_string(self.thread) + ")");
    self.mask = mask, self.value = value, self.source = source & 31;
    park(self, kind, file, line);
    finish_collective(grid->warps[self.warp], kind, mask);
    next_fiber();
    return self.result;
}
unsigned activemask(const char *file, int line) {
    Inside inside;
    Fiber &self = *grid->current;
    self.frame = static_cast<void **>(__builtin_frame_address(0));
    park(self, ACTIVEMASK, file, line);
    // Only lanes with the same chain of callers can have converged.
    self.place = size_t(__builtin_return_address(0));
    for (void **frame = self.frame; HAS_FRAMES && frame && frame[0]; frame = static_cast<void **>(frame[0]))
        self.place = self.place * 31 + size_t(frame[1]);
    Warp &warp = grid->warps[self.warp];
    warp.active |= 1u << self.lane;
    update(warp);
    next_fiber();
    return unsigned(self.result);
}
void store_later(void *place, const void *bytes, unsigned size) {
    Far far{place, size, {}};
    memcpy(far.bytes, bytes, size);
    grid->blocks[grid->current->block].far.push_back(far);
    ++grid->far;
}
void fence_system() {
    Block &block = grid->blocks[grid->current->block];
    if (!block.far.empty()) arrive(block, block.far.size());
}
emu_u64 now() { return grid->switches * 50; }
unsigned *dynamic_shared() { return reinterpret_cast<unsigned *>(grid->blocks[grid->current->block].dynamic.get()); }
unsigned dynamic_shared_bytes() { return grid->dynamic_bytes; }
void fail(const char *what, const char *file, int line) {
    Inside inside;
    leave(std::string(what) + " failed in block " + std::to_string(grid->current->block) + ", thread " +
          std::to_string(grid->current->thread) + " (" + at(file, line) + ")");
}

}  // namespace emu

using namespace emu;
#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char *vg_emulation_error() { return message.c_str(); }
EXPORT void vg_emulation_seconds(double limit) { seconds = limit; }
EXPORT unsigned long long vg_emulation_switches;
unsigned long long vg_emulation_switches;

// Kernels of as many devices at the same time. 0: done. 1: `vg_emulation_error` says why not. Not to be called twice at
// the same time.
EXPORT int vg_emulate(const Launch *launches, unsigned count, unsigned long bytes, unsigned block, unsigned long dynamic,
                      unsigned long long seed) {
    message.clear();
    if (bytes != emu_entry.bytes)
        message = "the kernel takes " + std::to_string(emu_entry.bytes) + " bytes, not " + std::to_string(bytes);
    for (unsigned d = 0; d < count; ++d)
        if (launches[d].blocks == 0 || block == 0 || block > 1024)
            message = "grid of " + std::to_string(launches[d].blocks) + " blocks of " + std::to_string(block) + " threads";
    if (!message.empty()) return 1;
    auto owned = std::make_unique<Grid>();
    grid = owned.get();
    grid->seed = grid->random = seed;
    grid->dynamic_bytes = dynamic;
    *const_cast<volatile char *>(&anchor) = 0;  // so that the thread has its copy
    dl_iterate_phdr(find_shared, nullptr);
    if (!message.empty()) return 1;
    if (!grid->shared || !prepare_grid(launches, count, block)) {
        message = "no room for the stacks or the shared memory of that many threads";
    } else {
        blockDim = dim3(block), gridDim = dim3(unsigned(launches[0].blocks));
        threadIdx = blockIdx = {0, 0, 0};
        owner = pthread_self();
        overtime = in_kernel = false;
        napping = 0;
        memcpy(grid->shared, grid->blocks[0].shared.get(), grid->shared_bytes);
        grid->current = &grid->fibers.back();
        Handlers handlers;
        if (sigsetjmp(fault_exit, 1) == 0)
            run(*choose(), grid->home);
        in_kernel = false;
        for (Block &b : grid->blocks)
            for (unsigned i = 0; i < GUARD; ++i)
                if (message.empty() && reinterpret_cast<char *>(b.dynamic.get())[dynamic + i] != 0x5a)
                    message = "a block wrote behind its dynamic shared memory";
    }
    vg_emulation_switches = grid->switches;
    return message.empty() ? 0 : 1;
}
