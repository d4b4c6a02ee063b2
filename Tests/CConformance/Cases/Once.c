// dispatch_once.
#include "../Check.h"

static dispatch_once_t predicate;
static long value;
static counter ran;
static void prepare(void *context) {
  count_up(context);
  for (volatile int n = 0; n < 100000; n++) { }
  value = 42;
}
static void *race(void *context) {
  dispatch_once_f(&predicate, &ran, prepare);
  CHECK_EQUAL(value, 42);
  return context;
}

CASE(once_f_runs_once_and_all_see_its_effects) {
  pthread_t threads[8];
  for (int n = 0; n < 8; n++) CHECK(!pthread_create(&threads[n], NULL, race, NULL));
  for (int n = 0; n < 8; n++) CHECK(!pthread_join(threads[n], NULL));
  CHECK_EQUAL(ran.value, 1);
}

CASE(once_done_is_all_ones) {
  race(NULL);
  CHECK_EQUAL(predicate, ~(dispatch_once_t)0);
}

// Calls the exported function, not the fast path of the headers.
#undef dispatch_once_f
CASE(once_f_function_knows_what_the_fast_path_knows) {
  dispatch_once_f(&predicate, &ran, prepare);
  dispatch_once_f(&predicate, &ran, prepare);
  CHECK_EQUAL(ran.value, 1);
  dispatch_once_t done = ~(dispatch_once_t)0;
  dispatch_once_f(&done, &ran, prepare);
  CHECK_EQUAL(ran.value, 1);
}

static void again(void *context) { dispatch_once_f(&predicate, context, again); }
STOPS(once_inside_itself_stops, "once") { dispatch_once_f(&predicate, NULL, again); }

#ifdef __BLOCKS__
CASE(once_runs_a_block) {
  __block int runs = 0;
  for (int n = 0; n < 3; n++) dispatch_once(&predicate, ^{ runs++; });
  CHECK_EQUAL(runs, 1);
#undef dispatch_once
  dispatch_once(&predicate, ^{ runs++; });
  static dispatch_once_t other;
  dispatch_once(&other, ^{ runs += 10; });
  CHECK_EQUAL(runs, 11);
}
#endif
