// Threads with the smallest stack that the system allows. Each case is a process of its own, so
// each is a first use, by such a thread.
#include "../Check.h"

#include <limits.h>
#include <sys/wait.h>

// Runs `body` on two such threads, one after the other: the second also finds what the first left
// when it ended.
static void on_small_stack(void *(*body)(void *)) {
  pthread_attr_t attributes;
  CHECK(!pthread_attr_init(&attributes));
  CHECK(!pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
  for (int turn = 0; turn < 2; turn++) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, &attributes, body, NULL));
    CHECK(!pthread_join(thread, NULL));
  }
}

static void signal_semaphore(void *semaphore) { dispatch_semaphore_signal(semaphore); }
static void await(dispatch_semaphore_t semaphore) {
  CHECK(!dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER));
}

static void *use_queues(void *unused) {
  dispatch_queue_t serial = serial_queue();
  dispatch_queue_t above = dispatch_queue_create_with_target("above", NULL, serial);
  dispatch_queue_t concurrent = concurrent_queue();
  dispatch_semaphore_t ran = dispatch_semaphore_create(0);
  dispatch_queue_t all[] = {serial, above, concurrent, global_queue()};
  for (int i = 0; i < 4; i++) {
    dispatch_async_f(all[i], ran, signal_semaphore);
    await(ran);
    counter count = {0};
    dispatch_sync_f(all[i], &count, count_up);
    dispatch_barrier_sync_f(all[i], &count, count_up);
    CHECK_EQUAL(count.value, 2);
  }
  dispatch_suspend(serial);
  dispatch_async_f(above, ran, signal_semaphore);
  dispatch_resume(serial);
  await(ran);
  dispatch_release(above);
  dispatch_release(concurrent);
  dispatch_release(serial);
  dispatch_release(ran);
  return unused;
}
CASE(small_stack_uses_queues) { on_small_stack(use_queues); }

static void count_iteration(void *count, size_t index) {
  (void)index;
  count_up(count);
}
static void *use_loops(void *unused) {
  counter count = {0};
  dispatch_apply_f(100, DISPATCH_APPLY_AUTO, &count, count_iteration);
  CHECK_EQUAL(count.value, 100);
  return unused;
}
CASE(small_stack_uses_loops) { on_small_stack(use_loops); }

static void *use_specifics(void *unused) {
  static char keys[20];
  dispatch_queue_t queue = serial_queue();
  for (int i = 0; i < 20; i++) dispatch_queue_set_specific(queue, &keys[i], &keys[i], NULL);
  for (int i = 0; i < 20; i++) CHECK(dispatch_queue_get_specific(queue, &keys[i]) == &keys[i]);
  dispatch_release(queue);
  return unused;
}
CASE(small_stack_uses_specifics) { on_small_stack(use_specifics); }

static void *use_groups(void *unused) {
  dispatch_queue_t queue = serial_queue();
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t notified = dispatch_semaphore_create(0);
  counter count = {0};
  dispatch_group_async_f(group, queue, &count, count_up);
  dispatch_group_notify_f(group, queue, notified, signal_semaphore);
  await(notified);
  CHECK(!dispatch_group_wait(group, DISPATCH_TIME_FOREVER));
  CHECK_EQUAL(count.value, 1);
  dispatch_release(group);
  dispatch_release(queue);
  dispatch_release(notified);
  return unused;
}
CASE(small_stack_uses_groups) { on_small_stack(use_groups); }

static void *use_after(void *unused) {
  dispatch_semaphore_t ran = dispatch_semaphore_create(0);
  dispatch_after_f(
    dispatch_time(DISPATCH_TIME_NOW, 1000000), global_queue(), ran,
    signal_semaphore);
  await(ran);
  dispatch_release(ran);
  return unused;
}
CASE(small_stack_uses_after) { on_small_stack(use_after); }

// Waits for an event of `source`, which it ends.
static void await_event(dispatch_source_t source) {
  dispatch_semaphore_t came = dispatch_semaphore_create(0), ended = dispatch_semaphore_create(0);
  dispatch_set_context(source, came);
  dispatch_source_set_event_handler_f(source, signal_semaphore);
  dispatch_resume(source);
  await(came);
  dispatch_source_set_cancel_handler_f(source, signal_semaphore);
  dispatch_set_context(source, ended);
  dispatch_source_cancel(source);
  await(ended);
  dispatch_release(source);
}

