// What both files of this target use.
#ifndef CLIBUV_INTERNAL_H
#define CLIBUV_INTERNAL_H

#include <uv.h>

void require(int holds, const char *what);
/// Runs until no handle is open, and ends the loop.
void run_out(uv_loop_t *loop);

#endif
