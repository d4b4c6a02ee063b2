// Signals for sources: a handler that counts deliveries and makes an eventfd readable, and the
// actions that the program had installed before. Async-signal-safe (signal-safety(7)): the handler
// uses atomics, getpid and write, and sigaction and raise in a forked child and after a fault.
#define _GNU_SOURCE
#include "GrandCentralSignals.h"
#include "Masks.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALS = 65, LAYERS = 2 };

// An action of the program, reduced to what the kernel keeps. sigset_t has room for 1024 signals,
// of which the kernel defines the first 64. The C library leaves the rest of a returned mask unset.
struct action {
  uintptr_t handler;
  uint64_t mask;
  int flags;
};

static bool are_same(const struct action *one, const struct action *other) {
  return one->handler == other->handler && one->mask == other->mask
      && one->flags == other->flags;
}

static bool has_handler(const struct action *action) {
  return action->flags & SA_SIGINFO
      || (action->handler != (uintptr_t)SIG_DFL && action->handler != (uintptr_t)SIG_IGN);
}

static const struct action default_action = {.handler = (uintptr_t)SIG_DFL};

static struct sigaction to_kernel(const struct action *action) {
  struct sigaction made;
  memset(&made, 0, sizeof made);
  // A member of a union that holds both kinds of functions.
  made.sa_handler = (void (*)(int))action->handler;
  memcpy(&made.sa_mask, &action->mask, sizeof action->mask);
  made.sa_flags = action->flags;
  return made;
}

static struct action from_kernel(const struct sigaction *known) {
  struct action made = {.handler = (uintptr_t)known->sa_handler, .flags = known->sa_flags};
  memcpy(&made.mask, &known->sa_mask, sizeof made.mask);
  return made;
}

static int set_action(int number, const struct action *next) {
  struct sigaction made = to_kernel(next);
  return sigaction(number, &made, NULL);
}

static int get_action(int number, struct action *now) {
  struct sigaction known;
  if (sigaction(number, NULL, &known) != 0) return -1;
  *now = from_kernel(&known);
  return 0;
}

static int exchange_action(int number, const struct action *next, struct action *was) {
  struct sigaction made = to_kernel(next), known;
  if (sigaction(number, &made, &known) != 0) return -1;
  *was = from_kernel(&known);
  return 0;
}

// An action that one thread writes and handlers read at any time: on other threads, and on the
// writing thread between any two of its instructions. It allocates nothing, so a program may change
// its actions without limit.
//   version   63…1 number of writes │ 0 its one-shot handler (SA_RESETHAND) has been called
// The lowest bit of the number selects the current copy. The writer fills the other copy, then
// increments the number. A reader copies the current copy, and starts again if the version has
// changed meanwhile.
// A reader never waits for the writer: an interrupted writer has not incremented the number, and
// the copy that it fills is not read. A copy is filled again only after an increment that retired
// it. Fields are stored with release and loaded with acquire. So a reader that sees a field of a
// later write also sees that increment, and starts again.
struct saved_action {
  _Atomic uint64_t version;
  struct {
    _Atomic uintptr_t handler;
    _Atomic uint64_t mask;
    atomic_int flags;
  } copies[2];
};

// Writes an action. One writer at a time.
static void save_action(struct saved_action *saved, const struct action *action) {
  // relaxed: the caller serialises writers, and a handler changes only the bit that is cleared
  // here.
  uint64_t count = (atomic_load_explicit(&saved->version, memory_order_relaxed) >> 1) + 1;
  // release, all of them: see above; the version's pairs with its acquire in read_action().
  atomic_store_explicit(&saved->copies[count & 1].handler, action->handler, memory_order_release);
  atomic_store_explicit(&saved->copies[count & 1].mask, action->mask, memory_order_release);
  atomic_store_explicit(&saved->copies[count & 1].flags, action->flags, memory_order_release);
  atomic_store_explicit(&saved->version, count << 1, memory_order_release);
}

// Copies the action and returns its version. Async-signal-safe.
static uint64_t read_action(struct saved_action *saved, struct action *action) {
  for (;;) {
    uint64_t version = atomic_load_explicit(&saved->version, memory_order_acquire);
    unsigned copy = version >> 1 & 1;
    action->handler =
        atomic_load_explicit(&saved->copies[copy].handler, memory_order_acquire);
    action->mask = atomic_load_explicit(&saved->copies[copy].mask, memory_order_acquire);
    action->flags = atomic_load_explicit(&saved->copies[copy].flags, memory_order_acquire);
    // relaxed: the acquire loads above precede it.
    if (atomic_load_explicit(&saved->version, memory_order_relaxed) != version) continue;
    if (version & 1) *action = default_action;
    return version;
  }
}

