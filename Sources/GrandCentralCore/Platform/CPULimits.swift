// Room: Platform/CPULimits. The number of CPUs that this process may use.
// It is the smallest of the affinity mask, which cpusets also narrow (sched_getaffinity(2),
// cpuset(7)), and the CPU quotas of its control group and of every group above it, version 2
// (cgroups(7), cpu.max) or version 1 (cpu.cfs_quota_us, cpu.cfs_period_us). A fractional quota is
// rounded up: with 2.5 CPUs, two workers leave half a CPU unused, and three are throttled a sixth
// of the time.
// Finding the groups' folders takes 0.4 ms, and a worker that goes idle reads the quotas once a
// second. Beside busy threads the kernel charges its next items for that time. So the folders are
// found again only when the process has moved to another group.
import CGrandCentralLinux

struct CPULimits: Sendable {
  /// Reads a whole file; `nil` if it cannot be read.
  var read: @Sendable (String) -> String?
  /// The number of CPUs in the affinity mask; `nil` if unknown.
  var affinity: @Sendable () -> Int?
  /// Remembers the groups' folders between readings.
  var remembered: QuotaFolders?

  static let machine = CPULimits(
    read: { readText($0) },
    affinity: {
      // The main thread's mask: the calling thread may be pinned for its own reasons.
      let count = gc_affinity_count(gc_process_id())
      return count > 0 ? Int(count) : nil
    }, remembered: QuotaFolders())

  /// The number of CPUs to use, at least 1.
  func width() -> Int {
    let available = affinity() ?? 1
    guard let quota = quota() else { return available }
    return max(1, min(available, Int(quota.rounded(.up))))
  }

  /// Whether the control groups allow less than the CPUs in the affinity mask.
  func hasQuota() -> Bool {
    guard let quota = quota() else { return false }
    return quota < Double(affinity() ?? 1)
  }

  /// The CPUs that the control groups allow, as CPU seconds per second; `nil` without a limit.
  func quota() -> Double? {
    guard let membership = read("/proc/self/cgroup") else { return nil }
    let folders =
      remembered?.folders(of: membership) { quotaFolders(of: membership) }
      ?? quotaFolders(of: membership)
    return folders.lazy.compactMap { $0.isVersion2 ? quotaV2($0.path) : quotaV1($0.path) }.min()
  }

  /// A folder that may have a quota.
  struct Folder: Equatable {
    var path: String
    var isVersion2: Bool
  }

  /// The folders of the groups in `membership`, the text of /proc/self/cgroup. One without a quota
  /// file may get one later.
  private func quotaFolders(of membership: String) -> [Folder] {
    guard let mounts = read("/proc/self/mountinfo") else { return [] }
    return Self.controlGroupMounts(mounts).flatMap { mount -> [Folder] in
      guard let group = Self.group(in: membership, version2: mount.isVersion2) else { return [] }
      return Self.folders(mount: mount, group: group)
        .map { Folder(path: $0, isVersion2: mount.isVersion2) }
    }
  }

  // MARK: The files' contents
  // Read as bytes in memory and without lists. Every process reads them at its first queue. Finding
  // the characters of a text takes a hundred times as long, a string's view of its bytes, and lists
  // of the parts ten times.

  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  private static func withBytes<Result>(of text: String, _ body: (Bytes) -> Result) -> Result {
    var text = text
    return text.withUTF8 { body($0[...]) }
  }

  /// The parts of a text between separators, those of no bytes excluded.
  private struct Parts: Sequence, IteratorProtocol {
    var rest: Bytes
    let separator: UInt8

    init(_ text: Bytes, at separator: Unicode.Scalar) {
      rest = text
      self.separator = UInt8(ascii: separator)
    }

    mutating func next() -> Bytes? {
      rest = rest.drop { $0 == separator }
      guard !rest.isEmpty else { return nil }
      let end = rest.firstIndex(of: separator) ?? rest.endIndex
      defer { rest = rest[end...] }
      return rest[..<end]
    }
  }

