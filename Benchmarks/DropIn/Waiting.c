// Semaphores, groups, once.
#include "Bench.h"

#include <pthread.h>
#include <stdlib.h>

static void uncontended(size_t count) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  for (size_t i = 0; i < count; i++) {
    dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER);
    dispatch_semaphore_signal(semaphore);
  }
  dispatch_release(semaphore);
}

typedef struct rally {
  dispatch_semaphore_t ping, pong;
  size_t count;
} rally;

static void *answer(void *argument) {
  rally *game = argument;
  for (size_t i = 0; i < game->count; i++) {
    dispatch_semaphore_wait(game->ping, DISPATCH_TIME_FOREVER);
    dispatch_semaphore_signal(game->pong);
  }
  return NULL;
}

static void rallies(size_t count) {
  rally game = {dispatch_semaphore_create(0), dispatch_semaphore_create(0), count};
  pthread_t other;
  pthread_create(&other, NULL, answer, &game);
  for (size_t i = 0; i < count; i++) {
    dispatch_semaphore_signal(game.ping);
    dispatch_semaphore_wait(game.pong, DISPATCH_TIME_FOREVER);
  }
  pthread_join(other, NULL);
  dispatch_release(game.ping);
  dispatch_release(game.pong);
}

static void past_deadlines(size_t count) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(0);
  dispatch_time_t past = dispatch_time(DISPATCH_TIME_NOW, -1000000);
  for (size_t i = 0; i < count; i++) EXPECT(dispatch_semaphore_wait(semaphore, past) != 0);
  dispatch_release(semaphore);
}

// MARK: Groups

static void entered_and_left(size_t count) {
  dispatch_group_t group = dispatch_group_create();
  for (size_t i = 0; i < count; i++) {
    dispatch_group_enter(group);
    dispatch_group_leave(group);
  }
  dispatch_release(group);
}

static void group_async(size_t count) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = dispatch_queue_create("group", NULL);
  size_t ran = 0;
  for (size_t i = 0; i < count; i++) dispatch_group_async_f(group, queue, &ran, add_one);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  EXPECT(ran == count);
  dispatch_release(queue);
  dispatch_release(group);
}

static void notified(size_t count) {
  dispatch_queue_t queue = dispatch_queue_create("notified", NULL);
  size_t ran = 0;
  for (size_t i = 0; i < count; i++) {
    dispatch_group_t group = dispatch_group_create();
    dispatch_group_enter(group);
    dispatch_group_notify_f(group, queue, &ran, add_one);
    dispatch_group_leave(group);
    dispatch_release(group);
  }
  dispatch_sync_f(queue, &ran, add_one);
  EXPECT(ran == count + 1);
  dispatch_release(queue);
}

// MARK: Once, without the inline check of the headers

static void (*volatile call_once)(dispatch_once_t *, void *, dispatch_function_t) =
    (dispatch_once_f);

static void done_already(size_t count) {
  dispatch_once_t once = 0;
  size_t ran = 0;
  for (size_t i = 0; i < count; i++) call_once(&once, &ran, add_one);
  EXPECT(ran == 1);
}

static void for_the_first_time(size_t count) {
  dispatch_once_t *words = calloc(count, sizeof *words);
  size_t ran = 0;
  for (size_t i = 0; i < count; i++) call_once(&words[i], &ran, add_one);
  EXPECT(ran == count);
  free(words);
}

const workload waiting_workloads[] = {
  {"semaphore/wait and signal", uncontended, 0},
  {"semaphore/ping-pong of two threads", rallies, 0},
  {"semaphore/a deadline that is past", past_deadlines, 0},
  {"group/enter and leave", entered_and_left, 0},
  {"group/async_f and wait", group_async, 0},
  {"group/made, notified once", notified, 0},
  {"once_f/done", done_already, 0},
  {"once_f/first", for_the_first_time, 0},
  {0},
};
