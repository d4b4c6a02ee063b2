// Runnable work starts, whatever else runs. Each hog ends when the probe has started, so a case
// that hangs has found a probe that never starts.
#define _GNU_SOURCE
#include "../Check.h"

#include <dirent.h>
#include <sched.h>

static atomic_int begun, is_over;

static void compute(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {}
}

static void poll_briefly(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&is_over)) usleep(300);
}

static void yield(void *context) {
  (void)context;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load(&is_over)) sched_yield();
}

static latch ran = LATCH(1);

static void probe(void *context) {
  (void)context;
  atomic_store(&is_over, 1);
  latch_down(&ran);
}

static void fill(dispatch_queue_t (*make)(void), int count, dispatch_function_t hog) {
  for (int n = 0; n < count; n++) dispatch_async_f(make(), NULL, hog);
}

static dispatch_queue_t overcommit_queue(void) {
  return dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 2);
}

static void expect_probe(dispatch_queue_t queue) {
  dispatch_async_f(queue, NULL, probe);
  latch_wait(&ran);
}

CASE(a_serial_queue_runs_beside_serial_queues_that_compute) {
  fill(serial_queue, 16, compute);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_serial_queues_that_poll) {
  fill(serial_queue, 16, poll_briefly);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_serial_queues_that_yield) {
  fill(serial_queue, 16, yield);
  expect_probe(serial_queue());
}

CASE(a_serial_queue_runs_beside_a_global_queue_that_computes) {
  fill(global_queue, 16, compute);
  expect_probe(serial_queue());
}

CASE(a_global_queue_runs_beside_serial_queues_that_compute) {
  fill(serial_queue, 16, compute);
  expect_probe(global_queue());
}

CASE(a_global_queue_that_overcommits_runs_beside_what_computes) {
  fill(global_queue, 16, compute);
  expect_probe(overcommit_queue());
}

BEYOND(a_global_queue_runs_beside_itself_computing, "the peer's pool keeps to its width") {
  fill(global_queue, 4, compute);
  expect_probe(global_queue());
}

BEYOND(a_global_queue_runs_beside_itself_polling, "the peer's pool keeps to its width") {
  fill(global_queue, 16, poll_briefly);
  expect_probe(global_queue());
}

static void meet(void *context) {
  int *count = context;
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&begun) < *count) usleep(300);
  latch_down(&ran);
}

static void expect_meeting(dispatch_queue_t (*make)(void), int count) {
  ran.left = count;
  for (int n = 0; n < count; n++) dispatch_async_f(make(), &count, meet);
  latch_wait(&ran);
}

CASE(serial_queues_that_poll_for_each_other_meet) { expect_meeting(serial_queue, 128); }

CASE(items_of_an_overcommitting_queue_that_poll_for_each_other_meet) {
  expect_meeting(overcommit_queue, 128);
}

BEYOND(items_of_a_global_queue_that_poll_for_each_other_meet,
       "the peer's pool keeps to its width") {
  expect_meeting(global_queue, 48);
}

// MARK: Programs whose items wait for each other

enum { stages = 8, stage_workers = 6, tokens = 100, actors = 127 };
static atomic_int passed[stages + 1];

// Takes tokens that the stage before has passed, and passes them on, until all have come through.
static void work_in_stage(void *context) {
  atomic_int *mine = context;
  while (atomic_load(&passed[stages]) < tokens) {
    int seen = atomic_load(mine);
    if (seen > 0 && atomic_compare_exchange_strong(mine, &seen, seen - 1))
      atomic_fetch_add(mine + 1, 1);
    else
      usleep(100);
  }
  latch_down(&ran);
}

// The last stages begin first, and hold every thread until the first stage has one.
BEYOND(stages_on_concurrent_queues_that_poll_pass_all_tokens,
       "the peer's pool keeps to its width") {
  ran.left = stages * stage_workers;
  atomic_store(&passed[0], tokens);
  for (int stage = stages - 1; stage >= 0; stage--) {
    dispatch_queue_t queue = concurrent_queue();
    for (int n = 0; n < stage_workers; n++) dispatch_async_f(queue, &passed[stage], work_in_stage);
  }
  latch_wait(&ran);
}

static dispatch_queue_t actor_queues[actors];

typedef struct {
  int actor, sum;
  atomic_int has_answer;
  dispatch_semaphore_t answered;
} question;

