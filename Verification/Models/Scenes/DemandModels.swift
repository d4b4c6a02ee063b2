// Room: Models/Demand. The events of a source, each handed to one waiter on demand: demand against
// arrival, and the end against both.

extension Catalogue {
  static var demands: [EngineModel] {
    [
      EngineModel("demand: an event arrives, a task asks", reach: .bounded(preemptions: 3)) {
        scene in
        let scenery = DemandScene()
        scene.thread("adds") { scenery.add(1) }
        scene.thread("asks") { scenery.ask() }
        scene.finally { scenery.expect([1]) }
      },
      EngineModel("demand: a slow task loses no event", reach: .bounded(preemptions: 2)) { scene in
        let scenery = DemandScene()
        scene.thread("adds") {
          scenery.add(1)
          scenery.add(2)
        }
        scene.thread("asks") { scenery.ask(until: 3) }
        scene.finally {
          let sum = scenery.values.entries.reduce(0, +)
          Checker.expect(sum == 3, "3 was added, \(scenery.values.entries) delivered")
          scenery.expectCancelled()
        }
      },
      EngineModel("demand: a task asks, another thread ends", reach: .bounded(preemptions: 3)) {
        scene in
        let scenery = DemandScene()
        scene.thread("asks") { scenery.ask() }
        scene.thread("ends") { scenery.demand.end() }
        scene.finally { scenery.expect([DemandScene.over]) }
      },
      EngineModel("demand: an event arrives, another thread ends", reach: .bounded(preemptions: 3))
      { scene in
        let scenery = DemandScene()
        scenery.ask()
        scene.thread("adds") { scenery.add(1) }
        scene.thread("ends") { scenery.demand.end() }
        scene.finally { scenery.expect([1], or: [DemandScene.over]) }
      },
      EngineModel("demand: the last event, another thread ends", reach: .bounded(preemptions: 3)) {
        scene in
        let scenery = DemandScene(isLast: true)
        scenery.ask()
        scene.thread("adds") { scenery.add(1) }
        scene.thread("ends") { scenery.demand.end() }
        scene.finally { scenery.expect([1], or: [DemandScene.over]) }
      },
    ]
  }

  static var demandMutants: [Mutant] {
    let file = "EventDemand.swift"
    let exchange = "let (won, _) = word.compareExchange("
    let (next, deliver) = ("func next(", "private func deliver(")
    let arrival = "demand: an event arrives, a task asks"
    let ended = "demand: an event arrives, another thread ends"
    return [
      Mutant(
        "an asking task does not release", in: file, at: exchange, after: next, .dropsRelease,
        foundBy: "demand: a task asks, another thread ends"),
      Mutant(
        "an asking task does not compare", in: file, at: exchange, after: next, .isBlind,
        foundBy: "demand: a task asks, another thread ends"),
      Mutant(
        "an asking task is forgotten", in: file, at: exchange, after: next, .clears(bits: 1),
        foundBy: arrival),
      Mutant(
        "an event does not compare", in: file, at: exchange, after: deliver, .isBlind,
        foundBy: ended),
      Mutant(
        "an end does not acquire", in: file, at: "word.exchange(Self.ended", .dropsAcquire,
        foundBy: "demand: a task asks, another thread ends"),
      Mutant(
        "an end is a load and a store", in: file, at: "word.exchange(Self.ended", .splits,
        foundBy: ended),
      Mutant(
        "a last event does not compare", in: file, at: exchange, after: deliver, .isBlind,
        foundBy: "demand: the last event, another thread ends"),
    ]
  }
}

/// A source of user data whose events are handed out on demand, and what its waiters received.
private final class DemandScene: @unchecked Sendable {
  /// The entry for the end of the sequence.
  static let over = -1

  let demand: EventDemand<Int, Resumed>
  let values = Journal()
  private let source: DispatchSource
  private let cancelled = Journal()

  init(isLast: Bool = false) {
    guard
      let made = DispatchSource.makeUserDataAddSource(queue: SpawningRoot()) as? DispatchSource
    else { Checker.fail("no source") }
    source = made
    let cancelled = cancelled
    made.setCancelHandler { cancelled.add(1) }
    demand = EventDemand(made) { [unowned made] in
      isLast ? .last(Int(made.data)) : .event(Int(made.data))
    }
  }

  func add(_ value: UInt) { source.add(data: value) }

  /// Asks for an event, and asks again until the sum of the events is `sum`. Then ends the
  /// sequence, as a task that leaves its scope.
  func ask(until sum: Int = 1) {
    demand.next(
      Resumed { [self] value in
        values.add(value ?? Self.over)
        guard value != nil else { return }
        if values.entries.reduce(0, +) < sum { ask(until: sum) } else { demand.end() }
      })
  }

  /// Each waiter was resumed once, and the source was cancelled once.
  func expect(_ expected: [Int], or other: [Int]? = nil) {
    let got = values.entries
    Checker.expect(got == expected || got == other, "the waiter received \(got)")
    expectCancelled()
  }

  func expectCancelled() {
    let count = cancelled.entries.count
    Checker.expect(count == 1, "the cancel handler ran \(count) times")
  }
}

/// A waiter that calls a closure in the place of a task.
private struct Resumed: Waiter {
  let body: (Int?) -> Void

  func resume(with value: sending Int?) { body(value) }
}
