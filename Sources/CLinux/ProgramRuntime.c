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

// A function of the runtime. `linked` comes last: in a drop-in library it is that library's own. In
// a program that contains the runtime, the loader knows none, and the linked function is the
// program's.
static void *of_program(void *linked, const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol) return symbol;
  void *library = gc_concurrency_library();
  if (library) symbol = dlsym(library, name);
  return symbol ? symbol : linked;
}

#define OF_PROGRAM(name) of_program((void *)&name, #name)

gc_type_name gc_class_name(void *object) {
  // relaxed, here and below: two threads store the same address.
  static SWIFT gc_type_name (*known)(const void *, bool);
  SWIFT gc_type_name (*get)(const void *, bool) = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!get) {
    get = OF_PROGRAM(swift_getTypeName);
    if (!get) return (gc_type_name){0};
    __atomic_store_n(&known, get, __ATOMIC_RELAXED);
  }
  // An object of Swift begins with its class.
  return get(*(void **)object, true);
}

void gc_release_of_program(void *object) {
  void (*release)(void *) = OF_PROGRAM(swift_release);
  if (release) release(object);
}
