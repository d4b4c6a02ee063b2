// Programs as users write them, of a page each: actors on queues, servers on readiness, children
// that are watched, deadlines in task groups.
import Glibc
import GrandCentral
import TestSupport

// MARK: A job queue of actors, with priorities

/// A store whose actor is a workloop: urgent calls overtake others.
private actor Store {
  private nonisolated let loop = DispatchWorkloop(label: "probe.store")
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var results: [Int: Int] = [:]
  private var isInside = false
  private(set) var hasOverlapped = false

  func put(_ value: Int, for key: Int) {
    if isInside { hasOverlapped = true }
    isInside = true
    results[key] = value
    isInside = false
  }
  var count: Int { results.count }
}

/// An actor that hands out jobs, on a serial queue that targets a shared one.
private actor Backlog {
  private let queue: DispatchSerialQueue
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  private var next = 0
  private let total: Int

  init(_ total: Int, target: DispatchQueue) {
    queue = DispatchSerialQueue(label: "probe.backlog", target: target)
    self.total = total
  }

  func take() -> Int? {
    if next == total { return nil }
    defer { next += 1 }
    return next
  }
}

@Sendable func jobQueue() async throws {
  let target = DispatchSerialQueue(label: "probe.shared")
  let (backlog, store) = (Backlog(size(0, otherwise: 2_000), target: target), Store())
  let pool = DispatchQueue(label: "probe.pool", attributes: .concurrent)
  let audit = Unguarded(0)
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<8 {
      let priority = [TaskPriority.background, .utility, .medium, .high][number % 4]
      group.addTask(executorPreference: number % 2 == 0 ? pool : nil, priority: priority) {
        while let job = await backlog.take() {
          let square = try? await pool.run { job * job }
          await store.put(square ?? -1, for: job)
          target.async { audit.value += 1 }
        }
      }
    }
  }
  say("stored", await store.count)
  say("overlapped", await store.hasOverlapped)
  say("audited", target.sync { audit.value })
}

// MARK: A chat server on readiness

/// The room is an actor on the main queue of the server.
private actor Room {
  private let queue = DispatchSerialQueue(label: "probe.room")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  private var members: [Int: DispatchIO] = [:]

  func enter(_ number: Int, _ channel: DispatchIO) { members[number] = channel }
  func leave(_ number: Int) { members[number] = nil }
  func tell(_ line: String) async {
    for member in members.values { try? await member.write(DispatchData(line + "\n")) }
  }
  var isEmpty: Bool { members.isEmpty }
}

/// Serves until the task is cancelled.
private func serve(_ listening: Int32, _ room: Room) async {
  await withDiscardingTaskGroup { group in
    await withReadEvents(of: listening) { events in
      var number = 0
      for await _ in events {
        while case let client = accept(listening, nil, nil), client >= 0 {
          number += 1
          group.addTask { [number] in
            await withChannel(fileDescriptor: client) { channel in
              await room.enter(number, channel)
              do {
                for try await line in channel.lines() where line != "quit" {
                  await room.tell("\(number): \(line)")
                }
              } catch {}
              await room.leave(number)
            }
            close(client)
          }
        }
      }
    }
    group.cancelAll()
  }
}

/// Clients that each say a few lines, and hear every line of all.
@Sendable func chat() async throws {
  let (clients, lines) = (size(0, otherwise: 8), size(1, otherwise: 20))
  let server = LoopbackServer(backlog: 128)
  let room = Room()
  let serving = Task { await serve(server.descriptor, room) }
  let hear = Counter()
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<clients {
      group.addTask {
        let socket = server.connect()
        defer { close(socket) }
        return await withChannel(fileDescriptor: socket) { channel in
          do {
            // The room is full when each client has heard its own first line and all others'.
            var heard = 0
            try await channel.write(DispatchData("hello from \(number)\n"))
            var said = 0
            for try await line in channel.lines() {
              heard += line.contains("hello") ? 0 : 1
              if said < lines && !line.contains("bye") {
                said += 1
                try await channel.write(DispatchData("line \(said) from \(number)\n"))
              }
              hear.add()
              if heard >= lines { break }
            }
            return heard
          } catch { return -1 }
        }
      }
    }
    let heard = await group.reduce(into: [Int]()) { $0.append($1) }
    say("clients", heard.count)
    say("deaf", heard.count { $0 < lines })
  }
  // Each has left, or is about to.
  while await !room.isEmpty { await Task.yield() }
  serving.cancel()
  await serving.value
  close(server.descriptor)
  say("ended", true)
}

// MARK: A supervisor of child processes

/// Runs `command` until it has succeeded, at most `attempts` times. Returns the number of starts.
private func supervise(_ command: [String], attempts: Int) async -> Int {
  for attempt in 1...attempts {
    let child = startChild(command)
    await withProcess(child) { events in for await _ in events {} }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    if status == 0 { return attempt }
  }
  return attempts + 1
}

@Sendable func supervisor() async throws {
  let count = size(0, otherwise: 20)
  let folder = ScratchFolder()
  let starts = await withTaskGroup(of: Int.self) { group in
    for number in 0..<count {
      // Succeeds at the third start.
      let file = folder["\(number)"]
      group.addTask {
        await supervise(
          ["sh", "-c", "echo x >> '\(file)'; [ $(wc -l < '\(file)') -ge 3 ]"], attempts: 5)
      }
    }
    return await group.reduce(into: [Int]()) { $0.append($1) }
  }
  say("starts", starts.allSatisfy { $0 == 3 } ? 3 : -1)
  // A child that outlives the interest in it: the watch ends with its task, the child lives on.
  let child = startChild(["sleep", "1000"])
  let watching = Task { await withProcess(child) { events in for await _ in events {} } }
  watching.cancel()
  await watching.value
  say("alive", kill(child, 0) == 0)
  kill(child, SIGKILL)
  await withProcess(child) { events in for await _ in events {} }
  var status: Int32 = 0
  say("reaped", waitpid(child, &status, 0) == child)
}

// MARK: Deadlines in task groups

private struct Expired: Error {}

/// The usual race of work against a sleep, which cancels the loser.
private func within<Result: Sendable>(
  _ limit: Duration, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: limit, clock: .dispatchUptime)
      throw Expired()
    }
    defer { group.cancelAll() }
    guard let first = try await group.next() else { throw Expired() }
    return first
  }
}

@Sendable func deadlines() async throws {
  let rounds = size(0, otherwise: 1_000)
  let queue = DispatchQueue(label: "probe.deadlines")
  let pipe = DescriptorPair.pipe()
  var (inTime, late) = (0, 0)
  for round in 0..<rounds {
    // Work that is done at once, beside a sleep that is cancelled.
    if try await within(.seconds(3_600), { try await queue.run { round } }) == round { inTime += 1 }
    // A wait for nothing, beside a sleep that ends: for an event, a byte, a turn.
    if round % 10 > 0 { continue }
    let waits: [@Sendable () async throws -> Void] = [
      { await withReadEvents(of: pipe.input) { events in for await _ in events {} } },
      { _ = try await withChannel(fileDescriptor: pipe.input) { try await $0.read() } },
      { await withTimer(every: .seconds(3_600)) { ticks in for await _ in ticks {} } },
      {
        queue.suspend()
        defer { queue.resume() }
        try await queue.run {}
      },
    ]
    for wait in waits {
      // The sources end without an error when they are cancelled, the others throw.
      do { try await within(.microseconds(500)) { try await wait() } } catch { late += 1 }
    }
  }
  say("inTime", inTime)
  say("late", late)
  pipe.closeBoth()
}
