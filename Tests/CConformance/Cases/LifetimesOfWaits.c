// The last reference to a group, a semaphore or a block races with the call that ends a wait on it.
#include "../Lifetimes.h"

#ifdef __BLOCKS__
#include <Block.h>
#endif

static void release_and_end(void *object) {
  dispatch_release(object);
  ended();
}

// MARK: Groups

static void wait_for_group(void *group) {
  CHECK_EQUAL(dispatch_group_wait((dispatch_group_t)group, DISPATCH_TIME_FOREVER), 0);
  release_and_end(group);
}

LIFETIME(leave_ends_a_wait) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  elsewhere(group, wait_for_group);
  pause_a_little();
  dispatch_group_leave(group);
}

static void leave_it(void *group) { dispatch_group_leave((dispatch_group_t)group); }

LIFETIME(leave_on_a_queue_ends_a_wait) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_async_f(some_queue(), group, leave_it);
  wait_for_group(group);
}

LIFETIME(leave_submits_a_notification) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_group_notify_f(group, some_queue(), group, release_and_end);
  pause_a_little();
  dispatch_group_leave(group);
}

LIFETIME(leaves_of_two_threads) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  dispatch_group_enter(group);
  dispatch_group_notify_f(group, some_queue(), group, release_and_end);
  elsewhere(group, leave_it);
  leave_it(group);
}

static void nothing(void *context) { (void)context; }

LIFETIME(member_of_a_group) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async_f(group, some_queue(), NULL, nothing);
  wait_for_group(group);
}

LIFETIME(member_of_a_group_that_is_notified) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async_f(group, some_queue(), NULL, nothing);
  dispatch_group_notify_f(group, some_queue(), group, release_and_end);
}

LIFETIME(notification_of_an_empty_group) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_notify_f(group, some_queue(), group, release_and_end);
}

// MARK: Semaphores

static void wait_for_permit(void *semaphore) {
  CHECK_EQUAL(dispatch_semaphore_wait((dispatch_semaphore_t)semaphore, DISPATCH_TIME_FOREVER), 0);
  release_and_end(semaphore);
}

LIFETIME(signal_ends_a_wait) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  elsewhere(semaphore, wait_for_permit);
  pause_a_little();
  dispatch_semaphore_signal(semaphore);
}

static void signal_it(void *semaphore) {
  dispatch_semaphore_signal((dispatch_semaphore_t)semaphore);
}

LIFETIME(signal_on_a_queue_ends_a_wait) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  dispatch_async_f(some_queue(), semaphore, signal_it);
  wait_for_permit(semaphore);
}

static void wait_a_little_and_drop(void *context) {
  shared_object *shared = context;
  if (dispatch_semaphore_wait(
        shared->object, dispatch_time(DISPATCH_TIME_NOW, chance(30000))) == 0)
    dispatch_semaphore_signal(shared->object);
  if (let_go(shared)) ended();
}

// The signal races with the waits' deadlines.
LIFETIME(signal_beside_waits_with_deadlines) {
  shared_object *shared = share(dispatch_semaphore_create(0), 3);
  elsewhere(shared, wait_a_little_and_drop);
  elsewhere(shared, wait_a_little_and_drop);
  pause_a_little();
  dispatch_semaphore_signal(shared->object);
  if (let_go(shared)) ended();
}

#ifdef __BLOCKS__
// MARK: Blocks

static void wait_for_block(void *block) {
  CHECK_EQUAL(dispatch_block_wait((dispatch_block_t)block, DISPATCH_TIME_FOREVER), 0);
  Block_release(block);
  ended();
}

LIFETIME(end_of_a_block_ends_a_wait) {
  dispatch_block_t block = dispatch_block_create(0, ^{ pause_a_little(); });
  elsewhere((void *)block, wait_for_block);
  dispatch_block_t own = Block_copy(block);
  dispatch_async(some_queue(), own);
  Block_release(own);
}

LIFETIME(block_performed_in_place) {
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  elsewhere((void *)Block_copy(block), wait_for_block);
  block();
  Block_release(block);
}

// The waiter has the only reference, and may release the block as soon as the wait ends.
LIFETIME(notified_block_performed_without_a_reference) {
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  dispatch_block_notify(block, some_queue(), ^{ });
  elsewhere((void *)block, wait_for_block);
  block();
}

LIFETIME(block_that_is_observed) {
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  dispatch_block_notify(block, some_queue(), ^{ ended(); });
  dispatch_async(some_queue(), block);
  dispatch_block_cancel(block);
  Block_release(block);
}

LIFETIME(block_in_a_group) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  dispatch_group_async(group, some_queue(), block);
  Block_release(block);
  dispatch_group_notify(group, some_queue(), ^{ release_and_end(group); });
}
#endif
