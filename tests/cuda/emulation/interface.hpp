// What the text of a kernel and the scheduler of the emulation know of each other.
#pragma once

typedef __SIZE_TYPE__ size_t;
typedef unsigned int emu_u32;
typedef unsigned long long emu_u64;

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#pragma GCC visibility push(hidden)
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace emu {
enum Kind : unsigned char {
    NOTHING, SYNCTHREADS, SYNCTHREADS_OR, SYNCTHREADS_AND, SYNCTHREADS_COUNT, SYNCWARP, SHFL, BALLOT, MATCH_ANY,
    REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_MIN_SIGNED, REDUCE_MAX_SIGNED, REDUCE_AND, REDUCE_OR, REDUCE_XOR,
    ACTIVEMASK, PAUSE,
};
extern int countdown;                // yield points left before the scheduler may switch
extern unsigned napping;             // threads asleep in __nanosleep
void reschedule();                   // the scheduler takes over
void wake();                         // something changed that threads asleep may wait for
void pause(const char *file, int line);
void pause_for_host(const char *file, int line);  // which will do something
unsigned syncthreads(Kind kind, unsigned value, const char *file, int line);
emu_u64 collective(Kind kind, unsigned mask, emu_u64 value, unsigned source, const char *file, int line);
unsigned activemask(const char *file, int line);
emu_u64 now();
unsigned *dynamic_shared();          // of this block
unsigned dynamic_shared_bytes();
void store_later(void *place, const void *bytes, unsigned size);  // of another device
void fence_system();                 // what this block stored there is there
[[noreturn]] void fail(const char *what, const char *file, int line);
struct Launch {  // of one device
    const void *args;
    unsigned long blocks;
    unsigned *left;                  // set when all its threads have ended
};
struct Entry {  // of a kernel
    void (*call)(const void *args);
    unsigned long bytes;
};
}  // namespace emu
#pragma GCC visibility pop
