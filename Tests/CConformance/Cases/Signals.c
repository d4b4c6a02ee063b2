// Signal sources beside the program's own signal actions.
#include "../Check.h"

#include <malloc.h>

static void ignore_number(int number) { (void)number; }
static void ignore_value(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
}
static void ignore_event(void *context) { (void)context; }

// Makes, activates and cancels a source. Returns when its cancel handler has run.
static void come_and_go(int number, dispatch_queue_t queue) {
  latch gone = LATCH(1);
  dispatch_source_t source =
    dispatch_source_create(DISPATCH_SOURCE_TYPE_SIGNAL, (uintptr_t)number, 0, queue);
  CHECK(source);
  dispatch_set_context(source, &gone);
  dispatch_source_set_event_handler_f(source, ignore_event);
  dispatch_source_set_cancel_handler_f(source, open_latch);
  dispatch_activate(source);
  dispatch_source_cancel(source);
  latch_wait(&gone);
  dispatch_release(source);
  drain(queue);
}

// Leaves `value` in the unused part of the stack. The C library fills the unused part of the masks
// that it returns from there.
static void fill_stack(int value) {
  int values[2048];
  for (int index = 0; index < 2048; index++) values[index] = value;
  __asm__ volatile("" : : "r"(values) : "memory");
}

static void set_action(int number, int round) {
  struct sigaction next;
  memset(&next, 0, sizeof next);
  sigemptyset(&next.sa_mask);
  switch (round % 3) {
  case 0: next.sa_handler = SIG_IGN; break;
  case 1: next.sa_handler = ignore_number; break;
  default:
    next.sa_sigaction = ignore_value;
    next.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&next.sa_mask, SIGUSR2);
  }
  CHECK(sigaction(number, &next, NULL) == 0);
}

BEYOND(
  signal_sources_that_come_and_go_keep_no_memory,
  "the peer frees what a source has used some time later") {
  dispatch_queue_t queue = serial_queue();
  enum { WARM = 1000, ROUNDS = 6000 };
  size_t before = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (round == WARM) before = mallinfo2().uordblks;
    set_action(SIGUSR1, round);
    fill_stack(round);
    come_and_go(SIGUSR1, queue);
  }
  // A leak of 16 bytes a round fails.
  CHECK(mallinfo2().uordblks < before + 16 * (ROUNDS - WARM));
}

BEYOND(
  signal_source_leaves_the_action_with_its_flags_and_mask,
  "the peer leaves a handler of its own where a source has been") {
  dispatch_queue_t queue = serial_queue();
  for (int round = 0; round < 200; round++) {
    struct sigaction next, now;
    memset(&next, 0, sizeof next);
    sigemptyset(&next.sa_mask);
    for (int bit = 0; bit < 31; bit++) {
      int other = bit + 1;
      if (other != SIGKILL && other != SIGSTOP && (round * 2654435761u) >> bit & 1)
        sigaddset(&next.sa_mask, other);
    }
    sigaddset(&next.sa_mask, SIGRTMIN + round % (SIGRTMAX - SIGRTMIN));
    next.sa_sigaction = ignore_value;
    next.sa_flags = SA_SIGINFO | (round & 1 ? SA_RESTART : 0) | (round & 2 ? SA_NODEFER : 0);
    CHECK(sigaction(SIGUSR1, &next, NULL) == 0);
    fill_stack(round);
    come_and_go(SIGUSR1, queue);
    CHECK(sigaction(SIGUSR1, NULL, &now) == 0);
    CHECK(now.sa_sigaction == ignore_value);
    int kept = SA_SIGINFO | SA_RESTART | SA_NODEFER | (int)SA_RESETHAND | SA_ONSTACK;
    CHECK_EQUAL(now.sa_flags & kept, next.sa_flags);
    for (int other = 1; other <= SIGRTMAX; other++)
      CHECK_EQUAL(sigismember(&now.sa_mask, other), sigismember(&next.sa_mask, other));
  }
}
