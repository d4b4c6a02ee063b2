// There are no sources of memory pressure
//
// On macOS a program empties its caches when a source reports that memory is short. The library for
// Linux has no such type, though the kernel reports stalls and limits.
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <unistd.h>

#include "Promise.h"

enum { NORMAL = 1, WARN = 2, CRITICAL = 4 };

static void body(void) {
  // Looked up, so that the program starts on either library.
  dispatch_source_type_t type = dlsym(RTLD_DEFAULT, "_dispatch_source_type_memorypressure");
  if (!type) decide(false, "the library has no type of sources for memory pressure");
  dispatch_queue_t queue = dispatch_queue_create("com.example.caches", NULL);
  dispatch_source_t source = dispatch_source_create(type, 0, NORMAL | WARN | CRITICAL, queue);
  if (!source) decide(false, "the source cannot be created");
  dispatch_source_set_registration_handler(source, ^{ dispatch_source_cancel(source); });
  dispatch_source_set_cancel_handler(source, ^{
    decide(true, "the source was registered and cancelled");
  });
  awaiting("the registration");
  dispatch_resume(source);
  for (;;) pause();
}

int main(void) { promise("a source of memory pressure can be created and activated", body); }
