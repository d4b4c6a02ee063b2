// Sequences that are left, tasks that are cancelled, actors that end: at the worst moments.
import Glibc
import GrandCentral
import TestSupport

/// Sequences that are left in the middle, and continued by another loop, or never.
@Sendable func abandoned() async throws {
  let rounds = size(0, otherwise: 200)
  var (lines, chunks, ticks) = (0, 0, 0)
  for round in 0..<rounds {
    let pipe = DescriptorPair.pipe()
    let text = "one\ntwo\nthree\nfour\n"
    _ = write(pipe.output, text, text.utf8.count)
    if round % 2 == 0 { close(pipe.output) }
    try await withChannel(fileDescriptor: pipe.input) { channel in
      // A second loop over the same iterator reads on where the first one stopped.
      var iterator = channel.lines().makeAsyncIterator()
      while let line = try await iterator.next() { if line == "two" { break } }
      if try await iterator.next() == "three" { lines += 1 }
    }
    if round % 2 != 0 { close(pipe.output) }
    close(pipe.input)

    let bytes = DescriptorPair.pipe()
    writeBytes(bytes.output, 1_000)
    try await withChannel(fileDescriptor: bytes.input) { channel in
      for try await chunk in channel.chunks(upTo: 100) where chunk.count == 100 { break }
      for try await chunk in channel.chunks(upTo: 500) where chunk.count == 500 { break }
    }
    // What no loop has asked for is still in the pipe.
    if readBytes(bytes.input) == 400 { chunks += 1 }
    bytes.closeBoth()

    await withTimer(deadline: .now(), repeating: .microseconds(50)) { events in
      for await _ in events { break }
      for await _ in events { break }
      ticks += 1
    }
  }
  say("lines", lines)
  say("chunks", chunks)
  say("ticks", ticks)
}

/// A reader that is cancelled while bytes arrive. No byte is lost, and none comes twice.
@Sendable func arriving() async throws {
  let total = size(0, otherwise: 3_000)
  let pipe = DescriptorPair.pipe()
  let writer = TestThread {
    var next = 0
    while next < total {
      var byte = UInt8(next % 251)
      if write(pipe.output, &byte, 1) == 1 { next += 1 }
    }
    close(pipe.output)
  }
  var (read, wrong, cancelled) = (0, 0, 0)
  await withChannel(fileDescriptor: pipe.input) { channel in
    var isOver = false
    while !isOver {
      let reading = Task { try await channel.read(upTo: 16) }
      let cancelling = Task.detached { reading.cancel() }
      switch await reading.result {
      case .success(let data):
        isOver = data.isEmpty
        for byte in data {
          if byte != UInt8(read % 251) { wrong += 1 }
          read += 1
        }
      case .failure(let error):
        cancelled += 1
        if (error as? DispatchIOError)?.isCancellation != true { wrong += 1 }
      }
      await cancelling.value
    }
  }
  close(pipe.input)
  say("read", read == total)
  say("wrong", wrong)
  say("joined", writer.join())
  // How many reads the cancellation came before differs.
  say("cancelled", cancelled)
}

/// Every door, entered by a task that is cancelled already.
@Sendable func cancelledBefore() async throws {
  let pipe = DescriptorPair.pipe()
  let folder = ScratchFolder()
  let file = folder.file("watched", O_RDWR | O_CREAT)
  let child = startChild(["sleep", "1000"])
  let queue = DispatchQueue(label: "probe.before")
  let rounds = size(0, otherwise: 50)
  var ended = 0
  writeBytes(pipe.output, 10)
  for _ in 0..<rounds {
    let mayBegin = DispatchGroup()
    mayBegin.enter()
    let task = Task { () -> Int in
      await mayBegin.finished()
      return await eventsOfEveryDoor(pipe, file: file, child: child, queue)
    }
    task.cancel()
    mayBegin.leave()
    if await task.value == 0 { ended += 1 }
  }
  say("ended", ended == rounds)
  // A cancelled read takes no byte.
  say("left", readBytes(pipe.input))
  kill(child, SIGKILL)
  _ = waitFor(child)
  close(file)
  pipe.closeBoth()
}

/// Counts the events until they end, in a variable that no other closure captures.
private nonisolated(nonsending) func count<Event: Sendable>(
  _ events: DispatchEvents<Event>
) async -> Int {
  var count = 0
  for await _ in events { count += 1 }
  return count
}

/// How many events, results and bytes come through the doors, each of which ends by cancellation.
private func eventsOfEveryDoor(
  _ pipe: DescriptorPair, file: Int32, child: pid_t, _ queue: DispatchQueue
) async -> Int {
  var events = await withTimer(every: .nanoseconds(1)) { await count($0) }
  events += await withTimer(wallDeadline: .now(), repeating: .seconds(1)) { await count($0) }
  events += await withSignal(SIGUSR1) { await count($0) }
  events += await withProcess(child) { await count($0) }
  events += await withFileEvents(of: file) { await count($0) }
  events += await withMemoryPressure { await count($0) }
  events += await withReadEvents(of: pipe.input) { await count($0) }
  events += await withWriteEvents(of: pipe.output) { await count($0) }
  let attempts: [@Sendable () async throws -> Void] = [
    { try await queue.run {} },
    { try await Task.sleep(for: .seconds(1_000), clock: .dispatchUptime) },
    { try await Task.sleep(for: .seconds(1_000), clock: .dispatchWall) },
    {
      try await withChannel(fileDescriptor: pipe.input) { channel in
        for try await _ in channel.chunks() {}
      }
    },
    {
      try await withChannel(fileDescriptor: pipe.input) { channel in
        for try await _ in channel.lines() {}
      }
    },
  ]
  for attempt in attempts {
    do {
      try await attempt()
      events += 1
    } catch {}
  }
  return events
}

/// An actor whose end is isolated to its queue, whatever thread drops the last reference.
private actor Session {
  private let queue: DispatchSerialQueue
  private let onEnd: @Sendable (Bool) -> Void
  private var count = 0
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ queue: DispatchSerialQueue, _ onEnd: @escaping @Sendable (Bool) -> Void) {
    self.queue = queue
    self.onEnd = onEnd
  }
  func step() { count += 1 }
  isolated deinit {
    count += 1
    onEnd(queue.isIsolatingCurrentContext() == true)
  }
}

@Sendable func isolatedDeinit() async throws {
  let rounds = size(0, otherwise: 500)
  let (onQueue, elsewhere, all) = (Counter(), Counter(), DispatchGroup())
  for round in 0..<rounds {
    let target = round % 2 == 0 ? nil : DispatchQueue(label: "probe.session.target")
    let queue = DispatchSerialQueue(label: "probe.session", target: target)
    all.enter()
    let session = Session(queue) { isOnQueue in
      (isOnQueue ? onQueue : elsewhere).add()
      all.leave()
    }
    switch round % 4 {
    case 0: await session.step()
    case 1: queue.async { withExtendedLifetime(session) {} }
    case 2: Task.detached { await session.step() }
    default:
      Task(executorPreference: queue) { await session.step() }
      queue.async { session.assumeIsolated { _ in } }
    }
  }
  await all.finished()
  say("onQueue", onQueue.value == rounds)
  say("elsewhere", elsewhere.value)
}
