// Serial queues as executors of actors: contract row X3.
import GrandCentral
import Testing

private actor Journal {
  private let queue: DispatchSerialQueue
  private var lines: [Int] = []

  init(_ queue: DispatchSerialQueue) { self.queue = queue }

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func write(_ line: Int) -> Int {
    dispatchPrecondition(condition: .onQueueAsBarrier(queue))
    lines.append(line)
    return lines.count
  }

  nonisolated func count() -> Int { assumeIsolated { $0.lines.count } }
}

@Suite("A serial queue as an actor's executor") struct SerialExecutorTests {
  @Test func `runs the actor's jobs on the queue`() async {
    let queue = DispatchSerialQueue(label: "executor.journal")
    let journal = Journal(queue)
    await withTaskGroup(of: Void.self) { group in
      for line in 0..<100 { group.addTask { _ = await journal.write(line) } }
    }
    #expect(await journal.write(100) == 101)
  }

  @Test func `lets code on the queue assume the actor's isolation`() {
    let queue = DispatchSerialQueue(label: "executor.assumed")
    let journal = Journal(queue)
    #expect(queue.sync { journal.count() } == 0)
  }
}
