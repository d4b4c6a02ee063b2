// Room: Models/Jobs. What the models of jobs are made of: tasks and actors, without the runtime.

/// A task: it goes from queue to queue, and does something at each. Its job is the task itself, as
/// in the runtime, and no lock guards it: the thread that runs the job, or that resumes the task,
/// owns it until it has submitted the job to the next queue. The task outlives the execution.
final class ModelTask: @unchecked Sendable {
  struct Stop {
    /// The scene keeps the queue, or the queue itself while the job is on it.
    let queue: Unmanaged<DispatchQueue>
    let priority: UInt8
    let body: () -> Void
  }

  private let stops: [Stop]
  private let next = Plain()
  private let ended = Tally()

  init(_ stops: Stop...) { self.stops = stops }

  /// Submits the job to the next queue. For the thread that owns the task.
  func resume() {
    let stop = stops[next.value]
    stop.queue._withUnsafeGuaranteedRef {
      $0.asyncJob(
        Unmanaged.passUnretained(self).toOpaque(), priority: stop.priority, ModelTask.run)
    }
  }

  private static let run: DispatchQueue.JobFunction = { job, queue in
    // SAFETY: the scene's verdict keeps the task.
    Unmanaged<ModelTask>.fromOpaque(job)._withUnsafeGuaranteedRef { $0.step(on: queue) }
  }

  private func step(on queue: UnsafeMutableRawPointer) {
    let stop = stops[next.value]
    Checker.expect(queue == stop.queue.toOpaque(), "the job ran as one of another queue")
    Checker.expect(
      stop.queue._withUnsafeGuaranteedRef { $0.isCurrent }, "the job does not run on its queue")
    stop.body()
    next.value += 1
    // Nothing of this task is accessed behind it.
    if next.value == stops.count { ended.one() } else { resume() }
  }

  /// Fails unless the task has been at each stop once.
  func expectEnd() {
    Checker.expect(
      ended.count == 1 && next.value == stops.count,
      "a job was lost, or ran twice: stop \(next.value) of \(stops.count), \(ended.count) ends")
  }
}

extension DispatchQueue {
  /// A stop of a task on this queue, at which it does `body`.
  func stop(priority: UInt8 = 21, _ body: @escaping () -> Void = {}) -> ModelTask.Stop {
    .init(queue: .passUnretained(self), priority: priority, body: body)
  }
}

/// An actor on a serial queue: plain state that no two calls may touch at the same time.
final class ModelActor: @unchecked Sendable {
  let queue: DispatchQueue
  let state = Plain()

  init(_ queue: DispatchQueue) { self.queue = queue }

  convenience init(target: DispatchQueue = SpawningRoot()) {
    self.init(DispatchQueue(label: "actor", attributes: [], target: target))
  }

  func call(_ digit: Int, priority: UInt8 = 21) -> ModelTask.Stop {
    queue.stop(priority: priority) { [state] in state.value = state.value * 10 + digit }
  }

  /// Fails unless the calls came in one of these orders, and the queue is at rest.
  func expect(_ orders: Int..., tasks: ModelTask...) {
    Checker.expect(orders.contains(state.value), "lost, or in another order: \(state.value)")
    for task in tasks { task.expectEnd() }
    // The rest of the word: how the idle queue was used.
    let word = queue.state.load(ordering: .relaxed)
    Checker.expect(
      word.pending == nil && !word.isSuspended && word.running == 0, "the queue is not at rest")
    ModelThreads.expectNoThreadRaised()
    ModelThreads.expectAllNodesBack()
  }
}

/// The task of `DispatchQueue.run`, which continues with its job.
struct ResumedTask: Waiter {
  let task: ModelTask
  let result: Plain

  func resume(with value: sending Int) {
    result.value = value
    task.resume()
  }
}
