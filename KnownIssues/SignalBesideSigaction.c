// A signal source and the program's own handler do not both notice a signal
//
// On macOS a source of signals observes them beside the handler that sigaction installed. The
// library for Linux reads a signalfd, which receives only what no handler takes.
#include <dispatch/dispatch.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "Promise.h"

static atomic_int handled, delivered;

static void on_signal(int number) { handled += number == SIGUSR1; }

static void body(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  dispatch_queue_t queue = dispatch_queue_create("com.example.signals", NULL);
  dispatch_semaphore_t is_registered = dispatch_semaphore_create(0);
  dispatch_source_t source = dispatch_source_create(DISPATCH_SOURCE_TYPE_SIGNAL, SIGUSR1, 0, queue);
  dispatch_source_set_registration_handler(source, ^{ dispatch_semaphore_signal(is_registered); });
  dispatch_source_set_event_handler(source, ^{
    delivered += (int)dispatch_source_get_data(source);
  });
  dispatch_resume(source);
  awaiting("the source's registration");
  dispatch_semaphore_wait(is_registered, DISPATCH_TIME_FOREVER);
  for (int i = 1; i <= 5; i++) {
    kill(getpid(), SIGUSR1);
    int64_t limit = now_ms() + 8000;
    while ((handled < i || delivered < i) && now_ms() < limit) sleep_ms(1);
    if (handled != i || delivered != i) {
      DECIDE(false, "of %d sent, the handler noticed %d and the source %d", i, handled, delivered);
    }
  }
  decide(true, "the handler and the source each noticed five signals");
}

int main(void) {
  promise("each signal reaches the program's handler and the source", body);
}
