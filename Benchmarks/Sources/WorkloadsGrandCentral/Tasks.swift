// Tasks on queues: a hop, tasks that block, an urgent call of a busy actor, and channels that tasks
// read. This engine's tasks prefer its queues, and its actors are on them; the toolchain's have
// what Swift offers there: its global executor, default actors, and continuations around callbacks.

import Glibc
import Metrics
import Synchronization

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let taskWorkloads: [Workload] = [
  hop, blockedTasks, urgentCall("tasks/urgent") { Shared() },
  urgentCall("tasks/urgent/loop") { SharedLoop() }, asyncPipe, peakOfAsyncPipe,
]

private let mebibyte = 1 << 20

/// Starts a task on the engine's queue.
@discardableResult
private func start(
  on queue: DispatchQueue, priority: TaskPriority? = nil,
  _ body: @escaping @Sendable () async -> Void
) -> Task<Void, Never> {
  #if GRAND_CENTRAL
    return Task(executorPreference: queue, priority: priority) { await body() }
  #else
    return Task.detached(priority: priority) { await body() }
  #endif
}

/// Runs a task on the engine's queue to its end.
private func perform(on queue: DispatchQueue, _ body: @escaping @Sendable () async -> Void) {
  let ended = Signal()
  start(on: queue) {
    await body()
    ended.post()
  }
  ended.wait()
}

// MARK: Hops

/// A closure that submits itself to two queues in turn: what a call of an actor and its return are
/// compared with.
private final class Chain: @unchecked Sendable {
  let queues = [
    DispatchQueue(label: "bench.chain"),
    DispatchQueue(label: "bench.chain.wide", attributes: .concurrent),
  ]
  let ended = Signal()
  @exclusivity(unchecked) var left: Int

  init(_ count: Int) { left = count }

  func step() {
    left -= 1
    if left == 0 { ended.post() } else { queues[left & 1].async { self.step() } }
  }
}

/// Each call of the actor is a hop onto its queue, and one back. On the toolchain, a default actor
/// runs on the caller's thread: its row is shown and not judged.
private let hop = Workload(
  "tasks/hop",
  rows: [Workload.Row("tasks/hop"), Workload.Row("tasks/hop/of-async", unit: "ratio")],
  .fixed(50_000), .shared
) { count in
  let queue = DispatchQueue(label: "bench.hop", attributes: .concurrent)
  let shared = Shared()
  let hops = elapsed {
    perform(on: queue) {
      for _ in 0..<count / 2 { await shared.touch() }
      let touched = await shared.count
      expect(touched == count / 2, "\(touched) calls")
    }
  }
  let chain = Chain(count)
  let closures = elapsed {
    chain.queues[0].async { chain.step() }
    chain.ended.wait()
  }
  return Sample(
    hops, figures: [Double(hops) / Double(count), Double(hops) / Double(closures)])
}

// MARK: Tasks that block

/// Four tasks for each CPU wait for what a later one does: how long that one waits for its start.
/// The toolchain starts it when the others give up.
private let blockedTasks = Workload("tasks/blocked", .fixed(1)) { _ in
  let queue = DispatchQueue(label: "bench.blocked", attributes: .concurrent)
  let count = 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
  let (gate, ended) = (DispatchSemaphore(value: 0), Countdown(count + 1))
  @Sendable func wait() { _ = gate.wait(timeout: .now() + .milliseconds(200)) }
  for _ in 0..<count {
    start(on: queue) {
      wait()
      ended.arrive()
    }
  }
  let delay = Atomic<UInt64>(0)
  let submitted = now()
  start(on: queue) {
    delay.store(now() - submitted, ordering: .relaxed)
    for _ in 0..<count { gate.signal() }
    ended.arrive()
  }
  ended.wait()
  return Sample(delay.load(ordering: .relaxed), per: 1)
}

// MARK: An urgent call

/// An actor that is called: on a serial queue, or on a workloop, where urgent calls come first. On
/// the toolchain both are default actors.
private protocol Called: Actor {
  func work()
  func touch()
}

extension Called {
  func work() { burn(rounds: 50 * roundsPerMicrosecond) }
}

private actor Shared: Called {
  #if GRAND_CENTRAL
    private let queue = DispatchSerialQueue(label: "bench.actor")
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
  #endif
  /// Not empty: the compiler removes the hop to an actor that does nothing.
  func touch() { count += 1 }
  private(set) var count = 0
}

private actor SharedLoop: Called {
  #if GRAND_CENTRAL
    private nonisolated let loop = DispatchWorkloop(label: "bench.loop")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  #endif
  func touch() { count += 1 }
  private var count = 0
}

/// Calls of an actor that background tasks keep busy, beside other background tasks that compute on
/// every CPU. From the start of an urgent task to the end of its call.
private func urgentCall(
  _ name: String, of make: @escaping @Sendable () -> any Called
) -> Workload {
  Workload(
    name, rows: [Workload.Row("\(name)/p50"), Workload.Row("\(name)/p99")], .fixed(300), .shared
  ) { urgentCalls($0, of: make()) }
}

