// Tasks that wait for groups, work items, closures on queues, and clocks.
// Shows contract row X4.
import CFaults
import Glibc
import GrandCentral
import TestSupport
import Testing

@Suite("A task that waits for a group", .timeLimit(.minutes(30))) struct GroupDoorTests {
  @Test func `continues when the last member has left`() async {
    let group = DispatchGroup()
    await group.finished()
    let count = Counter()
    for _ in 0..<100 { DispatchQueue.global().async(group: group) { count.add() } }
    await group.finished()
    #expect(count.value == 100)
  }
}

@Suite("A task that waits for a work item", .timeLimit(.minutes(30))) struct ItemDoorTests {
  @Test func `continues when it has run, also if that was before`() async {
    let count = Counter()
    let item = DispatchWorkItem { count.add() }
    async let first: Void = item.finished()
    DispatchQueue.global().async(execute: item)
    await first
    await item.finished()
    #expect(count.value == 1)
  }

  @Test func `continues when a cancelled item had its turn`() async {
    let item = DispatchWorkItem { Issue.record("a cancelled item ran") }
    item.cancel()
    DispatchQueue.global().async(execute: item)
    await item.finished()
  }
}

@Suite("A closure that a task runs on a queue", .timeLimit(.minutes(30))) struct RunTests {
  private struct Failure: Error, Equatable {}
  private final class Plain { var value = 1 }

  @Test func `returns its value from the queue, also one that is not Sendable`() async throws {
    let queue = DispatchQueue(label: "run")
    let plain = try await queue.run {
      dispatchPrecondition(condition: .onQueue(queue))
      return Plain()
    }
    plain.value += 1
    #expect(plain.value == 2)
  }

  @Test func `throws its error, with its type if the caller names one`() async {
    let queue = DispatchQueue(label: "run")
    await #expect(throws: Failure()) {
      let _: Int = try await queue.run { () throws in throw Failure() }
    }
    do {
      try await queue.run(cancellation: Failure()) { () throws(Failure) in throw Failure() }
    } catch { #expect(error == Failure()) }
  }

  @Test func `never starts, and is released, if the task is cancelled before`() async {
    let queue = DispatchQueue(label: "run")
    let isReleased = Latch()
    let (hasBegun, mayEnd) = (Latch(), Latch())
    queue.async {
      hasBegun.open()
      _ = mayEnd.wait()
    }
    let task = Task {
      let witness = Witness { isReleased.open() }
      try await queue.run {
        withExtendedLifetime(witness) { _ = Issue.record("removed work ran") }
      }
    }
    #expect(await value { hasBegun.wait() })
    task.cancel()
    // The queue is still busy: the task does not wait for its turn.
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await value { isReleased.wait() })
    mayEnd.open()
    queue.sync {}
  }

  @Test func `ends as usual if the task is cancelled after its start`() async throws {
    let queue = DispatchQueue(label: "run")
    let (hasBegun, mayEnd) = (Latch(), Latch())
    let task = Task {
      try await queue.run {
        hasBegun.open()
        return mayEnd.wait() ? 7 : 0
      }
    }
    #expect(await value { hasBegun.wait() })
    task.cancel()
    mayEnd.open()
    #expect(try await task.value == 7)
  }

  @Test func `is as urgent as its task`() async throws {
    let queue = DispatchQueue(label: "run")
    let seen = try await Task.detached(priority: .high) {
      try await queue.run { DispatchQoS.QoSClass.current }
    }.value
    #expect(seen == .userInitiated)
  }

  @Test func `runs or is removed, once, beside cancellation`() async {
    let queue = DispatchQueue(label: "run", attributes: .concurrent)
    let (ran, ended) = (Counter(), Counter())
    let count = stressed(2_000)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        group.addTask {
          let task = Task {
            do {
              try await queue.run { _ = ran.add() }
              ended.add()
            } catch {}
          }
          if index % 2 == 0 { task.cancel() }
          await task.value
        }
      }
    }
    #expect(ran.value == ended.value)
    #expect(ran.value >= count / 2)
  }
}

@Suite("A clock of Dispatch", .timeLimit(.minutes(30))) struct ClockTests {
  @Test func `wakes no task before its time`() async throws {
    let uptime = DispatchUptimeClock()
    let deadline = uptime.now.advanced(by: .milliseconds(5))
    try await uptime.sleep(until: deadline, tolerance: .milliseconds(1))
    #expect(uptime.now >= deadline)
    #expect(deadline.duration(to: uptime.now) >= .zero)
    try await Task.sleep(for: .milliseconds(1), clock: .dispatchUptime)
    let wall = DispatchWallClock()
    let date = wall.now.advanced(by: .milliseconds(5))
    try await Task.sleep(until: date, clock: .dispatchWall)
    #expect(date < wall.now)
    try await wall.sleep(until: date)
  }

  @Test func `ends a sleep whose task is cancelled, before or while it sleeps`() async {
    for wait in [true, false] {
      let hasBegun = Latch()
      let task = Task {
        hasBegun.open()
        try await Task.sleep(for: .seconds(100_000), clock: .dispatchUptime)
      }
      if wait { #expect(await value { hasBegun.wait() }) }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test func `returns the memory of cancelled sleeps at once`() async {
    // A process of its own, where no other test allocates.
    _ = await #expect(processExitsWith: .success) {
      func cancelled(_ count: Int) async {
        for _ in 0..<count / 100 {
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
              group.addTask { try? await Task.sleep(for: .seconds(3_600), clock: .dispatchUptime) }
            }
            await Task.yield()
            group.cancelAll()
          }
        }
      }
      await cancelled(5_000)
      let (before, count) = (Int(faults_heap_bytes()), 20_000)
      await cancelled(count)
      // A timer that stays takes 255 bytes and more. The toolchain's runtime itself keeps some 10
      // bytes of each error that a task throws, also without any timer. Beside other load more
      // threads exist at a time than before, and their caches remain: 700,000 bytes were seen.
      let isBack = eventually { Int(faults_heap_bytes()) < before + 128 * count }
      if !isBack { print("bytes: \(before) before, \(faults_heap_bytes()) after") }
      exit(isBack ? 0 : 1)
    }
  }
}
