#define _GNU_SOURCE
#include "CFibers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// GRANDCENTRAL_UCONTEXT: selects the portable switch on all machines, so that it can be tested.
#if defined(__x86_64__) && !defined(GRANDCENTRAL_UCONTEXT)

// System V ABI: rbx, rbp, r12-r15 and the stack pointer survive a call. So do the floating-point
// control words, which nothing here changes.
__asm__(
    ".text\n"
    ".globl gc_fiber_swap\n"
    ".hidden gc_fiber_swap\n"
    ".type gc_fiber_swap,@function\n"
    "gc_fiber_swap:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq (%rsi), %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size gc_fiber_swap,.-gc_fiber_swap\n"
    // First entry: the body and its argument are in callee-saved registers.
    ".globl gc_fiber_begin\n"
    ".hidden gc_fiber_begin\n"
    ".type gc_fiber_begin,@function\n"
    "gc_fiber_begin:\n"
    "  movq %r13, %rdi\n"
    "  call *%r12\n"
    "  ud2\n"
    ".size gc_fiber_begin,.-gc_fiber_begin\n");

extern void gc_fiber_swap(gc_fiber *from, gc_fiber *to);
extern void gc_fiber_begin(void);

void gc_fiber_switch(gc_fiber *from, gc_fiber *to) { gc_fiber_swap(from, to); }

void gc_fiber_prepare(
    gc_fiber *fiber, void *base, size_t bytes, void (*body)(void *), void *argument) {
  void **top = (void **)((char *)base + bytes);
  // `ret` enters gc_fiber_begin with the stack 16-byte aligned, so that its call leaves it as the
  // ABI requires in `body`.
  *--top = NULL;
  *--top = NULL;
  *--top = (void *)gc_fiber_begin;
  *--top = NULL;      // rbp
  *--top = NULL;      // rbx
  *--top = body;      // r12
  *--top = argument;  // r13
  *--top = NULL;      // r14
  *--top = NULL;      // r15
  fiber->saved = top;
}

#elif defined(__aarch64__) && !defined(GRANDCENTRAL_UCONTEXT)

// AAPCS64: x19-x29, the link register, the stack pointer and d8-d15 survive a call.
__asm__(
    ".text\n"
    ".globl gc_fiber_swap\n"
    ".hidden gc_fiber_swap\n"
    ".type gc_fiber_swap,%function\n"
    "gc_fiber_swap:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n"
    "  ldr x9, [x1]\n  mov sp, x9\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size gc_fiber_swap,.-gc_fiber_swap\n"
    ".globl gc_fiber_begin\n"
    ".hidden gc_fiber_begin\n"
    ".type gc_fiber_begin,%function\n"
    "gc_fiber_begin:\n"
    "  mov x0, x20\n"
    "  blr x19\n"
    "  brk #1\n"
    ".size gc_fiber_begin,.-gc_fiber_begin\n");

extern void gc_fiber_swap(gc_fiber *from, gc_fiber *to);
extern void gc_fiber_begin(void);

void gc_fiber_switch(gc_fiber *from, gc_fiber *to) { gc_fiber_swap(from, to); }

void gc_fiber_prepare(
    gc_fiber *fiber, void *base, size_t bytes, void (*body)(void *), void *argument) {
  void **frame = (void **)((char *)base + bytes - 176);
  memset(frame, 0, 176);
  frame[0] = body;                     // x19
  frame[1] = argument;                 // x20
  frame[11] = (void *)gc_fiber_begin;  // x30
  fiber->saved = frame;
}

#else

// The target of `saved`. It stays with its fiber for good.
struct portable {
  ucontext_t context;
  void (*body)(void *);
  void *argument;
};

static struct portable *portable_of(gc_fiber *fiber) {
  if (!fiber->saved) fiber->saved = calloc(1, sizeof(struct portable));
  if (!fiber->saved) abort();
  return fiber->saved;
}

