// Purpose: submits an item to its queue, in each way that the API offers.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

extension Run {
  /// - Parameter epilogue: what the item does when it has ended.
  func submit(_ submission: Submission, then epilogue: (@Sendable () -> Void)? = nil) {
    let id = submission.item.id
    if case .after(let microseconds) = submission.way {
      return submit(submission, after: microseconds)
    }
    log.append(.called, id)
    log.append(.returned, id, value: handOver(submission, then: epilogue))
  }

  /// Submits the item and returns the engine's result.
  private func handOver(_ submission: Submission, then epilogue: (@Sendable () -> Void)?) -> Int {
    if submission.hasHandle {
      handOverHandle(submission)
      return 0
    }
    let queue = objects.queues[submission.queue]
    let item = submission.item
    let isBarrier = submission.isBarrier && fault != .ignoresBarriers
    switch submission.way {
    case .sync where fault == .syncReturnsEarly, .asyncAndWait where fault == .syncReturnsEarly:
      handOverAsync(submission, isBarrier, nil)
      return item.id
    case .sync:
      // Both forms are used, because the plain one has its own path in the engine.
      return isBarrier
        ? queue.sync(flags: .barrier) { answer(of: item) } : queue.sync { answer(of: item) }
    case .asyncAndWait:
      #if GRAND_CENTRAL
        return isBarrier
          ? queue.asyncAndWait(flags: .barrier) { answer(of: item) }
          : queue.asyncAndWait { answer(of: item) }
      #else
        fatalError("asyncAndWait in a program for an engine without it")
      #endif
    case .async, .after, .perform:
      handOverAsync(submission, isBarrier, epilogue)
      return 0
    case .task, .actor:
      handOverTask(submission)
      return 0
    }
  }

  private func answer(of item: Item) -> Int {
    run(item)
    return item.id
  }

  private func handOverAsync(
    _ submission: Submission, _ isBarrier: Bool, _ epilogue: (@Sendable () -> Void)?
  ) {
    if fault == .dropsItems && isNeededByNone(submission) && epilogue == nil { return }
    if fault == .crashes { fatalError("an injected crash") }
    tally.begin()
    // The tally counts an item that the engine never gets, so the run does not end.
    if fault == .hangs { return }
    let queue = objects.queues[submission.queue]
    let item = submission.item
    let group = submission.membership.map { objects.groups[$0.group] }
    let isByHand = submission.membership?.isByHand ?? false
    if isByHand { group?.enter() }
    let work: @Sendable () -> Void = { [self] in
      run(item)
      if fault == .runsTwice { run(Item(item.id)) }
      if fault == .runsAfterwards { runAfterwards(item) }
      if isByHand { group?.leave() }
      epilogue?()
      tally.end()
    }
    // Plain forms are used where possible, because they have their own paths in the engine.
    if submission.qos == 0 && !isBarrier {
      if let group, !isByHand {
        queue.async(group: group, execute: work)
      } else {
        queue.async(execute: work)
      }
      return
    }
    queue.async(
      group: isByHand ? nil : group, qos: objects.qos(submission.qos),
      flags: isBarrier ? .barrier : [], execute: work)
  }

  /// Whether the run would end without the item.
  private func isNeededByNone(_ submission: Submission) -> Bool {
    submission.membership == nil && flags?.isAwaited(submission.item.id) != true
  }

  private func handOverHandle(_ submission: Submission) {
    let item = submission.item
    guard let handle = handles[item.id] else { fatalError("item \(item.id) has no handle") }
    let queue = objects.queues[submission.queue]
    switch submission.way {
    case .sync: queue.sync(execute: handle)
    case .asyncAndWait:
      #if GRAND_CENTRAL
        queue.asyncAndWait(execute: handle)
      #else
        fatalError("asyncAndWait in a program for an engine without it")
      #endif
    case .perform: handle.perform()
    // A task has no handle: Legality.
    case .async, .after, .task, .actor:
      if !cancellable.contains(item.id) { tally.begin() }
      if let membership = submission.membership {
        queue.async(group: objects.groups[membership.group], execute: handle)
      } else {
        queue.async(execute: handle)
      }
    }
  }

  // MARK: asyncAfter

  private func submit(_ submission: Submission, after microseconds: Int) {
    let item = submission.item
    let queue = objects.queues[submission.queue]
    let group = submission.membership.map { objects.groups[$0.group] }
    tally.begin()
    group?.enter()
    let deadline = DispatchTime.now() + .microseconds(microseconds)
    log.append(.called, item.id, value: objects.nanoseconds(of: deadline))
    let work: @Sendable () -> Void = { [self] in
      run(item, startedAt: objects.nanoseconds)
      group?.leave()
      tally.end()
    }
    if fault == .afterTooEarly {
      queue.async(execute: work)
    } else {
      handOver(item, work, to: queue, at: deadline)
    }
    log.append(.returned, item.id)
  }

  private func handOver(
    _ item: Item, _ work: @escaping @Sendable () -> Void, to queue: DispatchQueue,
    at deadline: DispatchTime
  ) {
    if handles.indices.contains(item.id), let handle = handles[item.id] {
      queue.asyncAfter(deadline: deadline, execute: handle)
    } else {
      queue.asyncAfter(deadline: deadline, execute: work)
    }
  }
}
