// Switching between the stacks of fibers: a dozen instructions on x86-64 and AArch64, ucontext elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {

// EMU_UCONTEXT: to try the last branch.
#if defined(__x86_64__) && !defined(EMU_UCONTEXT)

struct Context { void *stack = nullptr; };
extern "C" __attribute__((visibility("hidden"))) void emu_switch(void **from, void *to);
asm(R"(
    .text
    .globl emu_switch
    .hidden emu_switch
    .type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emu_switch, .-emu_switch
)");
constexpr bool HAS_FRAMES = true;  // word 0 of a frame: the frame of the caller; word 1: where to return to
inline void prepare(Context &context, char *low, size_t size, void (*start)()) {
    auto **top = reinterpret_cast<void **>(low + size) - 3;  // aligned as if start had been called
    *top = nullptr;
    *--top = reinterpret_cast<void *>(start);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    context.stack = top;
}
inline void change(Context &from, Context &to) { emu_switch(&from.stack, to.stack); }

#elif defined(__aarch64__) && !defined(EMU_UCONTEXT)

struct Context { void *stack = nullptr; };
extern "C" __attribute__((visibility("hidden"))) void emu_switch(void **from, void *to);
asm(R"(
    .text
    .globl emu_switch
    .hidden emu_switch
    .type emu_switch, %function
emu_switch:
    sub sp, sp, #160
    stp x29, x30, [sp, #0]
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x29, x30, [sp, #0]
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size emu_switch, .-emu_switch
)");
constexpr bool HAS_FRAMES = true;
inline void prepare(Context &context, char *low, size_t size, void (*start)()) {
    auto **top = reinterpret_cast<void **>(low + size) - 22;
    for (int i = 0; i < 22; ++i) top[i] = nullptr;
    top[1] = reinterpret_cast<void *>(start);
    context.stack = top;
}
inline void change(Context &from, Context &to) { emu_switch(&from.stack, to.stack); }

#else

}  // namespace emu
#include <ucontext.h>
namespace emu {
struct Context { ucontext_t state; };
constexpr bool HAS_FRAMES = false;
inline void prepare(Context &context, char *low, size_t size, void (*start)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = low;
    context.state.uc_stack.ss_size = size;
    context.state.uc_link = nullptr;
    makecontext(&context.state, start, 0);
}
inline void change(Context &from, Context &to) { swapcontext(&from.state, &to.state); }

#endif

}  // namespace emu
