// Room: Sources/Sources+Loss. What watches for events, after the program has closed the engine's
// descriptors: Reactor/Poller+Loss.
// The numbers may stand for files of the program by now, so each is forgotten and not closed. What
// can be watched again without a descriptor of the program is: processes, signals, memory. A source
// of a file gets no more events, since its descriptor may stand for another file.

extension FileWatches {
  func descriptorWasClosed() -> (any ResourceRetry)? {
    if let left = lock.withLock({ forget() }) { poller.unregister(left) }
    return nil
  }

  /// Ends all entries and forgets the instance. The next entry makes another. Returns what was
  /// registered. Lock held.
  func forget() -> Registration? {
    instance = -1
    for watch in watches.values { for entry in watch.entries { entry.state = .over } }
    for entry in lacking { entry.state = .over }
    watches = [:]
    lacking = []
    parentless = []
    return registration.take()
  }
}

extension Mounts {
  func descriptorWasClosed() -> (any ResourceRetry)? {
    lock.withLock { forget() }
    return nil
  }

  /// Forgets all listeners, whose sources get no more events, and the descriptor. Lock held.
  func forget() {
    descriptor = -1
    isSettled = false
    known = []
    listeners = [:]
  }
}

extension ProcessExit {
  /// The next retry opens the process again, or finds that it has exited.
  func descriptorWasClosed() -> (any ResourceRetry)? {
    let left = lock.withLock {
      descriptor = -1
      return registration.take()
    }
    if let left { poller.unregister(left) }
    return self
  }
}

extension ProcessChanges {
  func descriptorWasClosed() -> (any ResourceRetry)? {
    let left = lock.withLock {
      connector = -1
      return registration.take()
    }
    if let left { poller.unregister(left) }
    return self
  }
}

extension TriggerWatch {
  func descriptorWasClosed() -> (any ResourceRetry)? { pressure.lose(self) }
}

extension MemoryPressure {
  /// The next retry opens the trigger again.
  fileprivate func lose(_ watch: TriggerWatch) -> (any ResourceRetry)? {
    let isOpen = lock.withLock {
      guard let place = triggers.firstIndex(where: { $0 === watch }) else { return false }
      triggers.remove(at: place)
      lacking.append(watch.trigger)
      return true
    }
    guard isOpen else { return nil }
    poller.unregister(watch.registration)
    return self
  }
}
