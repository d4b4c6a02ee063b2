// Room: Sources/DispatchSource+Handlers. Sets a source's handlers, and takes them to call them.
// Any thread sets handlers, under the source's lock. A new handler applies from the next call on. A
// replaced handler is released outside the lock, since it may hold the last reference to an object
// of the program.

extension DispatchSource {
  /// Sets a handler; `nil` removes it. Has no effect once the source is over.
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

  /// Sets a C program's function as the handler; `nil` removes the handler.
  package func setHandler(_ role: SourceRole, toFunction function: WorkFunction?) {
    setHandler(role, to: function.map(SourceHandler.init))
  }

  private func madeRare() -> RareHandlers {
    let made = rare ?? RareHandlers()
    rare = made
    return made
  }

  /// The event handler, and whether the registration handler has not been called yet.
  var forEvent: (handler: SourceHandler?, isUnregistered: Bool) {
    lock.withLock { (eventHandler, rare?.registration != nil) }
  }

  var hasRegistrationHandler: Bool { lock.withLock { rare?.registration != nil } }

  /// Takes the registration handler, so that it is called at most once.
  func takeRegistrationHandler() -> SourceHandler? {
    lock.withLock {
      guard let rare else { return nil }
      defer { rare.registration = nil }
      return rare.registration
    }
  }

  /// Ends all handlers, and returns them: the cancel handler to call, the others for the caller to
  /// release.
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
  /// Ends a source that was active when it was cancelled, if it never had a rare handler.
  /// Returns whether it did. What the event handler captures must still be released on the queue.
  /// If the lane is idle, a node of its own takes it there without the source. So a source per
  /// request mostly ends on the thread that made it. A suspended source does not end here: it may
  /// get a cancel handler before it is resumed.
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
    guard let disposal = old.disposalNode(on: thread) else { return true }
    let isIdle = holdIfIdle(on: thread) { withTarget { $0.submit(disposal, from: thread) } }
    if !isIdle { submit(disposal, from: thread) }
    return true
  }

  /// Cancels the source, and returns when no handler of it runs or will run. Returns at once if the
  /// caller holds the queue of the handlers: then none runs, or it is the caller.
  package final func cancelAndWait() {
    cancel()
    let thread = currentThread()
    if firstClosed(by: thread) != nil { return }
    // Without activation, a source that was never active would never run its cancellation.
    activate()
    // Waits in line behind the cancellation, which is on the lane already.
    if enterSlowly(thread) { return leaveSlowly(thread) }
    leaveSlowly(thread)
  }
}
