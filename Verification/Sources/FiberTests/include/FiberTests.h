// Tests of what a fiber switch preserves. scripts/dev fibers runs them with each way of switching.
#ifndef GRANDCENTRAL_FIBER_TESTS_H
#define GRANDCENTRAL_FIBER_TESTS_H

// Each function returns NULL, or a description of the failure.
const char *_Nullable gc_test_registers(void);
const char *_Nullable gc_test_many(void);
const char *_Nullable gc_test_depth(void);
const char *_Nullable gc_test_signals(void);

#endif
