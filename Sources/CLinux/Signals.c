// Signals for sources: a handler that counts deliveries and rings a descriptor, and the care for what the
// program had installed before. signal-safety(7): the handler uses atomics, getpid, write, and in a forked
// child sigaction and raise.
#define _GNU_SOURCE
#include "CLinux.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALS = 65, LAYERS = 2 };

// An action of the program's. Kept for ever, each once, since a handler may be reading it at any time.
struct action {
  const struct action *next;
  struct sigaction is;
};

// One function that we install. A program may put its own handler above ours and pass signals on to it. If we
// came back above that one as the same function, the two would call each other for ever; so a function that
// was left below somebody else's is buried, and the next time we come as the other one.
struct layer {
  _Atomic(const struct action *) old;
  bool is_buried;
};

static struct {
  _Atomic uint64_t count;  // deliveries that nobody has taken
  atomic_int active;       // 1 + the layer that counts; 0: none
  struct layer layers[LAYERS];
  const struct action *actions;
} slots[SIGNALS];

static atomic_int bell = -1;
static atomic_int owner;  // the process that counts; a forked child is another
static const struct action default_action = {.is = {.sa_handler = SIG_DFL}};

static bool has_handler(const struct sigaction *action) {
  return action->sa_flags & SA_SIGINFO
      || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

// A fault of the running instruction, and not somebody's kill(2): sigaction(2), si_code.
static bool is_own_fault(int number, const siginfo_t *info) {
  switch (number) {
  case SIGSEGV: case SIGBUS: case SIGILL: case SIGFPE: case SIGTRAP: case SIGSYS:
    return info && info->si_code > 0;
  default: return false;
  }
}

// The action holds from now on, for this delivery too: the signal, which is blocked until the handler returns, then
// comes again.
static void give_way(int number, const struct sigaction *action) {
  sigaction(number, action, NULL);
  if (action->sa_handler == SIG_DFL) raise(number);
}

static int layer_of(const struct sigaction *action);

// The C library fills in only as much of the mask as the kernel knows.
static int installed(int number, struct sigaction *action) {
  memset(action, 0, sizeof *action);
  return sigaction(number, NULL, action);
}

static void handle(int layer, int number, siginfo_t *info, void *context) {
  int error = errno;
  // acquire: pairs with the release in gc_signal_install.
  const struct action *old =
      atomic_load_explicit(&slots[number].layers[layer].old, memory_order_acquire);
  bool is_program_s = has_handler(&old->is);
  if (getpid() != atomic_load_explicit(&owner, memory_order_relaxed)) {
    // A forked child has no sources: what the program wants holds there. Nor is anything counted: a child of
    // vfork(2) has our memory.
    struct sigaction now;
    if (!is_program_s && installed(number, &now) == 0 && layer_of(&now) == layer)
      give_way(number, &old->is);
  } else if (!is_program_s && is_own_fault(number, info)) {
    // To return would be to fault again, for ever. The kernel, too, lets nobody ignore it.
    give_way(number, &default_action.is);
  } else if (atomic_load_explicit(&slots[number].active, memory_order_relaxed) == layer + 1) {
    // release: pairs with the acquire of whoever takes the count.
    atomic_fetch_add_explicit(&slots[number].count, 1, memory_order_release);
    // The count first: whoever hears the bell finds it. A bell that is not there yet is rung when it is hung.
    int descriptor = atomic_load_explicit(&bell, memory_order_acquire);
    uint64_t one = 1;
    if (descriptor >= 0 && write(descriptor, &one, sizeof one) < 0) {
      // EAGAIN: readable as it is. eventfd(2).
    }
  }
  errno = error;
  if (!is_program_s) return;
  if (old->is.sa_flags & (int)SA_RESETHAND
      && !atomic_compare_exchange_strong(&slots[number].layers[layer].old, &old, &default_action))
    return;
  // Last: it may leave by siglongjmp.
  if (old->is.sa_flags & SA_SIGINFO)
    old->is.sa_sigaction(number, info, context);
  else
    old->is.sa_handler(number);
}

static void handle_first(int number, siginfo_t *info, void *context) {
  handle(0, number, info, context);
}

static void handle_second(int number, siginfo_t *info, void *context) {
  handle(1, number, info, context);
}

static void (*const functions[LAYERS])(int, siginfo_t *, void *) = {handle_first, handle_second};

static int layer_of(const struct sigaction *action) {
  if (action->sa_flags & SA_SIGINFO)
    for (int layer = 0; layer < LAYERS; layer++)
      if (action->sa_sigaction == functions[layer]) return layer;
  return -1;
}

static bool are_same(const struct sigaction *one, const struct sigaction *other) {
  return one->sa_handler == other->sa_handler && one->sa_flags == other->sa_flags
      && memcmp(&one->sa_mask, &other->sa_mask, sizeof one->sa_mask) == 0;
}

static const struct action *kept(int number, const struct sigaction *action) {
  for (const struct action *known = slots[number].actions; known; known = known->next)
    if (are_same(&known->is, action)) return known;
  struct action *made = malloc(sizeof *made);
  if (!made) return NULL;
  *made = (struct action){.next = slots[number].actions, .is = *action};
  slots[number].actions = made;
  return made;
}

// Ours, in the place of `old`. A handler of the program's goes on as it was set up: what it blocks, whether it
// interrupts system calls. Where there was none, system calls go on. SIG_IGN of SIGCHLD also says that children
// leave no zombies: sigaction(2), SA_NOCLDWAIT.
static struct sigaction ours(int layer, int number, const struct sigaction *old) {
  struct sigaction made;
  memset(&made, 0, sizeof made);
  made.sa_sigaction = functions[layer];
  made.sa_flags = SA_SIGINFO | SA_ONSTACK | (old->sa_flags & (SA_NOCLDSTOP | SA_NOCLDWAIT));
  if (has_handler(old)) {
    made.sa_mask = old->sa_mask;
    made.sa_flags |= old->sa_flags & (int)(SA_RESTART | SA_NODEFER);
  } else {
    sigemptyset(&made.sa_mask);
    made.sa_flags |= SA_RESTART;
    if (number == SIGCHLD && old->sa_handler == SIG_IGN) made.sa_flags |= SA_NOCLDWAIT;
  }
  return made;
}

static int exchange(int number, const struct sigaction *next, struct sigaction *was) {
  memset(was, 0, sizeof *was);
  return sigaction(number, next, was);
}

bool gc_signal_can_be_caught(int number) {
  struct sigaction now;
  return number != SIGKILL && number != SIGSTOP && number > 0 && number < SIGNALS
      && installed(number, &now) == 0;
}

int gc_signal_install(int number) {
  int nobody = 0;
  atomic_compare_exchange_strong(&owner, &nobody, getpid());
  struct sigaction now;
  if (installed(number, &now) != 0) return errno;
  struct layer *layers = slots[number].layers;
  atomic_store_explicit(&slots[number].count, 0, memory_order_relaxed);
  int layer = layer_of(&now);
  if (layer < 0) {
    // Where nobody has a handler nobody passes anything on.
    if (!has_handler(&now)) layers[0].is_buried = layers[1].is_buried = false;
    if (!layers[0].is_buried) layer = 0;
    else if (!layers[1].is_buried) layer = 1;
  } else {
    // The program has put ours back itself.
    layers[layer].is_buried = false;
    atomic_store_explicit(&slots[number].active, layer + 1, memory_order_relaxed);
    return 0;
  }
  if (layer < 0) {
    // Twice the program came above us: it hears everything first, and we what it passes on.
    atomic_store_explicit(&slots[number].active, LAYERS, memory_order_relaxed);
    return 0;
  }
  for (;;) {
    // Before it is installed: from then on it may run.
    const struct action *old = kept(number, &now);
    if (!old) return ENOMEM;
    atomic_store_explicit(&layers[layer].old, old, memory_order_release);
    atomic_store_explicit(&slots[number].active, layer + 1, memory_order_relaxed);
    struct sigaction next = ours(layer, number, &now), was;
    if (exchange(number, &next, &was) != 0) return errno;
    if (layer_of(&was) == layer || are_same(&was, &now)) return 0;
    // The program has set another one since we looked.
    now = was;
  }
}

void gc_signal_uninstall(int number) {
  int layer = atomic_load_explicit(&slots[number].active, memory_order_relaxed) - 1;
  if (layer < 0) return;
  struct layer *own = &slots[number].layers[layer];
  struct sigaction now;
  bool is_above = installed(number, &now) == 0 && layer_of(&now) == layer;
  if (is_above) {
    const struct action *old = atomic_load_explicit(&own->old, memory_order_acquire);
    struct sigaction was;
    is_above = exchange(number, &old->is, &was) == 0 && layer_of(&was) == layer;
    // The program has set another one since we looked.
    if (!is_above) sigaction(number, &was, NULL);
  }
  own->is_buried = !is_above;
  atomic_store_explicit(&slots[number].active, 0, memory_order_relaxed);
}

uint64_t gc_signal_take(int number) {
  // acquire: what happened before the delivery is seen by whoever is told of it.
  return atomic_exchange_explicit(&slots[number].count, 0, memory_order_acquire);
}

void gc_signal_set_bell(int descriptor) {
  atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
  atomic_store_explicit(&bell, descriptor, memory_order_release);
}
