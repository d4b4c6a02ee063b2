// Room: Models/Lanes. Push, drain, idle: each item runs once, alone and in order, and a drainer
// that is releasing the lane still finds it.

/// A serial queue, and plain memory that its items write. Two items that overlap, or that the lane
/// does not order, are a data race.
final class SerialScene: @unchecked Sendable {
  let queue: DispatchQueue
  let log = Plain()
  private let submitted = Tally()

  init(_ root: DispatchQueue, attributes: DispatchQueue.Attributes = []) {
    queue = DispatchQueue(label: "serial", attributes: attributes, target: root)
  }

  /// Submits an item that appends a digit to the log.
  func async(_ digit: Int) {
    submitted.one()
    queue.async { [log] in log.value = log.value * 10 + digit }
  }

  func sync(_ digit: Int) {
    submitted.one()
    queue.sync { log.value = log.value * 10 + digit }
  }

  /// Fails unless each item ran once, and each pair in this order.
  func expect(ordered pairs: [(Int, Int)] = []) {
    let digits = Array(String(log.value))
    Checker.expect(
      digits.count == submitted.count || submitted.count == 0,
      "\(submitted.count) items, but \(log.value) was logged")
    for (first, second) in pairs {
      let places = [first, second].map { digit in
        digits.firstIndex(of: Character(String(digit))) ?? -1
      }
      Checker.expect(places[0] < places[1], "\(second) before \(first): \(log.value)")
    }
    ModelThreads.expectAllNodesBack()
  }
}

extension Catalogue {
  static var lanePushes: [EngineModel] {
    [
      EngineModel("lane: two threads push an item each") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") { serial.async(1) }
        scene.thread("second") { serial.async(2) }
        scene.finally { serial.expect() }
      },
      EngineModel("lane: one thread pushes two items, another pushes one", reach: .exhaustedStrong)
      { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") {
          serial.async(1)
          serial.async(2)
        }
        scene.thread("second") { serial.async(3) }
        scene.finally { serial.expect(ordered: [(1, 2)]) }
      },
      EngineModel("lane: three threads push", reach: .exhaustedStrong) { scene in
        let serial = SerialScene(SpawningRoot())
        for digit in 1...3 { scene.thread { serial.async(digit) } }
        scene.finally { serial.expect() }
      },
      EngineModel("lane: an item pushes another while a thread pushes") { scene in
        let serial = SerialScene(SpawningRoot())
        scene.thread("first") {
          serial.queue.async {
            serial.log.value = serial.log.value * 10 + 1
            serial.queue.async { serial.log.value = serial.log.value * 10 + 2 }
          }
        }
        scene.thread("second") {
          serial.queue.async { serial.log.value = serial.log.value * 10 + 3 }
        }
        scene.finally {
          Checker.expect(serial.log.value > 99, "an item was lost: \(serial.log.value)")
          serial.expect(ordered: [(1, 2)])
        }
      },
      EngineModel("lane: the last reference is released while an item is queued") { scene in
        let root = SpawningRoot()
        let done = Tally()
        for name in ["first", "second"] {
          let queue = DispatchQueue(label: name, target: root)
          scene.thread(name) { queue.async { done.one() } }
        }
        scene.finally { Checker.expect(done.count == 2, "an item was lost") }
      },
      EngineModel("lane: it drains through a target lane", reach: .exhaustedStrong) { scene in
        let serial = SerialScene(SpawningRoot())
        let upper = DispatchQueue(label: "upper", target: serial.queue)
        let log = serial.log
        scene.thread("above") { upper.async { log.value = log.value * 10 + 1 } }
        scene.thread("below") { serial.queue.async { log.value = log.value * 10 + 2 } }
        scene.finally {
          Checker.expect(log.value == 12 || log.value == 21, "an item was lost")
          serial.expect()
        }
      },
    ]
  }

  static var lanePushMutants: [Mutant] {
    let (push, drain) = ("Lane+Push.swift", "Lane+Drain.swift")
    let (loop, once) = (
      "let (won, now) = state.weakCompareExchange", "let (won, _) = state.weakCompareExchange"
    )
    let two = "lane: two threads push an item each"
    let next = "lane: an item pushes another while a thread pushes"
    return [
      Mutant("a push does not release", in: push, at: loop, .dropsRelease, foundBy: two),
      Mutant(
        "a push behind an owner does not release", in: push, at: once, .dropsRelease,
        foundBy: next),
      Mutant(
        "a drainer takes a list without acquiring it", in: "LaneState.swift",
        at: "self.change(.acquiringAndReleasing", .dropsAcquire, foundBy: two),
      Mutant(
        "a drainer takes the only node without acquiring it", in: drain,
        at: "let seen = state.load(ordering: .acquiring)", after: "func takeOnlyPending",
        .dropsAcquire, foundBy: next),
      Mutant(
        "a drainer takes one node and loses another", in: drain, at: once, .isBlind,
        foundBy: next),
      Mutant(
        "a lane is released although work was pushed", in: drain, at: loop,
        after: "if next.isHeld && inside", .isBlind, foundBy: two),
      Mutant(
        "a push overwrites what another has pushed", in: push, at: loop, .isBlind, foundBy: two),
      Mutant(
        "a push behind an owner overwrites what another has pushed", in: push, at: once, .isBlind,
        foundBy: next),
      Mutant(
        "a push takes the lane without locking it", in: push, at: loop,
        .clears(bits: LaneState.locked), foundBy: two),
      Mutant(
        "a lane with work does not retain itself", in: push, at: loop,
        .clears(bits: LaneState.held),
        foundBy: "lane: the last reference is released while an item is queued"),
      Mutant(
        "a released lane stays locked", in: drain, at: loop, after: "if next.isHeld && inside",
        .sets(bits: LaneState.locked), foundBy: two),
    ]
  }
}
