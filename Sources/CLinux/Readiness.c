// The descriptors by which the engine waits: eventfd(2), epoll(7), timerfd_create(2).
#define _GNU_SOURCE
#include "GrandCentralReadiness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "Descriptors.h"

int gc_eventfd(void) { return above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void gc_descriptor_move(int descriptor, int other) {
  // EBUSY cannot occur, because no other thread opens a descriptor meanwhile. dup3(2).
  dup3(descriptor, other, O_CLOEXEC);
  close(descriptor);
}

int gc_epoll_make(void) { return above_standard(epoll_create1(EPOLL_CLOEXEC)); }

static int epoll_control(int set, int operation, int descriptor, uint32_t events, uint64_t key) {
  struct epoll_event event = {.events = events, .data.u64 = key};
  return epoll_ctl(set, operation, descriptor, &event) == 0 ? 0 : errno;
}

int gc_epoll_add(int set, int descriptor, uint32_t events, uint64_t key) {
  return epoll_control(set, EPOLL_CTL_ADD, descriptor, events, key);
}

int gc_epoll_change(int set, int descriptor, uint32_t events, uint64_t key) {
  return epoll_control(set, EPOLL_CTL_MOD, descriptor, events, key);
}

int gc_epoll_remove(int set, int descriptor) {
  return epoll_control(set, EPOLL_CTL_DEL, descriptor, 0, 0);
}

int gc_epoll_wait(int set, gc_readiness *ready, int timeout_milliseconds) {
  struct epoll_event events[GC_READINESS_BATCH];
  int count = epoll_wait(set, events, GC_READINESS_BATCH, timeout_milliseconds);
  for (int index = 0; index < count; index++)
    ready[index] = (gc_readiness){.key = events[index].data.u64, .events = events[index].events};
  return count;
}

int gc_poll_now(int descriptor, int events) {
  struct pollfd entry = {.fd = descriptor, .events = (short)events};
  return poll(&entry, 1, 0) < 0 ? -1 : entry.revents;
}

int gc_timer_make(bool realtime) {
  return above_standard(timerfd_create(
      realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

void gc_timer_set(int timer, uint64_t nanoseconds) {
  struct itimerspec when = {
      .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                   .tv_nsec = (long)(nanoseconds % 1000000000)}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}
