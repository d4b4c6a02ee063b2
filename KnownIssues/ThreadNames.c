// A debugger does not show which queue a thread serves
//
// Labels of queues exist for diagnosis. On Linux ps(1), top(1) and gdb show the names of threads,
// and the library's threads bear the end of a root queue's label, whichever queue they serve.
#include <dispatch/dispatch.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  // The monitor names a thread that stays with an item.
  dispatch_async(dispatch_queue_create("invoices", NULL), ^{
    char name[17] = "";
    int64_t limit = now_ms() + 8000;
    do {
      sleep_ms(10);
      prctl(PR_GET_NAME, name);
    } while (!strstr(name, "invoices") && now_ms() < limit);
    DECIDE(strstr(name, "invoices"), "the thread of an item of 'invoices' was named '%s'", name);
  });
  awaiting("an item of the queue");
  for (;;) pause();
}

int main(void) { promise("a thread that stays with an item bears the queue's label", body); }
