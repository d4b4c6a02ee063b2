// Prints a fault's report again behind the backtrace that a handler of the trap prints.
// Only a process that stops installs the handler, which calls what is async-signal-safe alone:
// sigaction(2), signal(2), write(2) and the handler that it replaces, with that one's stack, mask
// and flags.
// The handler returns to the trap, so the exit status and the core dump stay those of the trap.
#define _GNU_SOURCE
#include "GrandCentralInstructions.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// The signal of __builtin_trap().
#if defined(__x86_64__) || defined(__i386__)
static const int trap_signal = SIGILL;
#else
static const int trap_signal = SIGTRAP;
#endif

// Written by the one thread that sets `is_repeated`, before it installs the handler that reads it.
static atomic_bool is_repeated;
static char *repeated;
static size_t repeated_length;
static struct sigaction replaced;

static void run_replaced_and_repeat(int number, siginfo_t *info, void *context) {
  if (replaced.sa_flags & SA_SIGINFO) {
    replaced.sa_sigaction(number, info, context);
  } else {
    replaced.sa_handler(number);
  }
  struct sigaction now;
  if (sigaction(number, NULL, &now)) return;
  if (now.sa_handler == SIG_DFL) {
    // The handler has removed itself, so the process ends when the trap is executed again. If the
    // reader of a pipe has seen enough, that ends it, and not SIGPIPE.
    signal(SIGPIPE, SIG_IGN);
    size_t done = 0;
    while (done < repeated_length) {
      ssize_t written = write(STDERR_FILENO, repeated + done, repeated_length - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      done += (size_t)written;
    }
  } else if (now.sa_sigaction == run_replaced_and_repeat) {
    // A handler of the program, which decides by itself what happens next.
    sigaction(number, &replaced, NULL);
  }
}

void gc_repeat_after_backtrace(const char *text) {
  if (atomic_exchange(&is_repeated, true)) return;
  if (sigaction(trap_signal, NULL, &replaced)) return;
  // Without SA_SIGINFO the field is a handler or one of these; with it, always a handler.
  if (replaced.sa_handler == SIG_DFL || replaced.sa_handler == SIG_IGN) return;
  repeated = strdup(text);
  if (!repeated) return;
  repeated_length = strlen(repeated);
  struct sigaction own = replaced;
  own.sa_flags |= SA_SIGINFO;
  own.sa_sigaction = run_replaced_and_repeat;
  sigaction(trap_signal, &own, NULL);
}