// Asks the two actors below and keeps the thread until both have answered: every second actor
// polls, the others sleep.
static void answer(void *context) {
  question *asked = context;
  int below = 2 * asked->actor + 1;
  asked->sum = 1;
  if (below < actors) {
    question questions[2];
    for (int n = 0; n < 2; n++) {
      questions[n].actor = below + n;
      atomic_init(&questions[n].has_answer, 0);
      questions[n].answered = dispatch_semaphore_create(0);
      dispatch_async_f(actor_queues[below + n], &questions[n], answer);
    }
    for (int n = 0; n < 2; n++) {
      while (asked->actor % 2 && !atomic_load(&questions[n].has_answer)) usleep(300);
      dispatch_semaphore_wait(questions[n].answered, DISPATCH_TIME_FOREVER);
      dispatch_release(questions[n].answered);
      asked->sum += questions[n].sum;
    }
  }
  atomic_store(&asked->has_answer, 1);
  dispatch_semaphore_signal(asked->answered);
}

CASE(actors_that_hold_their_threads_until_others_answer_all_answer) {
  for (int n = 0; n < actors; n++) actor_queues[n] = serial_queue();
  question first = {.actor = 0, .answered = dispatch_semaphore_create(0)};
  dispatch_async_f(actor_queues[0], &first, answer);
  dispatch_semaphore_wait(first.answered, DISPATCH_TIME_FOREVER);
  CHECK(first.sum == actors);
}

// MARK: The overcommitting global queues

CASE(a_global_queue_that_overcommits_is_another_queue) {
  dispatch_queue_t one = overcommit_queue();
  CHECK(one && one != global_queue());
  CHECK(one == overcommit_queue());
  CHECK(dispatch_get_global_queue(0x09, 2) != one);
  CHECK(strcmp(dispatch_queue_get_label(one), dispatch_queue_get_label(global_queue())));
}

static const char *label_inside;

static void read_label(void *context) {
  (void)context;
  label_inside = dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL);
  latch_down(&ran);
}

CASE(items_know_the_overcommitting_queue_that_they_are_on) {
  dispatch_async_f(overcommit_queue(), NULL, read_label);
  latch_wait(&ran);
  CHECK_TEXT(label_inside, dispatch_queue_get_label(overcommit_queue()));
}

// MARK: Chains: no item lasts, and no queue becomes idle

// The items that have run in all chains.
static progress links;

static void compute_and_submit(void *queue) {
  int64_t end = monotonic_now() + 20000;
  while (monotonic_now() < end) {}
  progress_add(&links);
  if (!atomic_load(&is_over)) dispatch_async_f(queue, queue, compute_and_submit);
}

static void expect_probes_beside_chains(void) {
  dispatch_queue_t queue = serial_queue();
  for (int round = 0; round < 20; round++) {
    latch came = LATCH(1);
    dispatch_async_f(queue, &came, open_latch);
    latch_wait(&came);
    // The next probe comes when the workers are deep in the chains again.
    progress_await(&links, 300);
  }
  atomic_store(&is_over, 1);
}

CASE(a_serial_queue_runs_beside_chains_of_serial_queues) {
  for (int n = 0; n < 4; n++) {
    dispatch_queue_t queue = serial_queue();
    dispatch_async_f(queue, queue, compute_and_submit);
  }
  expect_probes_beside_chains();
}

CASE(a_serial_queue_runs_beside_chains_of_queues_on_a_concurrent_queue) {
  dispatch_queue_t base = concurrent_queue();
  for (int n = 0; n < 4; n++) {
    dispatch_queue_t queue = dispatch_queue_create_with_target("chain", NULL, base);
    dispatch_async_f(queue, queue, compute_and_submit);
  }
  expect_probes_beside_chains();
}

CASE(a_serial_queue_runs_beside_chains_of_queues_on_serial_queues) {
  for (int n = 0; n < 4; n++) {
    dispatch_queue_t queue = dispatch_queue_create_with_target("chain", NULL, serial_queue());
    dispatch_async_f(queue, queue, compute_and_submit);
  }
  expect_probes_beside_chains();
}

CASE(chains_of_serial_queues_all_continue) {
  dispatch_queue_t queues[4];
  counter count = {0};
  for (int n = 0; n < 4; n++) {
    queues[n] = serial_queue();
    dispatch_async_f(queues[n], queues[n], compute_and_submit);
  }
  for (int round = 0; round < 25; round++) {
    for (int n = 0; n < 4; n++) dispatch_sync_f(queues[n], &count, count_up);
  }
  CHECK_EQUAL(count.value, 100);
  atomic_store(&is_over, 1);
}

// MARK: Items that wait in turn for one queue

enum { RECORDS = 5000, MANY_THREADS = 500 };

static atomic_int records, max_threads;

static int count_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  CHECK(folder);
  int count = 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count - 2;
}

static void store(void *context) {
  (void)context;
  usleep(50);
  if (atomic_fetch_add(&records, 1) % 50 != 0) return;
  int now = count_threads();
  if (now > atomic_load(&max_threads)) atomic_store(&max_threads, now);
}

