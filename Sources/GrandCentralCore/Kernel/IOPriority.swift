// Room: Kernel/IOPriority. Whose requests the disk serves first, where its scheduler looks at that. ioprio_set(2).
import CLinux

struct IOPriority: RawRepresentable, Hashable, Sendable {
  let rawValue: Int32

  /// None of its own: the kernel derives it from the nice value, which gives level 4 of 8 to most.
  static let unset = IOPriority(rawValue: 0)
  /// Served when nobody else has asked for some time.
  static let idle = IOPriority(rawValue: 3 << 13)
  /// Level 0 first, 7 last.
  static func bestEffort(_ level: Int32) -> IOPriority { IOPriority(rawValue: 2 << 13 | level) }

  /// Of a thread of this process; 0: the calling one. An errno: EPERM or ENOSYS in a sandbox, ESRCH.
  static func priority(of thread: UInt32) -> Result<IOPriority, SystemError> {
    let value = gc_io_priority_get(thread)
    return value < 0
      ? .failure(SystemError(number: -value)) : .success(IOPriority(rawValue: value))
  }

  /// Returns 0 or an errno.
  static func set(_ priority: IOPriority, of thread: UInt32) -> Int32 {
    gc_io_priority_set(thread, priority.rawValue)
  }
}
