// Tests of CFibers, in C, because C can make the compiler keep values in registers across a switch.
#include "FiberTests.h"

#include <stdio.h>
#include <stdlib.h>

#include "CFibers.h"

enum { stack_bytes = 256 * 1024 };

static gc_fiber host, fiber;
static long rounds;

// Fills the registers that a function keeps across a call, switches, and sums up their values.
#define FILL_AND_LOOK(seed, switch_away)                                               \
  long a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5; \
  double p = seed * 0.5, q = seed * 0.25, r = seed * 0.125, s = seed * 2.0;            \
  for (long round = 0; round < rounds; round++) {                                      \
    a += round, b ^= a, c += b, d ^= c, e += d, f ^= e;                                \
    p += 1, q += p, r += q, s += r;                                                    \
    switch_away;                                                                       \
  }                                                                                    \
  sums[0] = a ^ b ^ c ^ d ^ e ^ f, sums[1] = (long)(p + q + r + s)

__attribute__((noinline)) static void on_fiber(long *sums) {
  FILL_AND_LOOK(77, gc_fiber_switch(&fiber, &host));
}
__attribute__((noinline)) static void on_host(long *sums) {
  FILL_AND_LOOK(11, gc_fiber_switch(&host, &fiber));
}
__attribute__((noinline)) static void alone(long seed, long *sums) { FILL_AND_LOOK(seed, (void)0); }

static long fiber_sums[2];

static void body(void *argument) {
  // The ABI requires this alignment; code with vector registers relies on it.
  if ((unsigned long)__builtin_frame_address(0) % 16 != 0) abort();
  on_fiber(argument);
  for (;;) gc_fiber_switch(&fiber, &host);
}

static char *new_stack(void) {
  static char *stack;
  if (!stack) stack = gc_fiber_stack(stack_bytes);
  if (!stack) abort();
  return stack;
}

const char *gc_test_registers(void) {
  long host_sums[2], expected[2];
  rounds = 1000;
  gc_fiber_prepare(&fiber, new_stack(), stack_bytes, body, fiber_sums);
  on_host(host_sums);
  gc_fiber_switch(&host, &fiber);
  alone(11, expected);
  if (host_sums[0] != expected[0] || host_sums[1] != expected[1]) return "the host lost something";
  alone(77, expected);
  if (fiber_sums[0] != expected[0] || fiber_sums[1] != expected[1]) {
    return "the fiber lost something";
  }
  return NULL;
}

static long visits;

static void visit(void *argument) {
  visits += *(long *)argument;
  for (;;) gc_fiber_switch(&fiber, &host);
}

// A fiber can be prepared again at any point of its execution.
const char *gc_test_many(void) {
  long one = 1;
  visits = 0;
  for (int round = 0; round < 100000; round++) {
    gc_fiber_prepare(&fiber, new_stack(), stack_bytes, visit, &one);
    if (round % 3 != 0) gc_fiber_switch(&host, &fiber);
    if (round % 3 == 1) gc_fiber_switch(&host, &fiber);
  }
  return visits == 66666 ? NULL : "a body did not run once for each beginning";
}

__attribute__((noinline)) static long descend(long depth) {
  volatile char room[64];
  room[depth % 64] = 1;
  if (depth % 100 == 0) gc_fiber_switch(&fiber, &host);
  return depth == 0 ? 0 : descend(depth - 1) + room[depth % 64];
}

static void deep(void *argument) {
  *(long *)argument = descend(1000);
  for (;;) gc_fiber_switch(&fiber, &host);
}

const char *gc_test_depth(void) {
  long depth = -1;
  gc_fiber_prepare(&fiber, new_stack(), stack_bytes, deep, &depth);
  for (int turn = 0; turn < 12; turn++) gc_fiber_switch(&host, &fiber);
  return depth == 1000 ? NULL : "calls on the fiber's stack were lost";
}

static bool is_on_fiber;
static int met;

static bool asks(void) { return is_on_fiber; }

static void stopped(int number) {
  met = number;
  is_on_fiber = false;
  gc_fiber_switch(&fiber, &host);
  abort();
}

static void traps(void *argument) {
  (void)argument;
  __builtin_trap();
}

__attribute__((noinline)) static long endless(long depth) {
  volatile char room[512];
  room[depth % 512] = 1;
  return endless(depth + 1) + room[depth % 512];
}

static void overflows(void *argument) { *(long *)argument = endless(0); }

const char *gc_test_signals(void) {
  long unused;
  gc_fiber_catch_signals(asks, stopped);
  for (int round = 0; round < 100; round++) {
    void (*const bodies[])(void *) = {traps, overflows};
    for (int kind = 0; kind < 2; kind++) {
      met = 0;
      gc_fiber_prepare(&fiber, new_stack(), stack_bytes, bodies[kind], &unused);
      is_on_fiber = true;
      gc_fiber_switch(&host, &fiber);
      if (met == 0) return "a fault of a fiber was not reported";
    }
  }
  gc_fiber_release_signals();
  return NULL;
}

#ifdef GRANDCENTRAL_FIBERS_MAIN
int main(void) {
  const char *(*const tests[])(void) = {
      gc_test_registers, gc_test_many, gc_test_depth, gc_test_signals};
  int failures = 0;
  for (unsigned index = 0; index < sizeof tests / sizeof *tests; index++) {
    const char *failure = tests[index]();
    if (failure) printf("fibers: %s\n", failure), failures++;
  }
  return failures != 0;
}
#endif
