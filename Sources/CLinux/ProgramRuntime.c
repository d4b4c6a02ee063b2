// Finds functions of the program's Swift runtime, and calls them.
#define _GNU_SOURCE
#include "ProgramRuntime.h"

#include <dlfcn.h>

#define SWIFT __attribute__((swiftcall))

extern gc_type_name swift_getTypeName(const void *type, bool qualified)
    __attribute__((weak)) SWIFT;
extern void swift_release(void *object) __attribute__((weak));

void *gc_concurrency_library(void) {
  // The reference that dlopen() returns is kept: a Swift library is never unloaded.
  return dlopen("libswift_Concurrency.so", RTLD_LAZY | RTLD_NOLOAD);
}

#ifdef GRANDCENTRAL_CONTAINS_RUNTIME

// What is linked here is the library's own runtime, which knows nothing of the program's objects.
// Only the loader finds the program's. NULL: it finds none.
static void *of_program(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol) return symbol;
  void *library = gc_concurrency_library();
  return library ? dlsym(library, name) : NULL;
}

#define OF_PROGRAM(name) of_program(#name)

#else

// The linked function is the program's: the linker found it in a program that contains the runtime,
// and the loader elsewhere.
#define OF_PROGRAM(name) ((void *)&name)

#endif

static SWIFT gc_type_name (*name_of)(const void *, bool);
static void (*release)(void *);

void gc_find_program_functions(void) {
  // Also true if the functions were not found: the runtime of every object that comes here was
  // loaded before the search.
  static bool is_done;
  // acquire: pairs with the release below, so the addresses are there.
  if (__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) return;
  SWIFT gc_type_name (*get)(const void *, bool) = OF_PROGRAM(swift_getTypeName);
  void (*drop)(void *) = OF_PROGRAM(swift_release);
  // relaxed: two threads store the same addresses.
  __atomic_store_n(&name_of, get, __ATOMIC_RELAXED);
  __atomic_store_n(&release, drop, __ATOMIC_RELAXED);
  __atomic_store_n(&is_done, true, __ATOMIC_RELEASE);
}

gc_type_name gc_class_name(void *object) {
  gc_find_program_functions();
  SWIFT gc_type_name (*get)(const void *, bool) = __atomic_load_n(&name_of, __ATOMIC_RELAXED);
  // An object of Swift begins with its class.
  return get ? get(*(void **)object, true) : (gc_type_name){0};
}

void gc_release_of_program(void *object) {
  gc_find_program_functions();
  void (*drop)(void *) = __atomic_load_n(&release, __ATOMIC_RELAXED);
  if (drop) drop(object);
}
