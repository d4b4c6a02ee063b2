// Room: Sources/DispatchSource+Handlers. Sets a source's handlers, and takes them to call them.
// Any thread sets handlers, under the source's lock. A new handler applies from the next call on.
// The lane adopts the event handler at the source's first event, and calls it without the lock from
// then on: see SourceState. A thread that replaces an adopted handler leaves the successor under
// the lock, and marks the word; the lane adopts it before the next event, or by a node of its own.
// A replaced handler is released outside the lock, since it may hold the last reference to an
// object of the program.

extension DispatchSource {
  /// What follows from a handler that was set, once the lock is free.
  private enum Consequence { case nothing, signal, queueRegistration }

  /// Sets a handler; `nil` removes it. Has no effect once the source is over.
  func setHandler(_ role: SourceRole, to handler: SourceHandler?) {
    var old = handler
    var mustAdopt = false
    let consequence: Consequence = lock.withLock {
      if isOver { return .nothing }
      switch role {
      case .event:
        let wasAdded = setEventHandler(&old, mustAdopt: &mustAdopt)
        // The source behaves as if it started now: an earlier event counts as one that happens now.
        return wasAdded && sourceState.load(ordering: .acquiring).isStarted ? .signal : .nothing
      case .registration where rare != nil || handler != nil:
        swap(&madeRare().registration, &old)
        guard old == nil && handler != nil else { return .nothing }
        // Pairs with start(): both exchange one word, so the later one sees the earlier one.
        let isLate = sourceState.transition({ $0.registering() }) == true
        return isLate ? .queueRegistration : .nothing
      case .cancel where rare != nil || handler != nil: swap(&madeRare().cancel, &old)
      case .cancel, .registration: break
      }
      return .nothing
    }
    // The lock, which is free again, orders the handler before this.
    if role == .event && handler != nil && sourceState.load(ordering: .relaxed).isStarted {
      eventHandlerWasSet()
    }
    if mustAdopt { adoptSoon() }
    switch consequence {
    case .nothing: break
    case .signal: signal(from: currentThread())
    case .queueRegistration: queueLateRegistration()
    }
  }

  /// Exchanges the event handler for `handler`, or leaves it to the lane to adopt. Returns whether
  /// there was none and now is one. Lock held.
  private func setEventHandler(_ handler: inout SourceHandler?, mustAdopt: inout Bool) -> Bool {
    let isSet = handler != nil
    eventQoS.store(handler?.qos.rawValue ?? 0, ordering: .relaxed)
    // relaxed: both bits change only under the lock.
    let seen = sourceState.load(ordering: .relaxed)
    guard seen.isAdopted else {
      swap(&eventHandler, &handler)
      return handler == nil && isSet
    }
    let rare = madeRare()
    swap(&rare.replacement, &handler)
    // The event of a signal after this call sees the mark.
    if !seen.isReplaced { sourceState.transition(to: { $0.replacing() }) }
    mustAdopt = !seen.isReplaced
    return seen.isReplaced && handler == nil && isSet
  }

  /// Sets a C program's function as the handler; `nil` removes the handler.
  package func setHandler(_ role: SourceRole, toFunction function: WorkFunction?) {
    setHandler(role, to: function.map(SourceHandler.init))
  }

  /// Sets a closure whose release calls nothing of the program: any thread may release it, at once.
  package func setHandler(_ role: SourceRole, toInert work: @escaping () -> Void) {
    setHandler(role, to: SourceHandler(inert: work))
  }

  private func madeRare() -> RareHandlers {
    let made = rare ?? RareHandlers()
    rare = made
    return made
  }

  /// The handlers for an event that does not know them: adopts the event handler, and says whether
  /// the registration handler has not been called yet. For a thread that holds the lane. `old`: the
  /// replaced handler, which the caller releases, outside the lock and after the event.
  func adoptHandlers(
    releasing old: inout SourceHandler?
  ) -> (event: SourceHandler?, isUnregistered: Bool) {
    lock.withLock {
      adopt(releasing: &old)
      let isUnregistered = rare?.registration != nil
      // relaxed: the lock orders the bit's changes, except that of a forked child.
      if !isUnregistered && sourceState.load(ordering: .relaxed).mayRegister {
        sourceState.transition(to: { $0.registered() })
      }
      return (eventHandler, isUnregistered)
    }
  }

