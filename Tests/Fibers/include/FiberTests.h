// What a switch between fibers must keep. Compiled with each way of switching: scripts/fibers.sh.
#ifndef GRANDCENTRAL_FIBER_TESTS_H
#define GRANDCENTRAL_FIBER_TESTS_H

// NULL, or what went wrong.
const char *_Nullable gc_test_registers(void);
const char *_Nullable gc_test_many(void);
const char *_Nullable gc_test_depth(void);
const char *_Nullable gc_test_signals(void);

#endif
