// Prints the image that a function of the library comes from, and LD_LIBRARY_PATH.
#define _GNU_SOURCE
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_NOTE
// What an executable has that contains the engine.
__asm__(
    ".pushsection .note.grandcentral, \"a\", %note\n.balign 4\n.long 13\n.long 8\n.long 1\n"
    ".asciz \"GrandCentral\"\n.balign 4\n.long 0\n.long 1\n.popsection\n");
#endif

int main(void) {
  Dl_info found;
  void *symbol = dlsym(RTLD_DEFAULT, "dispatch_queue_create");
  if (!dladdr(symbol, &found)) return 1;
  dispatch_release(dispatch_queue_create("used", NULL));
  const char *path = getenv("LD_LIBRARY_PATH");
  printf("%s\n%s\n", realpath(found.dli_fname, NULL), path ? path : "unset");
  return 0;
}
