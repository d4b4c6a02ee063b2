// Time values, and frequent small calls: references, contexts, queue-specific data.
#include "Bench.h"

static void from_now(size_t count) {
  dispatch_time_t latest = 0;
  for (size_t i = 0; i < count; i++) latest = dispatch_time(DISPATCH_TIME_NOW, (int64_t)i);
  EXPECT(latest != 0);
}

static void from_a_time(size_t count) {
  dispatch_time_t time = dispatch_time(DISPATCH_TIME_NOW, 0);
  for (size_t i = 0; i < count; i++) time = dispatch_time(time, 1000);
  EXPECT(time != DISPATCH_TIME_FOREVER);
}

static void from_the_wall(size_t count) {
  dispatch_time_t latest = 0;
  for (size_t i = 0; i < count; i++) latest = dispatch_walltime(NULL, (int64_t)i);
  EXPECT(latest != 0);
}

static void from_a_date(size_t count) {
  struct timespec date = {1700000000, 0};
  dispatch_time_t latest = 0;
  for (size_t i = 0; i < count; i++) latest = dispatch_walltime(&date, (int64_t)i);
  EXPECT(latest != 0);
}

static void make_queues(size_t count, const char *label) {
  for (size_t i = 0; i < count; i++) {
    dispatch_queue_t queue = dispatch_queue_create(label, NULL);
    EXPECT(queue);
    dispatch_release(queue);
  }
}

static void queues(size_t count) { make_queues(count, "short-lived"); }
static void queues_with_long_labels(size_t count) {
  make_queues(count, "com.example.server.connection");
}

static void references(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("counted", NULL);
  for (size_t i = 0; i < count; i++) {
    dispatch_retain(queue);
    dispatch_release(queue);
  }
  dispatch_release(queue);
}

// As a language's wrapper object does that lives for one call.
static void global_references(size_t count) {
  dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
  for (size_t i = 0; i < count; i++) {
    dispatch_retain(queue);
    dispatch_release(queue);
  }
}

typedef struct look_up {
  size_t count;
  void *found;
} look_up;

static char key;

static void look(void *context) {
  look_up *work = context;
  for (size_t i = 0; i < work->count; i++) work->found = dispatch_get_specific(&key);
}

static void specifics(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("specific", NULL);
  dispatch_queue_set_specific(queue, &key, &key, NULL);
  look_up work = {count, NULL};
  dispatch_sync_f(queue, &work, look);
  EXPECT(work.found == &key);
  dispatch_release(queue);
}

// Not by the declaration of the headers, which lets the compiler merge the calls.
static dispatch_queue_t (*volatile get_global_queue)(intptr_t, uintptr_t) =
    dispatch_get_global_queue;

static void global_queues(size_t count) {
  for (size_t i = 0; i < count; i++) EXPECT(get_global_queue(0, 0));
}

const workload time_workloads[] = {
  {"time/dispatch_time, now", from_now, 0},
  {"time/dispatch_time, later", from_a_time, 0},
  {"time/dispatch_walltime, now", from_the_wall, 0},
  {"time/dispatch_walltime, a date", from_a_date, 0},
  {"object/queue made and released", queues, 0},
  {"object/queue with a long label, made and released", queues_with_long_labels, 0},
  {"object/retain and release", references, 0},
  {"object/retain and release, a global queue", global_references, 0},
  {"object/get_specific", specifics, 0},
  {"object/get_global_queue", global_queues, 0},
  {0},
};
