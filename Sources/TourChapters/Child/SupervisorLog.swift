// Purpose: records a supervisor's events in order with their times, and prints each as it happens.

import GrandCentral
import TourKit

// SAFETY: every variable is only touched by items of `queue`.
final class SupervisorLog: @unchecked Sendable {
  private let report: ChapterReport
  private let queue = DispatchQueue(label: "tour.supervisor.log")
  private let start = Machine.nanoseconds
  private var entries: [(event: Supervisor.Event, time: UInt64)] = []
  private var waiting: (event: Supervisor.Event, semaphore: DispatchSemaphore)?

  init(_ report: ChapterReport) {
    self.report = report
  }

  func note(_ event: Supervisor.Event) {
    let now = Machine.nanoseconds
    report.tell("\(Wording.right(Wording.milliseconds(now - start), 11))  \(event.words)")
    queue.sync {
      entries.append((event, now))
      if let waiting, waiting.event == event || event.isLast { waiting.semaphore.signal() }
    }
  }

  /// Waits for `event`, or for the supervision's last event.
  /// - Returns: whether `event` has happened.
  func wait(for event: Supervisor.Event, seconds: Int = 60) -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    let isOver = queue.sync {
      waiting = (event, semaphore)
      return entries.contains { $0.event == event || $0.event.isLast }
    }
    if !isOver { _ = semaphore.wait(timeout: .now() + .seconds(seconds)) }
    return events.contains(event)
  }

  var events: [Supervisor.Event] { queue.sync { entries.map(\.event) } }

  /// Restarts that came sooner than announced.
  var earlyRestarts: [String] {
    let entries = queue.sync { self.entries }
    return zip(entries, entries.dropFirst()).compactMap { first, second in
      guard case .willRestart(let milliseconds) = first.event else { return nil }
      let took = second.time - first.time
      // The log records the announcement just before the timer is set, never after.
      guard took < UInt64(milliseconds) * 1_000_000 else { return nil }
      return "\(Wording.milliseconds(took)) instead of \(milliseconds) ms"
    }
  }
}

extension Supervisor.Event {
  var isLast: Bool { self == .stopped || self == .gaveUp }

  var words: String {
    switch self {
    case .started(let run): "run \(run) started"
    case .said(let line): "the child says: \(line)"
    case .ended(let ending): "it has ended: \(ending)"
    case .willRestart(let milliseconds): "next start in \(milliseconds) ms"
    case .askedToStop: "asked to stop: SIGTERM to the child"
    case .gaveUp: "too often: given up"
    case .stopped: "the supervisor stops"
    }
  }
}
