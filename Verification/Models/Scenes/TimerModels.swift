// Room: Models/Timers. Every armed timer fires once its time has come, and no other timer fires.
// Protocol: Reactor/Timers: one thread fires at a time and sets the timer descriptor for the
// rest; a thread that arms an earlier timer sets it itself. Leeway joins timers and never delays
// one alone.

extension Catalogue {
  static var timers: [EngineModel] {
    [
      EngineModel("timers: arming a timer races with another's expiration", adjust: Allow.time) {
        scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(0)
        scene.thread("arms") { b.schedule(1000) }
        stage.finally(scene) {
          a.listener.expectHeard(1, "the first")
          b.listener.expectHeard(1, "the second")
        }
      },
      EngineModel("timers: a timer with leeway fires with another", adjust: Allow.time) { scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(0)
        scene.thread("arms") { b.schedule(0, leeway: 1000) }
        stage.finally(scene) {
          a.listener.expectHeard(1, "the first")
          b.listener.expectHeard(1, "the one with leeway")
        }
      },
      EngineModel("timers: a timer alone in its window is not late", adjust: Allow.time) {
        scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(1000, leeway: 5000)
        scene.thread("arms") { b.schedule(9000, leeway: 5000) }
        a.listener.onNotified = {
          Checker.expect(Clock.monotonicNanoseconds() < stage.begin + 6000, "it used its leeway")
        }
        stage.finally(scene) {
          a.listener.expectHeard(1, "the first")
          b.listener.expectHeard(1, "the second")
        }
      },
      EngineModel("timers: a timer waits for another in its window", adjust: Allow.time) { scene in
        let stage = TimerScene(scene)
        let (a, b, c) = (stage.timer(), stage.timer(), stage.timer())
        a.schedule(3000)
        b.schedule(1000, leeway: 5000)
        scene.thread("arms") { c.schedule(2000, leeway: 7000) }
        b.listener.onNotified = {
          Checker.expect(
            Clock.monotonicNanoseconds() >= stage.begin + 3000, "it did not wait for the other")
        }
        stage.finally(scene) {
          for one in [a, b, c] { one.listener.expectHeard(1, "each") }
        }
      },
      EngineModel("timers: an earlier timer is armed while another waits", adjust: Allow.time) {
        scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(5000)
        scene.thread("arms") { b.schedule(1000) }
        b.listener.onNotified = {
          Checker.expect(
            Clock.monotonicNanoseconds() < stage.begin + 5000, "the timer descriptor came late")
        }
        stage.finally(scene) {
          a.listener.expectHeard(1, "the first")
          b.listener.expectHeard(1, "the second")
        }
      },
      EngineModel("timers: disarming races with expiration", adjust: Allow.time) { scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(0)
        b.schedule(1000)
        scene.thread("disarms") {
          stage.timers.change { $0.disarm(a.entry) }
          Checker.expect(
            stage.timers.change { $0.byLatest.count } <= 1, "a disarmed timer is still held")
        }
        stage.finally(scene) {
          Checker.expect(a.listener.heard.count <= 1, "it was heard twice")
          b.listener.expectHeard(1, "the other")
        }
      },
      EngineModel("timers: a timer is re-armed as soon as it fires", adjust: Allow.time) { scene in
        let stage = TimerScene(scene)
        let (a, b) = (stage.timer(), stage.timer())
        let (timers, entry, heard) = (stage.timers, a.entry, a.listener.heard)
        a.listener.onNotified = {
          if heard.count == 3 { return }
          let next = Clock.monotonicNanoseconds() + 1000
          timers.change { $0.arm(entry, at: next, until: next) }
        }
        a.schedule(0)
        scene.thread("arms") { b.schedule(0) }
        stage.finally(scene) {
          a.listener.expectHeard(3, "the repeating one")
          b.listener.expectHeard(1, "the other")
        }
      },
      EngineModel(
        "timers: two threads fire", reach: .bounded(preemptions: 2), adjust: Allow.time
      ) { scene in
        let stage = TimerScene(scene, pollers: 2)
        let (a, b) = (stage.timer(), stage.timer())
        a.schedule(0)
        scene.thread("arms") { b.schedule(0) }
        stage.finally(scene) {
          a.listener.expectHeard(1, "the first")
          b.listener.expectHeard(1, "the second")
        }
      },
      EngineModel(
        "timers: two threads create the timer descriptor", reach: .bounded(preemptions: 2),
        adjust: Allow.time
      ) { scene in
        let stage = TimerScene(scene, hasTimerFD: false)
        let all = [stage.timer(), stage.timer()]
        for (number, one) in all.enumerated() {
          scene.thread("arms \(number)") { one.schedule(UInt64(1000 * number)) }
        }
        stage.finally(scene) {
          for one in all { one.listener.expectHeard(1, "each") }
        }
      },
      EngineModel(
        "timers: a refused timer descriptor is created later", reach: .bounded(preemptions: 2),
        adjust: Allow.timeAndRefusal
      ) { scene in
        let stage = TimerScene(scene, hasTimerFD: false)
        let a = stage.timer()
        scene.thread("arms") { a.schedule(1000) }
        stage.finally(scene) { a.listener.expectHeard(1, "it") }
      },
      EngineModel("timers: a timer is destroyed during its expiration", adjust: Allow.time) {
        scene in
        let stage = TimerScene(scene)
        var dying: MortalListener? = MortalListener(stage.timers)
        let b = stage.timer()
        dying?.schedule(at: stage.begin)
        b.schedule(1000)
        let spare = stage.timer()
        scene.thread("lets go") {
          // A reference count is no step. Taking the lock orders the release before or after each
          // other holder of the lock.
          stage.timers.change { $0.disarm(spare.entry) }
          dying = nil
        }
        stage.finally(scene) { b.listener.expectHeard(1, "the other") }
      },
      EngineModel("timers: delayed work runs once", adjust: Allow.time) { scene in
        let stage = TimerScene(scene)
        let queue = KeepingRoot()
        let jobs = [Job(), Job()]
        scene.keep(queue)
        stage.timers.submit(jobs[0].node(), to: queue, at: stage.begin, leeway: 0)
        scene.thread("submits") {
          stage.timers.submit(jobs[1].node(), to: queue, at: stage.begin, leeway: 1000)
        }
        stage.finally(scene) {
          queue.runAll()
          for job in jobs { job.expectDone() }
        }
      },
      EngineModel(
        "timers: two threads submit delayed work in order", reach: .bounded(preemptions: 2),
        adjust: Allow.time
      ) { scene in
        let stage = TimerScene(scene, pollers: 0)
        let timers = stage.timers
        let order = stage.submitDelayed([(target: 20, latest: 20), (target: 30, latest: 30)])
        for name in ["fires", "also fires"] {
          scene.thread(name) { _ = timers.tryAgain(on: currentThread()) }
        }
        stage.finally(scene) { order.expect() }
      },
      EngineModel(
        "timers: leeway does not change the order of delayed work", adjust: Allow.time
      ) { scene in
        let stage = TimerScene(scene)
        let order = stage.submitDelayed([
          (target: 10, latest: 90), (target: 20, latest: 20), (target: 30, latest: 60),
          (target: 40, latest: 50),
        ])
        stage.finally(scene) { order.expect() }
      },
    ]
  }

