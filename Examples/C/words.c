// Counts the words of files, on all CPUs. A C program: any compiler builds it, with or without
// blocks.
//
//   cc words.c -o words $(pkg-config --cflags --libs grandcentral) && ./words FILE…
//
// With the packages installed (Docs/Install.md). Each file is an item of a global queue, which any
// number of threads serve; the counts are printed on a serial queue, so no lock is needed. A
// semaphore bounds how many files are open at once.
#include <ctype.h>
#include <dispatch/dispatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_open = 16 };

static dispatch_group_t group;
static dispatch_queue_t results;
static dispatch_semaphore_t permits;

struct count {
  const char *file;
  long words;  // -1: the file cannot be read
};

// Only items of the serial queue touch these.
static long total;
static int failures;

static void print_count(void *context) {
  struct count *count = context;
  if (count->words < 0) {
    fprintf(stderr, "words: cannot read '%s'\n", count->file);
    failures++;
  } else {
    printf("%ld %s\n", count->words, count->file);
    total += count->words;
  }
  free(count);
}

static void count_words(void *context) {
  struct count *count = context;
  FILE *file = fopen(count->file, "r");
  count->words = file ? 0 : -1;
  if (file) {
    bool is_inside = false;
    for (int next; (next = getc(file)) != EOF; is_inside = !isspace(next))
      if (!is_inside && !isspace(next)) count->words++;
    if (ferror(file)) count->words = -1;
    fclose(file);
  }
  dispatch_semaphore_signal(permits);
  dispatch_group_async_f(group, results, count, print_count);
}

int main(int argc, char *argv[]) {
  if (argc < 2) {
    fprintf(stderr, "usage: words FILE...\n");
    return 2;
  }
  group = dispatch_group_create();
  results = dispatch_queue_create("words.results", DISPATCH_QUEUE_SERIAL);
  permits = dispatch_semaphore_create(most_open);
  for (int index = 1; index < argc; index++) {
    struct count *count = malloc(sizeof *count);
    if (!count) return 1;
    count->file = argv[index];
    dispatch_semaphore_wait(permits, DISPATCH_TIME_FOREVER);
    dispatch_group_async_f(group, dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0),
                           count, count_words);
  }
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  printf("%ld in all\n", total);
  return failures ? 1 : 0;
}
