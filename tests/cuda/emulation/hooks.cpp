// Instrumented accesses (`every_access`): the hooks of -fsanitize=thread are yield points, so that plain accesses
// interleave as well.
#include "interface.hpp"

#define HIDDEN extern "C" __attribute__((visibility("hidden")))
#define HOOK(name, ...)                               \
    HIDDEN void name(__VA_ARGS__) {                   \
        if (--emu::countdown <= 0) emu::reschedule(); \
    }
HOOK(__tsan_read1, void *)
HOOK(__tsan_read2, void *)
HOOK(__tsan_read4, void *)
HOOK(__tsan_read8, void *)
HOOK(__tsan_read16, void *)
HOOK(__tsan_write1, void *)
HOOK(__tsan_write2, void *)
HOOK(__tsan_write4, void *)
HOOK(__tsan_write8, void *)
HOOK(__tsan_write16, void *)
HOOK(__tsan_unaligned_read2, void *)
HOOK(__tsan_unaligned_read4, void *)
HOOK(__tsan_unaligned_read8, void *)
HOOK(__tsan_unaligned_write2, void *)
HOOK(__tsan_unaligned_write4, void *)
HOOK(__tsan_unaligned_write8, void *)
HOOK(__tsan_read_range, void *, unsigned long)
HOOK(__tsan_write_range, void *, unsigned long)
HIDDEN void __tsan_init() {}
HIDDEN void __tsan_func_entry(void *) {}
HIDDEN void __tsan_func_exit() {}
HIDDEN void __tsan_vptr_update(void **, void *) {}
