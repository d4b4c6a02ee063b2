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

switch CommandLine.arguments.dropFirst().first {
case "operation":
  holdQueue()
  let operations = OperationQueue()
  operations.addOperation { queue.sync {} }
case "task":
  holdQueue()
  Task.detached(name: "waits") { queue.sync {} }
case "healthy":
  let operations = OperationQueue()
  for _ in 0..<100 { operations.addOperation { queue.sync {} } }
  operations.waitUntilAllOperationsAreFinished()
default: exit(64)
}
print("ready")
fflush(stdout)
_ = readLine()
