// The last reference to a source races with each call that may run its handlers.
#include "../Lifetimes.h"
#include "../Private.h"

#include <dlfcn.h>
#include <sys/wait.h>

// MARK: Endings: how a handler ends its source. The source is the handler's context.

static void release_and_end(void *source) {
  dispatch_release((dispatch_source_t)source);
  ended();
}

static void cancel_it(void *source) { dispatch_source_cancel((dispatch_source_t)source); }

// Without a cancel handler the last reference is released at once.
static void cancel_and_release(void *source) {
  dispatch_source_cancel((dispatch_source_t)source);
  release_and_end(source);
}

// The cancel handler releases the only reference.
static void end_in_cancel_handler(dispatch_source_t source) {
  dispatch_set_context(source, source);
  dispatch_source_set_event_handler_f(source, cancel_it);
  dispatch_source_set_cancel_handler_f(source, release_and_end);
}

static void end_in_event_handler(dispatch_source_t source) {
  dispatch_set_context(source, source);
  dispatch_source_set_event_handler_f(source, cancel_and_release);
}

static void end_somehow(dispatch_source_t source) {
  if (chance(2)) end_in_cancel_handler(source);
  else end_in_event_handler(source);
}

static dispatch_source_t source_of(dispatch_source_type_t type, uintptr_t handle, uintptr_t mask) {
  dispatch_source_t source = dispatch_source_create(type, handle, mask, some_queue());
  CHECK(source);
  return source;
}

// Makes a source of a type that the Linux port lacks, looked up so that the suite loads there.
static dispatch_source_t source_beyond(const char *type, uintptr_t handle, uintptr_t mask) {
  return source_of((dispatch_source_type_t)dlsym(RTLD_DEFAULT, type), handle, mask);
}

static dispatch_source_t new_timer(void) { return source_of(DISPATCH_SOURCE_TYPE_TIMER, 0, 0); }

static void set_soon(dispatch_source_t timer) {
  dispatch_source_set_timer(
    timer, dispatch_time(DISPATCH_TIME_NOW, chance(3) * chance(20000)), DISPATCH_TIME_FOREVER,
    (uint64_t)chance(2) * 1000);
}

// MARK: Timers

LIFETIME(timer_resumed) {
  dispatch_source_t timer = new_timer();
  set_soon(timer);
  end_in_cancel_handler(timer);
  dispatch_resume(timer);
}

LIFETIME(timer_activated) {
  dispatch_source_t timer = new_timer();
  set_soon(timer);
  end_somehow(timer);
  dispatch_activate(timer);
}

LIFETIME(timer_released_in_its_handler) {
  dispatch_source_t timer = new_timer();
  set_soon(timer);
  end_in_event_handler(timer);
  dispatch_resume(timer);
}

LIFETIME(timer_set_while_active) {
  dispatch_source_t timer = new_timer();
  end_somehow(timer);
  dispatch_activate(timer);
  pause_a_little();
  set_soon(timer);
}

LIFETIME(timer_resumed_after_suspension) {
  dispatch_source_t timer = new_timer();
  end_somehow(timer);
  dispatch_activate(timer);
  dispatch_suspend(timer);
  set_soon(timer);
  pause_a_little();
  dispatch_resume(timer);
}

// MARK: Handlers that are set late

LIFETIME_BEYOND(event_handler_set_while_active, "what has happened waits for a handler") {
  dispatch_source_t source = source_of(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0);
  dispatch_set_context(source, source);
  dispatch_source_set_cancel_handler_f(source, release_and_end);
  dispatch_activate(source);
  dispatch_source_merge_data(source, 1);
  pause_a_little();
  dispatch_source_set_event_handler_f(source, cancel_it);
}

LIFETIME(registration_handler_ends_it) {
  dispatch_source_t source = source_of(DISPATCH_SOURCE_TYPE_DATA_OR, 0, 0);
  dispatch_set_context(source, source);
  dispatch_source_set_registration_handler_f(source, cancel_it);
  dispatch_source_set_cancel_handler_f(source, release_and_end);
  dispatch_activate(source);
}

LIFETIME(registration_handler_set_while_active) {
  dispatch_source_t source = source_of(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0);
  dispatch_set_context(source, source);
  dispatch_source_set_cancel_handler_f(source, release_and_end);
  dispatch_activate(source);
  pause_a_little();
  dispatch_source_set_registration_handler_f(source, cancel_it);
}

// MARK: Cancelling

