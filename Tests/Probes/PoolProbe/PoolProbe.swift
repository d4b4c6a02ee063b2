// Runs one scenario of the worker pool in a separate process, where nothing else creates threads.
// Prints name=value lines for PoolTests. Sleeping and spinning threads are the subject here.
import Glibc
import GrandCentral
import TestSupport

@main struct PoolProbe {
  static func main() {
    let scenario = CommandLine.arguments.dropFirst().first ?? ""
    guard let run = scenarios[scenario] else {
      print("unknown scenario; there are: \(scenarios.keys.sorted().joined(separator: " "))")
      exit(2)
    }
    run()
    fflush(nil)
  }

  nonisolated(unsafe) private static let scenarios: [String: () -> Void] = [
    "queues": queues, "reuse": reuse, "idle": idle, "leave": leave, "width": width,
    "perform-width": performWidth, "compensation": compensation, "sleepers": sleepers,
    "blocked": blockedQueues, "chain": chain, "limit": limit, "names": names,
    "masks": masks, "signals": signals, "signal-source": signalSource,
    "blocked-source": blockedSource, "crash": crash, "priority": priority,
    "background": background, "quiet-names": quietNames,
    "quiet-handler-names": quietHandlerNames, "passing-names": passingNames,
    "outer-names": outerNames, "liveness": liveness, "explosion": explosion,
    "pollers-leave": pollersLeave, "limit-concurrent": limitConcurrent,
  ]
}

func say(_ name: String, _ value: Any) { print("\(name)=\(value)") }

private func queues() {
  let before = processThreads().count
  let queues = (0..<1000).map { DispatchQueue(label: "idle.\($0)") }
  queues[0].sync {}
  say("threads", processThreads().count - before)
  withExtendedLifetime(queues) {}
}

private func reuse() {
  let threads = Log<Int>()
  let queue = DispatchQueue(label: "reuse")
  for round in 1...200 {
    queue.async { threads.append(threadID()) }
    _ = threads.waitForCount(round)
  }
  say("workers", Set(threads.all).count)
}

private func someWork() {
  let done = Latch(1000)
  for number in 0..<1000 {
    let queue = DispatchQueue(label: "work.\(number % 7)", attributes: .concurrent)
    queue.async { done.open() }
    DispatchQueue(label: "serial").sync {}
  }
  _ = done.wait()
}

/// What the process's other threads did in three seconds without work.
private struct IdleInterval {
  let threads: Int
  let wakeUps: Int
  let newThreads: Int

  init() {
    let before = Dictionary(
      uniqueKeysWithValues: processThreads().map { ($0.id, $0.voluntarySwitches) })
    sleepMilliseconds(3000)
    let after = processThreads().filter { $0.id != threadID() }
    threads = after.count
    wakeUps = after.reduce(0) { $0 + $1.voluntarySwitches - (before[$1.id] ?? 0) }
    newThreads = after.filter { before[$0.id] == nil }.count
  }

  /// A worker may leave meanwhile; it wakes up once to do so.
  var isQuiet: Bool { newThreads == 0 && wakeUps <= threads }

  func isQuieter(than other: IdleInterval) -> Bool {
    (newThreads, wakeUps) < (other.newThreads, other.wakeUps)
  }
}

/// Counts the wake-ups of the process's other threads while it has no work. The threads need some
/// time to come to rest, so this measures until an interval is quiet, and reports the quietest.
private func idle() {
  someWork()
  let deadline = monotonicSeconds() + Double(deadlineSeconds)
  var quietest = IdleInterval()
  while !quietest.isQuiet && monotonicSeconds() < deadline {
    let next = IdleInterval()
    if next.isQuiet || next.isQuieter(than: quietest) { quietest = next }
  }
  say("threads", quietest.threads)
  say("wakeUps", quietest.wakeUps)
  say("newThreads", quietest.newThreads)
}

private func leave() {
  let started = Latch(16)
  let gate = Latch()
  for _ in 0..<16 {
    DispatchQueue.global().async {
      started.open()
      _ = gate.wait()
    }
  }
  _ = started.wait()
  say("busy", processThreads().count - 1)
  gate.open()
  let deadline = monotonicSeconds() + 45
  while processThreads().count > 4 && monotonicSeconds() < deadline { sleepMilliseconds(50) }
  say("idle", processThreads().count - 1)
}

