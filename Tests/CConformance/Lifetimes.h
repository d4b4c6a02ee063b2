// The last reference against each call: programs in which the effect of a call releases the object
// that the call was made on. The effect may come at once, on another thread, while the call is
// still inside the library; from then on the call must not touch the object, unless it holds it.
// Every kind is legal C: each reference is released once, by the code that owns it.
//
// LIFETIME(kind) defines one round of a kind. A round makes objects, starts something and returns;
// `ended()` says that its last effect has happened. Rounds run on several threads at once, so that
// effects meet calls. What a kind breaks, a sanitizer, memcheck or MALLOC_PERTURB_ shows.
//
// LIFETIME_ROUNDS   rounds of each kind; 300 unless given
// LIFETIME_SECONDS  how long random kinds run together; 1 unless given
// FUZZ_SEED         of those
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
// Rounds of one kind on several threads, until each has ended.
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
// For what the toolchain's library does not have, or breaks.
#define LIFETIME_BEYOND(name, why) DEFINE_LIFETIME(name, BEYOND(lifetime_##name, why), true)

// The last effect of a round has happened.
void ended(void);
// The same as a function, for work that has nothing else to do.
void note_end(void *nothing);

// A random number below `bound`, of the calling thread.
int chance(int bound);
// Gives other threads a moment, or none.
void pause_a_little(void);

// A queue to run handlers on: a global one, or one of a few that live as long as the program.
dispatch_queue_t some_queue(void);
// Calls `work` on a thread that is not the library's.
void elsewhere(void *context, void (*work)(void *context));

// An object that several parts of a round own together: the last one to let go releases it.
typedef struct shared_object {
  void *object;
  _Atomic int owners;
} shared_object;
shared_object *share(void *object, int owners);
// True: this was the last owner, and the object has been released.
bool let_go(shared_object *shared);

#endif
