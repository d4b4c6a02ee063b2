// Room: Platform/MemoryTrigger. Descriptors that become ready when memory is scarce.

/// A level of memory pressure. The numbers are those of `DispatchSource.MemoryPressureEvent`.
enum MemoryLevel: UInt64, Comparable, Sendable {
  case normal = 1
  case warning = 2
  case critical = 4

  /// The share of a limit in use at which each level begins.
  static var warningShare: Double { 0.85 }
  static var criticalShare: Double { 0.95 }

  static func < (left: MemoryLevel, right: MemoryLevel) -> Bool { left.rawValue < right.rawValue }
}

enum MemoryTrigger: Hashable, Sendable {
  /// Pressure stall information in that file, from the share of stalled time of the level.
  case stall(String, MemoryLevel)
  /// A change of the file's text: the events of a control group of version 2.
  case change(String)
  /// Reclaim in a control group of version 1, by its directory, with the effort of the level.
  case reclaim(String, MemoryLevel)
  /// The use of a control group of version 1 crosses `bytes`, from below or above.
  case crossing(String, bytes: UInt64)

  /// In microseconds. Unprivileged processes may only use windows of whole multiples of 2 s,
  /// Documentation/accounting/psi.rst, so every process can use these.
  static var windowMicroseconds: UInt64 { 2_000_000 }
  static var stallMicroseconds: UInt64 { windowMicroseconds / 10 }

  /// The readiness by which the kernel reports the trigger.
  var readiness: Readiness {
    switch self {
    case .stall, .change: .priority
    case .reclaim, .crossing: .readable
    }
  }

  /// The least memory pressure when the trigger fires. Normal: the pressure must be looked up.
  var level: MemoryLevel {
    switch self {
    case .stall(_, let level), .reclaim(_, let level): level
    case .change, .crossing: .normal
    }
  }

  /// The text written to the kernel: for a stall, of some tasks or of all tasks.
  var request: String {
    switch self {
    case .stall(_, let level):
      "\(level == .critical ? "full" : "some") \(Self.stallMicroseconds) \(Self.windowMicroseconds)"
    case .reclaim(_, let level): level == .critical ? "critical" : "medium"
    case .crossing(_, let bytes): "\(bytes)"
    case .change: ""
    }
  }

  /// Opens a descriptor for the trigger. Returns it, or a negative errno.
  func makeDescriptor() -> Int32 {
    switch self {
    case .stall(let file, _): Self.openStall(file, request)
    case .change(let file): Self.openChange(file)
    case .reclaim(let folder, _): Self.openNotification(folder, "memory.pressure_level", request)
    case .crossing(let folder, _): Self.openNotification(folder, "memory.usage_in_bytes", request)
    }
  }

  private static func openStall(_ file: String, _ request: String) -> Int32 {
    let descriptor = retrying { open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { return -errno }
    guard send(request, to: descriptor) else {
      defer { close(descriptor) }
      return -errno
    }
    return descriptor
  }

  private static func openChange(_ file: String) -> Int32 {
    let descriptor = Process.openToRead(file)
    guard descriptor >= 0 else { return -errno }
    // Changes count from the text that has been read.
    _ = Process.readText(from: descriptor)
    return descriptor
  }

  /// Registers an eventfd with the group, for one of its files:
  /// Documentation/admin-guide/cgroup-v1/memory.rst, "Memory thresholds", "Memory Pressure".
  private static func openNotification(
    _ folder: String, _ file: String, _ request: String
  ) -> Int32 {
    let wakeDescriptor = EventFD.make()
    guard wakeDescriptor >= 0 else { return -errno }
    let subject = Process.openToRead(folder + "/" + file)
    let control =
      subject < 0
      ? -1 : retrying { open(folder + "/cgroup.event_control", O_WRONLY | O_CLOEXEC) }
    let isRegistered = control >= 0 && send("\(wakeDescriptor) \(subject) \(request)", to: control)
    let error = errno
    for descriptor in [subject, control] where descriptor >= 0 { close(descriptor) }
    if isRegistered { return wakeDescriptor }
    close(wakeDescriptor)
    return -error
  }

  private static func retrying(_ call: () -> Int32) -> Int32 {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }

  /// Writes `text` with a terminating zero, which psi.rst requires.
  private static func send(_ text: String, to descriptor: Int32) -> Bool {
    let bytes = Array(text.utf8) + [0]
    return retrying { Int32(write(descriptor, bytes, bytes.count)) } == bytes.count
  }
}
