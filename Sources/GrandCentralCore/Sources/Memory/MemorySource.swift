// Room: Sources/Memory/MemorySource. Sources that report how scarce memory is.
// Levels follow each other and only the last one counts. So a new level replaces one that was not
// delivered yet: a source that was suspended learns the present state, not the history.

private final class MemorySource: MergingSource, MemoryListener, @unchecked Sendable {
  private let asked: MemoryPressureEvent
  private let entry = MemoryEntry()
  /// Guarded by the lock.
  @Cell private var isMonitoring = false
  @Cell private var isStopped = false

  init(_ events: MemoryPressureEvent, queue: DispatchQueue?) {
    require(
      !events.isEmpty && events.isSubset(of: .all),
      "A memory pressure source was made for the events \(events.rawValue). Name at least one of "
        + "DispatchSource.MemoryPressureEvent, and nothing else.")
    asked = events
    super.init(queue: queue)
    entry.listener = self
  }

  override var laneLabel: String { "memory pressure source" }

  deinit { stop() }

  override var maskValue: UInt { asked.rawValue }

  override func startMonitoring() {
    Watchers.shared.memory.join(entry, on: currentThread())
    let isLate = lock.withLock {
      isMonitoring = true
      return isStopped
    }
    if isLate { Watchers.shared.memory.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let wasMonitoring = lock.withLock {
      isStopped = true
      return isMonitoring
    }
    if wasMonitoring { Watchers.shared.memory.leave(entry) }
  }

  func memoryPressureIs(_ level: MemoryLevel, on thread: ThreadContext) {
    guard asked.contains(MemoryPressureEvent(rawValue: UInt(level.rawValue))) else { return }
    // releasing: pairs with the exchange in takeData(), as for all data.
    _ = pending.exchange(level.rawValue, ordering: .releasing)
    signal(from: thread)
  }
}

/// A source whose events are changes of how scarce memory is.
///
/// In the event handler, `data` is the level that memory has reached: one of those in `mask`.
///
/// - Source: Apple, Dispatch, `DispatchSourceMemoryPressure`.
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
  /// The level that memory has reached, in the event handler.
  var data: DispatchSource.MemoryPressureEvent { get }
  /// The levels that the source was made for.
  var mask: DispatchSource.MemoryPressureEvent { get }
}

extension DispatchSourceMemoryPressure {
  /// The level that memory has reached, in the event handler.
  ///
  /// - Source: `dispatch_source_get_data(3)`.
  public var data: DispatchSource.MemoryPressureEvent { .init(rawValue: source.data) }
  /// The levels that the source was made for.
  ///
  /// - Source: `dispatch_source_get_mask(3)`.
  public var mask: DispatchSource.MemoryPressureEvent { .init(rawValue: source.maskValue) }
}

extension DispatchSource: DispatchSourceMemoryPressure {
  /// How scarce memory is, for the process's control group or the machine.
  ///
  /// The level depends on how long tasks wait for memory, and on how much of a control group's
  /// limit is in use, not counting file pages that have not been used lately:
  ///
  /// | level       | stalled, of any two seconds | of a limit in use |
  /// |-------------|-----------------------------|-------------------|
  /// | `.warning`  | some task, for 10 %         | 85 %              |
  /// | `.critical` | all tasks, for 10 %         | 95 %, or the kernel killed a process for it |
  ///
  /// In a control group of version 1, the kernel's own levels `medium` and `critical` count as
  /// well. A level ends when stalls are below 5 %, and less than 80 % of the limit is in use (90 %
  /// for `.critical`).
  ///
  /// - Source: Linux, Documentation/accounting/psi.rst; `cgroups(7)`;
  ///   `DISPATCH_MEMORYPRESSURE_NORMAL` and others.
  public struct MemoryPressureEvent: OptionSet, Hashable, Sendable {
    /// The levels as bits.
    public let rawValue: UInt
    /// Makes a set of levels from its bits.
    ///
    /// - Parameter rawValue: the bits of the levels.
    /// - Source: Swift standard library, `OptionSet`.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Memory is no longer scarce.
    public static let normal = MemoryPressureEvent(rawValue: 0x01)
    /// Memory is scarce: release what can be made again.
    public static let warning = MemoryPressureEvent(rawValue: 0x02)
    /// Memory is almost exhausted: the kernel may kill processes at any moment.
    public static let critical = MemoryPressureEvent(rawValue: 0x04)
    /// All levels.
    public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
  }

  /// Makes a source that reports how scarce memory is: see `MemoryPressureEvent`.
  ///
  /// The event handler is called when the level changes to one in the mask, and soon after
  /// activation if memory is scarce then. Of several changes since the last call, it gets the last
  /// one. While memory is scarce, the level is sampled every two seconds. Otherwise the kernel
  /// reports changes, and nothing runs periodically.
  ///
  /// The kernel may refuse some of what the level depends on, and the source then does without it:
  /// stall information (`/proc/pressure/memory`, or `memory.pressure` of the process's own control
  /// group), the group's limits (`memory.events`, `memory.max`, `memory.high`), and notifications
  /// of version 1 (`memory.pressure_level`, `memory.usage_in_bytes`). A group of version 2 reports
  /// its use only when it reaches a limit. Before that, its use is sampled when one of the others
  /// reports, and when the first source is activated. If the kernel refuses all of them, that is
  /// reported once on standard error, and the source is valid and silent.
  ///
  /// - Parameters:
  ///   - eventMask: the levels to report. Stops the process with a message if it is empty or has
  ///     other bits.
  ///   - queue: the queue that the handlers run on; `nil`: the default global queue.
  /// - Returns: the source, inactive.
  /// - Source: `DISPATCH_SOURCE_TYPE_MEMORYPRESSURE`, `dispatch_source_create(3)`.
  public class func makeMemoryPressureSource(
    eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure {
    MemorySource(eventMask, queue: queue)
  }
}
