// Workloops, which the peer exports and does not declare. On Linux the peer creates workloops, and
// stops when one receives work.
#include "../Lifetimes.h"
#include "../Private.h"

#ifdef __DISPATCH_WORKLOOP__
typedef dispatch_workloop_t workloop;
#else
typedef dispatch_queue_t workloop;
workloop dispatch_workloop_create(const char *label);
workloop dispatch_workloop_create_inactive(const char *label);
void dispatch_workloop_set_autorelease_frequency(workloop one, unsigned long frequency);
#endif
void dispatch_workloop_set_qos_class(workloop one, unsigned class, uint64_t flags);
void dispatch_workloop_set_qos_class_floor(
  workloop one, unsigned class, int priority, uint64_t flags);
void dispatch_workloop_set_cpupercent(workloop one, uint8_t percent, uint32_t refill);
workloop dispatch_workloop_copy_current(void);
bool dispatch_workloop_is_current(workloop one);

#define WHY "the peer stops when a workloop is used on Linux"

static counter ran;

CASE(workloop_can_be_made) {
  workloop one = dispatch_workloop_create("conformance.workloop");
  CHECK(one);
  CHECK_TEXT(dispatch_queue_get_label(one), "conformance.workloop");
  dispatch_release(one);
  workloop inactive = dispatch_workloop_create_inactive("conformance.workloop");
  CHECK(inactive);
  dispatch_workloop_set_autorelease_frequency(inactive, DISPATCH_AUTORELEASE_FREQUENCY_NEVER);
  dispatch_activate(inactive);
  dispatch_release(inactive);
}

BEYOND(workloop_runs_work, WHY) {
  static latch done = LATCH(1);
  workloop one = dispatch_workloop_create("conformance.workloop");
  CHECK(one);
  CHECK_TEXT(dispatch_queue_get_label(one), "conformance.workloop");
  dispatch_async_f(one, &done, open_latch);
  latch_wait(&done);
  dispatch_sync_f(one, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(one);
}

BEYOND(inactive_workloop_waits_for_activation, WHY) {
  static latch done = LATCH(1);
  workloop one = dispatch_workloop_create_inactive("conformance.workloop");
  dispatch_workloop_set_autorelease_frequency(one, DISPATCH_AUTORELEASE_FREQUENCY_NEVER);
  dispatch_activate(one);
  dispatch_async_f(one, &done, open_latch);
  latch_wait(&done);
  dispatch_release(one);
}

BEYOND(workloop_has_the_class_that_it_is_given, WHY) {
  int place = 0;
  workloop one = dispatch_workloop_create_inactive("conformance.workloop");
  dispatch_workloop_set_qos_class(one, 0x11, 0);
  dispatch_workloop_set_cpupercent(one, 50, 100);
  CHECK_EQUAL(dispatch_queue_get_qos_class(one, &place), 0x11);
  CHECK_EQUAL(place, 0);
  dispatch_workloop_set_qos_class_floor(one, 0x19, -3, 0);
  CHECK_EQUAL(dispatch_queue_get_qos_class(one, &place), 0x19);
  CHECK_EQUAL(place, -3);
  dispatch_activate(one);
  dispatch_sync_f(one, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(one);
}

static long unguarded;
static workloop shared;
static void add_one(void *context) {
  (void)context;
  unguarded++;
}
static void *add_some(void *context) {
  for (int n = 0; n < 2000; n++)
    if (n % 2) dispatch_sync_f(shared, NULL, add_one);
    else dispatch_async_f(shared, NULL, add_one);
  return context;
}

BEYOND(workloop_runs_one_item_at_a_time, WHY) {
  shared = dispatch_workloop_create(NULL);
  pthread_t threads[4];
  for (int n = 0; n < 4; n++) CHECK(!pthread_create(&threads[n], NULL, add_some, NULL));
  for (int n = 0; n < 4; n++) CHECK(!pthread_join(threads[n], NULL));
  drain(shared);
  CHECK_EQUAL(unguarded, 8000);
}

static void ask(void *context) {
  CHECK(dispatch_workloop_is_current(context));
  workloop current = dispatch_workloop_copy_current();
  CHECK(current == (workloop)context);
  dispatch_release(current);
  count_up(&ran);
}

BEYOND(workloop_knows_itself, WHY) {
  workloop one = dispatch_workloop_create("conformance.workloop");
  dispatch_sync_f(one, one, ask);
  CHECK_EQUAL(ran.value, 1);
  CHECK(!dispatch_workloop_is_current(one));
  CHECK(!dispatch_workloop_copy_current());
}

BEYOND(queues_may_target_a_workloop, WHY) {
  static latch done = LATCH(3);
  workloop one = dispatch_workloop_create("conformance.workloop");
  dispatch_queue_t queue = dispatch_queue_create_with_target(NULL, NULL, one);
  for (int n = 0; n < 3; n++) dispatch_async_f(queue, &done, open_latch);
  latch_wait(&done);
  dispatch_release(queue);
  dispatch_release(one);
}

static void release_and_end(void *loop) {
  dispatch_release((workloop)loop);
  ended();
}

// The last release races with the activation.
LIFETIME_BEYOND(workloop_activated, WHY) {
  workloop loop = dispatch_workloop_create_inactive("lifetime");
  dispatch_async_f((dispatch_queue_t)loop, loop, release_and_end);
  dispatch_activate(loop);
}

static atomic_int chain_is_over;

static latch chain_runs = LATCH(1);

static void submit_next(void *queue) {
  if (!latch_is_open(&chain_runs)) latch_down(&chain_runs);
  if (!atomic_load(&chain_is_over)) dispatch_async_f(queue, queue, submit_next);
}

static void end_chain(void *unused) {
  (void)unused;
  atomic_store(&chain_is_over, 1);
}

BEYOND(
  async_and_wait_raises_a_queue_of_a_lower_class_on_a_workloop,
  "the peer stops where a workloop receives work") {
  dispatch_queue_t loop = (dispatch_queue_t)dispatch_workloop_create("loop");
  const int utility = 0x11;
  dispatch_queue_t low = dispatch_queue_create_with_target(
    "low", dispatch_queue_attr_make_with_qos_class(NULL, utility, 0), loop);
  static counter count;
  dispatch_async_f(loop, loop, submit_next);
  latch_wait(&chain_runs);
  // The chain's items are of a higher class than this queue, and never end.
  dispatch_async_f(low, &count, count_up);
  dispatch_async_and_wait_f(low, NULL, end_chain);
  CHECK_EQUAL(count.value, 1);
}
