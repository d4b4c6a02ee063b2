// Programs with Foundation and Concurrency that hang in the way that their argument names.
import Dispatch
import Foundation

let queue = DispatchQueue(label: "client.stuck")
let begun = DispatchSemaphore(value: 0)

/// An item that never ends.
func holdQueue() {
  queue.async {
    begun.signal()
    while true { sleep(1000) }
  }
  begun.wait()
}

/// Its first job never ends.
actor Shop {
  func hold() {
    begun.signal()
    while true { sleep(1000) }
  }
  func sell() {}
}

let shop = Shop()

switch CommandLine.arguments.dropFirst().first {
case "operation":
  holdQueue()
  let operations = OperationQueue()
  operations.addOperation { queue.sync {} }
case "task":
  holdQueue()
  Task.detached(name: "waits") { queue.sync {} }
case "actor":
  Task.detached { await shop.hold() }
  begun.wait()
  Task.detached { await shop.sell() }
case "healthy":
  let operations = OperationQueue()
  for _ in 0..<100 { operations.addOperation { queue.sync {} } }
  operations.waitUntilAllOperationsAreFinished()
default: exit(64)
}
print("ready")
fflush(stdout)
_ = readLine()