  static var timerMutants: [Mutant] {
    let beside = "timers: arming a timer races with another's expiration"
    let timerFD = "TimerFD.set(timerFD, at: max(1, time))"
    return [
      Mutant(
        "two threads fire at a time", in: "Timers.swift", at: "@Cell var isFiring", .returns(0),
        foundBy: "timers: two threads submit delayed work in order"),
      Mutant(
        "no timer descriptor is set", in: "Timers.swift", at: timerFD, .skips, foundBy: beside),
      Mutant(
        "the timer descriptor is taken to be set for ever", in: "Timers.swift",
        at: "@Cell var timerFDTime", .returns(0), foundBy: beside),
      Mutant(
        "a timer descriptor is not registered", in: "Registration.swift",
        at: "ReadinessSet.add(set",
        .skips, foundBy: "timers: two threads create the timer descriptor"),
      Mutant(
        "a thread creates a timer descriptor without checking for one", in: "Timers.swift",
        at: "@Cell var timerFD:", .returns(0xffff_ffff),
        foundBy: "timers: two threads create the timer descriptor"),
      Mutant(
        "the timers' lock does not exclude", in: "Lock.swift",
        at: "let (won, _) = word.compareExchange(", after: "public borrowing func lock()",
        .isBlind, foundBy: "timers: disarming races with expiration"),
      Mutant(
        "a shortage is not recorded", in: "Poller+Shortage.swift",
        at: "isShort.store(true, ordering: .releasing)", after: "func lack(", .skips,
        foundBy: "timers: a refused timer descriptor is created later"),
    ]
  }
}

