// Keeps the image of this code in the process until it ends: a program may dlclose(3) a plug-in
// that contains the engine. Threads of the engine sleep in its code, others run its destructors
// when they end, and fork(2) calls its handlers.
// The drop-in library needs no call for that: its linker says it (scripts/dev dropin).
#define _GNU_SOURCE
#include "Unloading.h"

#if GRANDCENTRAL_DROPIN

void gc_stay_loaded(void) {}

#else

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

// Sets the name of the image that contains this function, and stops there. The program is the first
// image, and its name is empty.
static int find_name(struct dl_phdr_info *image, size_t size, void *name) {
  (void)size;
  for (int index = 0; index < image->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &image->dlpi_phdr[index];
    uintptr_t offset = (uintptr_t)find_name - image->dlpi_addr - part->p_vaddr;
    if (part->p_type != PT_LOAD || offset >= part->p_memsz) continue;
    *(const char **)name = image->dlpi_name;
    return 1;
  }
  return 0;
}

// Any number of calls has the effect of one. Waits for the loader's lock, which a thread holds
// while dlopen(3) runs a library's constructors: the caller must hold nothing that others wait for.
void gc_stay_loaded(void) {
  const char *name = NULL;
  dl_iterate_phdr(find_name, &name);
  if (name && *name) dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

#endif
