// Functions that the peer exports without a declaration in its headers.
#include "../Private.h"
#include "../Check.h"

#include <sched.h>
#include <sys/wait.h>

static journal order = JOURNAL;

CASE(async_and_wait_f_returns_when_it_has_run) {
  static step steps[2] = {{&order, 1, NULL}, {&order, 2, NULL}};
  dispatch_queue_t queue = serial_queue(), concurrent = concurrent_queue();
  dispatch_async_f(queue, &steps[0], take_step);
  dispatch_async_and_wait_f(queue, &steps[1], take_step);
  journal_expect(&order, 1, 2);
  static counter ran;
  dispatch_async_and_wait_f(concurrent, &ran, count_up);
  dispatch_barrier_async_and_wait_f(concurrent, &ran, count_up);
  dispatch_async_and_wait_f(global_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 3);
}

CASE(async_enforce_qos_class_f_runs) {
  static latch done = LATCH(1);
  dispatch_async_enforce_qos_class_f(serial_queue(), &done, open_latch);
  latch_wait(&done);
}

CASE(overcommit_attribute_makes_a_queue) {
  static counter ran;
  dispatch_queue_attr_t one = dispatch_queue_attr_make_with_overcommit(NULL, true);
  dispatch_queue_t queue = dispatch_queue_create(NULL, one);
  dispatch_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
  dispatch_release(queue);
}

CASE(label_can_be_lent) {
  static const char label[] = "conformance.lent";
  dispatch_queue_t queue = dispatch_queue_create(NULL, NULL);
  dispatch_queue_set_label_nocopy(queue, label);
  CHECK(dispatch_queue_get_label(queue) == label);
  dispatch_release(queue);
}

static _Atomic int inside;
static latch through;
static void measure(void *context) {
  int now = atomic_fetch_add(&inside, 1) + 1;
  CHECK(now <= (int)(intptr_t)context);
  for (volatile int n = 0; n < 20000; n++) { }
  atomic_fetch_sub(&inside, 1);
  latch_down(&through);
}

CASE(width_bounds_a_concurrent_queue) {
  through = (latch)LATCH(200);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT_INACTIVE);
  dispatch_queue_set_width(queue, 2);
  dispatch_activate(queue);
  for (int n = 0; n < 200; n++) dispatch_async_f(queue, (void *)(intptr_t)2, measure);
  latch_wait(&through);
  dispatch_release(queue);
}

static void arrive(void *context) { latch_down(context); }

BEYOND(width_of_one_keeps_items_apart, "a width of one stops the program there") {
  through = (latch)LATCH(200);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT);
  dispatch_async_f(queue, &through, arrive);
  dispatch_queue_set_width(queue, 1);
  for (int n = 0; n < 198; n++) dispatch_async_f(queue, (void *)(intptr_t)1, measure);
  dispatch_sync_f(queue, (void *)(intptr_t)1, measure);
  latch_wait(&through);
  dispatch_release(queue);
}

CASE(width_may_be_changed_at_work) {
  through = (latch)LATCH(300);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT);
  for (int n = 0; n < 300; n++) {
    int width = 1 + n % 3;
    dispatch_queue_set_width(queue, width);
    dispatch_async_f(queue, (void *)(intptr_t)width, measure);
  }
  latch_wait(&through);
  dispatch_release(queue);
}

static void measure_iteration(void *context, size_t index) {
  (void)index;
  measure(context);
}

BEYOND(width_bounds_a_loop, "a width of one stops the program there") {
  through = (latch)LATCH(200);
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT_INACTIVE);
  dispatch_queue_set_width(queue, 1);
  dispatch_activate(queue);
  dispatch_apply_f(200, queue, (void *)(intptr_t)1, measure_iteration);
  latch_wait(&through);
  dispatch_release(queue);
}

static dispatch_queue_t narrow;
static void apply_again(void *context, size_t index) {
  (void)context, (void)index;
  dispatch_apply_f(4, narrow, (void *)(intptr_t)2, measure_iteration);
}

BEYOND(width_lets_loops_nest, "the width of a loop inside another is the toolchain's own") {
  through = (latch)LATCH(16);
  narrow = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT);
  dispatch_queue_set_width(narrow, 2);
  dispatch_apply_f(4, narrow, NULL, apply_again);
  latch_wait(&through);
  dispatch_release(narrow);
}

