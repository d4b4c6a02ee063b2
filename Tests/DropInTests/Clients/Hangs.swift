// Hangs in the way that its argument names, as Hangs.c does, and prints "ready" before.
import Dispatch
import Glibc

let first = DispatchQueue(label: "first")
let second = DispatchQueue(label: "second", attributes: .concurrent)
let group = DispatchGroup()
let begun = DispatchSemaphore(value: 0)

/// An item of the first queue never ends, and a thread waits for the queue.
func holdFirst(_ wait: @escaping @Sendable () -> Void) {
  first.async {
    begun.signal()
    wait()
  }
  begun.wait()
  DispatchQueue.global().async { first.sync {} }
}

/// Two queues: an item of each waits for the other, by sync() and for a work item.
func deadlock() {
  let asked = DispatchSemaphore(value: 0)
  let item = DispatchWorkItem {
    begun.signal()
    asked.wait()
    first.sync {}
  }
  DispatchQueue(label: "third").async(execute: item)
  begun.wait()
  first.async {
    asked.signal()
    item.wait()
  }
}

switch CommandLine.arguments.dropFirst().first {
case "deadlock": deadlock()
case "group":
  group.enter()
  holdFirst { group.wait() }
case "kernel": holdFirst { while true { pause() } }
case "explosion":
  let never = DispatchSemaphore(value: 0)
  for _ in 0..<80 { second.async { never.wait() } }
case "resume":
  first.suspend()
  first.async {}
case "leave":
  group.enter()
  second.async { group.wait() }
case "healthy":
  for _ in 0..<80 { second.async(group: group) {} }
  group.wait()
default: exit(64)
}
print("ready")
fflush(stdout)
_ = readLine()