  private static func equals(_ bytes: Bytes, _ word: StaticString) -> Bool {
    bytes.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  struct Mount: Equatable {
    /// The directory where the hierarchy is mounted.
    var point: String
    /// The group of the hierarchy that appears there.
    var root: String
    var isVersion2: Bool
  }

  /// Parses /proc/pid/mountinfo, proc(5): "… root point options… - type source superoptions".
  static func controlGroupMounts(_ mountinfo: String, controller: String = "cpu") -> [Mount] {
    withBytes(of: mountinfo) { text in
      Parts(text, at: "\n").compactMap { mount(from: $0, controller) }
    }
  }

  private static func mount(from line: Bytes, _ controller: String) -> Mount? {
    guard isOfControlGroups(line) else { return nil }
    var fields = Parts(line, at: " ")
    for _ in 0..<3 { _ = fields.next() }
    guard let root = fields.next(), let point = fields.next() else { return nil }
    while let option = fields.next(), !equals(option, "-") {}
    // Between the type and the options is the source.
    guard let type = fields.next(), fields.next() != nil, let options = fields.next() else {
      return nil
    }
    let isVersion2 = equals(type, "cgroup2")
    guard isVersion2 || equals(type, "cgroup") && contains(controller, in: options) else {
      return nil
    }
    return Mount(
      point: String(decoding: point, as: UTF8.self), root: String(decoding: root, as: UTF8.self),
      isVersion2: isVersion2)
  }

  /// Whether a line of mountinfo may be a mount of control groups. Most lines are others, and need
  /// no list of their fields.
  private static func isOfControlGroups(_ line: Bytes) -> Bool {
    var rest = line
    while let dash = rest.firstIndex(of: UInt8(ascii: "-")) {
      rest = rest[dash...]
      if equals(rest.prefix(8), "- cgroup") { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  /// Parses /proc/pid/cgroup, cgroups(7): "number:controllers:path"; version 2 has "0::path".
  static func group(
    in membership: String, version2: Bool, controller: String = "cpu"
  ) -> String? {
    withBytes(of: membership) { text in
      for line in Parts(text, at: "\n") {
        guard let first = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
        let rest = line[(first + 1)...]
        guard let second = rest.firstIndex(of: UInt8(ascii: ":")) else { continue }
        let controllers = rest[..<second]
        let isWanted =
          version2
          ? controllers.isEmpty && equals(line[..<first], "0")
          : contains(controller, in: controllers)
        if isWanted { return String(decoding: rest[(second + 1)...], as: UTF8.self) }
      }
      return nil
    }
  }

  /// Whether a list with commas contains `name`.
  private static func contains(_ name: String, in list: Bytes) -> Bool {
    Parts(list, at: ",").contains { $0.elementsEqual(name.utf8) }
  }

  /// The directories of a group and of all groups above it that the mount shows.
  static func folders(mount: Mount, group: String) -> [String] {
    var path = group
    if mount.root != "/" {
      // Inside a container the mount shows the container's own group as its top.
      let isBelow = group == mount.root || group.hasPrefix(mount.root + "/")
      path = isBelow ? String(group.dropFirst(mount.root.count)) : ""
    }
    var folders = [mount.point]
    var folder = mount.point
    for part in path.split(separator: "/") where part != ".." {
      folder += "/" + part
      folders.append(folder)
    }
    return folders
  }

  private func quotaV2(_ folder: String) -> Double? {
    guard let fields = read(folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace),
      fields.count == 2
    else { return nil }
    return Self.ratio(String(fields[0]), String(fields[1]))
  }

  private func quotaV1(_ folder: String) -> Double? {
    guard let quota = read(folder + "/cpu.cfs_quota_us"), !quota.hasPrefix("-"),
      let period = read(folder + "/cpu.cfs_period_us")
    else { return nil }
    return Self.ratio(quota, period)
  }

  /// CPUs for a quota and a period; `nil` for "max" and -1, which mean no limit.
  private static func ratio(_ quota: String, _ period: String) -> Double? {
    guard let quota = Double(quota.filter { !$0.isWhitespace }),
      let period = Double(period.filter { !$0.isWhitespace }), quota > 0, period > 0
    else { return nil }
    return quota / period
  }
}

/// The folders of the groups that the process was last found in.
final class QuotaFolders: @unchecked Sendable {
  // Not a lock: a child that is forked while a thread reads the folders finds them anew each time.
  private let isInUse = Atomic<Bool>(false)
  @Cell private var membership = ""
  @Cell private var found: [CPULimits.Folder] = []

  /// Returns the folders of the groups in `text`; `find` finds them if the text has changed.
  func folders(of text: String, _ find: () -> [CPULimits.Folder]) -> [CPULimits.Folder] {
    // acquiring: pairs with the store below.
    guard !isInUse.exchange(true, ordering: .acquiring) else { return find() }
    // releasing: the two properties, to the next thread.
    defer { isInUse.store(false, ordering: .releasing) }
    if membership != text {
      found = find()
      membership = text
    }
    return found
  }
}