/// Measures how many items run at the same time if all of them only compute. On a busy machine the
/// monitor may see a thread without progress that only lacks a CPU, and add a thread; or a worker
/// may begin after the items have ended. So this reports the extreme peaks of a few rounds.
private func width() {
  let peaks = (0..<5).map { _ in peakOfComputingItems() }
  say("lowestPeak", peaks.min() ?? 0)
  say("highestPeak", peaks.max() ?? 0)
}

private func peakOfComputingItems() -> Int {
  let inside = Counter()
  let done = Latch(16)
  for _ in 0..<16 {
    DispatchQueue.global().async {
      inside.add()
      let end = monotonicSeconds() + 0.06
      spin { monotonicSeconds() >= end }
      inside.add(-1)
      done.open()
    }
  }
  _ = done.wait()
  return inside.peak
}

private func performWidth() {
  let inside = Counter()
  let threads = Log<Int>()
  DispatchQueue.concurrentPerform(iterations: 16) { _ in
    inside.add()
    threads.append(threadID())
    let end = monotonicSeconds() + 0.03
    spin { monotonicSeconds() >= end }
    inside.add(-1)
  }
  say("peak", inside.peak)
  say("threads", Set(threads.all).count)
}

/// Measures how long work waits while items block, first in a wait that the engine does not know,
/// then in a wait of the engine.
private func compensation() {
  let gate = Latch()
  let started = Latch(8)
  let begin = monotonicSeconds()
  for _ in 0..<8 {
    DispatchQueue.global().async {
      started.open()
      _ = gate.wait()
    }
  }
  _ = started.wait()
  let unannounced = monotonicSeconds() - begin
  gate.open()
  let semaphore = DispatchSemaphore(value: 0)
  let announced = Latch(8)
  let again = monotonicSeconds()
  for _ in 0..<8 {
    DispatchQueue.global().async {
      announced.open()
      semaphore.wait()
    }
  }
  _ = announced.wait()
  say("unannouncedMilliseconds", Int(unannounced * 1000))
  say("announcedMilliseconds", Int((monotonicSeconds() - again) * 1000))
  for _ in 0..<8 { semaphore.signal() }
}

/// Returns the largest number of threads while `body` runs, sampled every 2 ms.
private func peakThreads(during body: () -> Void) -> Int {
  let peak = Box(0)
  let isOver = Box(false)
  let watcher = TestThread("watcher") {
    while !isOver.value {
      peak.value = max(peak.value, processThreads().count)
      sleepMilliseconds(2)
    }
  }
  body()
  isOver.value = true
  _ = watcher.join()
  // Without the main thread and the watcher.
  return peak.value - 2
}

private func sleepers() {
  let begin = monotonicSeconds()
  let done = Latch(1000)
  let peak = peakThreads {
    for _ in 0..<1000 {
      DispatchQueue.global().async {
        sleepMilliseconds(10)
        done.open()
      }
    }
    _ = done.wait()
  }
  say("milliseconds", Int((monotonicSeconds() - begin) * 1000))
  say("peakThreads", peak)
}

private func blockedQueues() {
  let semaphore = DispatchSemaphore(value: 0)
  let done = Latch(300)
  let peak = peakThreads {
    let queues = (0..<300).map { DispatchQueue(label: "blocked.\($0)") }
    for queue in queues {
      queue.async {
        semaphore.wait()
        done.open()
      }
    }
    sleepMilliseconds(50)
    for _ in 0..<300 { semaphore.signal() }
    _ = done.wait()
  }
  say("done", done.isOpen)
  say("peakThreads", peak)
}

/// Each of 500 items blocks until the next item, which is queued behind it, has run.
private func chain() {
  let begin = monotonicSeconds()
  let semaphores = (0...500).map { _ in DispatchSemaphore(value: 0) }
  let done = Latch(500)
  for number in 0..<500 {
    DispatchQueue.global().async {
      semaphores[number + 1].wait()
      semaphores[number].signal()
      done.open()
    }
  }
  semaphores[500].signal()
  say("finished", done.wait())
  say("milliseconds", Int((monotonicSeconds() - begin) * 1000))
  // No semaphore may be released below its initial value.
  semaphores[0].wait()
  semaphores[500].signal()
}

