// Sums the squares of 1 to 1,000 on a global queue; a serial queue guards the sum.
#include <dispatch/dispatch.h>
#include <stdio.h>

static dispatch_queue_t sums;
static long total;

static void add(void *number) { total += (long)number * (long)number; }

static void square(void *number) { dispatch_sync_f(sums, number, add); }

static void fire(void *finished) { dispatch_semaphore_signal(finished); }

int main(void) {
  sums = dispatch_queue_create("sums", NULL);
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t global = dispatch_get_global_queue(QOS_CLASS_UTILITY, 0);
  for (long number = 1; number <= 1000; number++) {
    dispatch_group_async_f(group, global, (void *)number, square);
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);

  dispatch_semaphore_t finished = dispatch_semaphore_create(0);
  dispatch_after_f(dispatch_time(DISPATCH_TIME_NOW, 1000000), global, finished, fire);
  dispatch_semaphore_wait(finished, DISPATCH_TIME_FOREVER);
  printf("%ld\n", total);
  return total == 333833500 ? 0 : 1;
}
