import GrandCentral
import TestSupport
import Testing

/// A workloop with a log that only its items write.
private final class Scene: @unchecked Sendable {
  let workloop: DispatchWorkloop
  let log = Unguarded<[String]>([])

  init(_ label: String, attributes: DispatchWorkloop.Attributes = []) {
    workloop = DispatchWorkloop(label: label, attributes: attributes)
  }

  func log(
    _ text: String, _ qos: DispatchQoS, on queue: DispatchQueue? = nil,
    flags: DispatchWorkItemFlags = []
  ) {
    (queue ?? workloop).async(qos: qos, flags: flags) { [log] in log.value.append(text) }
  }

  /// Holds the workloop while `body` submits, then waits for an item behind the others of `last`.
  func inOneLoad(last: DispatchQueue? = nil, _ body: () -> Void) -> [String] {
    let isHeld = Latch()
    let release = Latch()
    workloop.async(qos: .userInteractive, flags: .enforceQoS) {
      isHeld.open()
      #expect(release.wait())
    }
    #expect(isHeld.wait())
    body()
    let done = Latch()
    (last ?? workloop).async(qos: .background, flags: .enforceQoS) { done.open() }
    release.open()
    #expect(done.wait())
    return log.value
  }
}

@Suite("A workloop") struct WorkloopTests {
  @Test func `runs the most urgent item first, and one class in order`() {
    let scene = Scene("workloop.order")
    let seen = scene.inOneLoad {
      for number in 0..<3 {
        scene.log("background \(number)", .background)
        scene.log("utility \(number)", .utility)
        scene.log("default \(number)", .default)
        scene.log("initiated \(number)", .userInitiated)
        scene.log("interactive \(number)", .userInteractive)
      }
    }
    let classes = ["interactive", "initiated", "default", "utility", "background"]
    #expect(seen == classes.flatMap { name in (0..<3).map { "\(name) \($0)" } })
  }

  @Test func `lets an urgent item pass a flood that it has begun`() {
    let scene = Scene("workloop.flood")
    let flood = 20_000
    let position = Unguarded(-1)
    let count = Unguarded(0)
    let begun = Latch()
    let isSubmitted = Latch()
    let done = Latch()
    for number in 0..<flood {
      scene.workloop.async(qos: .background, flags: .enforceQoS) {
        if number == 10 {
          begun.open()
          #expect(isSubmitted.wait())
        }
        count.value += 1
        if count.value == flood { done.open() }
      }
    }
    #expect(begun.wait())
    scene.workloop.async(qos: .userInteractive, flags: .enforceQoS) {
      position.value = count.value
    }
    isSubmitted.open()
    #expect(done.wait())
    #expect(position.value == 11)
  }

  @Test func `orders what its items submit`() {
    let scene = Scene("workloop.nested")
    let done = Latch()
    scene.workloop.async(qos: .utility) {
      scene.log("low", .background)
      scene.log("high", .userInitiated)
      scene.workloop.async(qos: .background, flags: .enforceQoS) { done.open() }
    }
    #expect(done.wait())
    #expect(scene.log.value == ["high", "low"])
  }

  @Test func `compares the queues that target it after each item`() {
    let scene = Scene("workloop.targets")
    let low = DispatchQueue(label: "workloop.low", target: scene.workloop)
    let middle = DispatchQueue(label: "workloop.middle", target: scene.workloop)
    let high = DispatchQueue(label: "workloop.high", target: middle)
    let seen = scene.inOneLoad(last: low) {
      for number in 0..<2 { scene.log("low \(number)", .background, on: low) }
      for number in 0..<2 { scene.log("high \(number)", .userInitiated, on: high) }
      for number in 0..<2 { scene.log("direct \(number)", .utility) }
    }
    #expect(seen == ["high 0", "high 1", "direct 0", "direct 1", "low 0", "low 1"])
  }

  @Test func `interrupts a queue that targets it between two items`() {
    let scene = Scene("workloop.between")
    let inner = DispatchQueue(label: "workloop.inner", target: scene.workloop)
    let queue = DispatchQueue(label: "workloop.queue", target: inner)
    let done = Latch()
    for number in 0..<4 {
      queue.async(qos: .utility) {
        scene.log.value.append("\(number)")
        if number == 1 { scene.log("urgent", .userInitiated) }
        if number == 3 { done.open() }
      }
    }
    #expect(done.wait())
    #expect(scene.log.value == ["0", "1", "urgent", "2", "3"])
  }