private final class TimerScene: @unchecked Sendable {
  private let scene: EventScene
  var timers: Timers { scene.timers }
  var begin: UInt64 { scene.begin }

  init(_ stage: Scene, pollers: Int = 1, hasTimerFD: Bool = true) {
    scene = EventScene(stage, pollers: pollers)
    scene.addClock(stage)
    if hasTimerFD { _ = timers.tryAgain(on: currentThread()) }
  }

  func timer() -> ModelTimer { ModelTimer(timers, begin) }

  /// Submits work to one queue for the time 100 ns before the scene began and later; all of it is
  /// due. The first is submitted last.
  func submitDelayed(_ times: [(target: UInt64, latest: UInt64)]) -> DelayedOrder {
    let order = DelayedOrder(times.count)
    for (number, time) in times.enumerated().reversed() {
      timers.submit(
        order.jobs[number].node(), to: order.queue, at: begin - 100 + time.target,
        leeway: time.latest - time.target)
    }
    return order
  }

  func finally(_ stage: Scene, _ verdict: @escaping () -> Void) {
    stage.finally {
      verdict()
      self.scene.end()
    }
  }
}

/// Delayed work that a queue must receive in its order.
private final class DelayedOrder: @unchecked Sendable {
  let queue = SteppingRoot()
  let jobs: [Job]
  private let ran = Journal()

  init(_ count: Int) {
    let ran = ran
    jobs = (0..<count).map { number in Job { ran.add(number) } }
  }

  func expect() {
    queue.runAll()
    Checker.expect(ran.entries == Array(jobs.indices), "submitted in the order \(ran.entries)")
  }
}

/// A KeepingRoot with a step before each submission, at which another thread may overtake.
private final class SteppingRoot: KeepingRoot, @unchecked Sendable {
  private let steps = Tally()

  override func submitToRoot(_ node: WorkNode, from thread: ThreadContext) {
    steps.one()
    super.submitToRoot(node, from: thread)
  }
}

private final class ModelTimer: @unchecked Sendable {
  let listener = Listener()
  let entry: TimerHandle
  private let timers: Timers
  private let begin: UInt64

  init(_ timers: Timers, _ begin: UInt64) {
    self.timers = timers
    self.begin = begin
    let listener = listener
    entry = timers.change { $0.makeEntry(for: listener) }
  }

  /// Schedules the timer `after` nanoseconds after the scene began.
  func schedule(_ after: UInt64, leeway: UInt64 = 0) {
    let target = begin + after
    timers.change { $0.arm(entry, at: target, until: target + leeway) }
  }
}

/// A listener that returns its entry in its deinit, as a source does.
final class MortalListener: DispatchQueue, @unchecked Sendable {
  private let timers: Timers
  private var entry: TimerHandle?
  /// Each notification uses this atomic, so a notification after the deinit is an error.
  private let heard = Tally()

  init(_ timers: Timers) {
    self.timers = timers
    super.init(root: "model.mortal", kind: .root, qos: .unspecified)
    entry = timers.change { $0.makeEntry(for: self) }
  }

  deinit {
    if let entry { timers.change { $0.putBack(entry) } }
  }

  func schedule(at time: UInt64) {
    if let entry { timers.change { $0.arm(entry, at: time, until: time) } }
  }

  override func eventCame(on thread: ThreadContext) { heard.one() }
}
