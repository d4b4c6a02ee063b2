// Descriptors of processes, and the kernel's events for fork and exec. The events come through the
// process connector (linux/cn_proc.h). It serves processes in the initial namespaces; before Linux
// 6.6 they also need the privilege to administer them.
#define _GNU_SOURCE
#include "Descriptors.h"
#include "GrandCentralProcesses.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int gc_process_descriptor(int32_t process) {
  return above_standard((int)syscall(SYS_pidfd_open, process, 0));
}

bool gc_process_has_exited(int32_t process) {
  siginfo_t info = {.si_pid = 0};
  // WNOWAIT: the status stays for the program.
  if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    return info.si_pid == process;
  return kill(process, 0) != 0 && errno == ESRCH;
}

// Sends the kernel a message with `bytes` of data, which the connector takes for a request.
static int request(int connector, const void *data, size_t bytes) {
  union {
    struct nlmsghdr header;
    char room[NLMSG_SPACE(sizeof(struct cn_msg) + 2 * sizeof(uint32_t))];
  } message;
  memset(&message, 0, sizeof message);
  message.header.nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + bytes);
  message.header.nlmsg_type = NLMSG_DONE;
  struct cn_msg *body = NLMSG_DATA(&message.header);
  body->id.idx = CN_IDX_PROC;
  body->id.val = CN_VAL_PROC;
  body->len = (uint16_t)bytes;
  memcpy(body->data, data, bytes);
  ssize_t sent = send(connector, &message, message.header.nlmsg_len, MSG_DONTWAIT);
  return sent < 0 ? -1 : 0;
}

// Receives the next message into `event`. Returns 1; 0 if there is none; -1 with errno set.
static int receive(int connector, struct proc_event *event) {
  for (;;) {
    union {
      struct nlmsghdr header;
      char room[512];
    } message;
    struct sockaddr_nl from = {.nl_pid = 0};
    socklen_t length = sizeof from;
    ssize_t bytes = recvfrom(
        connector, &message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno == EAGAIN ? 0 : -1;
    // Any process may send to a netlink socket; the kernel's address is 0. netlink(7).
    if (from.nl_pid != 0 || !NLMSG_OK(&message.header, (size_t)bytes)) continue;
    const struct cn_msg *body = NLMSG_DATA(&message.header);
    size_t rest = (size_t)bytes - NLMSG_HDRLEN;
    if (rest < sizeof *body || body->id.idx != CN_IDX_PROC || body->id.val != CN_VAL_PROC) continue;
    // The longest kind of event differs between kernels.
    size_t data = rest - sizeof *body;
    memset(event, 0, sizeof *event);
    memcpy(event, body->data, data < sizeof *event ? data : sizeof *event);
    return 1;
  }
}

// Whether the kernel has agreed to send events. In a namespace of its own a process gets no answer.
// The answer arrives before send(2) returns.
static bool is_answered(int connector) {
  struct proc_event event;
  while (receive(connector, &event) == 1)
    if (event.what == 0) return event.event_data.ack.err == 0;
  return false;
}

int gc_process_events_open(void) {
  int connector = above_standard(
      socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (connector < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
  uint32_t listen[2] = {PROC_CN_MCAST_LISTEN, 0x00000001 | 0x00000002};
  if (bind(connector, (struct sockaddr *)&address, sizeof address) == 0
      && request(connector, listen, sizeof listen[0]) == 0) {
    if (is_answered(connector)) {
      // Selects forks and execs, on kernels from Linux 6.6 on, which can filter.
      request(connector, listen, sizeof listen);
      return connector;
    }
    errno = EOPNOTSUPP;
  }
  int error = errno;
  close(connector);
  errno = error;
  return -1;
}

void gc_process_events_close(int connector) {
  // Older kernels do not notice that a listener has closed.
  uint32_t ignore = PROC_CN_MCAST_IGNORE;
  request(connector, &ignore, sizeof ignore);
  close(connector);
}

int gc_process_events_next(int connector, gc_process_event *next) {
  struct proc_event event;
  for (;;) {
    int result = receive(connector, &event);
    // ENOBUFS: events were lost. netlink(7).
    if (result < 0 && errno == ENOBUFS) continue;
    if (result <= 0) return result;
    switch ((unsigned)event.what) {
    case 0x00000001:
      // A new thread is reported as a fork too.
      if (event.event_data.fork.child_pid != event.event_data.fork.child_tgid) continue;
      *next = (gc_process_event){event.event_data.fork.parent_tgid, GC_PROCESS_FORKED};
      return 1;
    case 0x00000002:
      *next = (gc_process_event){event.event_data.exec.process_tgid, GC_PROCESS_EXECUTED};
      return 1;
    default: continue;
    }
  }
}
