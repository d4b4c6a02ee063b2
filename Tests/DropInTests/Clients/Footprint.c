// Prints how many libraries of Swift and of C++ the library has brought along, and for how many of
// the signals that end a faulty program there is a handler.
#define _GNU_SOURCE
#include <dispatch/dispatch.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int libraries;

static int count(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  (void)context;
  if (strstr(image->dlpi_name, "/libswift") || strstr(image->dlpi_name, "/libstdc++")) libraries++;
  return 0;
}

static void nothing(void *context) { (void)context; }

int main(void) {
  dispatch_sync_f(dispatch_queue_create("used", NULL), NULL, nothing);
  dl_iterate_phdr(count, NULL);
  const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP};
  int handlers = 0;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action;
    if (sigaction(signals[i], NULL, &action) == 0) handlers += action.sa_handler != SIG_DFL;
  }
  printf("libraries=%d\nhandlers=%d\n", libraries, handlers);
  return 0;
}
