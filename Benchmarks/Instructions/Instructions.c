// Runs the hot paths of the C interface under callgrind, which counts their instructions. The verb
// `instructions` starts it and reads the counts.
//
// A row runs its operation N times, then 2 N times. The difference of the two counts is that of N
// operations: what a row does once, and what the engine does at its first use, cancels out.
// Docs/Performance.md says what the table is for.
#include <Block.h>
#include <dispatch/dispatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

// Exported by both libraries, but missing from the toolchain's headers.
extern void dispatch_async_and_wait_f(dispatch_queue_t, void *, dispatch_function_t);

// How exactly an operation is counted: the tolerance of its row in percent.
enum {
  // On this thread alone. The count is exact with one compiler; another minor version of it, and
  // the C library's choice of memcpy(3) by processor, change it a little.
  ALONE = 2,
  // A worker drains. The engine's monitor looks once a millisecond, which takes more instructions
  // for each operation the slower the machine is.
  DRAINED = 15,
  // An event wakes the thread that handles it.
  WAKING = 25,
  // Threads sleep and wake each other, and the kernel decides whether a thread sleeps at all: the
  // row is shown, not compared.
  SHOWN = 0,
};

typedef struct row {
  const char *name;
  // Runs `count` operations and returns when all have ended.
  void (*body)(size_t count);
  int tolerance;
} row;

// Each count is taken several times, and the verb uses the least: where threads sleep and wake, and
// beside the engine's monitor, which looks once a millisecond, disturbances only add to it.
enum { FEW = 2000, MANY = 2 * FEW, SAMPLES = 5 };

static size_t ran;
static void add_one(void *context) { ++*(size_t *)context; }
static void add_one_and_index(void *context, size_t index) { *(size_t *)context += index; }
static void nothing(void *context) { (void)context; }

static dispatch_queue_t serial(void) { return dispatch_queue_create("serial", NULL); }
static dispatch_queue_t concurrent(void) {
  return dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
}

// sync: on this thread alone.

typedef void (*sync_function)(dispatch_queue_t, void *, dispatch_function_t);

static void sync_on(dispatch_queue_t queue, size_t count, sync_function run) {
  for (size_t i = 0; i < count; i++) run(queue, &ran, add_one);
  dispatch_release(queue);
}

static void sync_idle(size_t count) { sync_on(serial(), count, dispatch_sync_f); }
static void sync_reader(size_t count) { sync_on(concurrent(), count, dispatch_sync_f); }
static void sync_barrier(size_t count) { sync_on(concurrent(), count, dispatch_barrier_sync_f); }
static void sync_and_wait(size_t count) { sync_on(serial(), count, dispatch_async_and_wait_f); }
static void sync_global(size_t count) {
  sync_on(dispatch_get_global_queue(0, 0), count, dispatch_sync_f);
}
static void sync_targeted(size_t count) {
  dispatch_queue_t bottom = serial();
  sync_on(dispatch_queue_create_with_target("top", NULL, bottom), count, dispatch_sync_f);
  dispatch_release(bottom);
}
static void sync_block(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) dispatch_sync(queue, ^{ ran += i; });
  dispatch_release(queue);
}

// async: submitted by this thread while the queue's first item waits, then drained by one worker.
// Threads wait for each other in read(2), because such a wait runs no code of the engine.

typedef int ends[2];
static ends finished, gate;

static void put(ends pipe) {
  if (write(pipe[1], "", 1) != 1) abort();
}

static void get(ends pipe) {
  char byte;
  if (read(pipe[0], &byte, 1) != 1) abort();
}

static void report_end(void *context) {
  (void)context;
  put(finished);
}

static void await_end(void) { get(finished); }

static void hold(void *context) {
  (void)context;
  put(finished);
  get(gate);
}

// The queue's worker waits until drain().
static dispatch_queue_t held(dispatch_queue_t queue) {
  dispatch_barrier_async_f(queue, NULL, hold);
  await_end();
  return queue;
}

static void drain(dispatch_queue_t queue) {
  dispatch_barrier_async_f(queue, NULL, report_end);
  put(gate);
  await_end();
  dispatch_release(queue);
}

static void async_on(dispatch_queue_t queue, size_t count, sync_function submit) {
  held(queue);
  for (size_t i = 0; i < count; i++) submit(queue, &ran, add_one);
  drain(queue);
}

static void async_serial(size_t count) { async_on(serial(), count, dispatch_async_f); }
static void async_concurrent(size_t count) { async_on(concurrent(), count, dispatch_async_f); }
static void async_barrier(size_t count) { async_on(concurrent(), count, dispatch_barrier_async_f); }

