// The workloads: those of Verification/Scaling, and threads without queues for comparison.
#include "Scaling.h"

#include <stdlib.h>

static size_t one(void) { return 1; }
static size_t a_quarter(void) { return cores < 4 ? 1 : (size_t)cores / 4; }
static size_t half(void) { return cores < 2 ? 1 : (size_t)cores / 2; }
static size_t all_but_one(void) { return cores < 2 ? 1 : (size_t)cores - 1; }
static size_t all(void) { return (size_t)cores; }

static void count_item(void *context) {
  (void)context;
  item();
}

static void do_nothing(void *context) { (void)context; }

static dispatch_queue_t global(void) { return dispatch_get_global_queue(0, 0); }

// A serial queue for each core, on cache lines of its own, and what its items need.
typedef struct lane {
  _Alignas(128) dispatch_queue_t queue;
  dispatch_queue_t other;
  dispatch_group_t group;
  dispatch_source_t timer;
  size_t left;
  _Atomic int is_done;
} lane;

static void *make_lanes(size_t count) {
  (void)count;
  lane *lanes = aligned_alloc(128, sizeof(lane) * (size_t)cores);
  for (int i = 0; i < cores; i++) {
    lanes[i] = (lane){
      dispatch_queue_create("lane", NULL), dispatch_queue_create("other", NULL),
      dispatch_group_create(), NULL, 0, 0};
  }
  return lanes;
}

static void drop_lanes(void *state) {
  lane *lanes = state;
  for (int i = 0; i < cores; i++) {
    // The last item has counted itself, but may not have ended.
    dispatch_group_wait(lanes[i].group, DISPATCH_TIME_FOREVER);
    dispatch_sync_f(lanes[i].queue, NULL, do_nothing);
    dispatch_sync_f(lanes[i].other, NULL, do_nothing);
    dispatch_release(lanes[i].queue);
    dispatch_release(lanes[i].other);
    dispatch_release(lanes[i].group);
  }
  free(lanes);
}

// Each core's queue keeps eight items, as a connection with some requests in flight does.
static void chain_step(void *context) {
  lane *own = context;
  if (own->left > 0) {
    own->left--;
    dispatch_async_f(own->queue, own, chain_step);
  }
  item();
}

static void chain_begin(void *context) {
  lane *own = context;
  for (int i = 0; i < 8 && own->left > 0; i++) {
    own->left--;
    dispatch_async_f(own->queue, own, chain_step);
  }
}

static size_t chains(size_t count, void *state) {
  lane *lanes = state;
  size_t each = count / (size_t)cores;
  for (int i = 0; i < cores; i++) {
    lanes[i].left = each;
    dispatch_async_f(lanes[i].queue, &lanes[i], chain_begin);
  }
  return each * (size_t)cores;
}

static void produce_own(void *state, size_t number, size_t count) {
  dispatch_queue_t queue = ((lane *)state)[number].queue;
  for (size_t i = 0; i < count; i++) dispatch_async_f(queue, NULL, count_item);
}

static void produce_shared(void *state, size_t number, size_t count) {
  (void)number;
  produce_own(state, 0, count);
}

static void produce_global(void *state, size_t number, size_t count) {
  (void)state, (void)number;
  for (size_t i = 0; i < count; i++) dispatch_async_f(global(), NULL, count_item);
}

static void produce_sync(void *state, size_t number, size_t count) {
  dispatch_queue_t queue = ((lane *)state)[number].queue;
  for (size_t i = 0; i < count; i++) dispatch_sync_f(queue, NULL, count_item);
}

static void produce_nothing(void *state, size_t number, size_t count) {
  (void)state, (void)number;
  for (size_t i = 0; i < count; i++) item();
}

// A tree of as many items as `context` says.
static void grow(void *context) {
  size_t size = (size_t)context, left = (size - 1) / 2, right = size - 1 - left;
  if (left) dispatch_async_f(global(), (void *)left, grow);
  if (right) dispatch_async_f(global(), (void *)right, grow);
  item();
}

static size_t tree(size_t count, void *state) {
  (void)state;
  dispatch_async_f(global(), (void *)count, grow);
  return count;
}

// Items of 20 µs, one for each core, come when all workers sleep.
static void burst_item(void *context) {
  compute(20000);
  item();
  _Atomic int *left = context;
  atomic_fetch_sub(left, 1);
}

static size_t bursts(size_t count, void *state) {
  (void)state;
  size_t rounds = count / (size_t)cores;
  if (rounds > 400) rounds = 400;
  for (size_t i = 0; i < rounds; i++) {
    _Atomic int left = cores;
    for (int k = 0; k < cores; k++) dispatch_async_f(global(), &left, burst_item);
    while (atomic_load(&left) > 0) {}
    compute(200000);
  }
  return rounds * (size_t)cores;
}

