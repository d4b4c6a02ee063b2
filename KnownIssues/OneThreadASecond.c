// Blocked items of a global queue get one more thread a second
//
// Items that wait for each other occupy the pool's threads. The library for Linux looks once a
// second whether the pool needs another thread, so forty such items take most of a minute.
#include <dispatch/dispatch.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "Promise.h"

enum { ITEMS = 40 };
static atomic_int begun;
static sem_t all_begun;

static void body(void) {
  sem_init(&all_begun, 0, 0);
  int64_t start = now_ms();
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < ITEMS; i++) {
    dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{
      int count = atomic_fetch_add(&begun, 1) + 1;
      char text[60];
      snprintf(text, sizeof text, "the other items: %d of %d have begun", count, ITEMS);
      awaiting(text);
      for (int other = 0; count == ITEMS && other < ITEMS; other++) sem_post(&all_begun);
      sem_wait(&all_begun);
    });
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  int64_t elapsed = now_ms() - start;
  DECIDE(elapsed < ITEMS / 2 * 1000, "all %d items had begun after %.1f s", ITEMS, elapsed / 1e3);
}

int main(void) { promise("forty items that wait for each other all begin within seconds", body); }
