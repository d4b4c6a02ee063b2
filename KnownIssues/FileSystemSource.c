// There are no sources of file system objects
//
// On macOS a source reports that a file was written, renamed or deleted. The library for Linux has
// no such type.
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "Promise.h"

enum { VNODE_DELETE = 1, VNODE_WRITE = 2 };

static void body(void) {
  // Looked up, so that the program starts on either library.
  dispatch_source_type_t type = dlsym(RTLD_DEFAULT, "_dispatch_source_type_vnode");
  if (!type) decide(false, "the library has no type of sources for files");
  static char path[] = "/tmp/known-issue-XXXXXX";
  int file = mkstemp(path);
  dispatch_queue_t queue = dispatch_queue_create("com.example.files", NULL);
  dispatch_source_t source =
      dispatch_source_create(type, (uintptr_t)file, VNODE_WRITE | VNODE_DELETE, queue);
  if (!source) decide(false, "the source cannot be created");
  dispatch_source_set_registration_handler(source, ^{
    awaiting("the event of the write");
    if (write(file, "a", 1) != 1) decide(false, "the file cannot be written");
  });
  __block bool has_written = false;
  dispatch_source_set_event_handler(source, ^{
    unsigned long data = dispatch_source_get_data(source);
    if (data & VNODE_DELETE) decide(has_written, "the write and the deletion were reported");
    if (data & VNODE_WRITE && !has_written) {
      has_written = true;
      awaiting("the event of the deletion");
      unlink(path);
    }
  });
  awaiting("the registration");
  dispatch_resume(source);
  for (;;) pause();
}

int main(void) { promise("a source reports that a file is written and deleted", body); }
