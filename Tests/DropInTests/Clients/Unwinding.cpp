// An exception or longjmp() leaves an item, so the item's queue stays locked. The thread continues,
// and does not use that queue again. Arguments: throw or jump; and then again, release or async.
#include <dispatch/dispatch.h>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <unistd.h>

extern "C" {
void dispatch_async_and_wait_f(dispatch_queue_t, void *, dispatch_function_t);
void dispatch_async_and_wait(dispatch_queue_t, dispatch_block_t);
}

static bool jumps;
static thread_local jmp_buf before;
static int key;

static void leave(void *) {
  if (jumps) longjmp(before, 1);
  throw 1;
}
static void leave_loop(void *context, size_t) { leave(context); }

// Overwrites what earlier calls have left on the stack.
__attribute__((noinline)) static void overwrite() {
  volatile char bytes[16384];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x5a;
}

typedef void (*Call)(dispatch_queue_t queue, dispatch_queue_t shared);

__attribute__((noinline)) static void abandon(Call call, dispatch_queue_t queue,
                                              dispatch_queue_t shared) {
  if (setjmp(before)) return;
  try {
    call(queue, shared);
  } catch (int) {
  }
}

static void look_up(void *found) { *(bool *)found = dispatch_get_specific(&key) == &key; }

// Whether the thread can wait, and enter other queues, idle and busy, from a deeper stack and not.
static bool can_continue() {
  overwrite();
  dispatch_semaphore_t never = dispatch_semaphore_create(0);
  dispatch_semaphore_wait(never, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC));
  dispatch_queue_t other = dispatch_queue_create("other", NULL);
  dispatch_queue_t inner = dispatch_queue_create("inner", NULL);
  dispatch_queue_set_specific(other, &key, &key, NULL);
  bool found[4] = {};
  dispatch_sync_f(other, &found[0], look_up);
  dispatch_async_f(other, &found[1], look_up);
  bool *nested = found;
  dispatch_sync(other, ^{
    overwrite();
    dispatch_sync_f(inner, &nested[2], look_up);
    dispatch_semaphore_wait(never, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC));
    nested[3] = dispatch_get_specific(&key) == &key;
  });
  dispatch_release(never);
  dispatch_release(other);
  dispatch_release(inner);
  overwrite();
  return found[0] && found[1] && !found[2] && found[3];
}

static const struct {
  const char *name;
  Call call;
} calls[] = {
    {"sync_f", [](auto queue, auto) { dispatch_sync_f(queue, NULL, leave); }},
    {"sync", [](auto queue, auto) { dispatch_sync(queue, ^{ leave(NULL); }); }},
    {"barrier_sync_f", [](auto, auto shared) { dispatch_barrier_sync_f(shared, NULL, leave); }},
    {"barrier_sync", [](auto, auto shared) { dispatch_barrier_sync(shared, ^{ leave(NULL); }); }},
    {"async_and_wait_f", [](auto queue, auto) { dispatch_async_and_wait_f(queue, NULL, leave); }},
    {"async_and_wait", [](auto queue, auto) { dispatch_async_and_wait(queue, ^{ leave(NULL); }); }},
    {"apply_f", [](auto queue, auto) { dispatch_apply_f(1, queue, NULL, leave_loop); }},
    {"sync_f on a target",
     [](auto queue, auto shared) {
       dispatch_set_target_queue(shared, queue);
       dispatch_sync_f(shared, NULL, leave);
     }},
    {"sync_f shared", [](auto, auto shared) { dispatch_sync_f(shared, NULL, leave); }},
};

static void leave_each(void *) {
  for (auto &one : calls) {
    abandon(one.call, dispatch_queue_create("left", NULL),
            dispatch_queue_create("left", DISPATCH_QUEUE_CONCURRENT));
    printf("%s=%d\n", one.name, can_continue());
  }
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  jumps = strcmp(arguments[1], "jump") == 0;
  dispatch_queue_t queue = dispatch_queue_create("left", NULL);
  if (count > 2 && strcmp(arguments[2], "async") == 0) {
    std::set_terminate([] {
      puts("terminate=1");
      abort();
    });
    dispatch_async_f(queue, NULL, leave);
    pause();
  }
  if (count > 2) {
    abandon(calls[0].call, queue, NULL);
    if (strcmp(arguments[2], "release") == 0) dispatch_release(queue);
    dispatch_sync_f(queue, NULL, [](void *) {});
    return 0;
  }
  leave_each(NULL);
  // On a worker, and then another item of that queue.
  dispatch_async_f(queue, NULL, leave_each);
  bool found = false;
  dispatch_queue_set_specific(queue, &key, &key, NULL);
  dispatch_sync_f(queue, &found, look_up);
  printf("later=%d\n", found);
}
