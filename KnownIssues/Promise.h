// What every program of this folder uses: a promise, a deadline, and a verdict in one line.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/// Runs `body` in a process of its own, prints one line about `text`, the promise, and exits:
/// with 0 if it was kept, with 1 if not. The body ends with `decide`. A body that crashes, ends
/// without a verdict, or decides nothing within the deadline has broken the promise. The deadline
/// is 20 seconds, or `KNOWN_ISSUES_DEADLINE`. Call it from `main`, before anything else.
void promise(const char *text, void (*body)(void));

/// As `promise`, but the promise is that the process stops by itself and that its message contains
/// every one of `words`, which `|` separates.
void promise_to_stop(const char *text, const char *words, void (*body)(void));

/// Says what the body waits for now. It is quoted if the deadline passes.
void awaiting(const char *event);

/// Ends the body with a verdict and a sentence about what happened. The first call counts.
void decide(bool is_kept, const char *what_happened);

/// Lets this thread sleep, without the library.
void sleep_ms(int milliseconds);
/// Lets this thread compute until it has used so much time of a CPU.
void compute_ms(int milliseconds);
/// The time of the monotonic clock.
int64_t now_ms(void);
/// The number of threads of this process.
int thread_count(void);
/// The resident memory of this process.
long resident_kib(void);

#ifndef __swift__
#define DECIDE(is_kept, ...)                               \
  do {                                                     \
    char what_happened[400];                               \
    snprintf(what_happened, sizeof what_happened, __VA_ARGS__); \
    decide(is_kept, what_happened);                        \
  } while (0)
#endif
