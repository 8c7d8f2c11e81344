// What the scheduler knows of the threads of a grid. Part of `runtime.cpp`.
#pragma once
#include "interface.hpp"
#include "switch.hpp"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include <memory>
#include <string>
#include <vector>

namespace emu {

// Stacks are kept for the next launch, of whatever kernel: an inline variable is one in the process, though every
// kernel is a library of its own.
struct Stacks {
    char *base = nullptr;
    size_t count = 0;
};
__attribute__((visibility("default"))) inline Stacks stacks;

namespace {

constexpr size_t STACK = 128 << 10, PAGE = 4 << 10;
constexpr unsigned GUARD = 64;  // bytes behind a block's dynamic shared memory, which nobody writes
constexpr unsigned NOBODY = ~0u;
constexpr int SPINS = 2000;  // times that all threads alive may be asleep in a row before that is a deadlock

struct Fiber {
    Context context;
    unsigned thread, block, warp, lane;
    Kind waits = NOTHING;
    bool done = false;
    unsigned mask = 0, source = 0;
    emu_u64 value = 0, result = 0;
    void **frame = nullptr;  // of the function that it waits in
    size_t place = 0;  // hash of the callers of __activemask
    const char *file = "";
    int line = 0;
};
struct Warp {
    unsigned ready = 0;   // lanes that may run
    unsigned active = 0;  // lanes in __activemask: they may run too, which forms a group
    unsigned alive = 0;
    unsigned first = 0;   // fiber of lane 0
    unsigned index = NOBODY;  // in `runnable`
};
struct Far {  // a store that is not there yet
    void *place;
    unsigned size;
    char bytes[16];
};
struct Block {
    unsigned alive = 0, arrived = 0, device = 0;
    std::vector<Far> far;
    std::unique_ptr<char[]> shared;
    std::unique_ptr<emu_u64[]> dynamic;
};
enum Mode { UNIFORM, IN_ORDER, BACKWARDS, ONLY_BLOCK, ONLY_WARP, ONLY_THREAD, NOT_BLOCK, NOT_WARP, NOT_THREAD, MODES, ONLY_DEVICE = MODES, NOT_DEVICE, SET_MODES };

struct Device {
    const Launch *launch;
    unsigned first = 0, alive = 0;  // its first block; its threads that have not ended
};

struct Grid {
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<Block> blocks;
    std::vector<Device> devices;
    std::vector<unsigned> runnable, naps;
    unsigned block_size = 0, warps_per_block = 0, alive = 0;
    Fiber *current = nullptr;
    unsigned shared_of = 0;  // block whose shared memory is in place
    Context home;
    Mode mode = IN_ORDER;
    unsigned target = 0, mode_left = 0, odds = 1, nap_age = 0;
    int spins = 0;
    bool asks_host = false;
    emu_u64 seed = 0, random = 0, switches = 0;
    unsigned far = 0;  // stores that are not there yet
    char *shared = nullptr;
    size_t shared_bytes = 0;
    unsigned dynamic_bytes = 0;
};
Grid *grid;
std::string message;
volatile bool in_kernel, overtime;
double seconds = 60;
sigjmp_buf fault_exit;
pthread_t owner;
thread_local char anchor;  // shared memory of the library is around this

}  // namespace
}  // namespace emu