// Returns true to one of the deliveries that have read `version`: that one calls the one-shot
// handler.
static bool claim_one_shot(struct saved_action *saved, uint64_t version) {
  // relaxed: the bit guards only itself, and a later write has another version.
  return atomic_compare_exchange_strong_explicit(
      &saved->version, &version, version | 1, memory_order_relaxed, memory_order_relaxed);
}

// One of the functions that this file installs. A program may install its handler above ours and
// pass signals on to it. If ours then came above that handler as the same function, the two would
// call each other forever. So a function left below a handler of the program is marked as buried,
// and the next install uses the other one.
struct layer {
  struct saved_action old;
  bool is_buried;
};

static struct {
  _Atomic uint64_t count;  // deliveries not yet taken
  atomic_int active;       // 1 + the layer that counts; 0: none
  struct layer layers[LAYERS];
} slots[SIGNALS];

static atomic_int wakeDescriptor = -1;
static atomic_int owner;  // the process that counts; a forked child is another
static _Atomic uint64_t catchable;  // bit n - 1: sigaction(2) has accepted signal n before

// Whether the running instruction caused the signal, not kill(2): sigaction(2), si_code.
static bool is_own_fault(int number, const siginfo_t *info) {
  switch (number) {
  case SIGSEGV: case SIGBUS: case SIGILL: case SIGFPE: case SIGTRAP: case SIGSYS:
    return info && info->si_code > 0;
  default: return false;
  }
}

// Installs an action, which also takes effect for this delivery: raise() repeats a signal whose
// action is the default. It is blocked until the handler returns, and then delivered again.
static void give_way(int number, const struct action *action) {
  set_action(number, action);
  if (action->handler == (uintptr_t)SIG_DFL) raise(number);
}

static int layer_of(const struct action *action);

static void count_delivery(int number) {
  // release: pairs with the acquire of the thread that takes the count.
  atomic_fetch_add_explicit(&slots[number].count, 1, memory_order_release);
  // The count comes first, so the thread that the descriptor wakes finds it. If there is no
  // descriptor yet, the thread that makes it reads the counts afterwards.
  int descriptor = atomic_load_explicit(&wakeDescriptor, memory_order_acquire);
  uint64_t one = 1;
  if (descriptor >= 0 && write(descriptor, &one, sizeof one) < 0) {
    // EAGAIN: the descriptor is readable already. eventfd(2).
  }
}

static void handle(int layer, int number, siginfo_t *info, void *context) {
  int error = errno;
  gc_signal_keep_closed(number, context);
  struct saved_action *saved = &slots[number].layers[layer].old;
  struct action old;
  uint64_t version = read_action(saved, &old);
  bool is_program_s = has_handler(&old);
  if (getpid() != atomic_load_explicit(&owner, memory_order_relaxed)) {
    // A forked child has no sources, so the program's action applies there. Nothing is counted,
    // because a child of vfork(2) shares the parent's memory.
    struct action now;
    if (!is_program_s && get_action(number, &now) == 0 && layer_of(&now) == layer)
      give_way(number, &old);
  } else if (!is_program_s && is_own_fault(number, info)) {
    // Returning would repeat the fault forever, and the kernel does not let it be ignored.
    give_way(number, &default_action);
  } else if (atomic_load_explicit(&slots[number].active, memory_order_relaxed) == layer + 1) {
    count_delivery(number);
  }
  errno = error;
  if (!is_program_s) return;
  if (old.flags & (int)SA_RESETHAND && !claim_one_shot(saved, version)) return;
  // Last, because the handler may leave by siglongjmp.
  if (old.flags & SA_SIGINFO)
    ((void (*)(int, siginfo_t *, void *))old.handler)(number, info, context);
  else
    ((void (*)(int))old.handler)(number);
}

static void handle_first(int number, siginfo_t *info, void *context) {
  handle(0, number, info, context);
}

static void handle_second(int number, siginfo_t *info, void *context) {
  handle(1, number, info, context);
}

static void (*const functions[LAYERS])(int, siginfo_t *, void *) = {handle_first, handle_second};

static int layer_of(const struct action *action) {
  if (action->flags & SA_SIGINFO)
    for (int layer = 0; layer < LAYERS; layer++)
      if (action->handler == (uintptr_t)functions[layer]) return layer;
  return -1;
}