LIFETIME(cancel_handler_releases_it) {
  dispatch_source_t timer = new_timer();
  dispatch_set_context(timer, timer);
  dispatch_source_set_cancel_handler_f(timer, release_and_end);
  if (chance(2)) set_soon(timer);
  dispatch_activate(timer);
  pause_a_little();
  dispatch_source_cancel(timer);
}

LIFETIME(cancelled_while_inactive) {
  dispatch_source_t timer = new_timer();
  dispatch_set_context(timer, timer);
  dispatch_source_set_cancel_handler_f(timer, release_and_end);
  dispatch_source_cancel(timer);
  dispatch_resume(timer);
}

static void drop_and_count(void *context) {
  if (let_go(context)) ended();
}

static void cancel_and_drop(void *context) {
  dispatch_source_cancel(((shared_object *)context)->object);
  drop_and_count(context);
}

// Two threads cancel; the cancel handler is the third owner.
LIFETIME(cancelled_by_all_of_its_owners) {
  dispatch_source_t timer = new_timer();
  shared_object *shared = share(timer, 3);
  dispatch_set_context(timer, shared);
  dispatch_source_set_cancel_handler_f(timer, drop_and_count);
  set_soon(timer);
  dispatch_activate(timer);
  elsewhere(shared, cancel_and_drop);
  pause_a_little();
  cancel_and_drop(shared);
}

static void cancel_wait_and_drop(void *context) {
  dispatch_source_cancel_and_wait(((shared_object *)context)->object);
  drop_and_count(context);
}

static void touch(void *context) {
  static counter seen;
  atomic_fetch_add(&seen.value, (long)dispatch_source_get_data(context));
}

LIFETIME(cancelled_and_waited_for) {
  dispatch_source_t timer = new_timer();
  dispatch_set_context(timer, timer);
  dispatch_source_set_event_handler_f(timer, touch);
  set_soon(timer);
  dispatch_activate(timer);
  cancel_wait_and_drop(share(timer, 1));
}

#ifdef __BLOCKS__
// A block with a dispose helper that reports its end, as a block that captures a C++ object has.
typedef struct noticed_block {
  void *isa;
  int flags, reserved;
  void (*invoke)(struct noticed_block *);
  const struct noticed_descriptor *descriptor;
  void *source;
} noticed_block;
typedef struct noticed_descriptor {
  unsigned long reserved, size;
  void (*copy)(void *to, const void *from);
  void (*dispose)(const void *block);
} noticed_descriptor;
extern void *_NSConcreteStackBlock[32];

static void noticed_invoke(noticed_block *block) { (void)block; }
static void noticed_copy(void *to, const void *from) { (void)to, (void)from; }
static void noticed_dispose(const void *block) {
  release_and_end(((const noticed_block *)block)->source);
}
static const noticed_descriptor described = {
  0, sizeof(noticed_block), noticed_copy, noticed_dispose};

// The event handler holds the source's last reference.
LIFETIME(event_handler_keeps_it) {
  dispatch_source_t timer = new_timer();
  noticed_block block = {
    _NSConcreteStackBlock, 1 << 25, 0, noticed_invoke, &described, timer};
  dispatch_source_set_event_handler(timer, (dispatch_block_t)(void *)&block);
  dispatch_activate(timer);
  pause_a_little();
  dispatch_source_cancel(timer);
}
#endif

// MARK: User data

typedef struct tally {
  dispatch_source_t source;
  unsigned long delivered, wanted;
} tally;

static void end_tally(void *context) {
  tally *one = context;
  dispatch_release(one->source);
  free(one);
  ended();
}

static void count_data(void *context) {
  tally *one = context;
  one->delivered += dispatch_source_get_data(one->source);
  if (one->delivered >= one->wanted) dispatch_source_cancel(one->source);
}

static tally *new_tally(dispatch_source_type_t type, unsigned long wanted) {
  tally *made = calloc(1, sizeof *made);
  CHECK(made);
  made->source = source_of(type, 0, 0);
  made->wanted = wanted;
  dispatch_set_context(made->source, made);
  dispatch_source_set_event_handler_f(made->source, count_data);
  dispatch_source_set_cancel_handler_f(made->source, end_tally);
  dispatch_activate(made->source);
  return made;
}

static void merge_one(void *context) { dispatch_source_merge_data(context, 1); }

// The handler ends the source as soon as the value is there, while the call that brought it may
// still run. The toolchain's library reads the source after that, and crashes at times.
#define MERGED "its merge reads the source after the handler may have ended it"

LIFETIME_BEYOND(data_added_by_two_threads, MERGED) {
  tally *one = new_tally(DISPATCH_SOURCE_TYPE_DATA_ADD, 2);
  dispatch_source_t source = one->source;
  elsewhere(source, merge_one);
  pause_a_little();
  merge_one(source);
}

