// Purpose: the log, sorted by step: when each step was called, returned, started and ended. A time
// is a ticket, from 1 on; 0 means never.

public struct Moments: Sendable {
  public var called = 0
  public var returned = 0
  public var started = 0
  public var ended = 0
  public var released = 0
  public var starts = 0
  public var ends = 0
  public var calledValue = 0
  public var returnedValue = 0
  public var startedValue = 0

  public var hasRun: Bool { ended > 0 }
}

public struct History: Sendable {
  public let facts: Facts
  public let events: [Event]
  public private(set) var moments: [Moments]

  public init(_ facts: Facts, _ events: [Event]) {
    self.facts = facts
    self.events = events
    moments = Array(repeating: Moments(), count: facts.idLimit)
    for (index, event) in events.enumerated() where event.id < facts.idLimit {
      add(event, at: index + 1)
    }
  }

  private mutating func add(_ event: Event, at ticket: Int) {
    // Keep the first event of each kind; the rule ExactlyOnce reports repetitions.
    switch event.kind {
    case .called:
      moments[event.id].called = ticket
      moments[event.id].calledValue = event.value
    case .returned:
      moments[event.id].returned = ticket
      moments[event.id].returnedValue = event.value
    case .started:
      moments[event.id].starts += 1
      if moments[event.id].starts == 1 {
        moments[event.id].started = ticket
        moments[event.id].startedValue = event.value
      }
    case .ended:
      moments[event.id].ends += 1
      if moments[event.id].ends == 1 { moments[event.id].ended = ticket }
    case .released: moments[event.id].released = ticket
    }
  }

  public subscript(id: Int) -> Moments { moments[id] }
}
