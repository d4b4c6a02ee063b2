// The last reference to a queue races with each call that may let its items run.
#include "../Lifetimes.h"
#include "../Private.h"

#ifdef __BLOCKS__
#include <Block.h>
#endif

static void release_and_end(void *queue) {
  dispatch_release((dispatch_queue_t)queue);
  ended();
}

static dispatch_queue_t new_queue(void) {
  dispatch_queue_attr_t attribute = chance(2) ? DISPATCH_QUEUE_CONCURRENT : DISPATCH_QUEUE_SERIAL;
  dispatch_queue_t target = NULL;
  if (chance(2)) target = some_queue();
  return dispatch_queue_create_with_target("lifetime", attribute, target);
}

static dispatch_queue_t new_inactive_queue(void) {
  return dispatch_queue_create(
    "lifetime", dispatch_queue_attr_make_initially_inactive(
                  chance(2) ? DISPATCH_QUEUE_CONCURRENT : DISPATCH_QUEUE_SERIAL));
}

// MARK: Submitting: the item releases the queue

LIFETIME(async_function) {
  dispatch_queue_t queue = new_queue();
  dispatch_async_f(queue, queue, release_and_end);
}

LIFETIME(barrier_async_function) {
  dispatch_queue_t queue = new_queue();
  dispatch_barrier_async_f(queue, queue, release_and_end);
}

LIFETIME(async_enforcing_a_class) {
  dispatch_queue_t queue = new_queue();
  dispatch_async_enforce_qos_class_f(queue, queue, release_and_end);
}

LIFETIME(after_a_moment) {
  dispatch_queue_t queue = new_queue();
  dispatch_after_f(
    dispatch_time(DISPATCH_TIME_NOW, chance(2) * chance(50000)), queue, queue, release_and_end);
}

static void drop_and_count(void *context) {
  if (let_go(context)) ended();
}

static void submit_drop(void *context) {
  dispatch_async_f(((shared_object *)context)->object, context, drop_and_count);
}

// Two threads submit; the item that runs last releases the queue.
LIFETIME(async_from_two_threads) {
  shared_object *shared = share(new_queue(), 2);
  elsewhere(shared, submit_drop);
  submit_drop(shared);
}

static void sync_and_drop(void *context) {
  shared_object *shared = context;
  static counter ran;
  if (chance(2)) dispatch_sync_f(shared->object, &ran, count_up);
  else dispatch_barrier_sync_f(shared->object, &ran, count_up);
  drop_and_count(shared);
}

LIFETIME(sync_beside_async) {
  shared_object *shared = share(new_queue(), 3);
  elsewhere(shared, sync_and_drop);
  submit_drop(shared);
  sync_and_drop(shared);
}

static void wait_and_drop(void *context) {
  shared_object *shared = context;
  static counter ran;
  dispatch_async_and_wait_f(shared->object, &ran, count_up);
  drop_and_count(shared);
}

LIFETIME(async_and_wait_beside_async) {
  shared_object *shared = share(new_queue(), 3);
  elsewhere(shared, wait_and_drop);
  submit_drop(shared);
  wait_and_drop(shared);
}

static void visit(void *context, size_t number) {
  (void)number;
  count_up(context);
}

static void apply_and_drop(void *context) {
  shared_object *shared = context;
  static counter ran;
  dispatch_apply_f((size_t)chance(5), shared->object, &ran, visit);
  drop_and_count(shared);
}

LIFETIME(apply_beside_async) {
  shared_object *shared = share(new_queue(), 2);
  elsewhere(shared, apply_and_drop);
  submit_drop(shared);
}

// MARK: Starting and resuming: the queued item releases the queue

LIFETIME(queue_resumed) {
  dispatch_queue_t queue = new_queue();
  dispatch_suspend(queue);
  dispatch_async_f(queue, queue, release_and_end);
  pause_a_little();
  dispatch_resume(queue);
}

static void submit_release(void *queue) {
  dispatch_async_f((dispatch_queue_t)queue, queue, release_and_end);
}

