// Block objects.
#include "../Check.h"

#ifdef __BLOCKS__
#include <Block.h>

CASE(block_object_runs_when_called) {
  __block int runs = 0;
  dispatch_block_t block = dispatch_block_create(0, ^{ runs++; });
  CHECK(block);
  block();
  CHECK_EQUAL(runs, 1);
  Block_release(block);
}

CASE(block_object_can_be_copied) {
  static latch done = LATCH(1);
  dispatch_block_t block = dispatch_block_create(0, ^{ latch_down(&done); });
  dispatch_block_t copy = Block_copy(block);
  Block_release(block);
  dispatch_async(global_queue(), copy);
  Block_release(copy);
  latch_wait(&done);
}

// Overwrites what a block that was freed too early left in the allocator's lists.
static void reuse_freed_memory(void) {
  void *taken[200];
  for (int n = 0; n < 200; n++) {
    size_t size = 32 + (size_t)n % 8 * 16;
    taken[n] = malloc(size);
    CHECK(taken[n]);
    memset(taken[n], 0x55, size);
  }
  for (int n = 0; n < 200; n++) free(taken[n]);
}

// The code of a block uses the block, which the program released when it had submitted it.
static void expect_usable(void (^submit)(dispatch_queue_t queue, dispatch_block_t block)) {
  dispatch_queue_t queue = serial_queue();
  dispatch_semaphore_t ran = dispatch_semaphore_create(0);
  __block dispatch_block_t own;
  own = dispatch_block_create(0, ^{
    CHECK_EQUAL(dispatch_block_testcancel(own), 0);
    dispatch_block_cancel(own);
    CHECK(dispatch_block_testcancel(own) != 0);
    dispatch_semaphore_signal(ran);
  });
  dispatch_suspend(queue);
  submit(queue, own);
  Block_release(own);
  reuse_freed_memory();
  dispatch_resume(queue);
  dispatch_semaphore_wait(ran, DISPATCH_TIME_FOREVER);
  drain(queue);
  dispatch_release(queue);
  dispatch_release(ran);
}

CASE(block_object_may_be_used_by_its_code_after_it_was_released) {
  dispatch_group_t group = dispatch_group_create();
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_async(queue, block);
  });
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_barrier_async(queue, block);
  });
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 1000000), queue, block);
  });
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_group_async(group, queue, block);
  });
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_group_notify(group, queue, block);
  });
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    dispatch_block_t first = dispatch_block_create(0, ^{ });
    dispatch_block_notify(first, queue, block);
    first();
    Block_release(first);
  });
  dispatch_release(group);
}

CASE(block_object_may_be_used_by_its_code_as_a_released_handler) {
  static dispatch_source_t source;
  expect_usable(^(dispatch_queue_t queue, dispatch_block_t block) {
    source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, queue);
    dispatch_source_set_event_handler(source, block);
    dispatch_activate(source);
    dispatch_source_merge_data(source, 1);
  });
  dispatch_source_cancel(source);
  dispatch_release(source);
}

CASE(block_create_refuses_what_it_does_not_know) {
  CHECK(!dispatch_block_create((dispatch_block_flags_t)0x1000, ^{ }));
  CHECK(!dispatch_block_create_with_qos_class((dispatch_block_flags_t)0, 0x22, 0, ^{ }));
  CHECK(!dispatch_block_create_with_qos_class((dispatch_block_flags_t)0, 0x15, 1, ^{ }));
  CHECK(!dispatch_block_create_with_qos_class((dispatch_block_flags_t)0, 0x15, -16, ^{ }));
}

CASE(block_create_takes_every_flag) {
  const unsigned long flags[] = {DISPATCH_BLOCK_BARRIER, DISPATCH_BLOCK_DETACHED,
    DISPATCH_BLOCK_ASSIGN_CURRENT, DISPATCH_BLOCK_NO_QOS_CLASS, DISPATCH_BLOCK_INHERIT_QOS_CLASS,
    DISPATCH_BLOCK_ENFORCE_QOS_CLASS, DISPATCH_BLOCK_BARRIER | DISPATCH_BLOCK_DETACHED};
  static counter ran;
  for (int n = 0; n < 7; n++) {
    dispatch_block_t block =
      dispatch_block_create((dispatch_block_flags_t)flags[n], ^{ count_up(&ran); });
    CHECK(block);
    dispatch_sync(global_queue(), block);
    Block_release(block);
  }
  CHECK_EQUAL(ran.value, 7);
}

CASE(block_create_with_qos_class_runs) {
  static counter ran;
  dispatch_queue_t queue = serial_queue();
  const dispatch_qos_class_t classes[] = {0, 0x09, 0x11, 0x15, 0x19, 0x21};
  for (int n = 0; n < 6; n++) {
    dispatch_block_t block = dispatch_block_create_with_qos_class(
      (dispatch_block_flags_t)0, classes[n], n ? -n : 0, ^{ count_up(&ran); });
    dispatch_async(queue, block);
    Block_release(block);
  }
  drain(queue);
  CHECK_EQUAL(ran.value, 6);
  dispatch_release(queue);
}

CASE(block_perform_runs_in_place) {
  __block int runs = 0;
  dispatch_block_perform(DISPATCH_BLOCK_ASSIGN_CURRENT, ^{ runs++; });
  CHECK_EQUAL(runs, 1);
}