/// More items wait for a late signal than there may be threads (see GRANDCENTRAL_THREADS).
private func limit() {
  holdThreads((0..<40).map { DispatchQueue(label: "holder.\($0 % 2)") })
}

/// The same with a concurrent queue, and with the global queue of the class that its items infer
/// from the main thread.
private func limitConcurrent() {
  let queue = DispatchQueue(label: "holder.concurrent", attributes: .concurrent)
  holdThreads((0..<40).map { $0 % 2 == 0 ? queue : .global(qos: .userInitiated) })
}

/// Waits for text that the engine writes to standard error, and passes all of it on.
private struct Report {
  private let original = dup(STDERR_FILENO)
  private let reader: Int32

  init() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0 else { exit(2) }
    close(ends[1])
    reader = ends[0]
  }

  /// Waits until standard error has received `words`, or the deadline passes, and restores it.
  func wait(for words: String) {
    let deadline = monotonicSeconds() + Double(deadlineSeconds)
    var text = ""
    while !text.contains(words) {
      let left = max(0, Int((deadline - monotonicSeconds()) * 1000))
      guard let more = nextText(from: reader, milliseconds: left) else { break }
      text += more
    }
    // This closes the pipe's only writing end, so that the reads below come to an end.
    dup2(original, STDERR_FILENO)
    while let more = nextText(from: reader) { text += more }
    let bytes = Array(text.utf8)
    write(STDERR_FILENO, bytes, bytes.count)
  }
}

/// Holds all threads until the engine has reported it.
private func holdThreads(_ queues: [DispatchQueue]) {
  let report = Report()
  let semaphore = DispatchSemaphore(value: 0)
  let done = Latch(40)
  for queue in queues {
    queue.async {
      semaphore.wait()
      done.open()
    }
  }
  report.wait(for: "threads are held")
  for _ in 0..<40 { semaphore.signal() }
  say("done", done.wait())
}

private func names() {
  let names = Log<String>()
  DispatchQueue(label: "com.example.names").async { names.append(threadName()) }
  DispatchQueue.global(qos: .utility).async { names.append(threadName()) }
  _ = names.waitForCount(2)
  say("process", threadName())
  say("workers", names.all.joined(separator: "|"))
}

@inline(never) private func clientFunction() { fatalError("on purpose") }

/// Crashes in an item beside an idle worker. The runtime then prints the frames of all threads.
private func crash() {
  let workers = Log<Int>()
  let met = Latch(2)
  for _ in 0..<2 {
    DispatchQueue.global().async {
      workers.append(threadID())
      met.open()
      _ = met.wait()
    }
  }
  _ = met.wait()
  DispatchQueue(label: "crash").async { clientFunction() }
  sleepMilliseconds(2000 * deadlineSeconds)
}

/// Work of every class queues up behind the item that submits it. Reports the order in which the
/// items ran, and the time from the first submission to the last of them.
private func priority() {
  let order = Log<(name: String, seconds: Double)>()
  let classes: [(String, DispatchQoS.QoSClass)] = [
    ("background", .background), ("utility", .utility), ("default", .default),
    ("userInitiated", .userInitiated), ("userInteractive", .userInteractive),
  ]
  let begin = Box(0.0)
  DispatchQueue.global(qos: .userInteractive).async {
    begin.value = monotonicSeconds()
    for (name, qos) in classes {
      DispatchQueue.global(qos: qos).async { order.append((name, monotonicSeconds())) }
    }
  }
  _ = order.waitForCount(classes.count)
  say("order", order.all.map { $0.name }.joined(separator: ","))
  if let last = order.all.last {
    say("microseconds", Int((last.seconds - begin.value) * 1_000_000))
  }
}

/// An endless stream of urgent work must not starve a background item.
private func background() {
  let isOver = Box(false)
  let done = Latch()
  let streams = Latch(4)
  @Sendable func stream() {
    if isOver.value { return streams.open() }
    let end = monotonicSeconds() + 0.001
    spin { monotonicSeconds() >= end }
    DispatchQueue.global(qos: .userInteractive).async { stream() }
  }
  for _ in 0..<4 { DispatchQueue.global(qos: .userInteractive).async { stream() } }
  DispatchQueue.global(qos: .background).async { done.open() }
  let ran = done.wait(seconds: 30)
  isOver.value = true
  say("ran", ran)
  _ = streams.wait()
}
