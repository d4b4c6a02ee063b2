// Waits for a group that nothing leaves, inside an item of the queue 'orders', on which it waits too.
#include <dispatch/dispatch.h>

static dispatch_group_t group;

static void wait_for_group(void *unused) {
  (void)unused;
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
}

static void nothing(void *unused) { (void)unused; }

int main(void) {
  dispatch_queue_t orders = dispatch_queue_create("orders", NULL);
  group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_async_f(orders, NULL, wait_for_group);
  dispatch_sync_f(orders, NULL, nothing);
  return 0;
}
