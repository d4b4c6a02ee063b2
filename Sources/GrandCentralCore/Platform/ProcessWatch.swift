// Room: Platform/ProcessWatch. What the kernel reports about other processes: CLinux/Processes.c.
import CGrandCentralLinux

enum ProcessWatch {
  enum Opened: Equatable {
    /// Readable when the process has exited.
    case descriptor(Int32)
    case isGone
    /// The number is that of a thread other than the process's first one.
    case isThread
    /// Refused for now, or in this sandbox: an errno.
    case refused(Int32)
  }

  /// Opens a descriptor for a process, a positive number: pidfd_open(2).
  static func open(_ process: pid_t) -> Opened {
    let descriptor = gc_process_descriptor(process)
    if descriptor >= 0 { return .descriptor(descriptor) }
    switch errno {
    case ESRCH: return .isGone
    // "pid is not valid", also of an exiting process; or from Linux 6.15 on a thread's number.
    case EINVAL, ENOENT: return isThread(process) ? .isThread : .isGone
    // EMFILE, ENFILE, ENOMEM, ENODEV; EPERM or ENOSYS where a filter forbids the call: seccomp(2).
    case let error: return .refused(error)
    }
  }

  /// Whether a process has exited, without a descriptor. Does not consume its exit status.
  static func hasExited(_ process: pid_t) -> Bool { gc_process_has_exited(process) }

  /// Whether the number is that of a thread which is not the first of its process: proc(5), `Tgid`.
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

/// The process connector, which reports the events of all processes of the machine.
enum ProcessConnector {
  enum Change: Equatable { case fork, exec }

  /// Opens a connector; -1 with errno set if this process lacks permission.
  static func open() -> Int32 { gc_process_events_open() }
  static func close(_ connector: Int32) { gc_process_events_close(connector) }

  /// Takes the next event; `nil` if none waits.
  static func next(_ connector: Int32) -> (process: pid_t, change: Change)? {
    var event = gc_process_event()
    guard gc_process_events_next(connector, &event) == 1 else { return nil }
    return (event.process, event.change == GC_PROCESS_FORKED ? .fork : .exec)
  }
}
