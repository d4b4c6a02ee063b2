// Room: Sources/DispatchSource+Handlers. Setting what a source calls, and taking it to be called.
// Handlers are set from any thread, and guarded by the source's lock. A new one counts from the next call on. What is
// replaced is let go of outside the lock, since it may be the last reference to something of the program's.

extension DispatchSource {
  /// Sets, or with `nil` takes away. Without effect once the source is over.
  func setHandler(_ role: SourceRole, to handler: SourceHandler?) {
    var old = handler
    let wasAdded = lock.withLock {
      if isOver { return false }
      switch role {
      case .event:
        swap(&eventHandler, &old)
        eventQoS.store(handler?.qos.rawValue ?? 0, ordering: .relaxed)
      case .cancel where rare != nil || handler != nil: swap(&madeRare().cancel, &old)
      case .registration where rare != nil || handler != nil: swap(&madeRare().registration, &old)
      case .cancel, .registration: break
      }
      return old == nil && handler != nil
    }
    if wasAdded { handlerWasAdded(role) }
  }

  /// Sets a C program's function, or takes away what is there.
  package func setHandler(_ role: SourceRole, toFunction function: WorkFunction?) {
    setHandler(role, to: function.map(SourceHandler.init))
  }

  private func madeRare() -> RareHandlers {
    let made = rare ?? RareHandlers()
    rare = made
    return made
  }

  /// The event handler, and whether the registration handler is still to be called.
  var forEvent: (handler: SourceHandler?, isUnregistered: Bool) {
    lock.withLock { (eventHandler, rare?.registration != nil) }
  }

  var hasRegistrationHandler: Bool { lock.withLock { rare?.registration != nil } }

  /// Called once at most.
  func takeRegistrationHandler() -> SourceHandler? {
    lock.withLock {
      guard let rare else { return nil }
      defer { rare.registration = nil }
      return rare.registration
    }
  }

  /// The cancel handler, and the end of all of them. The others are for the caller to let go of.
  func endHandlers() -> (cancel: SourceHandler?, event: SourceHandler?, rare: RareHandlers?) {
    lock.withLock {
      let taken = (rare?.cancel, eventHandler, rare)
      isOver = true
      eventHandler = nil
      rare = nil
      return taken
    }
  }
}

extension DispatchSource {
  /// For who has cancelled an active source: whether it has ended by that. It has where there is no handler to call; all
  /// that the queue has to do then is to let go of what the event handler keeps, which goes there without the source if
  /// nothing is on the lane. A source for each request ends mostly on the thread that made it so. One that is suspended
  /// does not: until it is resumed it may get a cancel handler.
  func endsInPlace() -> Bool {
    if state.load(ordering: .relaxed).isSuspended { return false }
    var old: SourceHandler?
    let hasEnded = lock.withLock {
      if rare != nil { return false }
      isOver = true
      swap(&eventHandler, &old)
      return true
    }
    guard hasEnded, let old else { return hasEnded }
    let thread = currentThread()
    guard let remains = old.remains(on: thread) else { return true }
    let isIdle = holdIfIdle(on: thread) { withTarget { $0.submit(remains, from: thread) } }
    if !isIdle { submit(remains, from: thread) }
    return true
  }

  /// Cancels the source, and returns when no handler of it runs, nor will. At once for who holds the queue that they
  /// run on: none runs then, or it is the caller.
  package final func cancelAndWait() {
    cancel()
    let thread = currentThread()
    if firstClosed(by: thread) != nil { return }
    // What was never active has no handler to wait for, and none of them would come.
    activate()
    // Behind the cancellation, which is on the lane already.
    if enterSlowly(thread) { return leaveSlowly(thread) }
    leaveSlowly(thread)
  }
}
