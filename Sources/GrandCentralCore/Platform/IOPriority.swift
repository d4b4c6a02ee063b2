// Room: Platform/IOPriority. Priority at the disk, if its scheduler honours it: ioprio_set(2).
import CGrandCentralLinux

struct IOPriority: RawRepresentable, Hashable, Sendable {
  let rawValue: Int32

  /// No priority: the kernel derives one from the nice value, for most threads level 4 of 8.
  static let unset = IOPriority(rawValue: 0)
  /// Served when no other requests have come for some time.
  static let idle = IOPriority(rawValue: 3 << 13)
  /// Level 0 first, 7 last.
  static func bestEffort(_ level: Int32) -> IOPriority { IOPriority(rawValue: 2 << 13 | level) }

  /// Reads the priority of a thread of this process; 0: the calling thread. Fails with an errno:
  /// EPERM or ENOSYS in a sandbox, ESRCH.
  static func priority(of thread: UInt32) -> Result<IOPriority, SystemError> {
    let value = gc_io_priority_get(thread)
    return value < 0
      ? .failure(SystemError(number: -value)) : .success(IOPriority(rawValue: value))
  }

  /// Sets the priority of a thread of this process. Returns 0 or an errno.
  static func set(_ priority: IOPriority, of thread: UInt32) -> Int32 {
    gc_io_priority_set(thread, priority.rawValue)
  }
}
