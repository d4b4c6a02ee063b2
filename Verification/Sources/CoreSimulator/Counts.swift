// Room: CoreSimulator/Counts. What each line of the source did to shared memory.

/// A line of source code that accesses shared memory.
public struct Site: Hashable {
  public let file: StaticString
  public let line: UInt32

  public init(_ file: StaticString, _ line: UInt32) {
    self.file = file
    self.line = line
  }

  public static func == (one: Site, other: Site) -> Bool {
    one.line == other.line && one.file.utf8Start == other.file.utf8Start
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(line)
    hasher.combine(file.utf8Start)
  }
}

public struct Counts {
  public struct Count {
    public var loads = 0
    public var stores = 0
    /// Read-modify-writes, failed ones included.
    public var updates = 0
    public var failures = 0
    /// Lines that moved to the core.
    public var transfers = 0
    /// Nanoseconds spent in queue for a line that other cores fetched first.
    public var queued: UInt64 = 0

    public static func += (total: inout Count, more: Count) {
      total.loads += more.loads
      total.stores += more.stores
      total.updates += more.updates
      total.failures += more.failures
      total.transfers += more.transfers
      total.queued += more.queued
    }
  }

  public private(set) var sites: [Site: Count] = [:]
  /// The longest time for which a lock was held, by the site that took it.
  public private(set) var longestHolds: [Site: UInt64] = [:]
  /// Wake-ups of sleeping threads.
  public internal(set) var wakes = 0

  mutating func note(_ site: Site, _ change: (inout Count) -> Void) {
    change(&sites[site, default: Count()])
  }

  mutating func failed(_ site: Site) { sites[site, default: Count()].failures += 1 }

  mutating func held(_ site: Site, nanoseconds: UInt64) {
    longestHolds[site] = max(longestHolds[site] ?? 0, nanoseconds)
  }

  /// Forgets everything, so that what follows is counted alone.
  public mutating func reset() { self = Counts() }
}
