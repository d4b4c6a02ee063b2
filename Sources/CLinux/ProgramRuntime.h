// The Swift runtime of the program's objects. A drop-in library contains a runtime of its own
// (scripts/dev dropin), of another version perhaps: what belongs to the program goes to the
// program's runtime only.
#ifndef GRANDCENTRAL_PROGRAM_RUNTIME_H
#define GRANDCENTRAL_PROGRAM_RUNTIME_H

#include "GrandCentralConcurrency.h"

// The library with the runtime's Concurrency, if it is loaded; NULL: it is not. dlsym(3) finds the
// symbols of the whole runtime in it, also where dlopen(3) has loaded it for one library alone.
void *gc_concurrency_library(void);

// Finds the functions that the two below call. The first call counts, and the two make it where
// nothing else has. It may wait for the loader's lock, which a thread holds while dlopen(3) runs a
// library's constructors. A constructor may wait for work that needs one of the two, so for a
// runtime that is loaded with the program the call comes when this library is loaded
// (gc_probe_jobs()).
void gc_find_program_functions(void);

// The name of an object's class, with its module. No bytes: no runtime was found.
gc_type_name gc_class_name(void *object);

// Drops a reference to an object. Without a runtime the reference is leaked.
void gc_release_of_program(void *object);

#endif
