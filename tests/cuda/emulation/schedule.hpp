// Which thread runs next. Part of `runtime.cpp`.
#pragma once
#include "grid.hpp"

namespace emu {
namespace {

emu_u64 draw() {  // splitmix64
    emu_u64 z = grid->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
unsigned below(unsigned n) { return unsigned((draw() >> 32) * n >> 32); }
unsigned pick_bit(unsigned mask) {
    for (unsigned skip = below(__builtin_popcount(mask)); skip; --skip) mask &= mask - 1;
    return __builtin_ctz(mask);
}

// Who may run.
void update(Warp &warp) {
    unsigned id = unsigned(&warp - grid->warps.data());
    auto &list = grid->runnable;
    if (warp.ready | warp.active) {
        if (warp.index == NOBODY) warp.index = unsigned(list.size()), list.push_back(id);
    } else if (warp.index != NOBODY) {
        grid->warps[list.back()].index = warp.index;
        list[warp.index] = list.back();
        list.pop_back();
        warp.index = NOBODY;
    }
}
void make_ready(Fiber &fiber) {
    Warp &warp = grid->warps[fiber.warp];
    fiber.waits = NOTHING;
    warp.ready |= 1u << fiber.lane;
    update(warp);
}
void park(Fiber &fiber, Kind kind, const char *file, int line) {
    Warp &warp = grid->warps[fiber.warp];
    fiber.waits = kind, fiber.file = file, fiber.line = line;
    warp.ready &= ~(1u << fiber.lane);
    update(warp);
}
void wake_all() {
    for (unsigned id : grid->naps) make_ready(grid->fibers[id]);
    grid->naps.clear();
    napping = 0;
    grid->nap_age = 0;
}

// Draws.
void change_mode() {
    static const unsigned spans[] = {8, 64, 512, 4096, 32768};
    static const unsigned every[] = {1, 4, 16, 64, 1u << 16};
    grid->mode = Mode(below(grid->devices.size() > 1 ? SET_MODES : MODES));
    grid->mode_left = 1 + below(2 * spans[below(5)]);
    grid->odds = every[below(5)];
    grid->target = below(unsigned(grid->fibers.size()));
}
unsigned device_of(unsigned warp) { return grid->blocks[warp / grid->warps_per_block].device; }
bool is_target(unsigned warp) {
    if (grid->mode == NOT_DEVICE) return device_of(warp) == grid->blocks[grid->fibers[grid->target].block].device;
    if (grid->mode == NOT_BLOCK) return warp / grid->warps_per_block == grid->fibers[grid->target].block;
    return warp == grid->fibers[grid->target].warp;
}
Warp *cyclic(int step) {  // next warp with somebody to run; lanes of the current warp beyond the current lane first
    auto n = int(grid->warps.size()), w = int(grid->current->warp);
    for (int i = 0; i < n; ++i, w = (w + step + n) % n)
        if (i && (grid->warps[w].ready | grid->warps[w].active)) return &grid->warps[w];
    return &grid->warps[grid->current->warp];
}
Fiber *cyclic_fiber(int step) {
    Warp *warp = &grid->warps[grid->current->warp];
    unsigned mask = warp->ready | warp->active, lane = grid->current->lane;
    unsigned beyond = step > 0 ? mask & ~((2u << lane) - 1) : mask & ((1u << lane) - 1);
    if (!beyond) warp = cyclic(step), beyond = warp->ready | warp->active;
    return &grid->fibers[warp->first + (step > 0 ? __builtin_ctz(beyond) : 31 - __builtin_clz(beyond))];
}
Warp *choose_warp() {
    auto &list = grid->runnable;
    Fiber &target = grid->fibers[grid->target];
    Warp *any = &grid->warps[list[below(unsigned(list.size()))]];
    if (grid->mode == ONLY_WARP && grid->warps[target.warp].index != NOBODY) return &grid->warps[target.warp];
    if (grid->mode == ONLY_BLOCK) {
        unsigned n = grid->warps_per_block, first = target.block * n, from = below(n);
        for (unsigned i = 0; i < n; ++i)
            if (grid->warps[first + (from + i) % n].index != NOBODY) return &grid->warps[first + (from + i) % n];
    }
    if (grid->mode == ONLY_DEVICE)
        for (unsigned i = 0, from = below(unsigned(list.size())); i < list.size(); ++i)
            if (unsigned w = list[(from + i) % list.size()]; device_of(w) == grid->blocks[target.block].device)
                return &grid->warps[w];
    if (((grid->mode >= ONLY_BLOCK && grid->mode <= ONLY_THREAD) || grid->mode == ONLY_DEVICE) && below(8) == 0)
        grid->target = any->first + below(__builtin_popcount(any->ready | any->active));
    if (grid->mode == NOT_BLOCK || grid->mode == NOT_WARP || grid->mode == NOT_DEVICE)
        for (unsigned i = 0, from = below(unsigned(list.size())); i < list.size(); ++i)
            if (unsigned w = list[(from + i) % list.size()]; !is_target(w)) return &grid->warps[w];
    return any;
}
Fiber *choose_fiber() {
    if (grid->seed == 0) return cyclic_fiber(1);
    if (grid->mode_left-- == 0) change_mode();
    countdown = grid->odds == 1 ? 1 : 1 + int(below(2 * grid->odds - 1));
    if (grid->mode == IN_ORDER) return cyclic_fiber(1);
    if (grid->mode == BACKWARDS) return cyclic_fiber(-1);
    Fiber &target = grid->fibers[grid->target];
    if (grid->mode == ONLY_THREAD && grid->warps[target.warp].ready >> target.lane & 1) return &target;
    Warp *warp = choose_warp();
    unsigned mask = warp->ready;  // lanes in __activemask wait for others to join, mostly
    if (!mask || (warp->active && below(8) == 0)) mask = warp->active;
    if (unsigned others = mask & ~(1u << target.lane);
        grid->mode == NOT_THREAD && warp == &grid->warps[target.warp] && others)
        mask = others;
    return &grid->fibers[warp->first + pick_bit(mask)];
}
void form_group(Fiber &fiber) {
    Warp &warp = grid->warps[fiber.warp];
    unsigned together = 0;
    for (unsigned left = warp.active; left; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        if (grid->fibers[warp.first + lane].place == fiber.place) together |= 1u << lane;
    }
    unsigned keep = ~0u;
    if (grid->seed && below(2)) keep = below(3) ? unsigned(draw()) : 0;
    unsigned group = together & (keep | 1u << fiber.lane);
    warp.active &= ~group;
    for (unsigned left = group; left; left &= left - 1) {
        Fiber &member = grid->fibers[warp.first + __builtin_ctz(left)];
        member.result = group;
        make_ready(member);
    }
}

}  // namespace
}  // namespace emu
