import CFaults
import Glibc
import GrandCentral
import TestSupport

/// How the kernel is made to refuse threads, and to allow them again.
private enum Refusal: String {
  /// RLIMIT_NPROC, which does not hold for root.
  case processes
  /// RLIMIT_AS: a worker's stack cannot be mapped, but the monitor's smaller stack can.
  case memory

  func prepare() {
    if self == .processes, faults_drop_privileges() != 0 { skip("this process cannot leave root") }
    if self == .memory && faults_is_sanitized() { skip("sanitizers need the address space") }
  }

  func begin() {
    switch self {
    case .processes: _ = faults_limit(FAULTS_PROCESSES, 0)
    case .memory:
      _ = faults_limit(FAULTS_ADDRESS_SPACE, faults_address_space() + faults_stack_bytes() / 2)
    }
    if faults_try_thread() == 0 {
      skip("the kernel makes threads in spite of the limit on \(rawValue)")
    }
  }

  func end() {
    switch self {
    case .processes: _ = faults_limit(FAULTS_PROCESSES, -1)
    case .memory: _ = faults_limit(FAULTS_ADDRESS_SPACE, -1)
    }
  }
}

/// No thread can be created from the start. The main thread submits work without being held up,
/// and waits in the requested way; meanwhile the limit is lifted.
func refusedFromTheStart(_ words: [String]) {
  guard words.count == 2, let refusal = Refusal(rawValue: words[0]) else { exit(2) }
  let helper = Helper()
  refusal.prepare()
  let work = Work()
  let main = threadID()
  refusal.begin()
  if words[1] == "asleep" { return sleepFirst(work, refusal, helper) }
  work.submit()
  let isInline = DispatchQueue(label: "aside").sync { threadID() == main }
  check(isInline, "async() returned, and sync() runs on its caller")
  check(work.count.value == 0, "nothing ran without a thread")
  helper.run {
    _ = eventually { isSleeping(main) }
    // Until here no thread could run the work: the wait itself has to retry.
    check(work.count.value == 0, "nothing ran before the limit was lifted")
    refusal.end()
  }
  switch words[1] {
  case "group": work.group.wait()
  case "semaphore": work.last.wait()
  case "item":
    work.item.wait()
    work.group.wait()
  case "sync":
    work.serial.sync {}
    work.group.wait()
  case "deadline":
    let end = DispatchTime.now() + .seconds(deadlineSeconds)
    check(work.group.wait(timeout: end) == .success, "the wait ended in time")
  case "main":
    work.group.notify(queue: .main) {
      check(isMainThread(), "the main queue runs on the main thread")
      work.verify("after the limit was lifted")
      finish()
    }
    dispatchMain()
  default: exit(2)
  }
  _ = helper.join()
  work.verify("after the limit was lifted")
}

/// The main thread sleeps in dispatchMain() before there is any work. A thread that ends soon
/// submits the first work.
private func sleepFirst(_ work: Work, _ refusal: Refusal, _ helper: Helper) {
  let main = threadID()
  helper.run {
    _ = eventually { isSleeping(main) }
    work.group.notify(queue: .main) {}
    work.submit()
    work.group.notify(queue: .main) {
      work.verify("though the main thread fell asleep before")
      finish()
    }
    check(work.count.value == 0, "nothing ran without a thread")
    refusal.end()
  }
  dispatchMain()
}

/// Waits for the engine's output on standard error, and passes it on.
private final class Report: Sendable {
  private let ends: (read: Int32, write: Int32)
  private let original = dup(STDERR_FILENO)

  init() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { exit(2) }
    self.ends = (ends[0], ends[1])
    dup2(ends[1], STDERR_FILENO)
  }

  /// Waits for the first report and restores standard error.
  func wait() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(ends.read, &bytes, bytes.count)
    dup2(original, STDERR_FILENO)
    if count > 0 { write(original, bytes, count) }
  }
}

/// `count` workers sleep in their items when the system starts to refuse threads.
func refusedLater(_ words: [String]) {
  guard words.count == 3, let refusal = Refusal(rawValue: words[0]), let count = Int(words[1])
  else { exit(2) }
  let helper = Helper()
  refusal.prepare()
  check(Work.isDone(), "work runs before the limit")
  check(eventually { hasThread(named: "gc-monitor") }, "the monitor is made beforehand")
  let report = Report()
  let areBusy = Latch(count)
  let mayGo = Latch()
  for _ in 0..<count {
    DispatchQueue.global().async {
      areBusy.open()
      _ = mayGo.wait()
    }
  }
  check(areBusy.wait(), "\(count) workers sleep in their items")
  refusal.begin()
  // Idle workers are made to sleep in items too, so that only new threads could run the work.
  for _ in 0..<64 { DispatchQueue.global().async { _ = mayGo.wait() } }
  helper.run { report.wait() }
  let work = Work()
  work.submit()
  check(DispatchQueue(label: "aside").sync { true }, "async() returned")
  check(helper.join(), "the monitor asks for more threads")
  let done = Latch()
  switch words[2] {
  case "items-end":
    mayGo.open()
    work.group.notify(queue: .global()) { done.open() }
    check(done.wait(), "the workers that there were did the work")
    work.verify("under the limit")
    refusal.end()
  case "items-wait":
    work.group.notify(queue: .global()) {
      mayGo.open()
      done.open()
    }
    refusal.end()
    // This is not a wait of the engine. Most of the work is queued, and all workers sleep.
    check(done.wait(), "the monitor made threads as soon as it could")
    work.verify("after the limit was lifted")
  default: exit(2)
  }
  check(mayGo.wait(), "no thread is left asleep")
  check(Work.isDone(), "work runs as before")
}

/// No thread can ever be created: what needs none works, what needs one waits, nothing crashes.
func neverAThread(_ words: [String]) {
  let calls = [FAULTS_CLONE, FAULTS_CLONE3]
  if faults_refuse(calls, calls.count, EAGAIN) != 0 { skip("seccomp(2) is not available") }
  if faults_try_thread() == 0 { skip("the filter does not hold") }
  let work = Work()
  work.submit()
  let sum = Unguarded(0)
  let queue = DispatchQueue(label: "sync")
  for number in 1...100 { queue.sync { sum.value += number } }
  check(sum.value == 5050, "sync() runs on its caller")
  let iterations = Counter()
  DispatchQueue.concurrentPerform(iterations: 100) { _ in iterations.add() }
  check(iterations.value == 100, "concurrentPerform() runs on its caller")
  let deadline = DispatchTime.now() + .milliseconds(50)
  check(work.group.wait(timeout: deadline) == .timedOut, "a wait for queued work times out")
  check(DispatchTime.now() >= deadline, "and not early")
  let semaphore = DispatchSemaphore(value: 1)
  semaphore.wait()
  let second = DispatchTime.now() + .milliseconds(20)
  check(semaphore.wait(timeout: second) == .timedOut, "a semaphore's wait times out")
  check(DispatchTime.now() >= second, "and not early")
  semaphore.signal()
  check(work.count.value == 0, "queued work waits")
}
