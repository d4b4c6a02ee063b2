// Queues as executors of tasks and actors: contract row X3.
import GrandCentral
import TestSupport
import Testing

/// A count that only its queue guards: an overlap of two jobs loses a step.
private actor Tally {
  let queue: DispatchSerialQueue
  private(set) var count = 0
  private var isInside = false
  private(set) var hasOverlapped = false

  init(_ queue: DispatchSerialQueue) { self.queue = queue }
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func add() {
    if isInside { hasOverlapped = true }
    isInside = true
    count += 1
    isInside = false
  }
  func check(_ target: DispatchQueue) {
    dispatchPrecondition(condition: .onQueue(queue))
    dispatchPrecondition(condition: .onQueue(target))
  }
}

private actor ClassProbe {
  let queue: DispatchSerialQueue
  init(_ queue: DispatchSerialQueue) { self.queue = queue }
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  func current() -> DispatchQoS.QoSClass { .current }
}

@Suite("Queues by their kind") struct QueueKindTests {
  @Test func `are objects of the subclasses`() {
    let serial: DispatchQueue = DispatchQueue(label: "kind.serial")
    let wide = DispatchQueue(label: "kind.wide", attributes: .concurrent)
    #expect(serial is DispatchSerialQueue)
    #expect(!(serial is DispatchConcurrentQueue))
    #expect(wide is DispatchConcurrentQueue)
    #expect(!(wide is DispatchSerialQueue))
    #expect(DispatchQueue.main is DispatchSerialQueue)
    #expect(!(DispatchQueue.global() is DispatchSerialQueue))
    let full = DispatchQueue(
      label: "kind.full", qos: .utility, attributes: [.concurrent, .initiallyInactive],
      autoreleaseFrequency: .workItem, target: .global())
    #expect(full.qos == .utility && full.label == "kind.full")
    full.activate()
  }
}

@Suite("A queue as a task executor") struct TaskExecutorTests {
  @Test(arguments: [false, true])
  func `runs what no actor isolates`(_ isConcurrent: Bool) async {
    let queue = DispatchQueue(
      label: "executor.task", attributes: isConcurrent ? .concurrent : [])
    let onQueue: @Sendable () async -> Void = {
      dispatchPrecondition(condition: .onQueue(queue))
    }
    await withTaskExecutorPreference(queue) { await onQueue() }
    await Task(executorPreference: queue) {
      dispatchPrecondition(condition: .onQueue(queue))
      async let child: Void = onQueue()
      await child
      await Task.yield()
      dispatchPrecondition(condition: .onQueue(queue))
    }.value
  }

  @Test func `can be a global queue`() async {
    let queue = DispatchQueue.global(qos: .utility)
    await Task(executorPreference: queue, priority: .utility) {
      dispatchPrecondition(condition: .onQueue(.global(qos: .utility)))
    }.value
  }

  @Test func `runs default actors of its tasks`() async {
    actor Plain {
      var count = 0
      func add(_ queue: DispatchQueue) {
        dispatchPrecondition(condition: .onQueue(queue))
        count += 1
      }
    }
    let queue = DispatchQueue(label: "executor.default", attributes: .concurrent)
    let plain = Plain()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1000 {
        group.addTask(executorPreference: queue) { await plain.add(queue) }
      }
    }
    #expect(await plain.count == 1000)
  }

  @Test func `is released when its jobs have run`() async {
    weak var gone: DispatchQueue?
    do {
      let queue = DispatchQueue(label: "executor.released", attributes: .concurrent)
      gone = queue
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10_000 { group.addTask(executorPreference: queue) {} }
      }
      // The last item may still hold the queue: what comes after it does not.
      queue.sync(flags: .barrier) {}
    }
    let deadline = monotonicSeconds() + Double(deadlineSeconds)
    while gone != nil && monotonicSeconds() < deadline { await Task.yield() }
    #expect(gone == nil)
  }
}

@Suite("A serial queue as a serial executor") struct QueueIsolationTests {
  @Test func `knows its isolation through target queues`() {
    let target = DispatchSerialQueue(label: "executor.below")
    let queue = DispatchSerialQueue(label: "executor.above", target: target)
    let other = DispatchSerialQueue(label: "executor.other")
    #expect(queue.isIsolatingCurrentContext() == false)
    queue.sync {
      #expect(queue.isIsolatingCurrentContext() == true)
      #expect(target.isIsolatingCurrentContext() == true)
      #expect(other.isIsolatingCurrentContext() == false)
      queue.checkIsolated()
      target.checkIsolated()
    }
    target.sync { #expect(queue.isIsolatingCurrentContext() == false) }
    let below = Tally(target)
    #expect(queue.sync { below.assumeIsolated { $0.count } } == 0)
  }

  @Test func `isolates jobs to queue and target`() async {
    let target = DispatchSerialQueue(label: "executor.target")
    await Tally(DispatchSerialQueue(label: "executor.lane", target: target)).check(target)
  }

  @Test func `is equal to itself only`() {
    let target = DispatchSerialQueue(label: "executor.shared")
    let one = DispatchSerialQueue(label: "executor.one", target: target)
    let two = DispatchSerialQueue(label: "executor.two", target: target)
    #expect(one.isSameExclusiveExecutionContext(other: one))
    #expect(!one.isSameExclusiveExecutionContext(other: two))
  }

  @Test func `runs a job at its priority where the queue's class is lower`() async {
    let queue = DispatchSerialQueue(label: "executor.urgent", qos: .background)
    let probe = ClassProbe(queue)
    for (priority, expected) in [
      (TaskPriority.userInitiated, DispatchQoS.QoSClass.userInitiated),
      (.background, .background),
    ] {
      // Not the task's value: awaiting that raises the task's priority.
      let seen = await withCheckedContinuation { seen in
        Task.detached(priority: priority) { seen.resume(returning: await probe.current()) }
      }
      #expect(seen == expected)
    }
  }

  @Test func `waits while suspended, and runs in order`() async {
    let queue = DispatchSerialQueue(label: "executor.suspended")
    let tally = Tally(queue)
    queue.suspend()
    let task = Task { await tally.add() }
    queue.async {}
    queue.resume()
    await task.value
    #expect(await tally.count == 1)
  }

  @Test func `hops between actors, task executors and queues never overlap`() async {
    let target = DispatchSerialQueue(label: "hops.target")
    let wide = DispatchQueue(label: "hops.wide", attributes: .concurrent)
    let narrow = DispatchQueue(label: "hops.narrow")
    // Both share the target, so they exclude each other too.
    let tallies = [
      Tally(DispatchSerialQueue(label: "hops.one", target: target)),
      Tally(DispatchSerialQueue(label: "hops.two", target: target)), Tally(target),
    ]
    let shared = Unguarded(0)
    // More than 10⁵ hops; 10⁷ with GRANDCENTRAL_STRESS=84.
    let rounds = stressed(7_500)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask(executorPreference: number % 2 == 0 ? wide : narrow) {
          for round in 0..<rounds {
            await tallies[(number + round) % 3].add()
            await tallies[(number + round + 1) % 3].add()
            if round % 8 == 0 { target.async { shared.value += 1 } }
          }
        }
      }
    }
    var total = 0
    for tally in tallies {
      total += await tally.count
      #expect(await !tally.hasOverlapped)
    }
    #expect(total == 8 * rounds * 2)
    #expect(target.sync { shared.value } == 8 * ((rounds + 7) / 8))
  }
}
