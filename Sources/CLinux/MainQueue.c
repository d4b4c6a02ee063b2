// Finds the main queue of another Dispatch library in the process. A library offers it to run loops
// by two functions, which CoreFoundation calls; see Queues/ForeignMainQueue.
#include "GrandCentralLibraries.h"
#include "Symbols.h"

#include <stdint.h>

// Weak: the linker finds them in a program that contains such a library statically, and the loader
// where it is a library of the program. This engine's own C door has the same names.
#define WEAK(declaration) extern declaration __attribute__((weak))
WEAK(void *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags));
WEAK(int _dispatch_get_main_queue_handle_4CF(void));
WEAK(void _dispatch_main_queue_callback_4CF(void *message));

bool gc_foreign_main_queue_find(const void *own_global, gc_foreign_main_queue *queue) {
  void *(*global)(intptr_t, uintptr_t) = FIND(dispatch_get_global_queue);
  int (*descriptor)(void) = FIND(_dispatch_get_main_queue_handle_4CF);
  queue->drain = FIND(_dispatch_main_queue_callback_4CF);
  if (!global || !descriptor || !queue->drain) return false;
  // The handle of a queue of this engine is the address of its object.
  if (global(0, 0) == own_global) return false;
  queue->descriptor = descriptor();
  return queue->descriptor >= 0;
}
