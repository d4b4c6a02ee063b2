// Runs rounds of lifetimes; see Lifetimes.h.
#include "../Lifetimes.h"

#include <sched.h>
#include <time.h>

enum { THREADS = 3, HELPERS = 3, MOST_OUT = 64, QUEUES = 5 };

static lifetime_kind *kinds;

void register_lifetime(lifetime_kind *kind) {
  kind->next = kinds;
  kinds = kind;
}

static long number_of(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  long number = text ? atol(text) : 0;
  return number > 0 ? number : otherwise;
}

// MARK: Random numbers: splitmix64, one stream per thread

static _Thread_local uint64_t random_state;
static _Atomic uint64_t next_stream = 1;

int chance(int bound) {
  if (!random_state) random_state = atomic_fetch_add(&next_stream, 1) * 0x9e3779b97f4a7c15;
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (int)((z ^ z >> 31) % (uint64_t)bound);
}

void pause_a_little(void) {
  switch (chance(4)) {
  case 0: sched_yield(); break;
  case 1: for (volatile int n = chance(2000); n > 0; n--) { } break;
  default: break;
  }
}

// MARK: Rounds

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static long out;

static void wait_until_out(long most) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const long seconds = number_of("GRANDCENTRAL_DEADLINE", 60);
  until.tv_sec += seconds;
  pthread_mutex_lock(&mutex);
  while (out > most)
    if (pthread_cond_timedwait(&fewer, &mutex, &until) == ETIMEDOUT && out > most)
      fail(__FILE__, __LINE__, "%ld rounds have not ended after %ld s", out, seconds);
  pthread_mutex_unlock(&mutex);
}

void ended(void) {
  pthread_mutex_lock(&mutex);
  out--;
  pthread_cond_broadcast(&fewer);
  pthread_mutex_unlock(&mutex);
}

void note_end(void *nothing) {
  (void)nothing;
  ended();
}

static void run_round(void (*round)(void)) {
  wait_until_out(MOST_OUT);
  pthread_mutex_lock(&mutex);
  out++;
  pthread_mutex_unlock(&mutex);
  round();
}

static void *run_rounds(void *context) {
  void (*round)(void) = *(void (**)(void))context;
  for (long n = number_of("LIFETIME_ROUNDS", 300) / THREADS; n >= 0; n--) run_round(round);
  return NULL;
}

static void on_threads(void *(*body)(void *), void *context) {
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; n++)
    CHECK(!pthread_create(&threads[n], NULL, body, context));
  for (int n = 0; n < THREADS; n++) CHECK(!pthread_join(threads[n], NULL));
  wait_until_out(0);
}

void run_lifetime(void (*round)(void)) {
  some_queue();
  on_threads(run_rounds, &round);
}

// MARK: Queues that live as long as the program

static dispatch_queue_t queues[QUEUES];
static pthread_once_t queues_once = PTHREAD_ONCE_INIT;

static void make_queues(void) {
  queues[0] = serial_queue();
  queues[1] = concurrent_queue();
  queues[2] = dispatch_queue_create_with_target("above", DISPATCH_QUEUE_SERIAL, queues[0]);
  queues[3] = dispatch_queue_create_with_target("beside", DISPATCH_QUEUE_CONCURRENT, queues[1]);
  queues[4] = dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_LOW, 0);
}

dispatch_queue_t some_queue(void) {
  pthread_once(&queues_once, make_queues);
  int number = chance(QUEUES + 3);
  return number < QUEUES ? queues[number] : global_queue();
}

// MARK: Threads outside the library

typedef struct errand {
  void *context;
  void (*work)(void *context);
  struct errand *next;
} errand;
static pthread_mutex_t errand_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t errand_came = PTHREAD_COND_INITIALIZER;
static errand *errands;
static pthread_once_t helpers_once = PTHREAD_ONCE_INIT;

static void *run_errands(void *nothing) {
  (void)nothing;
  for (;;) {
    pthread_mutex_lock(&errand_mutex);
    while (!errands) pthread_cond_wait(&errand_came, &errand_mutex);
    errand *own = errands;
    errands = own->next;
    pthread_mutex_unlock(&errand_mutex);
    own->work(own->context);
    free(own);
  }
  return NULL;
}

static void make_helpers(void) {
  for (int n = 0; n < HELPERS; n++) {
    pthread_t helper;
    CHECK(!pthread_create(&helper, NULL, run_errands, NULL));
    pthread_detach(helper);
  }
}

void elsewhere(void *context, void (*work)(void *context)) {
  pthread_once(&helpers_once, make_helpers);
  errand *made = malloc(sizeof *made);
  CHECK(made);
  *made = (errand){context, work, NULL};
  pthread_mutex_lock(&errand_mutex);
  made->next = errands;
  errands = made;
  pthread_cond_signal(&errand_came);
  pthread_mutex_unlock(&errand_mutex);
}

// MARK: Objects with several owners

shared_object *share(void *object, int owners) {
  shared_object *made = malloc(sizeof *made);
  CHECK(made);
  made->object = object;
  atomic_init(&made->owners, owners);
  return made;
}

bool let_go(shared_object *shared) {
  if (atomic_fetch_sub(&shared->owners, 1) != 1) return false;
  dispatch_release(shared->object);
  free(shared);
  return true;
}

// MARK: All kinds together

static lifetime_kind *allowed[256];
static int allowed_count;
static int64_t mixed_end;

static void *run_mixture(void *nothing) {
  (void)nothing;
  while (monotonic_now() < mixed_end) run_round(allowed[chance(allowed_count)]->round);
  return NULL;
}

CASE(lifetimes_of_all_kinds_together) {
  const char *seed = getenv("FUZZ_SEED");
  if (seed) atomic_store(&next_stream, strtoull(seed, NULL, 10) * 1000 + 1);
  const bool takes_all = getenv("FUZZ_BEYOND") != NULL;
  for (lifetime_kind *kind = kinds; kind; kind = kind->next)
    if (takes_all || !kind->is_beyond) {
      CHECK(allowed_count < 256);
      allowed[allowed_count++] = kind;
    }
  CHECK(allowed_count >= 28);
  some_queue();
  mixed_end = monotonic_now() + number_of("LIFETIME_SECONDS", 1) * (int64_t)NSEC_PER_SEC;
  on_threads(run_mixture, NULL);
}
