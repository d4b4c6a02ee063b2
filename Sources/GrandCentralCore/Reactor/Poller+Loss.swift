// Room: Reactor/Poller+Loss. The program has closed the epoll set: a daemon may close every
// descriptor that it does not know, closefrom(2).
// Queues continue. The number may belong to the program by now, so the engine forgets it and does
// not close it. It makes another set for what registers from now on, and another descriptor for
// each clock. Sources of the program's descriptors get no events any more; those of processes,
// signals and memory do (Sources/Sources+Loss).
// The loss shows when a thread enters the wait, and not before. A thread that sleeps there stays:
// the kernel keeps the file for it. If both threads sleep, no events come any more, of timers
// neither. If the number has become another epoll set, nothing shows.

extension Poller {
  /// Notes that the set is lost, for a thread that has read `seen` losses before it waited.
  func lose(_ lost: Int32, after seen: UInt32) {
    let found = lock.withLock { () -> [any ReadinessReceiver]? in
      // The other thread may have noticed first. The next set may have the same number, which the
      // count tells from this one; or the thread has read the number before the count.
      guard set.load(ordering: .relaxed) == lost, losses.load(ordering: .relaxed) == seen else {
        return nil
      }
      losses.store(seen &+ 1, ordering: .relaxed)
      set.store(-1, ordering: .releasing)
      firstSet.store(-1, ordering: .releasing)
      wakeDescriptor = -1
      // Their numbers may be the program's.
      table.stopWatching()
      isShort.store(true, ordering: .releasing)
      return table.slots.compactMap(\.receiver)
    }
    guard let receivers = found else { return }
    for receiver in receivers {
      guard let user = receiver.descriptorWasClosed() else { continue }
      lock.withLock {
        if !lacking.contains(where: { $0 === user }) { lacking.append(user) }
        shortages &+= 1
        isShort.store(true, ordering: .releasing)
      }
    }
    report(
      .descriptorClosedEarly,
      """
      BUG IN CLIENT OF GRAND CENTRAL: The program has closed descriptor \(lost), which waits for \
      the events of its sources. Sources that were made before get no more events. Close \
      descriptors before the first use of a queue, or those that the program has opened.
      """)
  }
}

extension SharedDescriptor {
  /// Its next request finds that the new set does not know it. The number may stand for another
  /// file of the program, so it is not registered again.
  func descriptorWasClosed() -> (any ResourceRetry)? { nil }
}

extension Timers {
  /// The clock's descriptor is made again by the next retry.
  func descriptorWasClosed() -> (any ResourceRetry)? {
    lock.pointee.withLock {
      timerFD = -1
      timerFDTime = .max
    }
    return self
  }
}
