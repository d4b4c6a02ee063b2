// The descriptors by which the engine waits: eventfd(2), epoll(7), timerfd_create(2).
#ifndef GRANDCENTRAL_READINESS_H
#define GRANDCENTRAL_READINESS_H

#include <stdbool.h>
#include <stdint.h>

// Makes a close-on-exec, non-blocking eventfd(2). Returns -1 with errno set on failure.
int gc_eventfd(void);
// Moves `descriptor` to the number `other`, close-on-exec. Both are open.
void gc_descriptor_move(int descriptor, int other);

// An event of epoll(7), without the packing that the kernel's record has on some machines.
typedef struct gc_readiness {
  uint64_t key;
  uint32_t events;
} gc_readiness;

enum { GC_READINESS_BATCH = 64 };

// Makes a close-on-exec epoll(7) set. Returns -1 with errno set on failure.
int gc_epoll_make(void);
// epoll_ctl(2). Each returns 0 or an errno.
int gc_epoll_add(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_change(int set, int descriptor, uint32_t events, uint64_t key);
int gc_epoll_remove(int set, int descriptor);
// epoll_wait(2) for up to GC_READINESS_BATCH events; timeout -1: no limit. Returns their number, or
// -1 with errno set.
int gc_epoll_wait(int set, gc_readiness *_Nonnull ready, int timeout_milliseconds);
// poll(2) of one descriptor, without waiting. Returns the conditions that hold; -1 with errno set.
int gc_poll_now(int descriptor, int events);

// Makes a close-on-exec, non-blocking timerfd_create(2) on CLOCK_REALTIME or CLOCK_MONOTONIC.
// Returns -1 with errno set on failure.
int gc_timer_make(bool realtime);
// Sets the timer to fire once, at an absolute time of its clock.
void gc_timer_set(int timer, uint64_t nanoseconds);

#endif