  /// Makes the event handler the lane's own. Lock and lane held.
  private func adopt(releasing old: inout SourceHandler?) {
    // relaxed: both bits change only under the lock.
    let seen = sourceState.load(ordering: .relaxed)
    if seen.isReplaced {
      swap(&old, &eventHandler)
      if let rare { swap(&eventHandler, &rare.replacement) }
    }
    let hasHandler = eventHandler != nil
    if seen.isReplaced || seen.isAdopted != hasHandler {
      sourceState.transition(to: { $0.adopting(hasHandler: hasHandler) })
    }
  }

  /// Lets the lane adopt a replacement before the next event, so that the replaced handler does not
  /// wait for one to be released.
  private func adoptSoon() {
    let thread = currentThread()
    var old: SourceHandler?
    if holdIfIdle(on: thread, { lock.withLock { adopt(releasing: &old) } }) { return }
    submitRetained(from: thread) { raw, thread in
      let source = DispatchSource.taken(from: raw, thread)
      // SAFETY: the node's reference, which this takes.
      var old: SourceHandler?
      source._withUnsafeGuaranteedRef { _ = $0.adoptHandlers(releasing: &old) }
      source.release()
    }
  }

  var hasRegistrationHandler: Bool { lock.withLock { rare?.registration != nil } }

  /// Takes the registration handler, so that it is called at most once.
  func takeRegistrationHandler() -> SourceHandler? {
    lock.withLock {
      guard let rare else { return nil }
      defer {
        rare.registration = nil
        sourceState.transition(to: { $0.registered() })
      }
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
  /// get a cancel handler before it is resumed. Nor does one whose lane is at work and has adopted
  /// the handler.
  func endsInPlace() -> Bool {
    if state.load(ordering: .relaxed).isSuspended { return false }
    let thread = currentThread()
    switch endEventHandler(on: thread, holdsLane: false) {
    case .isNotOver: return false
    case .isOver(nil): return true
    case .isOver(let disposal?):
      let isIdle = holdIfIdle(on: thread) { withTarget { $0.submit(disposal, from: thread) } }
      if !isIdle { submit(disposal, from: thread) }
      return true
    case .belongsToLane: return endsOnIdleLane(thread)
    }
  }

  /// Ends an adopted handler if the lane is idle.
  @inline(never)
  private func endsOnIdleLane(_ thread: ThreadContext) -> Bool {
    var hasEnded = false
    _ = holdIfIdle(on: thread) {
      guard case .isOver(let disposal) = endEventHandler(on: thread, holdsLane: true) else {
        return
      }
      hasEnded = true
      if let disposal { withTarget { $0.submit(disposal, from: thread) } }
    }
    return hasEnded
  }

  private enum Ending {
    /// There are rare handlers.
    case isNotOver
    /// The lane has adopted the handler, and the caller does not hold the lane.
    case belongsToLane
    /// Nothing is left to call. The node releases what the handler captures, if it captures any.
    case isOver(WorkNode?)
  }

  /// Ends the event handler of a source without rare handlers. No reference to the handler remains
  /// but the node's.
  @inline(__always)
  private func endEventHandler(on thread: ThreadContext, holdsLane: Bool) -> Ending {
    var old: SourceHandler?
    let ending: Ending = lock.withLock {
      if rare != nil { return .isNotOver }
      // relaxed: the bit changes only under the lock.
      if !holdsLane && sourceState.load(ordering: .relaxed).isAdopted { return .belongsToLane }
      isOver = true
      swap(&eventHandler, &old)
      return .isOver(nil)
    }
    guard let old else { return ending }
    return .isOver(old.disposalNode(on: thread))
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
    if enterSlowly(thread, barrier: false) { return leaveSlowly(thread, barrier: false) }
    leaveSlowly(thread, barrier: false)
  }
}
