// Objects with random lifetimes, for the fuzzer. Several items and threads own each object. The
// last owner releases it, inside the call that it makes at that time.
//
// Promises:
// - a queue's finalizer runs once, after every owner has released it and every item has run;
// - a source that its cancel handler releases ends once, after all its data has been delivered;
// - a group that its notification releases is notified once, after the last leave.

static void end_passing(void) { dispatch_group_leave(everything); }

// MARK: Queues

typedef struct passing_queue {
  dispatch_queue_t handle;
  _Atomic int owners, items;
} passing_queue;

static void let_queue_go(passing_queue *one) {
  dispatch_queue_t handle = one->handle;
  if (atomic_fetch_sub(&one->owners, 1) == 1) dispatch_release(handle);
}

static void passing_item(void *context) {
  passing_queue *one = context;
  atomic_fetch_sub(&one->items, 1);
  let_queue_go(one);
}

static void passing_finalizer(void *context) {
  passing_queue *one = context;
  CHECK_EQUAL(one->owners, 0);
  CHECK_EQUAL(one->items, 0);
  free(one);
  end_passing();
}

static void submit_passing(passing_queue *one, dispatch_group_t group, uint64_t *random) {
  switch (below(random, 4)) {
  case 0: dispatch_async_f(one->handle, one, passing_item); break;
  case 1: dispatch_barrier_async_f(one->handle, one, passing_item); break;
  case 2: dispatch_group_async_f(group, one->handle, one, passing_item); break;
  case 3:
    dispatch_after_f(
      dispatch_time(DISPATCH_TIME_NOW, below(random, 100000)), one->handle, one, passing_item);
    break;
  }
}

// This thread's last call may be the call that lets the items run.
static void step_passing_queue(uint64_t *random) {
  passing_queue *one = calloc(1, sizeof *one);
  CHECK(one);
  dispatch_group_enter(everything);
  const int count = 1 + below(random, 4);
  const bool is_inactive = below(random, 4) == 0, is_suspended = below(random, 3) == 0;
  dispatch_queue_attr_t attribute = below(random, 2) ? DISPATCH_QUEUE_CONCURRENT : NULL;
  if (is_inactive) attribute = dispatch_queue_attr_make_initially_inactive(attribute);
  one->handle = dispatch_queue_create_with_target(
    "passing", attribute, below(random, 2) ? queues[below(random, QUEUES)].handle : NULL);
  atomic_init(&one->owners, count);
  atomic_init(&one->items, count);
  dispatch_queue_t handle = one->handle;
  dispatch_set_context(handle, one);
  dispatch_set_finalizer_f(handle, passing_finalizer);
  if (is_suspended) dispatch_suspend(handle);
  dispatch_group_t group = groups[below(random, GROUPS)].handle;
  for (int n = 0; n < count; n++) submit_passing(one, group, random);
  if (is_inactive) dispatch_activate(handle);
  if (is_suspended) dispatch_resume(handle);
}

// MARK: Sources

typedef struct passing_source {
  dispatch_source_t handle;
  unsigned long delivered, wanted;
} passing_source;

static void passing_event(void *context) {
  passing_source *one = context;
  one->delivered += dispatch_source_get_data(one->handle);
  CHECK(one->delivered <= one->wanted);
  if (one->delivered == one->wanted) dispatch_source_cancel(one->handle);
}

static void passing_end(void *context) {
  passing_source *one = context;
  CHECK_EQUAL(one->delivered, one->wanted);
  dispatch_release(one->handle);
  free(one);
  end_passing();
}

static void passing_tick(void *context) {
  dispatch_source_cancel(((passing_source *)context)->handle);
}

static void step_passing_source(uint64_t *random) {
  passing_source *one = calloc(1, sizeof *one);
  CHECK(one);
  dispatch_group_enter(everything);
  const bool is_timer = below(random, 2);
  dispatch_source_t handle = dispatch_source_create(
    is_timer ? DISPATCH_SOURCE_TYPE_TIMER : DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0,
    queues[below(random, QUEUES)].handle);
  one->handle = handle;
  dispatch_set_context(handle, one);
  dispatch_source_set_event_handler_f(handle, is_timer ? passing_tick : passing_event);
  dispatch_source_set_cancel_handler_f(handle, passing_end);
  if (is_timer) {
    const int64_t delay = below(random, 2) * below(random, 200000);
    dispatch_source_set_timer(
      handle, dispatch_time(DISPATCH_TIME_NOW, delay), DISPATCH_TIME_FOREVER, 0);
    return dispatch_resume(handle);
  }
  const int count = 1 + below(random, 5);
  one->wanted = (unsigned long)count;
  dispatch_activate(handle);
  for (int n = 0; n < count; n++) dispatch_source_merge_data(handle, 1);
}

// MARK: Groups

static void passing_leave(void *group) { dispatch_group_leave((dispatch_group_t)group); }

static void passing_notified(void *group) {
  CHECK_EQUAL(dispatch_group_wait((dispatch_group_t)group, DISPATCH_TIME_NOW), 0);
  dispatch_release((dispatch_group_t)group);
  end_passing();
}

static void step_passing_group(uint64_t *random) {
  dispatch_group_enter(everything);
  dispatch_group_t group = dispatch_group_create();
  for (int n = below(random, 4); n > 0; n--) {
    dispatch_group_enter(group);
    dispatch_async_f(queues[below(random, QUEUES)].handle, group, passing_leave);
  }
  dispatch_group_notify_f(group, queues[below(random, QUEUES)].handle, group, passing_notified);
}
