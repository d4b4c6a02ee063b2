// Scenarios of PoolProbe: runnable work must start, whatever else runs, on as few threads as
// possible.
import CFaults
import Glibc
import GrandCentral
import Synchronization
import TestSupport

/// Measures how long an item waits behind items that do not end: `hog` runs on the queues
/// `QUEUES`, and the probe on another queue.
func liveness() {
  let arguments = CommandLine.arguments
  guard arguments.count == 6, let count = Int(arguments[4]) else { exit(2) }
  let isOver = Box(false)
  let begun = Latch()
  var ends: [Int32] = [0, 0]
  guard pipe(&ends) == 0 else { exit(2) }
  let hogs: [String: () -> Void] = [
    "compute": {
      while !isOver.value {
        let end = monotonicSeconds() + 0.001
        spin { monotonicSeconds() >= end }
      }
    },
    "yield": { while !isOver.value { sched_yield() } },
    "poll": { while !isOver.value { usleep(300) } },
    "spin": { spin { isOver.value } },
    "fault": { while !isOver.value { touchNewPages() } },
    "read": {
      var byte: UInt8 = 0
      _ = read(ends[0], &byte, 1)
    },
    "stop": {
      faults_stop_own_thread()
      spin { isOver.value }
    },
  ]
  guard let hog = hogs[arguments[2]] else { exit(2) }
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  func queue(_ kind: String) -> DispatchQueue {
    switch kind {
    case "serial": DispatchQueue(label: "own")
    case "concurrent": shared
    case "interactive": .global(qos: .userInteractive)
    case "initiated": .global(qos: .userInitiated)
    case "utility": .global(qos: .utility)
    case "background": .global(qos: .background)
    case "main": .main
    default: .global()
    }
  }
  nonisolated(unsafe) let work = hog
  for _ in 0..<count { queue(arguments[3]).async { work() } }
  queue(arguments[5]).async {
    isOver.value = true
    say("began", true)
    fflush(nil)
    begun.open()
    if arguments[5] == "main" { exit(0) }
  }
  if arguments[5] == "main" { dispatchMain() }
  _ = begun.wait()
}

private func touchNewPages() {
  let length = 64 * 4096
  guard let pages = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
    pages != MAP_FAILED
  else { exit(2) }
  for page in stride(from: 0, to: length, by: 4096) {
    pages.storeBytes(of: 1, toByteOffset: page, as: UInt8.self)
  }
  munmap(pages, length)
}

/// Counts how many of a thousand items that compute for 60 ms begin beyond the width of two.
func explosion() {
  let inside = AtomicCount()
  let begun = AtomicCount()
  let beyond = AtomicCount()
  let isOver = Atomic<Bool>(false)
  let ended = Latch(40)
  for _ in 0..<1000 {
    DispatchQueue.global().async {
      if isOver.load(ordering: .relaxed) { return }
      begun.add(1)
      if inside.add(1) > 2 { beyond.add(1) }
      let end = threadCPUSeconds() + 0.06
      spin { threadCPUSeconds() >= end }
      inside.add(-1)
      ended.open()
    }
  }
  _ = ended.wait()
  isOver.store(true, ordering: .relaxed)
  say("begun", begun.value)
  say("beyond", beyond.value)
}

/// A count without a lock: a worker that sleeps on a lock of the probe would make room for another.
private final class AtomicCount: Sendable {
  private let word = Atomic<Int>(0)
  @discardableResult
  func add(_ amount: Int) -> Int { word.wrappingAdd(amount, ordering: .relaxed).newValue }
  var value: Int { word.load(ordering: .relaxed) }
}

private func threadCPUSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

/// Checks that threads created for polling items end when these items have ended.
func pollersLeave() {
  let isOver = Box(false)
  let started = Latch(32)
  for number in 0..<32 {
    DispatchQueue(label: "poller.\(number)").async {
      started.open()
      while !isOver.value { usleep(1000) }
    }
  }
  _ = started.wait()
  say("busy", processThreads().count - 1)
  isOver.value = true
  let deadline = monotonicSeconds() + 60
  while processThreads().count > 4 && monotonicSeconds() < deadline { sleepMilliseconds(50) }
  say("idle", processThreads().count - 1)
}
