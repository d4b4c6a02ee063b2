// Uses the headers as C clients do, in every C standard. Compiled without warnings, and run.
#include <dispatch/dispatch.h>
#include <os/object.h>
#include <sys/qos.h>

#include <stdio.h>

DISPATCH_ENUM(client_kind, unsigned long, CLIENT_KIND_ONE = 1, CLIENT_KIND_TWO = 2, );
DISPATCH_DECL(client_object);

static int ran;
static void run(void *context) { ++*(int *)context; }
static void run_with_number(void *context, size_t number) {
  // The queue is serial, so this needs no atomic.
  *(int *)context += (int)number;
}
DISPATCH_INLINE DISPATCH_ALWAYS_INLINE DISPATCH_NONNULL1 int twice(int *value) {
  return *value * 2;
}
DISPATCH_NORETURN void never_called(void);

static int use_queues(void) {
  dispatch_queue_t queue = dispatch_queue_create("usability", DISPATCH_QUEUE_SERIAL);
  dispatch_queue_t other = dispatch_queue_create_with_target(
      NULL, DISPATCH_QUEUE_CONCURRENT_INACTIVE, DISPATCH_TARGET_QUEUE_DEFAULT);
  dispatch_queue_t global = dispatch_get_global_queue(QOS_CLASS_UTILITY, 0);
  dispatch_queue_main_t main_queue = dispatch_get_main_queue();
  dispatch_queue_attr_t attribute = dispatch_queue_attr_make_with_qos_class(
      DISPATCH_QUEUE_CONCURRENT, QOS_CLASS_BACKGROUND, QOS_MIN_RELATIVE_PRIORITY);
  dispatch_set_target_queue(other, global);
  dispatch_activate(other);
  dispatch_async_f(queue, &ran, run);
  dispatch_sync_f(queue, &ran, run);
  dispatch_apply_f(4, queue, &ran, run_with_number);
  dispatch_apply_f(0, DISPATCH_APPLY_AUTO, &ran, run_with_number);
  dispatch_set_context(queue, &ran);
  dispatch_assert_queue_not_debug(queue);
  dispatch_retain(queue);
  dispatch_release(queue);
  dispatch_release(other);
  os_retain(queue);
  os_release(queue);
  {
    int right = attribute && main_queue && dispatch_get_context(queue) == &ran;
    dispatch_release(queue);
    return right && ran == 2 + 0 + 1 + 2 + 3;
  }
}

static int use_the_rest(void) {
  static dispatch_once_t once;
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_ADD, 0, 0, DISPATCH_TARGET_QUEUE_DEFAULT);
  dispatch_time_t later = dispatch_time(DISPATCH_TIME_NOW, (int64_t)(10 * NSEC_PER_SEC));
  int runs = 0, right;
  dispatch_once_f(&once, &runs, run);
  dispatch_once_f(&once, &runs, run);
  dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), &runs, run);
  right = dispatch_group_wait(group, later) == 0 && runs == 2;
  right = right && dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) == 0;
  dispatch_semaphore_signal(semaphore);
  dispatch_source_cancel(source);
  right = right && dispatch_source_testcancel(source) != 0;
  dispatch_activate(source);
  dispatch_release(source);
  dispatch_release(semaphore);
  dispatch_release(group);
  return right && dispatch_data_get_size(dispatch_data_empty) == 0;
}

#ifdef __BLOCKS__
static int use_blocks(void) {
  __block int value = 0;
  dispatch_queue_t queue = dispatch_queue_create(NULL, NULL);
  dispatch_block_flags_t flags =
      (dispatch_block_flags_t)(DISPATCH_BLOCK_BARRIER | DISPATCH_BLOCK_DETACHED);
  dispatch_sync(queue, ^{ value = 1; });
  dispatch_apply(3, queue, ^(size_t n) { value += (int)n; });
  dispatch_block_perform(flags, ^{ value *= 10; });
  dispatch_release(queue);
  return value == 40;
}
#else
static int use_blocks(void) { return 1; }
#endif

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
static int use_generics(void) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  int right = dispatch_wait(group, DISPATCH_TIME_NOW) == 0
      && dispatch_wait(semaphore, DISPATCH_TIME_NOW) == 0;
  dispatch_semaphore_signal(semaphore);
  dispatch_release(group);
  dispatch_release(semaphore);
  return right;
}
#else
static int use_generics(void) { return 1; }
#endif

int main(void) {
  client_kind_t kind = CLIENT_KIND_TWO;
  client_object_t object = NULL;
  int two = 2;
  int right = use_queues() && use_the_rest() && use_blocks() && use_generics()
      && kind == CLIENT_KIND_TWO && !object && twice(&two) == 4;
  if (!right) fprintf(stderr, "usability: something is wrong\n");
  return !right;
}