static void handle_record(void *context) {
  dispatch_sync_f(context, NULL, store);
  latch_down(&ran);
}

static void run_on_global_queue(dispatch_queue_t queue, int count, dispatch_function_t work) {
  ran = (latch)LATCH(count);
  for (int n = 0; n < count; n++) dispatch_async_f(global_queue(), queue, work);
  latch_wait(&ran);
}

// The owner of the queue makes progress, so more threads would only wait with the others.
CASE(items_that_wait_in_turn_for_a_queue_take_few_threads) {
  run_on_global_queue(serial_queue(), RECORDS, handle_record);
  CHECK(max_threads < MANY_THREADS);
}

// More items than there may be threads wait for a queue that has much to do first. Threads that
// drain it must not all come to wait for it, too.
enum { LONG_BACKLOG = 100000, WAITERS = 3000 };

static void compute_briefly(void *context) {
  (void)context;
  for (volatile int n = 0; n < 500; n++) {}
}

static void nothing(void *context) { (void)context; }

static void wait_for_queue(void *context) {
  dispatch_sync_f(context, NULL, nothing);
  latch_down(&ran);
}

CASE(a_queue_with_a_backlog_runs_while_all_threads_wait_for_it) {
  dispatch_queue_t queue = serial_queue();
  for (int n = 0; n < LONG_BACKLOG; n++) dispatch_async_f(queue, NULL, compute_briefly);
  run_on_global_queue(queue, WAITERS, wait_for_queue);
}

// As before, but what each item waits for is an item of the queue. Only the queue itself, with a
// thread of its own, can end the waits.
static void record_and_read(void *context) {
  for (int n = 0; n < 3; n++) {
    dispatch_async_f(context, NULL, compute_briefly);
    dispatch_sync_f(context, NULL, nothing);
  }
  latch_down(&ran);
}

CASE(a_queue_runs_items_while_all_threads_wait_behind_them) {
  run_on_global_queue(serial_queue(), 5000, record_and_read);
}

static void signal_semaphore(void *context) { dispatch_semaphore_signal(context); }

static dispatch_semaphore_t begins;

static void request_and_wait(void *context) {
  dispatch_semaphore_signal(begins);
  dispatch_semaphore_t answered = dispatch_semaphore_create(0);
  dispatch_async_f(context, answered, signal_semaphore);
  dispatch_semaphore_wait(answered, DISPATCH_TIME_FOREVER);
  dispatch_release(answered);
  latch_down(&ran);
}

// Our library has two threads for items here, and both wait when the queue is resumed.
CASE(a_queue_that_is_resumed_answers_all_threads) {
  CHECK(setenv("GRANDCENTRAL_THREADS", "2", 1) == 0);
  begins = dispatch_semaphore_create(0);
  dispatch_queue_t queue = serial_queue();
  dispatch_suspend(queue);
  ran = (latch)LATCH(WAITERS);
  for (int n = 0; n < WAITERS; n++) dispatch_async_f(global_queue(), queue, request_and_wait);
  for (int n = 0; n < 2; n++) dispatch_semaphore_wait(begins, DISPATCH_TIME_FOREVER);
  dispatch_resume(queue);
  latch_wait(&ran);
}

// MARK: Items beside hundreds of serial queues whose items sleep

static void sleep_and_submit(void *queue) {
  usleep(3000);
  progress_add(&links);
  if (!atomic_load(&is_over)) dispatch_async_f(queue, queue, sleep_and_submit);
}

// The queues use little of a CPU, and always have work. An item of another queue must run after few
// of theirs.
static void expect_few_before_each(dispatch_queue_t queue) {
  enum { SLEEPERS = 200, PROBES = 30, FEW = 500 };
  for (int n = 0; n < SLEEPERS; n++) {
    dispatch_queue_t sleeper = serial_queue();
    dispatch_async_f(sleeper, sleeper, sleep_and_submit);
  }
  long before_all = 0;
  for (int n = 0; n < PROBES; n++) {
    // The probe comes when all of them are at work again.
    progress_await(&links, SLEEPERS);
    latch came = LATCH(1);
    long before = atomic_load(&links.count);
    dispatch_async_f(queue, &came, open_latch);
    latch_wait(&came);
    before_all += atomic_load(&links.count) - before;
  }
  atomic_store(&is_over, 1);
  CHECK(before_all < PROBES * FEW);
}

CASE(a_global_queue_runs_beside_many_serial_queues_that_sleep) {
  expect_few_before_each(global_queue());
}

CASE(an_urgent_global_queue_runs_beside_many_serial_queues_that_sleep) {
  expect_few_before_each(dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_HIGH, 0));
}

CASE(a_concurrent_queue_runs_beside_many_serial_queues_that_sleep) {
  expect_few_before_each(concurrent_queue());
}
