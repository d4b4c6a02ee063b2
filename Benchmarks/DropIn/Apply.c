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

// About a microsecond of arithmetic that no compiler removes.
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

static void hundreds(size_t count) {
  unsigned char *cells = calloc(CELLS, 1);
  for (size_t i = 0; i < count; i++) dispatch_apply_f(100, DISPATCH_APPLY_AUTO, cells, touch);
  EXPECT(cells[99] == 99);
  free(cells);
}

static void inner(void *cells, size_t index) {
  (void)index;
  dispatch_apply_f(100, DISPATCH_APPLY_AUTO, cells, touch);
}

static void nested(size_t count) {
  unsigned char *cells = calloc(CELLS, 1);
  for (size_t i = 0; i < count; i++) dispatch_apply_f(16, DISPATCH_APPLY_AUTO, cells, inner);
  EXPECT(cells[99] == 99);
  free(cells);
}

// MARK: A product of two matrices, one row per iteration

enum { SIDE = 64 };

typedef struct product {
  double left[SIDE][SIDE], right[SIDE][SIDE], result[SIDE][SIDE];
} product;

static void multiply_row(void *context, size_t row) {
  product *all = context;
  for (size_t column = 0; column < SIDE; column++) {
    double sum = 0;
    for (size_t i = 0; i < SIDE; i++) sum += all->left[row][i] * all->right[i][column];
    all->result[row][column] = sum;
  }
}

static product *identity_product(void) {
  product *all = calloc(1, sizeof *all);
  for (size_t i = 0; i < SIDE; i++) {
    all->left[i][i] = 1;
    for (size_t j = 0; j < SIDE; j++) all->right[i][j] = (double)(i * SIDE + j);
  }
  return all;
}

static void matrices(size_t count) {
  product *all = identity_product();
  for (size_t i = 0; i < count; i++) dispatch_apply_f(SIDE, DISPATCH_APPLY_AUTO, all, multiply_row);
  EXPECT(all->result[SIDE - 1][SIDE - 1] == SIDE * SIDE - 1);
  free(all);
}

// The same on one thread.
static void matrices_alone(size_t count) {
  product *all = identity_product();
  for (size_t i = 0; i < count; i++) {
    for (size_t row = 0; row < SIDE; row++) multiply_row(all, row);
  }
  EXPECT(all->result[SIDE - 1][SIDE - 1] == SIDE * SIDE - 1);
  free(all);
}

const workload apply_workloads[] = {
  {"apply_f/empty iterations", empty, 0},
  {"apply/empty iterations", empty_blocks, 0},
  {"apply_f/iterations of 1 µs", of_a_microsecond, 0},
  {"apply_f/loops of 16 iterations of 1 µs", short_loops, 0},
  {"apply_f/loops of 100 empty iterations", hundreds, 0},
  {"apply_f/nested, 16 loops of 100 empty iterations", nested, 0},
  {"apply_f/matrices of 64 × 64, by rows", matrices, 0},
  {"apply_f/matrices of 64 × 64, one thread", matrices_alone, 0},
  {0},
};