static void async_block(size_t count) {
  dispatch_queue_t queue = held(serial());
  for (size_t i = 0; i < count; i++) dispatch_async(queue, ^{ ran += i; });
  drain(queue);
}

// A group that lives for one notification.
static void group_notified(size_t count) {
  dispatch_queue_t queue = held(serial());
  for (size_t i = 0; i < count; i++) {
    dispatch_group_t group = dispatch_group_create();
    dispatch_group_enter(group);
    dispatch_group_notify_f(group, queue, &ran, add_one);
    dispatch_group_leave(group);
    dispatch_release(group);
  }
  drain(queue);
}

static void async_group(size_t count) {
  dispatch_queue_t queue = held(serial());
  dispatch_group_t group = dispatch_group_create();
  for (size_t i = 0; i < count; i++) dispatch_group_async_f(group, queue, &ran, add_one);
  drain(queue);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  dispatch_release(group);
}

// Items that submit the next one, on one worker.
typedef struct chain {
  dispatch_queue_t queues[2];
  size_t left;
} chain;

static void hop(void *context) {
  chain *all = context;
  if (all->left-- == 0) return report_end(NULL);
  dispatch_async_f(all->queues[all->left & 1], all, hop);
}

static void async_again(size_t count) {
  dispatch_queue_t queue = serial();
  chain all = {{queue, queue}, count};
  dispatch_async_f(queue, &all, hop);
  await_end();
  dispatch_release(queue);
}

static void async_between(size_t count) {
  chain all = {{serial(), serial()}, count};
  dispatch_async_f(all.queues[0], &all, hop);
  await_end();
  for (int i = 0; i < 2; i++) dispatch_release(all.queues[i]);
}

static void async_global(size_t count) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  chain all = {{queue, queue}, count};
  dispatch_async_f(queue, &all, hop);
  await_end();
}

// From an idle engine to the worker and back: a wake-up each.
static void async_wake(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) {
    dispatch_async_f(queue, NULL, report_end);
    await_end();
  }
  dispatch_release(queue);
}

static void apply_serial(size_t count) {
  dispatch_queue_t queue = serial();
  dispatch_apply_f(count, queue, &ran, add_one_and_index);
  dispatch_release(queue);
}

static void apply_global(size_t count) {
  dispatch_apply_f(count, dispatch_get_global_queue(0, 0), &ran, add_one_and_index);
}

// Coordination.

static void group_enter_leave(size_t count) {
  dispatch_group_t group = dispatch_group_create();
  for (size_t i = 0; i < count; i++) {
    dispatch_group_enter(group);
    dispatch_group_leave(group);
  }
  dispatch_release(group);
}

static void group_within(size_t count) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_enter(group);
  for (size_t i = 0; i < count; i++) {
    dispatch_group_enter(group);
    dispatch_group_leave(group);
  }
  dispatch_group_leave(group);
  dispatch_release(group);
}

static void semaphore_permit(size_t count) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  for (size_t i = 0; i < count; i++) {
    dispatch_semaphore_signal(semaphore);
    dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
  }
  dispatch_release(semaphore);
}

static void semaphore_poll(size_t count) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  for (size_t i = 0; i < count; i++) {
    ran += dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) != 0;
  }
  dispatch_release(semaphore);
}

static void semaphore_life(size_t count) {
  for (size_t i = 0; i < count; i++) dispatch_release(dispatch_semaphore_create(1));
}

// The function, not what the headers put in front of it.
#undef dispatch_once_f
static void (*volatile once)(dispatch_once_t *, void *, dispatch_function_t) = dispatch_once_f;

static void once_done(size_t count) {
  static dispatch_once_t done;
  for (size_t i = 0; i < count; i++) once(&done, &ran, add_one);
}

static void suspend_resume(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) {
    dispatch_suspend(queue);
    dispatch_resume(queue);
  }
  dispatch_release(queue);
}

static void suspend_again(size_t count) {
  dispatch_queue_t queue = serial();
  dispatch_suspend(queue);
  for (size_t i = 0; i < count; i++) {
    dispatch_suspend(queue);
    dispatch_resume(queue);
  }
  dispatch_resume(queue);
  dispatch_release(queue);
}

// Sources.

static dispatch_time_t in_hours(size_t number) {
  return (dispatch_time_t)(3600 + number) * NSEC_PER_SEC;
}

static dispatch_source_t started(dispatch_source_type_t type, uintptr_t handle, void *context,
                                 dispatch_function_t handler) {
  dispatch_queue_t queue = serial();
  dispatch_source_t source = dispatch_source_create(type, handle, 0, queue);
  dispatch_release(queue);
  dispatch_set_context(source, context);
  dispatch_source_set_event_handler_f(source, handler);
  dispatch_resume(source);
  return source;
}

