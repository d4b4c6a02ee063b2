// Other libraries of the process: copies of the engine, and another Dispatch.
#ifndef GRANDCENTRAL_LIBRARIES_H
#define GRANDCENTRAL_LIBRARIES_H

#include <stdbool.h>

// DuplicateEngines.c. The images of the process that contain the engine, by path; NULL: the program
// itself.
enum { GC_MOST_COPIES = 4 };
typedef struct gc_engines {
  int count;
  const char *_Nullable names[GC_MOST_COPIES];
} gc_engines;
// Returns true if there are several and no call in any of them has returned true before.
bool gc_engines_found(gc_engines *_Nonnull copies);

// MainQueue.c. How a run loop serves the main queue of another Dispatch library.
typedef struct gc_foreign_main_queue {
  int descriptor;  // becomes readable when the queue gets work; the library's
  void (*_Nullable drain)(void *_Nullable message);  // runs what is queued; the main thread only
} gc_foreign_main_queue;
// Finds it. False: the process has no such library, or its functions reach this engine, whose
// global queue of the default class is `own_global`.
bool gc_foreign_main_queue_find(
    const void *_Nonnull own_global, gc_foreign_main_queue *_Nonnull queue);

#endif