private func urgentCalls(_ count: Int, of shared: any Called) -> Sample {
  let stop = Stop()
  let background = DispatchQueue.global(qos: .background)
  let computing = 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
  let callers = 8
  let ended = Countdown(computing + callers)
  for _ in 0..<computing {
    start(on: background, priority: .background) {
      while !stop.isSet {
        burn(rounds: 500 * roundsPerMicrosecond)
        await Task.yield()
      }
      ended.arrive()
    }
  }
  for _ in 0..<callers {
    start(on: background, priority: .background) {
      while !stop.isSet { await shared.work() }
      ended.arrive()
    }
  }
  var delays: [Double] = []
  let begin = now()
  let done = Signal()
  for _ in 0..<count {
    sleep(microseconds: 1_000)
    let submitted = now()
    start(on: .global(qos: .userInitiated), priority: .high) {
      await shared.touch()
      done.post()
    }
    done.wait()
    delays.append(Double(now() - submitted))
  }
  stop.set()
  ended.wait()
  let delay = Distribution(delays)
  return Sample(now() - begin, figures: [delay.median, delay.quantile(0.99)])
}

// MARK: Channels

/// Reads until the end, chunk by chunk. With `pause`, rests after each mebibyte, for so many
/// microseconds. Returns the number of bytes.
private func readAll(_ descriptor: Int32, pause: Int = 0) async -> Int {
  var bytes = 0
  func rest(_ count: Int) {
    let before = bytes / mebibyte
    bytes += count
    if pause > 0 && bytes / mebibyte > before { sleep(microseconds: pause) }
  }
  #if GRAND_CENTRAL
    await withChannel(fileDescriptor: descriptor) { channel in
      do { for try await chunk in channel.chunks() { rest(chunk.count) } } catch {
        fail("\(error)")
      }
    }
  #else
    let queue = DispatchQueue(label: "bench.channel")
    let channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: queue) { _ in }
    channel.setLimit(lowWater: 1)
    while true {
      let count = await withCheckedContinuation { continuation in
        let read = Atomic<Int>(0)
        channel.read(offset: 0, length: 65_536, queue: queue) { done, data, error in
          expect(error == 0, "\(error)")
          read.add(data?.count ?? 0, ordering: .relaxed)
          if done { continuation.resume(returning: read.load(ordering: .relaxed)) }
        }
      }
      if count == 0 { break }
      rest(count)
    }
    channel.close()
  #endif
  return bytes
}

/// Reads until the end in one operation with a handler. Returns the number of bytes.
private func readAllByHandler(_ descriptor: Int32) -> Int {
  let queue = DispatchQueue(label: "bench.handler")
  let bytes = Atomic<Int>(0)
  let ended = Signal()
  let channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: queue) { _ in
    ended.post()
  }
  channel.setLimit(lowWater: 1)
  channel.read(offset: 0, length: .max, queue: queue) { done, data, error in
    expect(error == 0, "\(error)")
    bytes.add(data?.count ?? 0, ordering: .relaxed)
    if done { channel.close() }
  }
  ended.wait()
  return bytes.load(ordering: .relaxed)
}

/// Runs `read` on a pipe into which a thread writes as fast as it is taken.
private func throughPipe(mebibytes: Int, _ read: (Int32) -> Int) {
  var ends: [Int32] = [0, 0]
  if pipe(&ends) != 0 { fail("pipe: \(errno)") }
  let output = ends[1]
  let thread = startThread {
    let block = [UInt8](repeating: 1, count: 65_536)
    var left = mebibytes * mebibyte
    while left > 0 {
      let written = write(output, block, min(left, block.count))
      if written < 0 { fail("write: \(errno)") }
      left -= written
    }
    close(output)
  }
  let bytes = read(ends[0])
  expect(bytes == mebibytes * mebibyte, "\(bytes) bytes")
  pthread_join(thread, nil)
  close(ends[0])
}

private func readInTask(_ descriptor: Int32, pause: Int = 0) -> Int {
  let bytes = Atomic<Int>(0)
  perform(on: DispatchQueue(label: "bench.reader")) {
    bytes.store(await readAll(descriptor, pause: pause), ordering: .relaxed)
  }
  return bytes.load(ordering: .relaxed)
}

private let asyncPipe = Workload(
  "tasks/pipe",
  rows: [
    Workload.Row("tasks/pipe", unit: "ns/MiB"),
    Workload.Row("tasks/pipe/of-handler", unit: "ratio"),
  ], .fixed(128), .shared
) { count in
  let time = elapsed { throughPipe(mebibytes: count) { readInTask($0) } }
  let handler = elapsed { throughPipe(mebibytes: count, readAllByHandler) }
  return Sample(
    time, figures: [Double(time) / Double(count), Double(time) / Double(handler)])
}

/// Runs in a process of its own. The reader is slow.
private let peakOfAsyncPipe = Workload(
  "tasks/pipe/1GiB/peak", rows: [Workload.Row("tasks/pipe/1GiB/peak", unit: "MiB")],
  .exact(1_024), .child
) { count in
  // The threads and their caches exist before.
  throughPipe(mebibytes: 8) { readInTask($0, pause: 100) }
  let before = peakResidentBytes()
  let time = elapsed { throughPipe(mebibytes: count) { readInTask($0, pause: 200) } }
  return Sample(time, figures: [Double(peakResidentBytes() - before) / Double(mebibyte)])
}