static dispatch_queue_t wide;
static counter in_place;
static void apply_in_place(void *unused) {
  (void)unused;
  count_up(&in_place);
  while (atomic_load(&in_place.value) < 2) { sched_yield(); }
  // Both permits are held, by items that start loops of their own.
  dispatch_apply_f(8, wide, (void *)(intptr_t)2, measure_iteration);
}

CASE(width_lets_loops_of_items_inside_continue) {
  through = (latch)LATCH(16);
  narrow = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT);
  dispatch_queue_set_width(narrow, 2);
  wide = dispatch_queue_create_with_target(NULL, DISPATCH_QUEUE_CONCURRENT, narrow);
  for (int n = 0; n < 2; n++) dispatch_async_f(wide, NULL, apply_in_place);
  latch_wait(&through);
  dispatch_release(wide);
  dispatch_release(narrow);
}

CASE(width_by_number_of_cpus) {
  static counter ran;
  dispatch_queue_t queue = dispatch_queue_create(NULL, DISPATCH_QUEUE_CONCURRENT_INACTIVE);
  dispatch_queue_set_width(queue, -3);
  dispatch_activate(queue);
  dispatch_barrier_sync_f(queue, &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

static pthread_t runner;
static int turns;
static void take_turn(void *number) {
  CHECK(pthread_equal(pthread_self(), runner));
  CHECK_EQUAL(++turns, (int)(intptr_t)number);
}

CASE(run_loop_queue_runs_one_item_a_turn) {
  runner = pthread_self();
  CHECK(!_dispatch_runloop_root_queue_create_4CF("flags", 1));
  dispatch_queue_t queue = _dispatch_runloop_root_queue_create_4CF("turns", 0);
  CHECK(!strcmp(dispatch_queue_get_label(queue), "turns"));
  CHECK(!_dispatch_runloop_root_queue_perform_4CF(queue));
  for (intptr_t n = 1; n <= 3; n++) dispatch_async_f(queue, (void *)n, take_turn);
  _dispatch_runloop_root_queue_wakeup_4CF(queue);
  for (int n = 1; n <= 3; n++) {
    CHECK_EQUAL(turns, n - 1);
    CHECK_EQUAL(_dispatch_runloop_root_queue_perform_4CF(queue), n < 3);
  }
  CHECK_EQUAL(turns, 3);
  CHECK(!_dispatch_runloop_root_queue_perform_4CF(queue));
  dispatch_release(queue);
}

CASE(run_loop_queue_is_a_target) {
  runner = pthread_self();
  dispatch_queue_t queue = _dispatch_runloop_root_queue_create_4CF("turns", 0);
  dispatch_queue_t child = dispatch_queue_create_with_target("child", NULL, queue);
  for (intptr_t n = 1; n <= 2; n++) dispatch_async_f(child, (void *)n, take_turn);
  while (_dispatch_runloop_root_queue_perform_4CF(queue)) { }
  CHECK_EQUAL(turns, 2);
  dispatch_release(child);
  dispatch_release(queue);
}

static void let_go(void *queue) { dispatch_release(queue); }

CASE(run_loop_queue_may_end_in_its_last_turn) {
  dispatch_queue_t queue = _dispatch_runloop_root_queue_create_4CF("turns", 0);
  dispatch_async_f(queue, queue, let_go);
  CHECK(!_dispatch_runloop_root_queue_perform_4CF(queue));
}

BEYOND(run_loop_queue_ends_with_its_finalizer, "the finalizer is never called there") {
  static latch ended = LATCH(1);
  dispatch_queue_t queue = _dispatch_runloop_root_queue_create_4CF("turns", 0);
  dispatch_set_context(queue, &ended);
  dispatch_set_finalizer_f(queue, arrive);
  dispatch_release(queue);
  latch_wait(&ended);
}

static void note_turn(void *done) { latch_down(done); }
static latch synced = LATCH(1);
static void *sync_into(void *queue) {
  dispatch_sync_f(queue, &synced, note_turn);
  return NULL;
}

CASE(run_loop_queue_lets_a_sync_in) {
  runner = pthread_self();
  dispatch_queue_t queue = _dispatch_runloop_root_queue_create_4CF("turns", 0);
  dispatch_async_f(queue, (void *)1, take_turn);
  pthread_t other;
  CHECK(!pthread_create(&other, NULL, sync_into, queue));
  while (!latch_is_open(&synced)) {
    _dispatch_runloop_root_queue_perform_4CF(queue);
    sched_yield();
  }
  CHECK_EQUAL(turns, 1);
  CHECK(!pthread_join(other, NULL));
  dispatch_release(queue);
}

CASE(benchmark_f_tells_a_duration) {
  static counter ran;
  dispatch_benchmark_f(1000, &ran, count_up);
  CHECK(ran.value >= 1000);
}

CASE(process_knows_that_it_has_threads) {
  static latch done = LATCH(1);
  dispatch_async_f(global_queue(), &done, open_latch);
  latch_wait(&done);
  CHECK(_dispatch_is_multithreaded());
  CHECK(!_dispatch_is_fork_of_multithreaded_parent());
}

static void note_cancel(void *context) { latch_down(context); }

CASE(source_cancel_and_wait_returns_when_it_is_over) {
  pipe_ends ends = make_pipe();
  dispatch_source_t source = dispatch_source_create(
    DISPATCH_SOURCE_TYPE_READ, (uintptr_t)ends.reader, 0, serial_queue());
  dispatch_activate(source);
  dispatch_source_cancel_and_wait(source);
  CHECK(dispatch_source_testcancel(source) != 0);
  CHECK_EQUAL(close(ends.reader), 0);
  dispatch_release(source);
}

CASE(mandatory_cancel_handler_runs) {
  static latch cancelled = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_set_context(source, &cancelled);
  dispatch_source_set_mandatory_cancel_handler_f(source, note_cancel);
  dispatch_activate(source);
  dispatch_source_cancel(source);
  latch_wait(&cancelled);
}

static void run_once(void *context) { latch_down(context); }
static void use_queues_and_exit(void) {
  static latch done = LATCH(1);
  dispatch_async_f(serial_queue(), &done, run_once);
  latch_wait(&done);
  static latch later = LATCH(1);
  dispatch_after_f(soon(), global_queue(), &later, run_once);
  latch_wait(&later);
  _exit(0);
}

static void expect_child(pid_t child) {
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
}

BEYOND(child_of_a_fork_uses_queues, "the peer stops in the child") {
  static latch done = LATCH(1);
  dispatch_async_f(global_queue(), &done, open_latch);
  latch_wait(&done);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) use_queues_and_exit();
  expect_child(child);
}

CASE(fork_handlers_may_be_called) {
  dispatch_atfork_prepare();
  dispatch_atfork_parent();
  static counter ran;
  dispatch_sync_f(serial_queue(), &ran, count_up);
  CHECK_EQUAL(ran.value, 1);
}

BEYOND(fork_handlers_called_by_hand_do_no_harm, "the peer stops in the child") {
  static latch done = LATCH(1);
  dispatch_async_f(global_queue(), &done, open_latch);
  latch_wait(&done);
  dispatch_atfork_prepare();
  dispatch_atfork_prepare();
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    dispatch_atfork_child();
    dispatch_atfork_child();
    use_queues_and_exit();
  }
  dispatch_atfork_parent();
  dispatch_atfork_parent();
  dispatch_atfork_parent();
  expect_child(child);
  static latch again = LATCH(1);
  dispatch_async_f(global_queue(), &again, open_latch);
  latch_wait(&again);
}

#ifdef __BLOCKS__
CASE(async_and_wait_blocks_run) {
  __block int runs = 0;
  dispatch_queue_t queue = concurrent_queue();
  dispatch_async_and_wait(queue, ^{ runs++; });
  dispatch_barrier_async_and_wait(queue, ^{ runs++; });
  CHECK_EQUAL(runs, 2);
}

CASE(benchmark_runs_a_block) {
  __block int runs = 0;
  dispatch_benchmark(10, ^{ runs++; });
  CHECK(runs >= 10);
}

CASE(mandatory_cancel_handler_block_runs) {
  static latch cancelled = LATCH(1);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, NULL);
  dispatch_source_set_mandatory_cancel_handler(source, ^{ latch_down(&cancelled); });
  dispatch_activate(source);
  dispatch_source_cancel(source);
  latch_wait(&cancelled);
}
#endif
