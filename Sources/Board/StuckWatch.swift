// Reports what is stuck in this process, for handlers of the program and for
// GRANDCENTRAL_DUMP_AFTER.
// BlackBox/BoardWatch has the thread and says when the board has changed. This decides when a look
// is worth while:
//   no thread waits, nothing is suspended    after the next change
//   a wait becomes old enough                then
//   a wait is old, and no finding            again and again, in pauses that double while the same
//                                            threads wait, up to eight times `after`: its holder
//                                            may fall asleep without a change
// A look runs inside the fork gate, as BlackBox/BoardWatch says; its pause and the program's
// handler run outside.

/// Looks at this process's own board, and calls a handler with what is stuck.
package final class StuckWatch: @unchecked Sendable {
  /// Gets what is stuck, inside the fork gate. Returns the call of the program, if there is one.
  package typealias Handler = @Sendable (Dump, _ new: [Finding]) -> (() -> Void)?

  private let after: UInt64
  private let handler: Handler
  // Used by the watch's thread alone.
  private var reported: Set<String> = []
  private var lastWaits: Set<String> = []
  private var pause: UInt64 = 0

  private init(after: UInt64, handler: @escaping Handler) {
    self.after = after
    self.handler = handler
  }

  /// Calls `handler` on a thread of its own, each time that something is stuck for `after`
  /// nanoseconds: once for each hang. Ends with `BoardWatch.remove()`.
  package static func begin(
    after: UInt64, handler: @escaping Handler
  ) -> (observer: BoardObserver, error: Int32) {
    let observer = observer(after: after, handler: handler)
    return (observer, BlackBox.shared.watch.add(observer))
  }

  fileprivate static func observer(after: UInt64, handler: @escaping Handler) -> BoardObserver {
    let watch = StuckWatch(after: after, handler: handler)
    return BoardObserver(gap: max(after / 8, 1_000_000)) { watch.look() }
  }

  /// Reports that the watch has no thread.
  package static func reportRefusal(_ error: Int32, of name: String) {
    if error == 0 { return }
    report(
      .threadRefused,
      "GRAND CENTRAL: \(name) has no effect: the system refuses a thread, errno \(error).")
  }

  private func look() -> UInt64? {
    guard let snapshot = try? Snapshot(OwnBoard()), snapshot.mayHang else {
      reported = []
      return nil
    }
    let thread = currentThread()
    let looked = Dump.ofThisProcess(stuckAfter: after) { ForkGate.outside(thread, $0) }
    guard let dump = looked else { return nil }
    let stuck = dump.findings.filter { !$0.isYoung }
    let new = stuck.filter { !reported.contains($0.key) }
    reported = Set(stuck.map(\.key))
    let next = nextLook(dump.analysis)
    // Last: if the handler forks, the child's own watch uses this object from here on.
    if !new.isEmpty, let call = handler(dump, new) { ForkGate.outside(thread, call) }
    return next
  }

  /// After how many nanoseconds to look again.
  private func nextLook(_ analysis: Analysis) -> UInt64? {
    let snapshot = analysis.snapshot
    let suspended = snapshot.queues.values.filter(\.hasQueuedSuspended)
    let begins =
      analysis.waiting.map { snapshot.threads[$0].since } + suspended.map(\.suspendedSince)
    let ages = begins.map(analysis.age)
    // The coarse clock is late by up to a tick.
    let tick: UInt64 = 10_000_000
    let young = ages.filter { $0 < after }.max().map { after - $0 + tick }
    let waits = Set(
      analysis.waiting.map { "\(snapshot.threads[$0].id) \(snapshot.threads[$0].since)" }
        + suspended.map { "queue \($0.place) \($0.suspendedSince)" })
    let shortest = max(after / 2, tick)
    pause = waits == lastWaits && pause > 0 ? min(pause * 2, shortest * 16) : shortest
    lastWaits = waits
    let old = ages.contains { $0 >= after } || snapshot.mayExplode ? pause : nil
    return [young, old].compactMap(\.self).min()
  }
}

extension QueueRecord {
  fileprivate var hasQueuedSuspended: Bool { suspendedSince != 0 && queuedSuspended > 0 }
}

extension Snapshot {
  /// Whether anything on the board could be a finding, now or later without another change.
  fileprivate var mayHang: Bool {
    threads.contains { $0.activity == .waiting } || mayExplode
      || queues.values.contains(where: \.hasQueuedSuspended)
  }

  fileprivate var mayExplode: Bool {
    threads.count { $0.isWorker && $0.activity != .idle } >= Analysis.explosionThreads(maxThreads)
  }
}

// MARK: The environment

/// Adds what GRANDCENTRAL_DUMP_AFTER asks for, when the process has made its board. The engine
/// calls it, where this module is linked.
@c(gc_board_was_made)
public func boardWasMade() {
  let error = BlackBox.shared.watch.begin(withEnvironment: observerOfEnvironment)
  StuckWatch.reportRefusal(error, of: "The watch for what is stuck")
}

/// The observer that the environment asks for; `nil`: it asks for none.
private func observerOfEnvironment() -> BoardObserver? {
  guard let raw = getenv("GRANDCENTRAL_DUMP_AFTER") else { return nil }
  let text = String(cString: raw)
  guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
    report(
      .settingIgnored,
      "GRAND CENTRAL: GRANDCENTRAL_DUMP_AFTER='\(text)' is no positive number of seconds and is ignored."
    )
    return nil
  }
  return StuckWatch.observer(after: UInt64(seconds * 1e9)) { dump, _ in
    return {
      report(
        .stuck,
        "GRAND CENTRAL: process \(dump.analysis.snapshot.process) is stuck.\n"
          + dump.text(all: false, style: Style(isColoured: false)))
    }
  }
}