// All workers are busy until the last item has been submitted.
typedef struct backlog_state {
  _Atomic int is_open;
  _Atomic int ended;
} backlog_state;

static void hold(void *context) {
  backlog_state *own = context;
  while (!atomic_load_explicit(&own->is_open, memory_order_acquire)) {}
  atomic_fetch_add(&own->ended, 1);
}

static void drop_backlog(void *state) {
  backlog_state *own = state;
  while (atomic_load(&own->ended) < cores) usleep(100);
  free(own);
}

static void *make_backlog(size_t count) {
  (void)count;
  backlog_state *own = calloc(1, sizeof *own);
  for (int i = 0; i < cores; i++) dispatch_async_f(global(), own, hold);
  return own;
}

static void produce_backlog(void *state, size_t number, size_t count) {
  produce_global(state, number, count);
  atomic_store_explicit(&((backlog_state *)state)->is_open, 1, memory_order_release);
}

// Pairs of serial queues, one pair for two cores, pass an item to and fro.
static void pass(void *context) {
  lane *own = context;
  if (own->left > 0) {
    own->left--;
    dispatch_async_f(own->left % 2 ? own->other : own->queue, own, pass);
  }
  item();
}

static size_t pairs(size_t count, void *state) {
  lane *lanes = state;
  size_t number = half(), each = count / number;
  for (size_t i = 0; i < number; i++) {
    lanes[i].left = each - 1;
    dispatch_async_f(lanes[i].queue, &lanes[i], pass);
  }
  return each * number;
}

// Each core submits items of a group of its own, eight at a time.
static void group_round(void *context) {
  lane *own = context;
  size_t size = own->left < 8 ? own->left : 8;
  if (size == 0) {
    atomic_store(&own->is_done, 1);
    return;
  }
  own->left -= size;
  for (size_t i = 0; i < size; i++) dispatch_group_async_f(own->group, global(), NULL, count_item);
  dispatch_group_notify_f(own->group, global(), own, group_round);
}

static void drop_groups(void *state) {
  for (int i = 0; i < cores; i++) {
    while (!atomic_load(&((lane *)state)[i].is_done)) usleep(100);
  }
  drop_lanes(state);
}

static size_t groups(size_t count, void *state) {
  lane *lanes = state;
  size_t each = count / (size_t)cores;
  for (int i = 0; i < cores; i++) {
    lanes[i].left = each;
    group_round(&lanes[i]);
  }
  return each * (size_t)cores;
}

// Each core arms a timer a second ahead, again and again.
static void arm(void *context) {
  lane *own = context;
  dispatch_time_t later = dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_SEC);
  dispatch_source_set_timer(own->timer, later, DISPATCH_TIME_FOREVER, 0);
  if (--own->left > 0) {
    dispatch_async_f(own->queue, own, arm);
  } else {
    dispatch_source_cancel(own->timer);
    dispatch_release(own->timer);
  }
  item();
}

static size_t timers(size_t count, void *state) {
  lane *lanes = state;
  size_t each = count / (size_t)cores;
  for (int i = 0; i < cores; i++) {
    lanes[i].left = each;
    lanes[i].timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0, lanes[i].queue);
    dispatch_source_set_event_handler_f(lanes[i].timer, do_nothing);
    dispatch_activate(lanes[i].timer);
    dispatch_async_f(lanes[i].queue, &lanes[i], arm);
  }
  return each * (size_t)cores;
}

static void iterate(void *context, size_t number) {
  (void)context, (void)number;
  item();
}

static size_t apply(size_t count, void *state) {
  (void)state;
  dispatch_apply_f(count, global(), NULL, iterate);
  return count;
}

const workload workloads[] = {
  {"chains", make_lanes, drop_lanes, chains, NULL, NULL},
  {"producers", make_lanes, drop_lanes, NULL, half, produce_own},
  {"one queue", make_lanes, drop_lanes, NULL, half, produce_shared},
  {"fan-out", NULL, NULL, NULL, one, produce_global},
  {"wide fan-out", NULL, NULL, NULL, a_quarter, produce_global},
  {"tree", NULL, NULL, tree, NULL, NULL},
  {"bursts", NULL, NULL, bursts, NULL, NULL},
  {"backlog", make_backlog, drop_backlog, NULL, one, produce_backlog},
  {"pairs", make_lanes, drop_lanes, pairs, NULL, NULL},
  {"groups", make_lanes, drop_groups, groups, NULL, NULL},
  {"sync", make_lanes, drop_lanes, NULL, all_but_one, produce_sync},
  {"timers", make_lanes, drop_lanes, timers, NULL, NULL},
  {"apply", NULL, NULL, apply, NULL, NULL},
  {"threads alone", NULL, NULL, NULL, all, produce_nothing},
  {NULL, NULL, NULL, NULL, NULL, NULL},
};
