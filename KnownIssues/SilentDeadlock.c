// Two threads that wait for each other's queue hang in silence
//
// One item of a serial queue calls dispatch_sync for another queue, while an item of that one
// waits for the first. The library notices only a queue that waits for itself; two queues hang
// without a word.
#include <dispatch/dispatch.h>
#include <semaphore.h>

#include "Promise.h"

static sem_t both_run;

static void body(void) {
  sem_init(&both_run, 0, 0);
  dispatch_queue_t orders = dispatch_queue_create("com.example.orders", NULL);
  dispatch_queue_t stock = dispatch_queue_create("com.example.stock", NULL);
  dispatch_semaphore_t orders_runs = dispatch_semaphore_create(0);
  dispatch_semaphore_t stock_runs = dispatch_semaphore_create(0);
  dispatch_async(orders, ^{
    dispatch_semaphore_signal(orders_runs);
    dispatch_semaphore_wait(stock_runs, DISPATCH_TIME_FOREVER);
    dispatch_sync(stock, ^{});
  });
  dispatch_async(stock, ^{
    dispatch_semaphore_signal(stock_runs);
    dispatch_semaphore_wait(orders_runs, DISPATCH_TIME_FOREVER);
    dispatch_sync(orders, ^{});
  });
  awaiting("the end of a deadlock");
  sem_wait(&both_run);
}

int main(void) {
  promise_to_stop(
      "a deadlock of two queues stops the process and names both", "com.example.orders|com.example.stock",
      body);
}