LIFETIME_BEYOND(data_added_in_a_row, MERGED) {
  tally *one = new_tally(DISPATCH_SOURCE_TYPE_DATA_ADD, 5);
  dispatch_source_t source = one->source;
  for (int n = 0; n < 5; n++) merge_one(source);
}

LIFETIME_BEYOND(data_replaced, MERGED) {
  merge_one(new_tally(DISPATCH_SOURCE_TYPE_DATA_REPLACE, 1)->source);
}

LIFETIME_BEYOND(data_merged_as_bits, MERGED) {
  merge_one(new_tally(DISPATCH_SOURCE_TYPE_DATA_OR, 1)->source);
}

// MARK: Descriptors

typedef struct watched {
  dispatch_source_t source;
  pipe_ends ends;
} watched;

static void end_watched(void *context) {
  watched *one = context;
  close(one->ends.reader);
  close(one->ends.writer);
  dispatch_release(one->source);
  free(one);
  ended();
}

static void cancel_watched(void *context) {
  dispatch_source_cancel(((watched *)context)->source);
}

static watched *new_watched(bool is_reader) {
  watched *made = calloc(1, sizeof *made);
  CHECK(made);
  made->ends = make_pipe();
  made->source = source_of(
    is_reader ? DISPATCH_SOURCE_TYPE_READ : DISPATCH_SOURCE_TYPE_WRITE,
    (uintptr_t)(is_reader ? made->ends.reader : made->ends.writer), 0);
  dispatch_set_context(made->source, made);
  dispatch_source_set_event_handler_f(made->source, cancel_watched);
  dispatch_source_set_cancel_handler_f(made->source, end_watched);
  return made;
}

LIFETIME(read_source_activated) {
  watched *one = new_watched(true);
  CHECK(write(one->ends.writer, "x", 1) == 1);
  dispatch_activate(one->source);
}

static void write_one(void *context) {
  CHECK(write(((watched *)context)->ends.writer, "x", 1) == 1);
}

LIFETIME(read_source_resumed_beside_a_writer) {
  watched *one = new_watched(true);
  elsewhere(one, write_one);
  dispatch_resume(one->source);
}

LIFETIME(write_source_activated) { dispatch_activate(new_watched(false)->source); }

LIFETIME(write_source_with_late_registration) {
  watched *one = new_watched(false);
  dispatch_source_set_registration_handler_f(one->source, cancel_watched);
  dispatch_resume(one->source);
}

// MARK: Signals, processes, files

static void raise_it(void *nothing) {
  (void)nothing;
  kill(getpid(), SIGUSR2);
}

static void ignore_it(void) { signal(SIGUSR2, SIG_IGN); }

// The signal is sent when the source is registered; other sources may receive it too.
LIFETIME(signal_source_activated) {
  static pthread_once_t is_ignored = PTHREAD_ONCE_INIT;
  pthread_once(&is_ignored, ignore_it);
  dispatch_source_t source = source_of(DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR2, 0);
  end_somehow(source);
  dispatch_source_set_registration_handler_f(source, raise_it);
  dispatch_activate(source);
}

LIFETIME_BEYOND(process_source_activated, "the toolchain's library has no process sources") {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(0);
  dispatch_source_t source =
    source_beyond("_dispatch_source_type_proc", (uintptr_t)child, DISPATCH_PROC_EXIT);
  end_somehow(source);
  dispatch_activate(source);
  CHECK(waitpid(child, NULL, 0) == child);
}

typedef struct watched_file {
  dispatch_source_t source;
  int file;
  char path[64];
} watched_file;

static void end_file(void *context) {
  watched_file *one = context;
  close(one->file);
  dispatch_release(one->source);
  free(one);
  ended();
}

static void cancel_file(void *context) {
  dispatch_source_cancel(((watched_file *)context)->source);
}

static void unlink_it(void *context) { CHECK(unlink(((watched_file *)context)->path) == 0); }

LIFETIME_BEYOND(file_source_activated, "the toolchain's library has no file sources") {
  watched_file *one = calloc(1, sizeof *one);
  CHECK(one);
  one->file = make_named_file(one->path);
  one->source = source_beyond(
    "_dispatch_source_type_vnode", (uintptr_t)one->file, DISPATCH_VNODE_DELETE);
  dispatch_set_context(one->source, one);
  dispatch_source_set_event_handler_f(one->source, cancel_file);
  dispatch_source_set_cancel_handler_f(one->source, end_file);
  dispatch_activate(one->source);
  unlink_it(one);
}