static void end(dispatch_source_t source) {
  dispatch_source_set_cancel_handler_f(source, report_end);
  dispatch_source_cancel(source);
  await_end();
  dispatch_release(source);
}

static void timer_again(size_t count) {
  dispatch_source_t timer = started(DISPATCH_SOURCE_TYPE_TIMER, 0, NULL, nothing);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_set_timer(timer, in_hours(i % 1000), DISPATCH_TIME_FOREVER, 0);
  }
  end(timer);
}

static void timer_life(size_t count) {
  dispatch_queue_t queue = serial();
  for (size_t i = 0; i < count; i++) {
    dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, queue);
    dispatch_source_set_event_handler_f(timer, nothing);
    dispatch_source_set_timer(timer, in_hours(i), DISPATCH_TIME_FOREVER, 0);
    dispatch_resume(timer);
    dispatch_source_cancel(timer);
    dispatch_release(timer);
  }
  dispatch_release(queue);
}

static void data_merged(size_t count) {
  dispatch_source_t source = started(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, NULL, nothing);
  dispatch_suspend(source);
  for (size_t i = 0; i < count; i++) dispatch_source_merge_data(source, 1);
  dispatch_resume(source);
  end(source);
}

static void data_event(size_t count) {
  dispatch_source_t source = started(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, NULL, report_end);
  for (size_t i = 0; i < count; i++) {
    dispatch_source_merge_data(source, 1);
    await_end();
  }
  end(source);
}

static ends arrived;

static void echo(void *context) {
  (void)context;
  get(arrived);
  put(finished);
}

static void read_event(size_t count) {
  if (pipe(arrived) != 0) abort();
  dispatch_source_t source =
      started(DISPATCH_SOURCE_TYPE_READ, (uintptr_t)arrived[0], NULL, echo);
  for (size_t i = 0; i < count; i++) {
    put(arrived);
    await_end();
  }
  end(source);
  close(arrived[0]);
  close(arrived[1]);
}

// Objects and values.

static void queue_life(size_t count) {
  for (size_t i = 0; i < count; i++) dispatch_release(serial());
}

static void references_to(dispatch_queue_t queue, size_t count) {
  for (size_t i = 0; i < count; i++) {
    dispatch_retain(queue);
    dispatch_release(queue);
  }
  dispatch_release(queue);
}

static void references(size_t count) { references_to(serial(), count); }
static void references_global(size_t count) {
  references_to(dispatch_get_global_queue(0, 0), count);
}

static char key;

static void look_up(void *context) {
  for (size_t i = 0; i < *(size_t *)context; i++) ran += dispatch_get_specific(&key) == &key;
}

static void specific(size_t count) {
  dispatch_queue_t queue = serial();
  dispatch_queue_set_specific(queue, &key, &key, NULL);
  dispatch_sync_f(queue, &count, look_up);
  dispatch_release(queue);
}

// Not by the declaration of the headers, which lets the compiler merge the calls.
static dispatch_queue_t (*volatile get_global_queue)(intptr_t, uintptr_t) =
    dispatch_get_global_queue;

static void global_queue(size_t count) {
  for (size_t i = 0; i < count; i++) ran += get_global_queue(0, 0) != NULL;
}

static void time_later(size_t count) {
  dispatch_time_t time = NSEC_PER_SEC;
  for (size_t i = 0; i < count; i++) time = dispatch_time(time, 1000);
  ran += time;
}

static void time_date(size_t count) {
  struct timespec date = {1700000000, 0};
  for (size_t i = 0; i < count; i++) ran += dispatch_walltime(&date, (int64_t)i);
}

static void block_life(size_t count) {
  for (size_t i = 0; i < count; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ ran += i; });
    block();
    Block_release(block);
  }
}

static void block_waited(size_t count) {
  for (size_t i = 0; i < count; i++) {
    dispatch_block_t block = dispatch_block_create(0, ^{ ran += i; });
    block();
    ran += dispatch_block_wait(block, DISPATCH_TIME_FOREVER) == 0;
    Block_release(block);
  }
}

