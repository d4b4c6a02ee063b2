// A write to a broken pipe ends the process
//
// The reader of a pipe goes away while a program writes by dispatch_write. The handler should
// receive EPIPE; instead the signal SIGPIPE ends the process, unless the program ignores it.
#include <dispatch/dispatch.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  signal(SIGPIPE, SIG_DFL);
  int ends[2];
  if (pipe(ends) != 0) decide(false, "there is no pipe");
  close(ends[0]);
  dispatch_data_t data =
      dispatch_data_create("text", 4, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  awaiting("the handler of a write to a broken pipe");
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  dispatch_write(ends[1], data, queue, ^(dispatch_data_t rest, int error) {
    unsigned long left = rest ? dispatch_data_get_size(rest) : 0;
    DECIDE(error == EPIPE, "the handler received '%s' and %lu bytes", strerror(error), left);
  });
  for (;;) pause();
}

int main(void) { promise("writing to a broken pipe gives EPIPE to the handler", body); }
