// Room: Kernel/MemoryPlaces. Where the kernel says how scarce memory is, and what it says there.
// Stalls: pressure stall information of the process's own control group, version 2 (memory.pressure), or of the machine
// (/proc/pressure/memory): for how long some, or all, tasks have waited for memory. Documentation/accounting/psi.rst.
// Limits: of the process's control group and of all above it, version 2 (memory.max, memory.high) or 1
// (memory.limit_in_bytes). What the kernel can take back at once, file pages that nobody has used lately, does not
// count as used: a program that reads many files fills every limit with them.

/// How the kernel is asked, so that tests can play it.
struct MemoryKernel: Sendable {
  /// Reads a whole small file, or nil.
  var read: @Sendable (String) -> String?
  /// A descriptor of its own for the trigger, or an errno, negative.
  var open: @Sendable (MemoryTrigger) -> Int32

  static let machine = MemoryKernel(
    read: { Process.readText($0, atMost: 65536) }, open: { $0.makeDescriptor() })
}

/// What was read at one moment.
struct MemorySample: Equatable, Sendable {
  /// Microseconds for which some task, or all of them, have stalled so far.
  var some: UInt64?
  var full: UInt64?
  /// The largest share of a limit that is in use; `nil` without limits.
  var usage: Double?
  /// How often a limit has cost a process its life.
  var kills: UInt64 = 0
}

struct MemoryPlaces: Equatable, Sendable {
  struct Group: Equatable, Sendable {
    var folder: String
    var isVersion2: Bool
  }

  /// Of version 2 first; of each the outermost first, the process's own last.
  var groups: [Group] = []
  /// Where stalls are counted.
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

  /// What is to be listened to.
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

  // MARK: What the files say

  private func usageV2(_ group: Group, _ kernel: MemoryKernel) -> Double? {
    // "max" is no number: no limit.
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
    // Without a limit it is the largest number of pages, in bytes.
    number(kernel.read(group.folder + "/memory.limit_in_bytes")).flatMap { $0 < 1 << 62 ? $0 : nil }
  }

  private func share(
    of limit: UInt64, _ used: UInt64, in group: Group, idle: String, _ kernel: MemoryKernel
  ) -> Double {
    let text = kernel.read(group.folder + "/memory.stat")
    let idle = text.flatMap { Self.number(idle, in: $0) } ?? 0
    // A limit of nothing is reached by nothing.
    return limit == 0 ? 1 : Double(used - min(used, idle)) / Double(limit)
  }

  /// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": the microseconds of that line.
  static func stalled(_ kind: String, in text: String) -> UInt64? {
    for line in text.split(separator: "\n") where line.hasPrefix(kind + " ") {
      let total = line.split(separator: " ").last { $0.hasPrefix("total=") }
      return total.flatMap { UInt64($0.dropFirst(6)) }
    }
    return nil
  }

  /// The number after `name` in a file of such lines.
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