// The item may be submitted before the resumption, or at the same time.
LIFETIME(queue_resumed_beside_a_submission) {
  dispatch_queue_t queue = new_queue();
  dispatch_suspend(queue);
  elsewhere(queue, submit_release);
  pause_a_little();
  dispatch_resume(queue);
}

LIFETIME(queue_activated) {
  dispatch_queue_t queue = new_inactive_queue();
  dispatch_async_f(queue, queue, release_and_end);
  dispatch_activate(queue);
}

LIFETIME(queue_activated_beside_a_submission) {
  dispatch_queue_t queue = new_inactive_queue();
  elsewhere(queue, submit_release);
  pause_a_little();
  dispatch_activate(queue);
}

static void resume_it(void *queue) { dispatch_resume((dispatch_queue_t)queue); }

// The last resumption lets the item run.
LIFETIME(queue_resumed_by_two_threads) {
  dispatch_queue_t queue = new_queue();
  dispatch_suspend(queue);
  dispatch_suspend(queue);
  dispatch_async_f(queue, queue, release_and_end);
  elsewhere(queue, resume_it);
  resume_it(queue);
}

// MARK: Changing: the item that releases the queue is already queued

static void set_target_and_drop(void *context) {
  shared_object *shared = context;
  dispatch_set_target_queue(shared->object, some_queue());
  drop_and_count(shared);
}

LIFETIME(target_set_beside_async) {
  shared_object *shared = share(dispatch_queue_create("lifetime", NULL), 3);
  elsewhere(shared, set_target_and_drop);
  submit_drop(shared);
  set_target_and_drop(shared);
}

// The queue is the target's last owner, and is disposed in its own item.
LIFETIME(target_dies_with_its_queue) {
  dispatch_queue_t target = new_queue();
  dispatch_queue_t queue = dispatch_queue_create_with_target("lifetime", NULL, target);
  dispatch_release(target);
  dispatch_async_f(queue, queue, release_and_end);
}

static void resume_and_drop(void *context) {
  shared_object *shared = context;
  dispatch_resume(shared->object);
  drop_and_count(shared);
}

static void suspend_then_resume(void *context) {
  dispatch_suspend(((shared_object *)context)->object);
  resume_and_drop(context);
}

LIFETIME(suspended_and_resumed_beside_async) {
  shared_object *shared = share(new_queue(), 3);
  elsewhere(shared, suspend_then_resume);
  submit_drop(shared);
  suspend_then_resume(shared);
}

static void specific_ends(void *queue) { release_and_end(queue); }

// The value's destructor releases the queue.
LIFETIME_BEYOND(specific_replaced, "the toolchain's library stops") {
  static char key;
  dispatch_queue_t queue = new_queue();
  dispatch_queue_set_specific(queue, &key, queue, specific_ends);
  pause_a_little();
  dispatch_queue_set_specific(queue, &key, NULL, NULL);
}

LIFETIME(finalizer_after_the_last_item) {
  dispatch_queue_t queue = new_queue();
  dispatch_set_context(queue, malloc(1));
  dispatch_set_finalizer_f(queue, free);
  dispatch_async_f(queue, queue, release_and_end);
}

LIFETIME(width_set_beside_async) {
  shared_object *shared = share(concurrent_queue(), 2);
  elsewhere(shared, submit_drop);
  dispatch_queue_set_width(shared->object, 1 + chance(3));
  submit_drop(shared);
}

#ifdef __BLOCKS__
LIFETIME(async_block) {
  dispatch_queue_t queue = new_queue();
  dispatch_async(queue, ^{ release_and_end(queue); });
}

LIFETIME(barrier_async_block_object) {
  dispatch_queue_t queue = new_queue();
  dispatch_block_t block = dispatch_block_create(DISPATCH_BLOCK_BARRIER, ^{
    release_and_end(queue);
  });
  dispatch_async(queue, block);
  Block_release(block);
}

LIFETIME(after_with_a_block) {
  dispatch_queue_t queue = new_queue();
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, chance(3000)), queue, ^{
    release_and_end(queue);
  });
}
#endif
