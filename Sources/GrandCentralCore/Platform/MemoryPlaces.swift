// Room: Platform/MemoryPlaces. The kernel's files about memory pressure, and how to read them.
// Stalls: pressure stall information (PSI) of the process's own control group, version 2
// (memory.pressure), or of the machine (/proc/pressure/memory): how long some, or all, tasks have
// waited for memory. Documentation/accounting/psi.rst.
// Limits: those of the process's control group and of all groups above it, version 2 (memory.max,
// memory.high) or 1 (memory.limit_in_bytes). Memory that the kernel can reclaim at once, unused
// file pages, does not count as used: a program that reads many files fills every limit with them.

/// Access to the kernel's files, which tests replace.
struct MemoryKernel: Sendable {
  /// Reads a whole small file; `nil` if it cannot be read.
  var read: @Sendable (String) -> String?
  /// Opens a descriptor of its own for the trigger; a negative errno on failure.
  var open: @Sendable (MemoryTrigger) -> Int32

  static let machine = MemoryKernel(
    read: { Process.readText($0, atMost: 65536) }, open: { $0.makeDescriptor() })
}

/// The values read at one moment.
struct MemorySample: Equatable, Sendable {
  /// Total microseconds for which some task, or all tasks, have stalled so far.
  var some: UInt64?
  var full: UInt64?
  /// The largest used share of a limit; `nil` without limits.
  var usage: Double?
  /// How often the kernel has killed a process at a limit.
  var kills: UInt64 = 0
}

struct MemoryPlaces: Equatable, Sendable {
  struct Group: Equatable, Sendable {
    var folder: String
    var isVersion2: Bool
  }

  /// Version 2 first; in each version the outermost group first and the process's own last.
  var groups: [Group] = []
  /// The file that counts stalls.
  var pressureFile: String?

  static func find(_ kernel: MemoryKernel) -> MemoryPlaces {
    var places = MemoryPlaces()
    if let membership = kernel.read("/proc/self/cgroup"),
      let mountinfo = kernel.read("/proc/self/mountinfo")
    {
      let mounts = CPULimits.controlGroupMounts(mountinfo, controller: "memory")
      for mount in mounts.filter(\.isVersion2) + mounts.filter({ !$0.isVersion2 }) {
        guard
          let group = CPULimits.group(
            in: membership, version2: mount.isVersion2, controller: "memory")
        else { continue }
        places.groups += CPULimits.folders(mount: mount, group: group).map {
          Group(folder: $0, isVersion2: mount.isVersion2)
        }
      }
    }
    let own = places.groups.last(where: \.isVersion2).map { $0.folder + "/memory.pressure" }
    places.pressureFile = [own, "/proc/pressure/memory"].compactMap { $0 }.first {
      kernel.read($0).flatMap { stalled("some", in: $0) } != nil
    }
    return places
  }

  /// The triggers to listen to.
  func triggers(_ kernel: MemoryKernel) -> [MemoryTrigger] {
    var triggers: [MemoryTrigger] = []
    if let pressureFile {
      triggers += [.stall(pressureFile, .warning), .stall(pressureFile, .critical)]
    }
    if let own = groups.last(where: \.isVersion2) {
      triggers.append(.change(own.folder + "/memory.events"))
    }
    if let own = groups.last(where: { !$0.isVersion2 }) {
      triggers += [.reclaim(own.folder, .warning), .reclaim(own.folder, .critical)]
    }
    for group in groups where !group.isVersion2 {
      guard let limit = Self.limitV1(group, kernel) else { continue }
      triggers += [MemoryLevel.warningShare, MemoryLevel.criticalShare].map {
        .crossing(group.folder, bytes: UInt64(Double(limit) * $0))
      }
    }
    return triggers
  }

  func sample(_ kernel: MemoryKernel) -> MemorySample {
    var sample = MemorySample()
    if let text = pressureFile.flatMap(kernel.read) {
      sample.some = Self.stalled("some", in: text)
      sample.full = Self.stalled("full", in: text)
    }
    for group in groups {
      if let share = group.isVersion2 ? usageV2(group, kernel) : usageV1(group, kernel) {
        sample.usage = max(sample.usage ?? 0, share)
      }
    }
    if let own = groups.last {
      let file = own.isVersion2 ? "/memory.events" : "/memory.oom_control"
      sample.kills = kernel.read(own.folder + file).flatMap { Self.number("oom_kill", in: $0) } ?? 0
    }
    return sample
  }

  // MARK: The files' contents

  private func usageV2(_ group: Group, _ kernel: MemoryKernel) -> Double? {
    // "max" is not a number: no limit.
    let limits = ["/memory.max", "/memory.high"].compactMap {
      Self.number(kernel.read(group.folder + $0))
    }
    guard let limit = limits.min(),
      let used = Self.number(kernel.read(group.folder + "/memory.current"))
    else { return nil }
    return share(of: limit, used, in: group, idle: "inactive_file", kernel)
  }

  private func usageV1(_ group: Group, _ kernel: MemoryKernel) -> Double? {
    guard let limit = Self.limitV1(group, kernel),
      let used = Self.number(kernel.read(group.folder + "/memory.usage_in_bytes"))
    else { return nil }
    return share(of: limit, used, in: group, idle: "total_inactive_file", kernel)
  }

  private static func limitV1(_ group: Group, _ kernel: MemoryKernel) -> UInt64? {
    // Without a limit the file has the largest number of pages, in bytes.
    number(kernel.read(group.folder + "/memory.limit_in_bytes")).flatMap { $0 < 1 << 62 ? $0 : nil }
  }

  private func share(
    of limit: UInt64, _ used: UInt64, in group: Group, idle: String, _ kernel: MemoryKernel
  ) -> Double {
    let text = kernel.read(group.folder + "/memory.stat")
    let idle = text.flatMap { Self.number(idle, in: $0) } ?? 0
    // A limit of 0 bytes is always reached.
    return limit == 0 ? 1 : Double(used - min(used, idle)) / Double(limit)
  }

  /// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": the total in microseconds.
  static func stalled(_ kind: String, in text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasPrefix(kind + " ") {
      let total = line.split(separator: " ").last { $0.hasPrefix("total=") }
      return total.flatMap { UInt64($0.dropFirst(6)) }
    }
    return nil
  }

  /// The number after `name`, in a file with a name and a number on each line.
  static func number(_ name: String, in text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasPrefix(name + " ") {
      return UInt64(line.dropFirst(name.count + 1))
    }
    return nil
  }

  private static func number(_ text: String?) -> UInt64? {
    text.flatMap { UInt64($0.filter { !$0.isWhitespace }) }
  }
}