  @Test func `runs one item at a time, whatever way it enters`() {
    let scene = Scene("workloop.exclusion")
    let workloop = scene.workloop
    let above = DispatchQueue(label: "workloop.above", target: workloop)
    let wide = DispatchQueue(
      label: "workloop.wide", attributes: .concurrent, target: workloop)
    let count = Unguarded(0)
    let classes: [DispatchQoS] = [.background, .utility, .userInitiated, .userInteractive]
    #expect(
      onThreads(4) { thread in
        for number in 0..<1200 {
          let qos = classes[(thread + number) % 4]
          switch number % 6 {
          case 0: workloop.async(qos: qos) { count.value += 1 }
          case 1: workloop.sync { count.value += 1 }
          case 2: above.async(qos: qos) { count.value += 1 }
          case 3: wide.async(qos: qos) { count.value += 1 }
          case 4: workloop.async(qos: qos, flags: .barrier) { count.value += 1 }
          default: above.sync { count.value += 1 }
          }
        }
      })
    wide.sync(flags: .barrier) {}
    above.sync {}
    let drained = Latch()
    workloop.async(qos: .background, flags: .enforceQoS) { drained.open() }
    #expect(drained.wait())
    #expect(workloop.sync { count.value } == 4800)
  }

  @Test func `starts nothing before its activation, then the most urgent item`() {
    let scene = Scene("workloop.inactive", attributes: .initiallyInactive)
    scene.log("low", .background)
    scene.log("high", .userInitiated)
    let done = Latch()
    scene.workloop.async(qos: .background, flags: .enforceQoS) { done.open() }
    settle()
    #expect(scene.log.value.isEmpty)
    scene.workloop.activate()
    #expect(done.wait())
    #expect(scene.log.value == ["high", "low"])
  }

  @Test func `keeps its order over a suspension in the middle of the list`() {
    let scene = Scene("workloop.suspended")
    let isSuspended = Latch()
    let done = Latch()
    scene.log("low", .background)
    scene.workloop.suspend()
    scene.workloop.async(qos: .utility) {
      scene.log.value.append("first")
      scene.workloop.suspend()
      isSuspended.open()
    }
    scene.log("second", .utility)
    scene.workloop.resume()
    #expect(isSuspended.wait())
    scene.log("urgent", .userInteractive)
    scene.workloop.async(qos: .background, flags: .enforceQoS) { done.open() }
    scene.workloop.resume()
    #expect(done.wait())
    let rest = scene.log.value.filter { $0 != "low" }
    #expect(rest == ["first", "urgent", "second"])
    #expect(scene.log.value.contains("low"))
  }

  @Test func `is another kind than a serial queue`() {
    let queue: DispatchQueue = DispatchWorkloop(label: "workloop.kind")
    #expect(queue is DispatchWorkloop)
    #expect(!(queue is DispatchSerialQueue))
    #expect(!(DispatchQueue(label: "workloop.serial") is DispatchWorkloop))
    #expect(queue.label == "workloop.kind")
    #expect(queue.qos == .unspecified)
  }
}

private actor Connection {
  let workloop = DispatchWorkloop(label: "workloop.actor")
  private var order: [String] = []
  nonisolated var unownedExecutor: UnownedSerialExecutor { workloop.asUnownedSerialExecutor() }

  /// Submits jobs while this one runs: a task whose closure is isolated enters the executor at
  /// once.
  func submit(_ ended: CheckedContinuation<Void, Never>) {
    Task(priority: .background) {
      order.append("low")
      ended.resume()
    }
    Task(priority: .utility) { order.append("middle") }
    Task(priority: .userInitiated) { order.append("high") }
    order.append("submitted")
  }

  func add(_ text: String) { order.append(text) }
  func all() -> [String] { order }
  nonisolated func assumed() -> [String] { assumeIsolated { $0.order } }
}

@Suite("A workloop as an executor") struct WorkloopExecutorTests {
  @Test func `runs an actor's most urgent job first`() async {
    let connection = Connection()
    await withCheckedContinuation { ended in
      Task { await connection.submit(ended) }
    }
    #expect(await connection.all() == ["submitted", "high", "middle", "low"])
  }

  @Test func `isolates as onQueue says, also as a task executor`() async {
    let connection = Connection()
    let workloop = connection.workloop
    let above = DispatchSerialQueue(label: "workloop.above", target: workloop)
    #expect(workloop.isIsolatingCurrentContext() == false)
    above.sync {
      #expect(workloop.isIsolatingCurrentContext() == true)
      workloop.checkIsolated()
      #expect(connection.assumed().isEmpty)
    }
    await withTaskExecutorPreference(workloop) {
      await Self.expect(on: workloop)
    }
    await connection.add("one")
    #expect(await connection.all() == ["one"])
  }

  nonisolated private static func expect(on queue: DispatchQueue) async {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}