static void data_life(size_t count) {
  static char bytes[64];
  for (size_t i = 0; i < count; i++) {
    dispatch_data_t half =
        dispatch_data_create(bytes, sizeof bytes, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    dispatch_data_t whole = dispatch_data_create_concat(half, half);
    ran += dispatch_data_get_size(whole);
    dispatch_release(whole);
    dispatch_release(half);
  }
}

static const row rows[] = {
  {"sync, idle serial queue", sync_idle, ALONE},
  {"sync, idle serial queue, block", sync_block, ALONE},
  {"sync, idle queue on a queue", sync_targeted, ALONE},
  {"sync, reader", sync_reader, ALONE},
  {"sync, barrier", sync_barrier, ALONE},
  {"sync, global queue", sync_global, ALONE},
  {"async_and_wait, idle serial queue", sync_and_wait, ALONE},
  {"async and drain, serial queue", async_serial, DRAINED},
  {"async and drain, serial queue, block", async_block, DRAINED},
  {"async and drain, concurrent queue", async_concurrent, DRAINED},
  {"async and drain, barriers", async_barrier, DRAINED},
  {"async and drain, group", async_group, DRAINED},
  {"async from an item, own queue", async_again, DRAINED},
  {"async from an item, other queue", async_between, DRAINED},
  {"async from an item, global queue", async_global, DRAINED},
  {"async and back, worker woken", async_wake, SHOWN},
  {"apply, an iteration, serial queue", apply_serial, ALONE},
  {"apply, an iteration, global queue", apply_global, ALONE},
  {"group, enter and leave, empty", group_enter_leave, ALONE},
  {"group, enter and leave, not empty", group_within, ALONE},
  {"group, made, notified and released", group_notified, DRAINED},
  {"semaphore, signal and wait", semaphore_permit, ALONE},
  {"semaphore, no permit, no timeout", semaphore_poll, ALONE},
  {"semaphore, made and released", semaphore_life, ALONE},
  {"once, done", once_done, ALONE},
  {"suspend and resume", suspend_resume, ALONE},
  {"suspend and resume, suspended", suspend_again, ALONE},
  {"timer, armed again", timer_again, DRAINED},
  {"timer, made, armed and cancelled", timer_life, ALONE},
  {"data source, merge", data_merged, DRAINED},
  {"data source, event", data_event, SHOWN},
  {"read source, event", read_event, WAKING},
  {"queue, made and released", queue_life, ALONE},
  {"retain and release", references, ALONE},
  {"retain and release, global queue", references_global, ALONE},
  {"get_specific", specific, ALONE},
  {"get_global_queue", global_queue, ALONE},
  {"time, later", time_later, ALONE},
  {"walltime, a date", time_date, ALONE},
  {"block_create, called, released", block_life, ALONE},
  {"block_create, called, waited for", block_waited, ALONE},
  {"data, made, joined, released", data_life, ALONE},
};

// Writes the instructions since the last dump, which the verb finds by this name, and starts anew.
static void count(const row *row, size_t operations, const char *which) {
  char name[128];
  snprintf(name, sizeof name, "%s|%s,%zu", row->name, which, operations);
  row->body(operations);
  CALLGRIND_DUMP_STATS_AT(name);
}

static int prepare(void) { return pipe(finished) == 0 && pipe(gate) == 0 ? 0 : 71; }

// In a process of its own, so that no row warms up the engine for another.
static int run(const row *row) {
  pid_t child = fork();
  if (child == 0) {
    if (prepare() != 0) _exit(71);
    // CALLGRIND_ZERO_STATS is not used: it leaves the sums of other threads as they are.
    count(row, FEW, "first");
    for (int i = 0; i < SAMPLES; i++) count(row, FEW, "few");
    for (int i = 0; i < SAMPLES; i++) count(row, MANY, "many");
    _exit(0);
  }
  int status = -1;
  if (waitpid(child, &status, 0) == child && status == 0) return 0;
  fprintf(stderr, "%s: ended with status %d\n", row->name, status);
  return 70;
}

// instructions [FILTER]          prints the names and tolerances of the rows that contain FILTER,
//                                and runs them
// instructions --list            prints them only
// instructions --once ROW COUNT  runs a row's body once, in this process, for a profile: in the
//                                dumps callgrind knows only the functions in which threads began
int main(int argc, char **argv) {
  const char *filter = argc > 1 ? argv[1] : "";
  int list = !strcmp(filter, "--list");
  int once = !strcmp(filter, "--once");
  if (once && argc != 4) return 64;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (once) {
      if (strcmp(rows[i].name, argv[2])) continue;
      int status = prepare();
      if (status == 0) rows[i].body(strtoul(argv[3], NULL, 10));
      _exit(status);
    }
    if (!list && !strstr(rows[i].name, filter)) continue;
    printf("%s\t%d\n", rows[i].name, rows[i].tolerance);
    fflush(stdout);
    int status = list ? 0 : run(&rows[i]);
    if (status != 0) return status;
  }
  return once ? 64 : 0;
}
