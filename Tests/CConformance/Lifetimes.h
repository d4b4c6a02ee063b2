// Rounds in which the effect of a call releases the last reference to the object of that call. The
// effect may happen at once, on another thread, while the call is still inside the library. From
// then on the call must not touch the object, unless it retains it.
// Every kind is legal C: the code that owns a reference releases it once.
//
// LIFETIME(kind) defines one round of a kind. A round makes objects, starts an operation and
// returns; `ended()` reports its last effect. Rounds run on several threads at the same time, so
// that effects race with calls. A sanitizer, memcheck or MALLOC_PERTURB_ detects a violation.
//
// LIFETIME_ROUNDS   rounds of each kind; default 300
// LIFETIME_SECONDS  seconds for which random kinds run together; default 1
// FUZZ_SEED         the seed for the random kinds
#ifndef CONFORMANCE_LIFETIMES_H
#define CONFORMANCE_LIFETIMES_H

#include "Check.h"

typedef struct lifetime_kind {
  const char *name;
  void (*round)(void);
  bool is_beyond;
  struct lifetime_kind *next;
} lifetime_kind;
void register_lifetime(lifetime_kind *kind);
// Runs rounds of one kind on several threads until each round has ended.
void run_lifetime(void (*round)(void));

#define DEFINE_LIFETIME(name_, case_, is_beyond_) \
  static void round_##name_(void); \
  __attribute__((constructor)) static void register_round_##name_(void) { \
    static lifetime_kind one = {#name_, round_##name_, is_beyond_, NULL}; \
    register_lifetime(&one); \
  } \
  case_ { run_lifetime(round_##name_); } \
  static void round_##name_(void)
#define LIFETIME(name) DEFINE_LIFETIME(name, CASE(lifetime_##name), false)
// Defines a kind that the toolchain's library lacks or fails.
#define LIFETIME_BEYOND(name, why) DEFINE_LIFETIME(name, BEYOND(lifetime_##name, why), true)

// Reports the last effect of a round.
void ended(void);
// Calls ended(); a work function for items that do nothing else.
void note_end(void *nothing);

// Returns a random number below `bound` from the calling thread's stream.
int chance(int bound);
// Pauses for a short random time, possibly zero.
void pause_a_little(void);

// Returns a queue for handlers: a global queue, or one of a few that live until the process exits.
dispatch_queue_t some_queue(void);
// Calls `work` on a thread that does not belong to the library.
void elsewhere(void *context, void (*work)(void *context));

// An object that several parts of a round own together. The last owner releases it.
typedef struct shared_object {
  void *object;
  _Atomic int owners;
} shared_object;
shared_object *share(void *object, int owners);
// Gives up one share. Returns true if it was the last and the object has been released.
bool let_go(shared_object *shared);

#endif
