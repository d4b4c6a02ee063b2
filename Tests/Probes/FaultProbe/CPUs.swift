import CFaults
import Glibc
import GrandCentral
import GrandCentralCore
import Synchronization
import TestSupport

private func firstCPU(of mask: UInt64) -> UInt64 { mask & (~mask &+ 1) }

/// Returns how many items run at the same time if all of them only compute. They are counted
/// without a lock: while an item sleeps for one, another item may run.
private func peakOfComputing() -> Int {
  let inside = Atomic<Int>(0)
  let peak = Atomic<Int>(0)
  let done = Latch(12)
  for _ in 0..<12 {
    DispatchQueue.global().async {
      peak.max(inside.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
      let end = monotonicSeconds() + 0.01
      spin { monotonicSeconds() >= end }
      inside.wrappingSubtract(1, ordering: .relaxed)
      done.open()
    }
  }
  _ = done.wait()
  return peak.load(ordering: .relaxed)
}

/// Changes the process's CPU mask while work runs. The width follows, down and up again.
func changingCPUs(_ words: [String]) {
  let all = faults_cpus()
  let one = firstCPU(of: all)
  if all == one { skip("this process has one CPU only") }
  if faults_bind(0, one) != 0 { skip("the CPU mask cannot be changed") }
  check(eventually { peakOfComputing() == 1 }, "one CPU: one item at a time")
  check(Work.isDone(), "work runs")
  check(faults_bind(0, all) == 0, "all CPUs again")
  check(eventually { peakOfComputing() >= 2 }, "several items at a time")
  check(Work.isDone(), "work runs")
  let stop = Box(false)
  let binder = TestThread("binder") {
    var mask = one
    while !stop.value {
      mask = mask == one ? all : one
      _ = faults_bind(0, mask)
      usleep(500)
    }
  }
  var rounds = 0
  while rounds < 20, Work.isDone() { rounds += 1 }
  stop.value = true
  check(binder.join() && rounds == 20, "work runs while the mask changes all the time")
}

/// Whether a loop runs on more than one thread. Its iterations compute until a second thread runs
/// one, or until a time limit, which is long if a second thread `isExpected`.
private func hasHelper(
  isExpected: Bool, _ loop: (@escaping @Sendable (Int) -> Void) -> Void
) -> Bool {
  let threads = Log<Int>()
  loop { _ in
    threads.append(threadID())
    let end = monotonicSeconds() + (isExpected ? Double(deadlineSeconds) / 8 : 0.01)
    spin { Set(threads.all).count > 1 || monotonicSeconds() >= end }
  }
  return Set(threads.all).count > 1
}

/// Waits two milliseconds, because the mask is read at most once a millisecond.
private func passMillisecond() {
  let end = monotonicSeconds() + 0.002
  spin { monotonicSeconds() >= end }
}

/// Changes the mask when the engine exists and has created no thread, and then between loops. The
/// width is correct at once.
func changingCPUsBeforeUse(_ words: [String]) {
  let all = faults_cpus()
  let one = firstCPU(of: all)
  if all == one { skip("this process has one CPU only") }
  let queue = DispatchQueue(label: "queue")
  queue.sync {}
  if faults_bind(0, one) != 0 { skip("the CPU mask cannot be changed") }
  // Judged by the test, which compares several processes.
  print("peak=\(peakOfComputing())")
  let swift = { DispatchQueue.concurrentPerform(iterations: 8, execute: $0) }
  let c = { (body: @escaping @Sendable (Int) -> Void) in
    withUnsafePointer(to: body) { body in
      DispatchQueue.global().applyCall(
        iterations: 8, { $0?.load(as: (@Sendable (Int) -> Void).self)($1) },
        UnsafeMutableRawPointer(mutating: body))
    }
  }
  for (name, loop) in [("concurrentPerform", swift), ("dispatch_apply", c)] {
    check(faults_bind(0, all) == 0, "all CPUs")
    passMillisecond()
    check(hasHelper(isExpected: true, loop), "\(name) runs on several threads")
    check(faults_bind(0, one) == 0, "one CPU")
    passMillisecond()
    check(!hasHelper(isExpected: false, loop), "\(name) runs on its caller's thread alone")
  }
  check(Work.isDone(), "work runs")
}

/// Runs a process that starts with one CPU, for which all its threads compete.
func oneCPU(_ words: [String]) {
  let mask = faults_cpus()
  check(mask == firstCPU(of: mask), "there is one CPU")
  check(eventually { peakOfComputing() == 1 }, "one item at a time")
  var rounds = 0
  while rounds < 20, Work.isDone() { rounds += 1 }
  check(rounds == 20, "all of the work ran, each once")
}

/// Gives one worker almost no CPU time: SCHED_IDLE, on a CPU on which another thread computes.
func slowWorker(_ words: [String]) {
  let one = firstCPU(of: faults_cpus())
  let isOver = Box(false)
  let hog = TestThread("hog") {
    _ = faults_bind(Int32(threadID()), one)
    spin { isOver.value }
  }
  let slowed = Latch()
  DispatchQueue.global().async {
    let thread = Int32(threadID())
    let isSlow = faults_schedule(thread, FAULTS_IDLE) == 0 && faults_bind(thread, one) == 0
    check(isSlow, "a worker is starved")
    slowed.open()
  }
  _ = slowed.wait()
  var rounds = 0
  while rounds < 5, Work.isDone() { rounds += 1 }
  check(rounds == 5, "all of the work ran, each once")
  isOver.value = true
  _ = hog.join()
}

/// A control group with a quota of half a CPU. The width follows when the process enters it, and
/// when the quota is lifted.
func quota(_ words: [String]) {
  guard let folder = variable("FAULTS_GROUP") else { exit(2) }
  let all = faults_cpus()
  if all == firstCPU(of: all) { skip("this process has one CPU only") }
  check(eventually { peakOfComputing() >= 2 }, "several items at a time")
  check(write("50000", to: folder + "/cpu.cfs_quota_us"), "a quota of half a CPU")
  check(write("\(getpid())", to: folder + "/cgroup.procs"), "the process comes under it")
  check(eventually { peakOfComputing() == 1 }, "one item at a time")
  check(Work.isDone(), "work runs though it is throttled")
  check(write("-1", to: folder + "/cpu.cfs_quota_us"), "no quota again")
  check(eventually { peakOfComputing() >= 2 }, "several items at a time")
}

func write(_ text: String, to path: String) -> Bool {
  let descriptor = open(path, O_WRONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  return text.utf8.withContiguousStorageIfAvailable {
    Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count
  } ?? false
}
