// The rows of groups, semaphores, sources, and objects and values that live for one operation.
#include <Block.h>

#include "Rows.h"

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

// `number` seconds after an hour from the first call. A fixed time of the clock would have passed
// where the machine runs for longer, and a timer for it would fire.
static dispatch_time_t in_hours(size_t number) {
  static dispatch_time_t hour;
  if (hour == 0) hour = dispatch_time(DISPATCH_TIME_NOW, 3600 * (int64_t)NSEC_PER_SEC);
  return hour + number * NSEC_PER_SEC;
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

static dispatch_data_t data_of_regions(int count) {
  static char bytes[64];
  dispatch_data_t data = dispatch_data_empty;
  for (int i = 0; i < count; i++) {
    dispatch_data_t one =
        dispatch_data_create(bytes, sizeof bytes, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    dispatch_data_t longer = dispatch_data_create_concat(data, one);
    dispatch_release(data);
    dispatch_release(one);
    data = longer;
  }
  return data;
}

static void data_applied(size_t count) {
  dispatch_data_t data = data_of_regions(10);
  for (size_t i = 0; i < count; i++) {
    dispatch_data_apply(
        data, ^bool(dispatch_data_t region, size_t offset, const void *buffer, size_t size) {
          (void)region, (void)offset, (void)buffer;
          ran += size;
          return true;
        });
  }
  dispatch_release(data);
}

static void data_region(size_t count) {
  dispatch_data_t data = data_of_regions(10);
  for (size_t i = 0; i < count; i++) {
    size_t offset;
    const void *bytes;
    dispatch_data_t region = dispatch_data_copy_region(data, 300, &offset);
    dispatch_data_t map = dispatch_data_create_map(region, &bytes, NULL);
    ran += offset;
    dispatch_release(region);
    dispatch_release(map);
  }
  dispatch_release(data);
}

const row object_rows[] = {
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
  {"data, applied to 10 regions", data_applied, ALONE},
  {"data, region copied and mapped", data_region, ALONE},
  {0},
};
