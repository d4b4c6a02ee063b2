// Shared by the C files of this target.
#ifndef CLIBUV_INTERNAL_H
#define CLIBUV_INTERNAL_H

#include <uv.h>

void require(int holds, const char *what);
/// Runs the loop until no handle is open, and closes it.
void run_out(uv_loop_t *loop);

#endif
