// Runs the hot paths of the C interface under callgrind, which counts their instructions. The verb
// `instructions` starts it and reads the counts.
//
// A row runs its operation N times, then 2 N times. The difference of the two counts is that of N
// operations: what a row does once, and what the engine does at its first use, cancels out.
// Docs/Performance.md says what the table is for.
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <valgrind/callgrind.h>

#include "Rows.h"

ends finished, gate;

// Each count is taken several times, and the verb uses the least: where threads sleep and wake, and
// beside the engine's monitor, which looks once a millisecond, disturbances only add to it.
enum { FEW = 2000, MANY = 2 * FEW, SAMPLES = 5 };

// Writes the instructions since the last dump, which the verb finds by this name, and starts anew.
static void count(const row *row, size_t operations, const char *which) {
  char name[128];
  snprintf(name, sizeof name, "%s|%s,%zu", row->name, which, operations);
  row->body(operations);
  CALLGRIND_DUMP_STATS_AT(name);
}

static int prepare(void) { return pipe(finished) == 0 && pipe(gate) == 0 ? 0 : 71; }

// In a process of its own, so that no row warms up the engine for another.
static int run(const row *row) {
  pid_t child = fork();
  if (child == 0) {
    if (prepare() != 0) _exit(71);
    // CALLGRIND_ZERO_STATS is not used: it leaves the sums of other threads as they are.
    count(row, FEW, "first");
    for (int i = 0; i < SAMPLES; i++) count(row, FEW, "few");
    for (int i = 0; i < SAMPLES; i++) count(row, MANY, "many");
    _exit(0);
  }
  int status = -1;
  if (waitpid(child, &status, 0) == child && status == 0) return 0;
  fprintf(stderr, "%s: ended with status %d\n", row->name, status);
  return 70;
}

// instructions [FILTER]          prints the names and tolerances of the rows that contain FILTER,
//                                and runs them
// instructions --list            prints them only
// instructions --once ROW COUNT  runs a row's body once, in this process, for a profile: in the
//                                dumps callgrind knows only the functions in which threads began
int main(int argc, char **argv) {
  const char *filter = argc > 1 ? argv[1] : "";
  int list = !strcmp(filter, "--list");
  int once = !strcmp(filter, "--once");
  if (once && argc != 4) return 64;
  const row *tables[] = {queue_rows, object_rows};
  for (int table = 0; table < 2; table++) {
    for (const row *row = tables[table]; row->name; row++) {
      if (once) {
        if (strcmp(row->name, argv[2])) continue;
        int status = prepare();
        if (status == 0) row->body(strtoul(argv[3], NULL, 10));
        _exit(status);
      }
      if (!list && !strstr(row->name, filter)) continue;
      printf("%s\t%d\n", row->name, row->tolerance);
      fflush(stdout);
      int status = list ? 0 : run(row);
      if (status != 0) return status;
    }
  }
  return once ? 64 : 0;
}
