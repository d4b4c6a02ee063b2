// Threads that leave the program's signals to it, and signals that are counted.
#ifndef GRANDCENTRAL_SIGNALS_H
#define GRANDCENTRAL_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Masks.c. Starts a detached thread with `stack_bytes` of stack (0: default), which blocks the
// signals that the program blocks, and all that come from outside. Returns 0 or an errno (EAGAIN:
// no memory or a limit on threads).
int gc_thread_spawn(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
    size_t stack_bytes);
// Sets what counts as the program's signal mask: bit (number - 1) blocks a signal. Threads of the
// engine give it to the processes that they start. Until the first call it is the mask of the
// thread that starts the engine's first one.
void gc_set_program_mask(uint64_t blocked);

// Signals.c. A handler counts the deliveries of a signal, on whatever thread it runs, and then
// makes an eventfd(2) readable. Callers must serialise install and uninstall of one signal.
// Whether a program can handle the signal. False for SIGKILL, SIGSTOP, signals of the C library and
// invalid numbers.
bool gc_signal_can_be_caught(int number);
// Begins to count. The handler replaces the program's; it calls the program's handler too, as that
// was installed. Allocates nothing. Returns 0 or an errno.
int gc_signal_install(int number);
// Restores the program's action, unless the program has installed another; then that stays.
void gc_signal_uninstall(int number);
// Returns the number of deliveries since the last call.
uint64_t gc_signal_take(int number);
// Sets the eventfd, for good: a handler may be about to write to it at any time.
void gc_signal_set_eventfd(int descriptor);

// SignalThread.c. Makes the thread "gc-signals", unless there is one. Returns 0 or an errno:
// pthread_create(3).
int gc_signal_thread_start(void);
bool gc_signal_thread_exists(void);
// Makes that thread leave a signal open from now on.
void gc_signal_open(int number);
// Makes that thread block the signal. Returns the number of this change.
uint32_t gc_signal_close(int number);
// Waits until the thread has made the change, at most a second.
void gc_signal_await(uint32_t change);
// Called at the end of the main thread: the thread "gc-signals" leaves open what the caller does,
// if the engine has threads.
void gc_signal_stand_in(void);

#endif