static void *use_timers(void *unused) {
  dispatch_source_t timer = dispatch_source_create(
    DISPATCH_SOURCE_TYPE_TIMER, 0, 0, global_queue());
  dispatch_source_set_timer(timer, DISPATCH_TIME_NOW, DISPATCH_TIME_FOREVER, 0);
  await_event(timer);
  return unused;
}
CASE(small_stack_uses_timers) { on_small_stack(use_timers); }

static void *use_descriptors(void *unused) {
  pipe_ends ends = make_pipe();
  CHECK_EQUAL(write(ends.writer, "x", 1), 1);
  await_event(dispatch_source_create(
    DISPATCH_SOURCE_TYPE_READ, (uintptr_t)ends.reader, 0, global_queue()));
  close(ends.reader);
  close(ends.writer);
  return unused;
}
CASE(small_stack_uses_descriptors) { on_small_stack(use_descriptors); }

static void ignore_number(int number) { (void)number; }
static void *use_signals(void *unused) {
  signal(SIGUSR1, ignore_number);
  dispatch_source_t source = dispatch_source_create(
    DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR1, 0, global_queue());
  dispatch_semaphore_t came = dispatch_semaphore_create(0);
  dispatch_set_context(source, came);
  dispatch_source_set_event_handler_f(source, signal_semaphore);
  dispatch_resume(source);
  // The toolchain's library listens a little later.
  do {
    CHECK(!kill(getpid(), SIGUSR1));
  } while (dispatch_semaphore_wait(came, soon()));
  dispatch_source_cancel(source);
  dispatch_release(source);
  return unused;
}
CASE(small_stack_uses_signals) { on_small_stack(use_signals); }

// Long enough for a waiting thread to look for a deadlock.
static void nap(void *unused) {
  (void)unused;
  usleep(120000);
}
static void *wait_long(void *unused) {
  dispatch_queue_t queues[] = {serial_queue(), concurrent_queue()};
  for (int i = 0; i < 2; i++) {
    counter count = {0};
    dispatch_barrier_async_f(queues[i], NULL, nap);
    dispatch_sync_f(queues[i], &count, count_up);
    CHECK_EQUAL(count.value, 1);
    dispatch_release(queues[i]);
  }
  return unused;
}
CASE(small_stack_waits_for_long) { on_small_stack(wait_long); }

static void *use_child(void *unused) {
  dispatch_queue_t queue = serial_queue();
  drain(queue);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    drain(queue);
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  dispatch_release(queue);
  return unused;
}
BEYOND(small_stack_forks, "the peer stops in the child") { on_small_stack(use_child); }

#ifdef __BLOCKS__
#include <Block.h>

static void *use_blocks(void *unused) {
  dispatch_queue_t queue = serial_queue();
  __block int count = 0;
  dispatch_block_t block = dispatch_block_create(0, ^{ count++; });
  dispatch_async(queue, block);
  CHECK(!dispatch_block_wait(block, DISPATCH_TIME_FOREVER));
  CHECK_EQUAL(count, 1);
  Block_release(block);
  dispatch_release(queue);
  return unused;
}
CASE(small_stack_uses_blocks) { on_small_stack(use_blocks); }

static void *use_channels(void *unused) {
  pipe_ends ends = make_pipe();
  CHECK_EQUAL(write(ends.writer, "hello", 5), 5);
  close(ends.writer);
  dispatch_semaphore_t came = dispatch_semaphore_create(0);
  dispatch_read(ends.reader, 100, global_queue(), ^(dispatch_data_t data, int error) {
    CHECK_EQUAL(error, 0);
    CHECK_EQUAL(dispatch_data_get_size(data), 5);
    dispatch_semaphore_signal(came);
  });
  await(came);
  dispatch_release(came);
  close(ends.reader);
  return unused;
}
CASE(small_stack_uses_channels) { on_small_stack(use_channels); }
#endif