// makecontext(3) passes ints, so a pointer is passed in two halves.
static void begin(unsigned high, unsigned low) {
  struct portable *own = (struct portable *)(uintptr_t)((uint64_t)high << 32 | low);
  own->body(own->argument);
  abort();
}

void gc_fiber_prepare(
    gc_fiber *fiber, void *base, size_t bytes, void (*body)(void *), void *argument) {
  struct portable *own = portable_of(fiber);
  own->body = body;
  own->argument = argument;
  getcontext(&own->context);
  own->context.uc_stack.ss_sp = base;
  own->context.uc_stack.ss_size = bytes;
  own->context.uc_link = NULL;
  uint64_t bits = (uintptr_t)own;
  makecontext(&own->context, (void (*)(void))begin, 2, (unsigned)(bits >> 32), (unsigned)bits);
}

void gc_fiber_switch(gc_fiber *from, gc_fiber *to) {
  swapcontext(&portable_of(from)->context, &portable_of(to)->context);
}

#endif

void *gc_fiber_stack(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(
      NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
      0);
  if (memory == MAP_FAILED) return NULL;
  if (mprotect(memory, page, PROT_NONE) != 0) {
    munmap(memory, bytes + page);
    return NULL;
  }
  return memory + page;
}

// The state of the signal handler. Written before any fiber runs.
static bool (*is_on_fiber)(void);
static void (*on_stopped)(int);
static const int caught[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
static struct sigaction before[sizeof caught / sizeof *caught];
static volatile sig_atomic_t last_signal;
// The thread that owns the fibers. Signals of other threads keep their old effect.
static pthread_t host;
static stack_t before_stack;
static _Atomic bool is_hosted;

static void run_stopped(void) {
  on_stopped(last_signal);
  abort();
}

static void handle(int number, siginfo_t *info, void *raw) {
  (void)info;
  ucontext_t *context = raw;
  if (!is_hosted || !pthread_equal(pthread_self(), host) || !is_on_fiber()) {
    // Not a fiber's signal: restore the old handler and let the instruction fail again.
    for (size_t index = 0; index < sizeof caught / sizeof *caught; index++)
      if (caught[index] == number) sigaction(number, &before[index], NULL);
    if (number == SIGABRT) raise(number);
    return;
  }
  last_signal = number;
  // The handler returns into run_stopped() as if it had been called, on a separate stack, because
  // the stack of the fiber may be full.
  static char emergency[256 * 1024] __attribute__((aligned(16)));
  uintptr_t top = (uintptr_t)(emergency + sizeof emergency);
#if defined(__x86_64__) && !defined(GRANDCENTRAL_UCONTEXT)
  context->uc_mcontext.gregs[REG_RSP] = (greg_t)(top - 8);
  context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)run_stopped;
#elif defined(__aarch64__) && !defined(GRANDCENTRAL_UCONTEXT)
  context->uc_mcontext.sp = top;
  context->uc_mcontext.pc = (uint64_t)(uintptr_t)run_stopped;
#else
  (void)top;
  (void)context;
  run_stopped();
#endif
}

void gc_fiber_catch_signals(bool (*isOnFiber)(void), void (*stopped)(int)) {
  is_on_fiber = isOnFiber;
  on_stopped = stopped;
  // sigaltstack(2) applies to the calling thread only, and each check may run on another.
  static char alternate[64 * 1024];
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  if (is_hosted && pthread_equal(pthread_self(), host)) return;
  host = pthread_self();
  sigaltstack(&stack, &before_stack);
  is_hosted = true;
  static bool is_installed;
  if (is_installed) return;
  is_installed = true;
  struct sigaction action = {
    .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (size_t index = 0; index < sizeof caught / sizeof *caught; index++)
    sigaction(caught[index], &action, &before[index]);
}

void gc_fiber_release_signals(void) {
  if (!is_hosted) return;
  is_hosted = false;
  sigaltstack(&before_stack, NULL);
}
