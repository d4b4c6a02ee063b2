// Purpose: submits an item by a task of Swift Concurrency.
// The tasks of this process that prefer no queue run on the toolchain's library. So a task that
// calls an actor prefers a queue of this engine too, and each hop is between two of its queues.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral

  /// An actor whose executor is a serial queue of the program.
  actor QueueActor {
    private let queue: DispatchSerialQueue

    /// Fails for a queue that is not serial.
    init?(_ queue: DispatchQueue) {
      guard let serial = queue as? DispatchSerialQueue else { return nil }
      self.queue = serial
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    func hop() {}

    func run(_ item: Item, in run: Run) { run.run(item) }
  }

  extension Run {
    func handOverTask(_ submission: Submission) {
      let item = submission.item
      let group = submission.membership.map { objects.groups[$0.group] }
      tally.begin()
      group?.enter()
      let queue: DispatchQueue =
        fault == .ignoresExecutors ? .global() : objects.queues[submission.queue]
      let priority =
        submission.qos == 0
        ? nil : TaskPriority(rawValue: QoSName.taskPriorities[submission.qos])
      // With a fault that makes queues concurrent there is no actor.
      guard case .actor(let hops) = submission.way, let actor = QueueActor(queue) else {
        Task.detached(executorPreference: queue, priority: priority) { [self] in
          run(item)
          group?.leave()
          tally.end()
        }
        return
      }
      Task.detached(executorPreference: objects.hops, priority: priority) { [self] in
        for _ in 0..<hops { await actor.hop() }
        await actor.run(item, in: self)
        group?.leave()
        tally.end()
      }
    }
  }
#else
  extension Run {
    func handOverTask(_ submission: Submission) {
      fatalError("a task in a program for an engine whose queues are no executors")
    }
  }
#endif
