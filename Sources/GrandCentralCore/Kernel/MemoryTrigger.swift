// Room: Kernel/MemoryTrigger. Descriptors that become ready when memory is scarce.

/// How scarce memory is. The numbers are those of `DispatchSource.MemoryPressureEvent`.
enum MemoryLevel: UInt64, Comparable, Sendable {
  case normal = 1
  case warning = 2
  case critical = 4

  /// How much of a limit is in use from that level on.
  static var warningShare: Double { 0.85 }
  static var criticalShare: Double { 0.95 }

  static func < (left: MemoryLevel, right: MemoryLevel) -> Bool { left.rawValue < right.rawValue }
}

enum MemoryTrigger: Hashable, Sendable {
  /// Pressure stall information of that file, from the share of time on that the level is for.
  case stall(String, MemoryLevel)
  /// The file's text has changed: the events of a control group of version 2.
  case change(String)
  /// A control group of version 1, by its folder, is being reclaimed from with that much effort.
  case reclaim(String, MemoryLevel)
  /// The use of a control group of version 1 has come to so many bytes, from below or above.
  case crossing(String, bytes: UInt64)

  /// In microseconds. Who is not privileged may have windows of whole 2 s only, Documentation/accounting/psi.rst, so
  /// these are for everybody.
  static var windowMicroseconds: UInt64 { 2_000_000 }
  static var stallMicroseconds: UInt64 { windowMicroseconds / 10 }

  /// By which readiness the kernel tells.
  var readiness: Readiness {
    switch self {
    case .stall, .change: .priority
    case .reclaim, .crossing: .readable
    }
  }

  /// How scarce memory is at least when it fires. Normal: that has to be looked up.
  var level: MemoryLevel {
    switch self {
    case .stall(_, let level), .reclaim(_, let level): level
    case .change, .crossing: .normal
    }
  }

  /// What is written to the kernel: for stalls of some tasks, or of all.
  var request: String {
    switch self {
    case .stall(_, let level):
      "\(level == .critical ? "full" : "some") \(Self.stallMicroseconds) \(Self.windowMicroseconds)"
    case .reclaim(_, let level): level == .critical ? "critical" : "medium"
    case .crossing(_, let bytes): "\(bytes)"
    case .change: ""
    }
  }

  /// A descriptor, or an errno, negative.
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
    // Changes count from what has been read.
    _ = Process.readText(from: descriptor)
    return descriptor
  }

  /// Documentation/admin-guide/cgroup-v1/memory.rst, "Memory thresholds", "Memory Pressure": an eventfd is registered
  /// with the group, for one of its files.
  private static func openNotification(
    _ folder: String, _ file: String, _ request: String
  ) -> Int32 {
    let bell = Doorbell.make()
    guard bell >= 0 else { return -errno }
    let subject = Process.openToRead(folder + "/" + file)
    let control =
      subject < 0
      ? -1 : retrying { open(folder + "/cgroup.event_control", O_WRONLY | O_CLOEXEC) }
    let isRegistered = control >= 0 && send("\(bell) \(subject) \(request)", to: control)
    let error = errno
    for descriptor in [subject, control] where descriptor >= 0 { close(descriptor) }
    if isRegistered { return bell }
    close(bell)
    return -error
  }

  private static func retrying(_ call: () -> Int32) -> Int32 {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }

  /// With the zero at its end, which psi.rst asks for.
  private static func send(_ text: String, to descriptor: Int32) -> Bool {
    let bytes = Array(text.utf8) + [0]
    return retrying { Int32(write(descriptor, bytes, bytes.count)) } == bytes.count
  }
}
