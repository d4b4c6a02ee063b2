// Purpose: performs the steps of a list and logs what happens.
// Invariant: `called` is logged before the engine is entered, and `returned` after it is left. A
// closure logs `started` first and `ended` last.

import FuzzKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

extension Run {
  func perform(_ ops: [Op]) {
    if fault == .swapsOrder { return performSwapped(ops) }
    if let fixedWidth { return perform(ops, in: fixedWidth) }
    for op in ops { perform(op) }
  }

  /// Runs an item: the body of every closure that the engine calls.
  func run(_ item: Item, startedAt nanoseconds: Int = 0) {
    if let fixedWidth { return fixedWidth.run { runNow(item, startedAt: nanoseconds) } }
    runNow(item, startedAt: nanoseconds)
  }

  private func runNow(_ item: Item, startedAt nanoseconds: Int) {
    log.append(.started, item.id, value: nanoseconds)
    flags?.begin(item.id)
    perform(item.body)
    log.append(.ended, item.id)
    flags?.end(item.id)
  }

  private func logged(_ id: Int, _ call: () -> Void) {
    log.append(.called, id)
    call()
    log.append(.returned, id)
  }

  func perform(_ op: Op) {
    switch op {
    case .submit(let submission): submit(submission)
    case .iterate(let id, let items): iterate(id, items)
    case .notify(let group, let queue, let item): notify(group, queue, item)
    case .waitGroup(let id, let group, let patience): wait(id, objects.groups[group], patience)
    case .permit(let id, let semaphore, let patience, let body):
      permit(id, objects.semaphores[semaphore], patience, body)
    case .handshake(let id, let semaphore, let submission):
      handshake(id, objects.semaphores[semaphore], submission)
    case .suspended(let id, let queue, let body):
      suspend(id, queue)
      perform(body)
      resume(id, queue)
    case .suspendUntil(let id, let queue, let submission):
      suspend(id, queue)
      submit(submission) { [self] in resume(id, queue) }
    case .activate(let id, let queue, let target): activate(id, queue, target)
    case .retarget(let id, let queue, let target):
      logged(id) {
        if fault == .ignoresRetargeting { return }
        setTarget(of: queue, to: target)
      }
    case .cancel(let id, let item):
      logged(id) { if fault != .runsCancelled { handles[item]?.cancel() } }
    case .waitItem(let id, let item):
      logged(id) { if fault != .itemWaitsShort { handles[item]?.wait() } }
    case .notifyItem(let other, let queue, let item): notifyItem(other, queue, item)
    case .readSpecific(let id, let key): readSpecific(id, key)
    case .spin(_, let amount): for _ in 0..<amount { _ = log.count }
    case .busyWait(let id, let item, let milestone, let polling):
      logged(id) { flags?.wait(for: item, milestone, polling) }
    case .meeting(let id, _, let members):
      logged(id) { for member in members { submit(member) } }
    }
  }

  // MARK: Groups, semaphores, work items

  private func notify(_ group: Int, _ queue: Int, _ item: Item) {
    tally.begin()
    let work: @Sendable () -> Void = { [self] in
      run(item)
      tally.end()
    }
    logged(item.id) {
      if fault == .notifiesEarly {
        objects.queues[queue].async(execute: work)
      } else {
        objects.groups[group].notify(queue: objects.queues[queue], execute: work)
      }
    }
  }

  private func notifyItem(_ other: Int, _ queue: Int, _ item: Item) {
    tally.begin()
    let work: @Sendable () -> Void = { [self] in
      run(item)
      tally.end()
    }
    logged(item.id) {
      if fault == .itemNotifiesEarly {
        objects.queues[queue].async(execute: work)
      } else {
        handles[other]?.notify(queue: objects.queues[queue], execute: work)
      }
    }
  }

  private func wait(_ id: Int, _ group: DispatchGroup, _ patience: Int?) {
    log.append(.called, id)
    var isGranted = true
    if fault != .groupWaitsShort {
      if let patience {
        isGranted = group.wait(timeout: .now() + .microseconds(patience)) == .success
      } else {
        group.wait()
      }
    }
    log.append(.returned, id, value: isGranted ? 1 : 0)
  }

  private func permit(
    _ id: Int, _ semaphore: DispatchSemaphore, _ patience: Int?, _ body: [Op]
  ) {
    log.append(.called, id)
    var isGranted = true
    if let patience {
      isGranted = semaphore.wait(timeout: .now() + .microseconds(patience)) == .success
    } else {
      semaphore.wait()
    }
    log.append(.returned, id, value: isGranted ? 1 : 0)
    if !isGranted { return }
    perform(body)
    log.append(.released, id)
    semaphore.signal()
  }

  private func handshake(_ id: Int, _ semaphore: DispatchSemaphore, _ submission: Submission) {
    submit(submission) { [self] in
      log.append(.released, id)
      semaphore.signal()
    }
    logged(id) { semaphore.wait() }
  }

  // MARK: Queues

  private func suspend(_ id: Int, _ queue: Int) {
    logged(id) { if fault != .ignoresSuspension { objects.queues[queue].suspend() } }
  }

  private func resume(_ id: Int, _ queue: Int) {
    log.append(.released, id)
    if fault != .ignoresSuspension { objects.queues[queue].resume() }
  }

  private func activate(_ id: Int, _ queue: Int, _ target: Int?) {
    logged(id) {
      if fault == .ignoresInactivity { return }
      if target != program.queues[queue].target {
        setTarget(of: queue, to: target)
      }
      objects.queues[queue].activate()
    }
  }

  private func setTarget(of queue: Int, to target: Int?) {
    if let target {
      objects.queues[queue].setTarget(queue: objects.queues[target])
    } else {
      #if GRAND_CENTRAL
        objects.queues[queue].setTarget(queue: nil)
      #else
        // The parameter is not optional; the global queue is the default target.
        objects.queues[queue].setTarget(queue: .global())
      #endif
    }
  }

  private func readSpecific(_ id: Int, _ key: Int) {
    log.append(.called, id)
    var value = DispatchQueue.getSpecific(key: Objects.keys[key]) ?? 0
    if fault == .wrongSpecific && value > 0 {
      var far = value - 1
      while let target = program.queues[far].target { far = target }
      value = objects.queues[far].getSpecific(key: Objects.keys[key]) ?? 0
    }
    log.append(.returned, id, value: value)
  }

  private func iterate(_ id: Int, _ items: [Item]) {
    logged(id) {
      guard fault == .iterationLater, let last = items.last else {
        DispatchQueue.concurrentPerform(iterations: items.count) { run(items[$0]) }
        return
      }
      DispatchQueue.concurrentPerform(iterations: items.count - 1) { run(items[$0]) }
      tally.begin()
      DispatchQueue.global().async { [self] in
        run(last)
        tally.end()
      }
    }
  }
}
