// The rows: a hot path each.
import GrandCentral

/// How exactly an operation is counted: the tolerance of its row in percent. As in Instructions.c.
enum Tolerance: Int, Sendable {
  case alone = 2
  case drained = 15
  case waking = 25
  /// Workers take the items while they are submitted, now and then from each other.
  case taken = 40
}

struct Row: Sendable {
  let name: String
  let tolerance: Tolerance
  /// Runs the operation as often, and returns when all have ended.
  let run: @Sendable (Int) -> Void

  init(_ name: String, _ tolerance: Tolerance, _ run: @escaping @Sendable (Int) -> Void) {
    self.name = name
    self.tolerance = tolerance
    self.run = run
  }
}

let rows = [
  Row("sync, idle serial queue", .alone) { count in
    let (queue, counter) = (serial(), Counter())
    for _ in 0..<count { queue.sync { counter.value += 1 } }
  },
  Row("sync, returning a value", .alone) { count in
    let (queue, counter) = (serial(), Counter())
    for _ in 0..<count { counter.value &+= queue.sync { counter.value } }
  },
  Row("sync, reader", .alone) { count in
    let (queue, counter) = (concurrent(), Counter())
    for _ in 0..<count { queue.sync { counter.value += 1 } }
  },
  Row("sync, barrier", .alone) { count in
    let (queue, counter) = (concurrent(), Counter())
    for _ in 0..<count { queue.sync(flags: .barrier) { counter.value += 1 } }
  },
  Row("sync, idle queue on a queue", .alone) { count in
    let counter = Counter()
    let queue = DispatchQueue(label: "top", target: serial())
    for _ in 0..<count { queue.sync { counter.value += 1 } }
  },
  Row("async and drain, serial queue", .drained) { count in
    let (queue, counter) = (serial(), Counter())
    drained(queue) { for _ in 0..<count { queue.async { counter.value += 1 } } }
  },
  Row("async and drain, two captures", .drained) { count in
    let (queue, counter) = (serial(), Counter())
    drained(queue) { for index in 0..<count { queue.async { counter.value &+= index } } }
  },
  Row("async and drain, concurrent queue", .taken) { count in
    let (queue, counter) = (concurrent(), Counter())
    drained(queue) { for _ in 0..<count { queue.async { counter.value += 1 } } }
  },
  Row("async and drain, barriers", .drained) { count in
    let (queue, counter) = (concurrent(), Counter())
    drained(queue) {
      for _ in 0..<count { queue.async(flags: .barrier) { counter.value += 1 } }
    }
  },
  Row("async and drain, group", .drained) { count in
    let (queue, counter, group) = (serial(), Counter(), DispatchGroup())
    drained(queue) { for _ in 0..<count { queue.async(group: group) { counter.value += 1 } } }
    group.wait()
  },
  Row("async and drain, work items", .drained) { count in
    let (queue, counter) = (serial(), Counter())
    drained(queue) {
      for _ in 0..<count { queue.async(execute: DispatchWorkItem { counter.value += 1 }) }
    }
  },
  Row("async from an item, own queue", .drained) { count in
    Chain([serial()], count).run()
  },
  Row("async from an item, other queue", .drained) { count in
    Chain([serial(), serial()], count).run()
  },
  Row("async from an item, global queue", .drained) { count in
    Chain([.global()], count).run()
  },
  Row("concurrentPerform, an iteration", .alone) { count in
    let counter = Counter()
    DispatchQueue.concurrentPerform(iterations: count) { counter.add($0) }
  },
  Row("group, enter and leave", .alone) { count in
    let group = DispatchGroup()
    for _ in 0..<count {
      group.enter()
      group.leave()
    }
  },
  Row("semaphore, signal and wait", .alone) { count in
    let semaphore = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      semaphore.signal()
      semaphore.wait()
    }
  },
  Row("work item, made and performed", .alone) { count in
    let counter = Counter()
    for _ in 0..<count { DispatchWorkItem { counter.value += 1 }.perform() }
  },
  Row("queue, made and released", .alone) { count in
    for _ in 0..<count { _ = serial() }
  },
  Row("specific, of the current queue", .alone) { count in
    let (queue, counter) = (serial(), Counter())
    queue.setSpecific(key: key, value: 1)
    queue.sync {
      for _ in 0..<count { counter.value &+= DispatchQueue.getSpecific(key: key) ?? 0 }
    }
  },
  Row("timer, armed again", .drained) { count in
    let timer = DispatchSource.makeTimerSource(queue: serial())
    timer.setEventHandler {}
    timer.activate()
    for index in 0..<count { timer.schedule(deadline: hours(index % 1000)) }
    timer.cancel()
  },
  Row("timer, made, armed and cancelled", .drained) { count in
    let (queue, counter) = (serial(), Counter())
    for index in 0..<count {
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.setEventHandler { counter.value += 1 }
      timer.schedule(deadline: hours(index))
      timer.activate()
      timer.cancel()
    }
    queue.sync {}
  },
  Row("data source, merge", .drained) { count in
    let source = DispatchSource.makeUserDataAddSource(queue: serial())
    source.setEventHandler {}
    source.activate()
    source.suspend()
    for _ in 0..<count { source.add(data: 1) }
    source.resume()
    source.cancel()
  },
  Row("read source, event", .waking) { count in
    let (arrived, finished) = (Pipe(), Pipe())
    let source = DispatchSource.makeReadSource(fileDescriptor: arrived.readEnd, queue: serial())
    source.setEventHandler {
      arrived.get()
      finished.put()
    }
    source.activate()
    for _ in 0..<count {
      arrived.put()
      finished.get()
    }
    source.setCancelHandler { finished.put() }
    source.cancel()
    finished.get()
  },
  Row("task, hop to an actor on a queue", .drained) { count in
    // Both executors are queues of the engine, so the runtime's own threads have no part.
    let (home, tally, finished) = (DispatchQueue(label: "home"), Tally(), Pipe())
    Task(executorPreference: home) {
      for _ in 0..<count { await tally.add() }
      finished.put()
    }
    finished.get()
  },
]
