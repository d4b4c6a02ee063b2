// Room: Kernel/ProcessWatch. What the kernel tells of other processes: CLinux/Processes.c.
import CLinux

enum ProcessWatch {
  enum Opened: Equatable {
    /// Readable when the process has exited.
    case descriptor(Int32)
    case isGone
    /// The number is a thread's, other than the first one's.
    case isThread
    /// For now, or in this sandbox: an errno.
    case refused(Int32)
  }

  /// pidfd_open(2). For a positive number.
  static func open(_ process: pid_t) -> Opened {
    let descriptor = gc_process_descriptor(process)
    if descriptor >= 0 { return .descriptor(descriptor) }
    switch errno {
    case ESRCH: return .isGone
    // "pid is not valid", or, from Linux 6.15 on, a thread's. The former is also said of a process while it goes away.
    case EINVAL, ENOENT: return isThread(process) ? .isThread : .isGone
    // EMFILE, ENFILE, ENOMEM, ENODEV; EPERM or ENOSYS where a filter forbids the call: seccomp(2).
    case let error: return .refused(error)
    }
  }

  /// What can be seen without a descriptor. Takes no status away.
  static func hasExited(_ process: pid_t) -> Bool { gc_process_has_exited(process) }

  /// proc(5), `Tgid`: the process that a thread is of.
  private static func isThread(_ number: pid_t) -> Bool {
    guard let status = Process.readText("/proc/\(number)/status", atMost: 4096) else {
      return false
    }
    for line in status.split(separator: "\n") where line.hasPrefix("Tgid:") {
      return pid_t(line.dropFirst(5).drop { $0 == "\t" || $0 == " " }) != number
    }
    return false
  }
}

/// The process connector: what all processes of the machine do.
enum ProcessConnector {
  enum Change: Equatable { case fork, exec }

  /// -1 with errno set where this process is not to know.
  static func open() -> Int32 { gc_process_events_open() }
  static func close(_ connector: Int32) { gc_process_events_close(connector) }

  /// The next one; `nil`: none for now.
  static func next(_ connector: Int32) -> (process: pid_t, change: Change)? {
    var event = gc_process_event()
    guard gc_process_events_next(connector, &event) == 1 else { return nil }
    return (event.process, event.change == GC_PROCESS_FORKED ? .fork : .exec)
  }
}
