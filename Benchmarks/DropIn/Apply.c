// Parallel loops.
#include "Bench.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CELLS = 1 << 16 };

static void touch(void *context, size_t index) {
  ((unsigned char *)context)[index % CELLS] = (unsigned char)index;
}

static void empty(size_t count) {
  unsigned char *cells = calloc(CELLS, 1);
  dispatch_apply_f(count, DISPATCH_APPLY_AUTO, cells, touch);
  EXPECT(cells[(count - 1) % CELLS] == (unsigned char)(count - 1));
  free(cells);
}

static void empty_blocks(size_t count) {
  unsigned char *cells = calloc(CELLS, 1);
  dispatch_apply(count, DISPATCH_APPLY_AUTO, ^(size_t index) { touch(cells, index); });
  EXPECT(cells[(count - 1) % CELLS] == (unsigned char)(count - 1));
  free(cells);
}

// About a microsecond of arithmetic that no compiler leaves out.
static void spin(void *context, size_t index) {
  uint64_t state = index + 1;
  for (int i = 0; i < 500; i++) state = state * 6364136223846793005u + 1442695040888963407u;
  atomic_fetch_add_explicit((_Atomic uint64_t *)context, state | 1, memory_order_relaxed);
}

static void of_a_microsecond(size_t count) {
  _Atomic uint64_t sum = 0;
  dispatch_apply_f(count, DISPATCH_APPLY_AUTO, &sum, spin);
  EXPECT(count % 2 == 0 || atomic_load(&sum) % 2 == 1);
}

static void short_loops(size_t count) {
  _Atomic uint64_t sum = 0;
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  for (size_t i = 0; i < count; i++) dispatch_apply_f(16, queue, &sum, spin);
}

const workload apply_workloads[] = {
  {"apply_f/empty iterations", empty, 0},
  {"apply/empty iterations", empty_blocks, 0},
  {"apply_f/iterations of 1 µs", of_a_microsecond, 0},
  {"apply_f/loops of 16 iterations of 1 µs", short_loops, 0},
  {0},
};
