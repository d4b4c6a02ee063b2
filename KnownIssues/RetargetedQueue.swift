// setTarget on a queue that has begun to work stops the process
//
// The reference of Dispatch says that a queue's target can be changed, as an asynchronous barrier.
// The Swift overlay for Linux creates queues whose target cannot change once they are active.
import Dispatch

func body() {
  let target = DispatchQueue(label: "com.example.target")
  let queue = DispatchQueue(label: "com.example.queue")
  queue.sync {}
  awaiting("an item on the new target")
  queue.setTarget(queue: target)
  queue.async {
    dispatchPrecondition(condition: .onQueue(target))
    decide(true, "after setTarget an item ran on the new target")
  }
  dispatchMain()
}

promise("the target of an active queue can be changed", body)
