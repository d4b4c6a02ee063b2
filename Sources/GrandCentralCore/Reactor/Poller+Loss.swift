// Room: Reactor/Poller+Loss. The program has closed the epoll set: a daemon may close every
// descriptor that it does not know, closefrom(2).
// The number may belong to the program by now, so the engine forgets it and does not close it. It
// makes another set for what registers from now on, and another descriptor for each clock, so that
// timers and `asyncAfter` continue. A source of a descriptor that was closed too gets no events any
// more, as if it had been closed alone.
// The loss shows when a thread enters the wait. One that sleeps there stays: the kernel keeps the
// file for it. If the other one enters, events come again, if later while a handler runs long.

extension Poller {
  /// Waits in the set. Returns 0 also if the set is lost.
  func wait(
    in set: Int32, into events: UnsafeMutablePointer<ReadinessSet.Event>, milliseconds: Int32?
  ) -> Int {
    if let count = ReadinessSet.wait(set, into: events, milliseconds: milliseconds) {
      return count
    }
    lose(set)
    return 0
  }

  private func lose(_ lost: Int32) {
    let receivers = lock.withLock { () -> [any ReadinessReceiver] in
      // The other thread may have noticed first.
      guard set.load(ordering: .relaxed) == lost else { return [] }
      set.store(-1, ordering: .releasing)
      wakeDescriptor = -1
      isShort.store(true, ordering: .releasing)
      return table.slots.compactMap(\.receiver)
    }
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
      the events of its sources. Timers continue; sources of descriptors, signals, processes and \
      files that were made before get no more events. Close descriptors before the first use of a \
      queue, or those that the program has opened.
      """)
  }
}

extension ReadinessReceiver {
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
