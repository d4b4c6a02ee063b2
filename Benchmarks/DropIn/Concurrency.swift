// Swift Concurrency, timed on the libdispatch.so that the loader finds. concurrency NAME prints the
// nanoseconds per operation, by the clock and of all CPUs: the minimum of a few samples. --list
// prints the names. concurrency NAME --round-robin runs the tasks on the threads of
// RoundRobin.swift.
import Glibc

struct Workload {
  let name: String
  let count: Int
  let body: @Sendable (Int) async -> Void
}

func expect(_ condition: Bool, _ message: String) {
  if condition { return }
  print("wrong result: \(message)")
  exit(70)
}

// MARK: Tasks

/// The executor of all tasks; `nil`: the runtime's own.
let preferred: (any TaskExecutor)? =
  CommandLine.arguments.contains("--round-robin") ? RoundRobinExecutor() : nil

func fanOut(_ count: Int) async {
  let sum = await withTaskGroup(of: Int.self) { group in
    for index in 0..<count { group.addTask { index } }
    return await group.reduce(0, &+)
  }
  expect(sum == count * (count - 1) / 2, "the sum of a group is \(sum)")
}

func tree(_ depth: Int) async -> Int {
  if depth == 0 { return 1 }
  async let left = tree(depth - 1)
  async let right = tree(depth - 1)
  return await left + right + 1
}

func detached(_ count: Int) async {
  var sum = 0
  for index in 0..<count {
    sum &+= await Task.detached(executorPreference: preferred) { index }.value
  }
  expect(sum == count * (count - 1) / 2, "the sum of tasks is \(sum)")
}

func yields(_ count: Int) async { for _ in 0..<count { await Task.yield() } }

func yieldsOfMany(_ count: Int) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<8 { group.addTask { await yields(count / 8) } }
  }
}

func sleeps(_ count: Int) async {
  await withTaskGroup(of: Void.self) { group in
    for index in 0..<count {
      group.addTask { try? await Task.sleep(for: .microseconds(1000 + index % 10)) }
    }
  }
}

/// The bytes that a million sleeps of an hour keep after they were cancelled.
func cancelledSleeps() async -> Int {
  let before = residentBytes()
  for _ in 0..<100 {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10_000 { group.addTask { try? await Task.sleep(for: .seconds(3600)) } }
      group.cancelAll()
    }
  }
  return residentBytes() - before
}

/// The resident memory of the process: proc_pid_statm(5).
func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { exit(71) }
  defer { fclose(file) }
  var text = [CChar](repeating: 0, count: 128)
  guard fgets(&text, Int32(text.count), file) != nil, let space = strchr(text, 32) else { exit(71) }
  return strtol(space, nil, 10) * sysconf(Int32(_SC_PAGESIZE))
}

// MARK: Actors

/// A mailbox for one reader. A sender resumes the waiting reader.
actor Letterbox {
  private var letters = 0
  private var reader: UnsafeContinuation<Void, Never>?

  func send() {
    if let reader {
      self.reader = nil
      reader.resume()
    } else {
      letters += 1
    }
  }

  func receive() async {
    if letters > 0 {
      letters -= 1
    } else {
      await withUnsafeContinuation { reader = $0 }
    }
  }
}

func pingPong(pairs: Int, hops: Int) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<pairs {
      let ping = Letterbox()
      let pong = Letterbox()
      let rallies = hops / pairs / 2
      group.addTask {
        for _ in 0..<rallies {
          await ping.send()
          await pong.receive()
        }
      }
      group.addTask {
        for _ in 0..<rallies {
          await ping.receive()
          await pong.send()
        }
      }
    }
  }
}

actor Counter {
  var count = 0
  func add() { count += 1 }
}

func oneActor(_ count: Int) async {
  let counter = Counter()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<8 {
      group.addTask { for _ in 0..<count / 8 { await counter.add() } }
    }
  }
  let total = await counter.count
  expect(total == count / 8 * 8, "an actor counted \(total)")
}

@MainActor final class MainCounter {
  static var count = 0
  static func add() { count += 1 }
}

func mainActor(_ count: Int) async {
  for _ in 0..<count { await MainCounter.add() }
}

func stream(_ count: Int) async {
  let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
  let producer = Task.detached(executorPreference: preferred) {
    for index in 0..<count {
      continuation.yield(index)
      if index % 64 == 0 { await Task.yield() }
    }
    continuation.finish()
  }
  var sum = 0
  for await number in numbers { sum &+= number }
  await producer.value
  expect(sum == count * (count - 1) / 2, "the sum of a stream is \(sum)")
}

let workloads = [
  Workload(name: "tasks/fan-out of 10,000", count: 10_000) { await fanOut($0) },
  Workload(name: "tasks/tree of 16,383", count: 16_383) { count in
    let nodes = await tree(13)
    expect(nodes == count, "a tree of \(nodes)")
  },
  Workload(name: "tasks/detached, awaited", count: 10_000) { await detached($0) },
  Workload(name: "tasks/1,000 sleeps", count: 1_000) { await sleeps($0) },
  Workload(name: "tasks/yield", count: 50_000) { await yields($0) },
  Workload(name: "tasks/yield, 8 tasks", count: 50_000) { await yieldsOfMany($0) },
  Workload(name: "actors/ping-pong, 1 pair", count: 20_000) { await pingPong(pairs: 1, hops: $0) },
  Workload(name: "actors/ping-pong, 2 pairs", count: 20_000) { await pingPong(pairs: 2, hops: $0) },
  Workload(name: "actors/ping-pong, 8 pairs", count: 20_000) { await pingPong(pairs: 8, hops: $0) },
  Workload(name: "actors/ping-pong, 64 pairs", count: 20_480) {
    await pingPong(pairs: 64, hops: $0)
  },
  Workload(name: "actors/one actor, 8 tasks", count: 40_000) { await oneActor($0) },
  Workload(name: "actors/main actor and back", count: 10_000) { await mainActor($0) },
  Workload(name: "streams/one to one", count: 20_000) { await stream($0) },
]

// MARK: Measuring

func nanoseconds(_ clock: clockid_t) -> Double {
  var now = timespec()
  clock_gettime(clock, &now)
  return Double(now.tv_sec) * 1e9 + Double(now.tv_nsec)
}

func measure(_ workload: Workload, samples: Int) async -> (elapsed: Double, busy: Double) {
  var least = (elapsed: Double.infinity, busy: Double.infinity)
  for _ in 0..<samples {
    let elapsed = nanoseconds(CLOCK_MONOTONIC)
    let busy = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    await workload.body(workload.count)
    least.elapsed = min(least.elapsed, nanoseconds(CLOCK_MONOTONIC) - elapsed)
    least.busy = min(least.busy, nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - busy)
  }
  return least
}

@main struct Program {
  static func main() async {
    let name = CommandLine.arguments.dropFirst().first ?? ""
    if name == "--list" {
      for workload in workloads { print(workload.name) }
      return
    }
    if name == "--cancelled-sleeps" { return print(await cancelledSleeps()) }
    if name == "--start" { exit(await Task.detached { EXIT_SUCCESS }.value) }
    guard let workload = workloads.first(where: { $0.name == name }) else { exit(64) }
    // In a detached task: main() runs on the main actor and only waits.
    let least = await Task.detached(executorPreference: preferred) {
      await workload.body(workload.count)
      return await measure(workload, samples: 5)
    }.value
    let count = Double(workload.count)
    print("\(least.elapsed / count) \(least.busy / count)")
  }
}
