// Words for what went wrong. Part of `runtime.cpp`.
#pragma once
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include <map>

#include "grid.hpp"

namespace emu {
namespace {

const char *name_of(Kind kind) {
    static const char *const names[] = {
        "", "__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count", "__syncwarp", "__shfl_sync",
        "__ballot_sync (or any, all)", "__match_any_sync", "__reduce_add_sync", "__reduce_min_sync",
        "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
        "__reduce_xor_sync", "__activemask", "__nanosleep",
    };
    return names[kind];
}
std::string hex(size_t value) {
    char text[24];
    snprintf(text, sizeof text, "0x%zx", value);
    return text;
}
std::string at(const char *file, int line) {
    const char *slash = strrchr(file, '/');
    return std::string(slash ? slash + 1 : file) + ":" + std::to_string(line);
}
std::string ranges(const std::vector<unsigned> &threads) {
    std::string text;
    for (size_t i = 0, j; i < threads.size(); i = j) {
        for (j = i + 1; j < threads.size() && threads[j] == threads[j - 1] + 1;) ++j;
        text += (i ? ", " : "") + std::to_string(threads[i]);
        if (j > i + 1) text += "-" + std::to_string(threads[j - 1]);
    }
    return text;
}
// Addresses of the callers of a waiting fiber, innermost first, as " [+0x12 +0x34]" relative to the library.
std::string callers(const Fiber &fiber) {
    std::string text;
    Dl_info info;
    if (!HAS_FRAMES || !dladdr(reinterpret_cast<void *>(&name_of), &info)) return text;
    void **frame = fiber.frame;
    for (int i = 0; i < 12 && frame && frame[0]; ++i, frame = static_cast<void **>(frame[0]))
        text += (i ? " +" : " [+") + hex(size_t(frame[1]) - size_t(info.dli_fbase) - 1);
    return text + (text.empty() ? "" : "]");
}
std::string where_everybody_waits() {
    std::string text;
    unsigned shown = 0;
    for (unsigned b = 0; b < grid->blocks.size(); ++b) {
        std::map<std::string, std::vector<unsigned>> groups;
        for (unsigned t = 0; t < grid->block_size; ++t) {
            const Fiber &fiber = grid->fibers[b * grid->block_size + t];
            if (fiber.done) continue;
            std::string where = fiber.waits == NOTHING ? "can run" : std::string("at ") + name_of(fiber.waits);
            if (fiber.waits >= SYNCWARP && fiber.waits < ACTIVEMASK) where += " mask " + hex(fiber.mask);
            if (fiber.waits != NOTHING) where += " (" + at(fiber.file, fiber.line) + ")";
            where += callers(fiber);
            groups[where].push_back(t);
        }
        unsigned exited = grid->block_size - grid->blocks[b].alive;
        if (groups.empty()) continue;
        if (++shown > 4) return text + "\n  and more blocks";
        text += "\n  block " + std::to_string(b) + ":";
        for (auto &[where, threads] : groups) text += "\n    threads " + ranges(threads) + " " + where;
        if (exited) text += "\n    " + std::to_string(exited) + " threads have ended";
    }
    return text;
}
// The same for the place of a signal.
std::string program_counter(void *state) {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void *>(&name_of), &info)) return "";
    auto &machine = static_cast<ucontext_t *>(state)->uc_mcontext;
#if defined(__x86_64__)
    return " [+" + hex(size_t(machine.gregs[REG_RIP]) - size_t(info.dli_fbase)) + "]";
#elif defined(__aarch64__)
    return " [+" + hex(size_t(machine.pc) - size_t(info.dli_fbase)) + "]";
#else
    return (void)machine, "";
#endif
}

}  // namespace
}  // namespace emu
