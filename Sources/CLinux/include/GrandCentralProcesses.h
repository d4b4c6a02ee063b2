// Other processes: their end, and what the kernel reports of them.
#ifndef GRANDCENTRAL_PROCESSES_H
#define GRANDCENTRAL_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

// Processes.c. Makes a close-on-exec pidfd_open(2), readable when the process has exited. Returns
// -1 with errno set on failure.
int gc_process_descriptor(int32_t process);
// Whether the process has exited, as far as that is visible without a descriptor. Leaves its status
// to the program.
bool gc_process_has_exited(int32_t process);

typedef enum { GC_PROCESS_FORKED, GC_PROCESS_EXECUTED } gc_process_change;
typedef struct gc_process_event {
  int32_t process;
  gc_process_change change;
} gc_process_event;
// Opens a close-on-exec, non-blocking descriptor for events of all processes of the machine.
// Returns -1 with errno set: EPERM, EPROTONOSUPPORT or EOPNOTSUPP if this process may not receive
// them.
int gc_process_events_open(void);
void gc_process_events_close(int connector);
// Receives the next event. Returns 1; 0 if there is none yet; -1 with errno set.
int gc_process_events_next(int connector, gc_process_event *_Nonnull next);

#endif
