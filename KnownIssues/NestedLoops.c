// Loops inside loops take more and more threads
//
// Each iteration of dispatch_apply runs a loop of its own, two levels deep. A loop must not wait
// for threads that its callers hold, and no more threads may start than CPUs can use.
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

static atomic_long iterations;
static atomic_int most_threads;

static void body(void) {
  enum { SIDE = 24 };
  awaiting("the end of the loops");
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  dispatch_apply(SIDE, queue, ^(size_t a) {
    dispatch_apply(SIDE, queue, ^(size_t b) {
      dispatch_apply(SIDE, queue, ^(size_t c) { iterations += a + b + c < 3 * SIDE; });
      int count = thread_count(), most = most_threads;
      while (count > most && !atomic_compare_exchange_weak(&most_threads, &most, count)) {
      }
    });
  });
  int limit = (int)sysconf(_SC_NPROCESSORS_ONLN) * 2 + 8;
  DECIDE(iterations == SIDE * SIDE * SIDE && most_threads <= limit,
         "%ld of %d iterations ran, on at most %d threads of %d", iterations, SIDE * SIDE * SIDE,
         most_threads, limit);
}

int main(void) { promise("loops in loops end, with few more threads than CPUs", body); }
