// Sources whose types the Linux port lacks: processes, files, memory pressure. Their symbols are
// looked up at run time, so that the suite loads with a library that does not export them.
#include "../Check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WHY "the peer has no such type on Linux"

static dispatch_source_type_t type_named(const char *name) {
  dispatch_source_type_t type = (dispatch_source_type_t)dlsym(RTLD_DEFAULT, name);
  if (!type) fail(__FILE__, __LINE__, "there is no %s", name);
  return type;
}

typedef struct watch {
  dispatch_source_t source;
  latch *happened;
  _Atomic unsigned long data;
} watch;
static void note(void *context) {
  watch *one = context;
  atomic_fetch_or(&one->data, dispatch_source_get_data(one->source));
  latch_down(one->happened);
}
static void ready(void *context) { latch_down(context); }
static void begin(watch *one, const char *type, uintptr_t handle, uintptr_t mask) {
  static latch registered;
  registered = (latch)LATCH(1);
  one->source = dispatch_source_create(type_named(type), handle, mask, serial_queue());
  CHECK(one->source);
  dispatch_set_context(one->source, &registered);
  dispatch_source_set_registration_handler_f(one->source, ready);
  dispatch_source_set_event_handler_f(one->source, note);
  dispatch_activate(one->source);
  latch_wait(&registered);
  dispatch_set_context(one->source, one);
}

BEYOND(process_source_tells_the_exit, WHY) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  pipe_ends ends = make_pipe();
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    char byte;
    close(ends.writer);
    _exit(read(ends.reader, &byte, 1) < 0);
  }
  begin(&one, "_dispatch_source_type_proc", (uintptr_t)child, DISPATCH_PROC_EXIT);
  close(ends.writer);
  latch_wait(&happened);
  CHECK_EQUAL(one.data & DISPATCH_PROC_EXIT, DISPATCH_PROC_EXIT);
  CHECK_EQUAL(waitpid(child, NULL, 0), child);
}

BEYOND(vnode_source_tells_that_a_file_grows, WHY) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  char path[64];
  int file = make_named_file(path);
  begin(&one, "_dispatch_source_type_vnode", (uintptr_t)file,
    DISPATCH_VNODE_WRITE | DISPATCH_VNODE_EXTEND);
  CHECK_EQUAL(write(file, "more", 4), 4);
  latch_wait(&happened);
  CHECK(one.data & DISPATCH_VNODE_WRITE);
  CHECK(unlink(path) == 0);
}

BEYOND(vnode_source_tells_that_a_file_is_deleted, WHY) {
  static watch one;
  static latch happened = LATCH(1);
  one.happened = &happened;
  char path[64];
  int file = make_named_file(path);
  begin(&one, "_dispatch_source_type_vnode", (uintptr_t)file, DISPATCH_VNODE_DELETE);
  CHECK(unlink(path) == 0);
  latch_wait(&happened);
  CHECK_EQUAL(one.data, DISPATCH_VNODE_DELETE);
}

BEYOND(vnode_source_tells_of_a_name_that_comes_and_goes, WHY) {
  char path[64], other[80];
  int file = make_named_file(path);
  snprintf(other, sizeof other, "%s.other", path);
  for (int round = 0; round < 20; round++) {
    static watch one;
    static latch happened;
    happened = (latch)LATCH(1);
    one.happened = &happened;
    one.data = 0;
    begin(&one, "_dispatch_source_type_vnode", (uintptr_t)file, DISPATCH_VNODE_LINK);
    struct stat before, now;
    CHECK(fstat(file, &before) == 0);
    // With a coarse clock the file's times may not have changed; try again.
    do {
      CHECK(link(path, other) == 0 && unlink(other) == 0 && fstat(file, &now) == 0);
    } while (before.st_ctim.tv_sec == now.st_ctim.tv_sec
             && before.st_ctim.tv_nsec == now.st_ctim.tv_nsec);
    latch_wait(&happened);
    CHECK_EQUAL(one.data, DISPATCH_VNODE_LINK);
    static latch ended;
    ended = (latch)LATCH(1);
    dispatch_suspend(one.source);
    dispatch_set_context(one.source, &ended);
    dispatch_source_set_event_handler_f(one.source, NULL);
    dispatch_source_set_cancel_handler_f(one.source, open_latch);
    dispatch_source_cancel(one.source);
    dispatch_resume(one.source);
    latch_wait(&ended);
    dispatch_release(one.source);
  }
  CHECK(unlink(path) == 0);
}

BEYOND(memory_pressure_source_can_be_made_and_cancelled, WHY) {
  static latch cancelled = LATCH(1);
  dispatch_source_t source = dispatch_source_create(
    type_named("_dispatch_source_type_memorypressure"), 0,
    DISPATCH_MEMORYPRESSURE_WARN | DISPATCH_MEMORYPRESSURE_CRITICAL, NULL);
  CHECK(source);
  dispatch_set_context(source, &cancelled);
  dispatch_source_set_cancel_handler_f(source, ready);
  dispatch_activate(source);
  dispatch_source_cancel(source);
  latch_wait(&cancelled);
}

// MARK: Beside sources that come and go

enum { CHANGES = 20000, CHURNERS = 3 };
static latch heard[CHANGES];
static int changes_heard;
static _Atomic bool churn_stops;

static void note_size(void *context) {
  struct stat now;
  CHECK(fstat((int)(intptr_t)context, &now) == 0);
  while (changes_heard < now.st_size) latch_down(&heard[changes_heard++]);
}
static void ignore(void *context) { (void)context; }

static void *churn(void *context) {
  static _Atomic int number;
  const uintptr_t masks[CHURNERS] = {
    DISPATCH_VNODE_ATTRIB, DISPATCH_VNODE_WRITE, DISPATCH_VNODE_DELETE | DISPATCH_VNODE_RENAME};
  uintptr_t mask = masks[atomic_fetch_add(&number, 1) % CHURNERS];
  dispatch_source_type_t type = type_named("_dispatch_source_type_vnode");
  dispatch_queue_t queue = serial_queue();
  while (!churn_stops) {
    latch ended = LATCH(1);
    dispatch_source_t source =
      dispatch_source_create(type, (uintptr_t)(intptr_t)context, mask, queue);
    CHECK(source);
    dispatch_set_context(source, &ended);
    dispatch_source_set_event_handler_f(source, ignore);
    dispatch_source_set_cancel_handler_f(source, ready);
    dispatch_activate(source);
    dispatch_source_cancel(source);
    latch_wait(&ended);
    dispatch_release(source);
  }
  return NULL;
}

BEYOND(vnode_source_hears_every_change_beside_short_lived_sources, WHY) {
  int file = make_file("", 0);
  for (int n = 0; n < CHANGES; n++) heard[n] = (latch)LATCH(1);
  dispatch_source_t source = dispatch_source_create(
    type_named("_dispatch_source_type_vnode"), (uintptr_t)file, DISPATCH_VNODE_WRITE,
    serial_queue());
  CHECK(source);
  dispatch_set_context(source, (void *)(intptr_t)file);
  dispatch_source_set_event_handler_f(source, note_size);
  dispatch_activate(source);
  pthread_t threads[CHURNERS];
  for (int n = 0; n < CHURNERS; n++)
    CHECK(pthread_create(&threads[n], NULL, churn, (void *)(intptr_t)file) == 0);
  for (int n = 0; n < CHANGES; n++) {
    CHECK_EQUAL(write(file, "x", 1), 1);
    latch_wait(&heard[n]);
  }
  churn_stops = true;
  for (int n = 0; n < CHURNERS; n++) CHECK(pthread_join(threads[n], NULL) == 0);
}