// The action that replaces `old`. It keeps what the program's handler blocks and whether it
// interrupts system calls. Without a handler, system calls are restarted. SIG_IGN for SIGCHLD also
// means that children leave no zombies: sigaction(2), SA_NOCLDWAIT.
static struct action ours(int layer, int number, const struct action *old) {
  struct action made = {.handler = (uintptr_t)functions[layer]};
  made.flags = SA_SIGINFO | SA_ONSTACK | (old->flags & (SA_NOCLDSTOP | SA_NOCLDWAIT));
  if (has_handler(old)) {
    made.mask = old->mask;
    made.flags |= old->flags & (int)(SA_RESTART | SA_NODEFER);
  } else {
    made.flags |= SA_RESTART;
    if (number == SIGCHLD && old->handler == (uintptr_t)SIG_IGN) made.flags |= SA_NOCLDWAIT;
  }
  return made;
}

bool gc_signal_can_be_caught(int number) {
  if (number <= 0 || number >= SIGNALS || number == SIGKILL || number == SIGSTOP) return false;
  uint64_t bit = (uint64_t)1 << (number - 1);
  // relaxed: a constant property of the C library, cached because each source asks.
  if (atomic_load_explicit(&catchable, memory_order_relaxed) & bit) return true;
  struct action now;
  if (get_action(number, &now) != 0) return false;
  atomic_fetch_or_explicit(&catchable, bit, memory_order_relaxed);
  return true;
}

int gc_signal_install(int number) {
  // relaxed: every caller stores the same process.
  if (atomic_load_explicit(&owner, memory_order_relaxed) == 0)
    atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
  struct action now;
  if (get_action(number, &now) != 0) return errno;
  struct layer *layers = slots[number].layers;
  atomic_store_explicit(&slots[number].count, 0, memory_order_relaxed);
  int layer = layer_of(&now);
  if (layer < 0) {
    // Without a handler of the program, no function passes signals on to ours.
    if (!has_handler(&now)) layers[0].is_buried = layers[1].is_buried = false;
    if (!layers[0].is_buried) layer = 0;
    else if (!layers[1].is_buried) layer = 1;
  } else {
    // The program itself has restored our function.
    layers[layer].is_buried = false;
    atomic_store_explicit(&slots[number].active, layer + 1, memory_order_relaxed);
    return 0;
  }
  if (layer < 0) {
    // The program has come above both functions: it receives signals first, and ours only what it
    // passes on.
    atomic_store_explicit(&slots[number].active, LAYERS, memory_order_relaxed);
    return 0;
  }
  for (;;) {
    // Before the exchange, because the handler may run right after it.
    save_action(&layers[layer].old, &now);
    atomic_store_explicit(&slots[number].active, layer + 1, memory_order_relaxed);
    struct action next = ours(layer, number, &now), was;
    if (exchange_action(number, &next, &was) != 0) return errno;
    if (layer_of(&was) == layer || are_same(&was, &now)) return 0;
    // The program has installed another action meanwhile.
    now = was;
  }
}

static const struct action ignoring = {.handler = (uintptr_t)SIG_IGN};

// Whether deliveries that no handler has received yet must be discarded before the action becomes
// `old`. A signal that was sent before may still be on its way to a thread, and the default action
// would stop the process for it. SIG_IGN discards what is pending: sigaction(2). Not for SIGCHLD,
// whose default does so too: children that ended meanwhile would leave no zombies.
static bool discards_pending(int number, const struct action *old) {
  return old->handler == (uintptr_t)SIG_DFL && number != SIGCHLD;
}

void gc_signal_uninstall(int number) {
  int layer = atomic_load_explicit(&slots[number].active, memory_order_relaxed) - 1;
  if (layer < 0) return;
  struct layer *own = &slots[number].layers[layer];
  struct action now;
  bool is_above = get_action(number, &now) == 0 && layer_of(&now) == layer;
  if (is_above) {
    struct action old, was;
    read_action(&own->old, &old);
    const bool discards = discards_pending(number, &old);
    is_above = exchange_action(number, discards ? &ignoring : &old, &was) == 0
               && layer_of(&was) == layer;
    // The program has installed another action meanwhile.
    if (!is_above) set_action(number, &was);
    else if (discards && exchange_action(number, &old, &was) == 0
             && was.handler != (uintptr_t)SIG_IGN) set_action(number, &was);
  }
  own->is_buried = !is_above;
  atomic_store_explicit(&slots[number].active, 0, memory_order_relaxed);
}

uint64_t gc_signal_take(int number) {
  // acquire: the thread that takes the count sees what happened before the deliveries.
  return atomic_exchange_explicit(&slots[number].count, 0, memory_order_acquire);
}

void gc_signal_set_eventfd(int descriptor) {
  atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
  atomic_store_explicit(&wakeDescriptor, descriptor, memory_order_release);
}
