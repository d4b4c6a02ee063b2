#include "CCallgrind.h"

#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

_Bool callgrind_dump(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  return 1;
}
#else
_Bool callgrind_dump(const char *name) {
  (void)name;
  return 0;
}
#endif

pid_t callgrind_fork(void) { return fork(); }
