// Loaded into a program, prints the signals that the program's first thread blocks at its start, as
// grep(1) would from /proc/self/status.
#include <signal.h>
#include <stdio.h>

__attribute__((constructor)) static void report(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  unsigned long long mask = 0;
  for (int number = 1; number <= SIGRTMAX; number++)
    if (sigismember(&now, number) == 1) mask |= 1ull << (number - 1);
  printf("SigBlk:\t%016llx\n", mask);
  fflush(stdout);
}
