// Items that wait for a later one stop the process for ever
//
// The pool of the library for Linux has a fixed maximum of threads. When as many items wait for
// something that a later item does, no thread is left to run that item.
#include <dispatch/dispatch.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "Promise.h"

enum { WAITING = 300 };
static atomic_int begun;
static sem_t signalled;

static void body(void) {
  sem_init(&signalled, 0, 0);
  dispatch_group_t group = dispatch_group_create();
  for (int i = 0; i < WAITING; i++) {
    dispatch_queue_t queue = dispatch_queue_create("com.example.waiting", NULL);
    dispatch_group_async(group, queue, ^{
      char text[80];
      snprintf(text, sizeof text, "the item that signals; %d items wait for it", ++begun);
      awaiting(text);
      sem_wait(&signalled);
    });
    dispatch_release(queue);
  }
  dispatch_queue_t last = dispatch_queue_create("com.example.signalling", NULL);
  dispatch_group_async(group, last, ^{
    for (int i = 0; i < WAITING; i++) sem_post(&signalled);
  });
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  DECIDE(true, "the item for which %d others waited ran", WAITING);
}

int main(void) { promise("an item for which 300 other serial queues wait still gets a thread", body); }
