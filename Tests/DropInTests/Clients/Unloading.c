// Loads the library named by the argument as a plug-in does, closes it while an item runs, and lets
// the item return. Prints whether the library is still there.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static int begin[2], go[2], end[2];

static void take(int from) {
  char byte;
  if (read(from, &byte, 1) != 1) _exit(2);
}

static void give(int to) {
  if (write(to, "x", 1) != 1) _exit(2);
}

static void run(void *context) {
  (void)context;
  give(begin[1]);
  take(go[0]);
}

static void last(void *context) {
  (void)context;
  give(end[1]);
}

int main(int count, char **arguments) {
  if (count != 2 || pipe(begin) || pipe(go) || pipe(end)) return 2;
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return 3;
  void *(*create)(const char *, void *) = dlsym(library, "dispatch_queue_create");
  void (*submit)(void *, void *, void (*)(void *)) = dlsym(library, "dispatch_async_f");
  void *queue = create("plug-in", NULL);
  submit(queue, NULL, run);
  submit(queue, NULL, last);
  take(begin[0]);
  dlclose(library);
  give(go[1]);
  take(end[0]);
  printf("stays=%d\n", dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) != NULL);
  return 0;
}
