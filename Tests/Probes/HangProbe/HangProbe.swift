import Glibc
// Programs that hang in one way each, and a healthy one. Each prints "ready" and then blocks until
// its standard input ends.
import GrandCentral

func announceAndWait() -> Never {
  _ = write(STDOUT_FILENO, "ready\n", 6)
  var byte: UInt8 = 0
  _ = read(STDIN_FILENO, &byte, 1)
  _exit(0)
}

/// Two queues: an item of each waits for the other, through sync() and a work item.
func deadlock() {
  let first = DispatchQueue(label: "first")
  let second = DispatchQueue(label: "second")
  let inSecond = DispatchSemaphore(value: 0)
  let asked = DispatchSemaphore(value: 0)
  let item = DispatchWorkItem {
    inSecond.signal()
    asked.wait()
    first.sync {}
  }
  second.async(execute: item)
  inSecond.wait()
  first.async {
    asked.signal()
    item.wait()
  }
}

/// An item of a queue waits for a group, and a thread waits for the queue.
func blockedByGroup() {
  let queue = DispatchQueue(label: "stuck")
  let group = DispatchGroup()
  let begun = DispatchSemaphore(value: 0)
  group.enter()
  queue.async {
    begun.signal()
    group.wait()
  }
  begun.wait()
  DispatchQueue.global().async { queue.sync {} }
}

/// An item of a queue sleeps in the kernel, and a thread waits for the queue.
func blocked() {
  let queue = DispatchQueue(label: "stuck")
  let begun = DispatchSemaphore(value: 0)
  queue.async {
    begun.signal()
    while true { pause() }
  }
  begun.wait()
  DispatchQueue.global().async { queue.sync {} }
}

/// More items than there may be threads wait for a semaphore.
func explosion() {
  let never = DispatchSemaphore(value: 0)
  let queue = DispatchQueue(label: "flood", attributes: .concurrent)
  for _ in 0..<80 { queue.async { never.wait() } }
}

/// Kept, since a queue that ends while it is suspended stops the process.
let asleep = DispatchQueue(label: "asleep")

func forgottenResume() {
  asleep.suspend()
  for _ in 0..<3 { asleep.async {} }
}

/// Work that ends, again and again, and idle threads.
func healthy() {
  let queue = DispatchQueue(label: "busy")
  let shared = DispatchQueue(label: "shared", attributes: .concurrent)
  DispatchQueue.global().async {
    while true {
      queue.sync {}
      shared.sync(flags: .barrier) {}
      let group = DispatchGroup()
      for _ in 0..<8 { shared.async(group: group) { queue.sync {} } }
      group.wait()
      usleep(100)
    }
  }
}

@main enum HangProbe {
  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case "deadlock": deadlock()
    case "blocked": blocked()
    case "blocked-by-group": blockedByGroup()
    case "explosion": explosion()
    case "forgotten-resume": forgottenResume()
    case "healthy": healthy()
    default: exit(64)
    }
    announceAndWait()
  }
}