CASE(block_wait_ends_when_it_has_run) {
  __block int value = 0;
  dispatch_queue_t queue = serial_queue();
  dispatch_block_t block = dispatch_block_create(0, ^{ value = 7; });
  dispatch_async(queue, block);
  CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
  CHECK_EQUAL(value, 7);
  Block_release(block);
  dispatch_release(queue);
}

CASE(block_wait_gives_up_in_time_and_may_be_repeated) {
  dispatch_queue_t queue = serial_queue();
  dispatch_suspend(queue);
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  dispatch_async(queue, block);
  CHECK(dispatch_block_wait(block, soon()) != 0);
  CHECK(dispatch_block_wait(block, DISPATCH_TIME_NOW) != 0);
  dispatch_resume(queue);
  CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
  Block_release(block);
  dispatch_release(queue);
}

CASE(block_notify_runs_after_it) {
  static journal order = JOURNAL;
  static latch done = LATCH(2);
  dispatch_queue_t queue = serial_queue();
  dispatch_block_t block = dispatch_block_create(0, ^{ journal_add(&order, 1); });
  dispatch_block_notify(block, queue, ^{
    journal_add(&order, 2);
    latch_down(&done);
  });
  CHECK_EQUAL(journal_count(&order), 0);
  dispatch_sync(queue, block);
  dispatch_block_notify(block, queue, ^{
    journal_add(&order, 3);
    latch_down(&done);
  });
  latch_wait(&done);
  journal_expect(&order, 1, 2, 3);
  Block_release(block);
  dispatch_release(queue);
}

// The wait and the notification may find the end of the block at the same time.
CASE(block_notification_is_on_its_queue_when_a_wait_ends) {
  static counter notified;
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < 1000; n++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ });
    dispatch_block_notify(block, queue, ^{ count_up(&notified); });
    dispatch_async(global_queue(), block);
    CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
    drain(queue);
    CHECK_EQUAL(notified.value, n + 1);
    Block_release(block);
  }
  dispatch_release(queue);
}

CASE(cancelled_block_does_not_run_but_ends) {
  static latch done = LATCH(1);
  __block int runs = 0;
  dispatch_block_t block = dispatch_block_create(0, ^{ runs++; });
  CHECK_EQUAL(dispatch_block_testcancel(block), 0);
  dispatch_block_cancel(block);
  CHECK(dispatch_block_testcancel(block) != 0);
  dispatch_block_notify(block, global_queue(), ^{ latch_down(&done); });
  dispatch_queue_t queue = serial_queue();
  dispatch_async(queue, block);
  CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
  latch_wait(&done);
  CHECK_EQUAL(runs, 0);
  Block_release(block);
  dispatch_release(queue);
}

CASE(running_block_sees_that_it_is_cancelled) {
  static latch started = LATCH(1), cancelled = LATCH(1);
  __block dispatch_block_t block;
  __block bool seen = false;
  block = dispatch_block_create(0, ^{
    latch_down(&started);
    latch_wait(&cancelled);
    seen = dispatch_block_testcancel(block) != 0;
  });
  dispatch_async(global_queue(), block);
  latch_wait(&started);
  dispatch_block_cancel(block);
  latch_down(&cancelled);
  CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
  CHECK(seen);
  Block_release(block);
}

CASE(block_object_in_a_group) {
  __block int runs = 0;
  dispatch_group_t group = dispatch_group_create();
  dispatch_block_t block = dispatch_block_create(0, ^{ runs++; });
  dispatch_group_async(group, global_queue(), block);
  CHECK_EQUAL(dispatch_group_wait(group, deadline()), 0);
  CHECK_EQUAL(runs, 1);
  Block_release(block);
  dispatch_release(group);
}

CASE(block_object_later) {
  __block int runs = 0;
  dispatch_block_t block = dispatch_block_create(0, ^{ runs++; });
  dispatch_after(soon(), global_queue(), block);
  CHECK_EQUAL(dispatch_block_wait(block, deadline()), 0);
  CHECK_EQUAL(runs, 1);
  Block_release(block);
}

CASE(generic_functions_choose_by_type) {
  static latch done = LATCH(2);
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_block_t block = dispatch_block_create(0, ^{ });
  CHECK_EQUAL(dispatch_wait(group, DISPATCH_TIME_NOW), 0);
  CHECK_EQUAL(dispatch_wait(semaphore, DISPATCH_TIME_NOW), 0);
  CHECK(dispatch_wait(block, DISPATCH_TIME_NOW) != 0);
  dispatch_notify(group, global_queue(), ^{ latch_down(&done); });
  dispatch_notify(block, global_queue(), ^{ latch_down(&done); });
  CHECK_EQUAL(dispatch_testcancel(block), 0);
  CHECK_EQUAL(dispatch_testcancel(source), 0);
  dispatch_cancel(block);
  dispatch_cancel(source);
  CHECK(dispatch_testcancel(block) != 0);
  CHECK(dispatch_testcancel(source) != 0);
  block();
  latch_wait(&done);
  Block_release(block);
}

STOPS(waiting_for_a_plain_block_stops, "") {
  dispatch_block_t block = Block_copy(^{ });
  dispatch_block_wait(block, DISPATCH_TIME_FOREVER);
}
#endif
