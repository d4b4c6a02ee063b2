// Room: Sources/MemorySource. Events by which a program learns that it should use less memory.
// Levels follow each other and the last one counts, so a new one takes the place of what has not been told yet, and is
// not added to it: who was suspended is told how it is, not how it was.

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
    Events.shared.memory.join(entry, on: currentThread())
    let isLate = lock.withLock {
      isMonitoring = true
      return isStopped
    }
    if isLate { Events.shared.memory.leave(entry) }
  }

  override func stopMonitoring() { stop() }

  private func stop() {
    let wasMonitoring = lock.withLock {
      isStopped = true
      return isMonitoring
    }
    if wasMonitoring { Events.shared.memory.leave(entry) }
  }

  func memoryPressureIs(_ level: MemoryLevel, on thread: ThreadContext) {
    guard asked.contains(MemoryPressureEvent(rawValue: UInt(level.rawValue))) else { return }
    // releasing: as for all data.
    _ = pending.exchange(level.rawValue, ordering: .releasing)
    signal(from: thread)
  }
}

/// A source whose events are changes of how scarce memory is.
///
/// In the event handler `data` is the level that memory has come to: one of those in `mask`.
/// - Source: Apple, Dispatch, `DispatchSourceMemoryPressure`.
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
  /// In the event handler, the level.
  var data: DispatchSource.MemoryPressureEvent { get }
  /// The levels that the source was made to hear of.
  var mask: DispatchSource.MemoryPressureEvent { get }
}

extension DispatchSourceMemoryPressure {
  /// In the event handler, the level.
  public var data: DispatchSource.MemoryPressureEvent { .init(rawValue: source.data) }
  /// The levels that the source was made to hear of.
  public var mask: DispatchSource.MemoryPressureEvent { .init(rawValue: source.maskValue) }
}

extension DispatchSource: DispatchSourceMemoryPressure {
  /// How scarce memory is, for the process's control group or the machine.
  ///
  /// By how long tasks wait for memory, and by how much of a control group's limit is in use, less the file pages that
  /// nobody has used lately:
  ///
  /// | level       | stalled, of any two seconds | of a limit in use |
  /// |-------------|-----------------------------|-------------------|
  /// | `.warning`  | some task, for 10 %         | 85 %              |
  /// | `.critical` | all tasks, for 10 %         | 95 %, or the kernel has killed a process for it |
  ///
  /// In a control group of version 1, the kernel's own levels `medium` and `critical` count as well. A level ends when
  /// stalls are below 5 %, and less than 80 % of the limit is in use (90 % for `.critical`).
  /// - Source: Linux, Documentation/accounting/psi.rst; `cgroups(7)`; `DISPATCH_MEMORYPRESSURE_NORMAL` and others.
  public struct MemoryPressureEvent: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Memory is no longer scarce.
    public static let normal = MemoryPressureEvent(rawValue: 0x01)
    /// Memory is scarce: let go of what can be made again.
    public static let warning = MemoryPressureEvent(rawValue: 0x02)
    /// Memory is all but gone: the kernel may end processes at any moment.
    public static let critical = MemoryPressureEvent(rawValue: 0x04)
    /// All levels.
    public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
  }

  /// Makes a source that hears how scarce memory is: see `MemoryPressureEvent`.
  ///
  /// The handler is called when the level changes to one in the mask; soon after the source was activated too, if
  /// memory is scarce then. Of several changes since the last call it is told the last one. While memory is scarce it is
  /// looked at every two seconds whether it still is; otherwise the kernel tells, and nothing runs.
  ///
  /// What the kernel refuses is done without: stall information (`/proc/pressure/memory`, or `memory.pressure` of the
  /// process's own control group), the group's limits (`memory.events`, `memory.max`, `memory.high`), notifications of
  /// version 1 (`memory.pressure_level`, `memory.usage_in_bytes`). A group of version 2 tells of its use only when it
  /// comes to a limit; before that its use is looked at with each of the others, and when the first source is activated. Where all are refused that is reported once on standard error, and the source is valid
  /// and silent.
  ///
  /// - Parameters:
  ///   - eventMask: what to hear of: at least one level, or the process stops with a message.
  ///   - queue: where the handlers run; `nil`: the default global queue.
  /// - Source: `DISPATCH_SOURCE_TYPE_MEMORYPRESSURE`, `dispatch_source_create(3)`.
  public class func makeMemoryPressureSource(
    eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure {
    MemorySource(eventMask, queue: queue)
  }
}
