// A read source on a regular file
//
// epoll refuses regular files, so a library for Linux needs a way of its own to say that they are
// always readable. The source must deliver with the number of bytes up to the end.
#include <dispatch/dispatch.h>
#include <stdlib.h>
#include <unistd.h>

#include "Promise.h"

static void body(void) {
  char path[] = "/tmp/known-issue-XXXXXX";
  int file = mkstemp(path);
  unlink(path);
  if (write(file, "twelve bytes", 12) != 12 || lseek(file, 5, SEEK_SET) != 5) {
    decide(false, "the file cannot be written");
  }
  dispatch_queue_t queue = dispatch_queue_create("com.example.reader", NULL);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)file, 0, queue);
  dispatch_source_set_event_handler(source, ^{
    unsigned long data = dispatch_source_get_data(source);
    DECIDE(data == 7, "the source said that %lu of 7 bytes can be read", data);
  });
  awaiting("the event of the source on the file");
  dispatch_resume(source);
  for (;;) pause();
}

int main(void) { promise("a read source on a regular file says how many bytes are left", body); }
