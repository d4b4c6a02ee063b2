// Purpose: the interface through which a campaign uses an engine.

public protocol TestedEngine: SendableMetatype {
  static var name: String { get }
  /// The module that a printed program imports.
  static var module: String { get }
  static var capabilities: Capabilities { get }

  /// Runs the program to its end. `watch` gets the log before the first step, so that a run that
  /// does not end can be examined.
  static func run(
    _ program: Program, fault: Fault?, crew: Crew, watch: (EventLog) -> Void
  ) -> EventLog

  /// Drains the main queue on this thread.
  static func drainMain() -> Never
}

extension TestedEngine {
  /// Runs the program and judges the run.
  public static func judge(
    _ program: Program, fault: Fault? = nil, crew: Crew, watch: (EventLog) -> Void = { _ in }
  ) -> Verdict {
    let log = run(program, fault: fault, crew: crew, watch: watch)
    let events = log.events
    if log.hasOverflowed {
      let overflow = Violation(
        .exactlyOnce, "there were \(log.count) events, more than the program can make", steps: [])
      return Verdict(log: log, events: events, violation: overflow)
    }
    let checker = Checker(program, events, promises: capabilities)
    return Verdict(log: log, events: events, violation: checker.violation)
  }
}

public struct Verdict: Sendable {
  public let log: EventLog
  public let events: [Event]
  public let violation: Violation?
}
