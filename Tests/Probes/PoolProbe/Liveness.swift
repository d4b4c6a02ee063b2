// Scenarios of PoolProbe: work that must begin, whatever runs already, on no more threads than it
// needs.
import Glibc
import GrandCentral
import TestSupport

/// How long an item waits behind items that do not end: `hog` on `hogsOn`, and the probe on another
/// queue.
func liveness() {
  let arguments = CommandLine.arguments
  guard arguments.count == 6, let count = Int(arguments[4]) else { exit(2) }
  let isOver = Box(false)
  let begun = Latch()
  let hogs: [String: () -> Void] = [
    "compute": {
      while !isOver.value {
        let end = monotonicSeconds() + 0.001
        spin { monotonicSeconds() >= end }
      }
    },
    "yield": { while !isOver.value { sched_yield() } },
    "poll": { while !isOver.value { usleep(300) } },
  ]
  guard let hog = hogs[arguments[2]] else { exit(2) }
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  func queue(_ kind: String) -> DispatchQueue {
    switch kind {
    case "serial": DispatchQueue(label: "own")
    case "concurrent": shared
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

/// How many items compute at the same time, of a thousand that take 60 ms each.
func explosion() {
  let inside = Counter()
  let isOver = Box(false)
  let ended = Latch(40)
  for _ in 0..<1000 {
    DispatchQueue.global().async {
      if isOver.value { return }
      inside.add()
      let end = threadCPUSeconds() + 0.06
      spin { threadCPUSeconds() >= end }
      inside.add(-1)
      ended.open()
    }
  }
  _ = ended.wait()
  isOver.value = true
  say("peak", inside.peak)
}

private func threadCPUSeconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

/// Threads made for items that poll leave when these have ended.
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
