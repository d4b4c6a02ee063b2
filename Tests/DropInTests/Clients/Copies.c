// Uses the library that it is linked with, and then the library at each argument's path.
#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
  dispatch_release(dispatch_queue_create("own", NULL));
  for (int index = 1; index < count; index++) {
    void *other = dlopen(arguments[index], RTLD_NOW | RTLD_LOCAL);
    if (!other) return 1;
    dispatch_queue_t (*create)(const char *, dispatch_queue_attr_t) =
        (dispatch_queue_t(*)(const char *, dispatch_queue_attr_t))dlsym(
            other, "dispatch_queue_create");
    if (!create || !create("other", NULL)) return 2;
  }
  printf("used=%d\n", count);
  return 0;
}
