// Room: Reactor/SharedDescriptor+Requests. What the kernel is asked for, with the lock held.
// After each report the kernel is asked again, which takes a system call, as long as the read that
// the handler makes. Where the handler runs on the poller's own thread, between two waits, and the
// other poller thread stands by, no thread can see a report before the handler has answered the one
// before. So the descriptor stays armed there (`level`), as in an event loop of one thread: the
// kernel reports it at each wait while it is ready. A report that nothing waits for shows that this
// is not so any more, because a handler takes long or the source is suspended: it is disarmed then,
// and asked for once per event for a while.
// A request also shows whether the number still stands for the file, so there is one from time to
// time. Poller+Orphans handles a number that is closed before its sources are cancelled.
// Invariant: an armed descriptor has a key that finds its receiver, or it is an orphan.

/// A request to the kernel.
struct Request: Equatable {
  let interest: Readiness
  let mode: ReadinessSet.Mode

  static var none: Request { once([]) }
  static func once(_ interest: Readiness) -> Request { Request(interest: interest, mode: .once) }
  static func edges(_ interest: Readiness) -> Request { Request(interest: interest, mode: .edge) }
}

/// How often each thread of a poller has returned to the wait, at one moment.
/// A thread counts its return, and then the kernel looks at the descriptor for it. A handler uses
/// the descriptor, then the answer takes the lock and reads the counts. Both accesses are
/// sequentially consistent, and the exchange that takes the lock comes between the handler's system
/// call and the second one. So the answer reads that return, or the kernel has seen what the
/// handler did.
struct Turns {
  fileprivate let first: UInt32
  fileprivate let second: UInt32
}

extension Poller {
  fileprivate var turns: Turns {
    Turns(
      first: first.turns.load(ordering: .sequentiallyConsistent),
      second: second.turns.load(ordering: .sequentiallyConsistent))
  }

  /// Whether the calling thread is one of the poller's, and its last wait began after that moment.
  fileprivate func hasWaited(since then: Turns, _ thread: ThreadContext) -> Bool {
    let address = UInt(bitPattern: thread)
    // relaxed, all of it: a thread reads what it has written.
    if first.context.load(ordering: .relaxed) == address {
      return first.turns.load(ordering: .relaxed) != then.first
    }
    return second.context.load(ordering: .relaxed) == address
      && second.turns.load(ordering: .relaxed) != then.second
  }
}

/// What decides how a descriptor is armed. Guarded by its lock.
struct Arming {
  /// Whether it is registered in the poller's first set.
  var isInFirstSet = true
  /// The number of answers after which it may stay armed again.
  fileprivate var pause = 0
  /// The number of answers for which it may have stayed armed, since the last forced request.
  fileprivate var answers = 0
  /// The poller's turns at the last answer after which it stayed armed.
  fileprivate var turns: Turns?

  fileprivate static var longPause: Int { 16 }
  fileprivate static var maxAnswers: Int { 16 }
}

extension SharedDescriptor {
  /// The set that knows the descriptor.
  var knownSet: Int32 {
    arming.isInFirstSet
      ? poller.firstSet.load(ordering: .acquiring) : poller.set.load(ordering: .acquiring)
  }

  private func register() -> Registration {
    let (own, isInFirstSet) = poller.register(self)
    arming.isInFirstSet = isInFirstSet
    return own
  }

  /// Ends the key of a descriptor that is armed, before another request. A report under the old key
  /// may be for an event that the request reports again, so it is dropped. If the number stands for
  /// another file by now that was in the set before, the request reaches that one; the file that
  /// stays armed is an orphan, whose events find no receiver.
  private func renewedKey() -> Registration? {
    guard let registration else { return nil }
    asked = .none
    let renewed = poller.renewKey(of: registration)
    self.registration = renewed
    return renewed
  }

  /// How to ask next, once a listener answers on `thread`; `anew`: even for what was asked before.
  func nextRequest(on thread: ThreadContext) -> (mode: ReadinessSet.Mode, anew: Bool) {
    // In a set that replaced another none stays armed: see Poller+Orphans.
    guard poller.mayStayArmed.load(ordering: .relaxed), arming.isInFirstSet,
      Self.isOfPoller(thread)
    else { return (.once, false) }
    if arming.pause > 0 {
      arming.pause -= 1
      return (.once, false)
    }
    arming.turns = poller.turns
    arming.answers += 1
    guard arming.answers > Arming.maxAnswers else { return (.level, false) }
    arming.answers = 0
    return (.level, true)
  }

  /// Whether the thread waits in the set once the handlers that it runs have returned.
  private static func isOfPoller(_ thread: ThreadContext) -> Bool {
    guard let raw = thread.pointee.worker else { return false }
    // SAFETY: as in Blocking.announced().
    return Unmanaged<Worker>.fromOpaque(raw)._withUnsafeGuaranteedRef { $0.isExternal }
  }

  /// What a report says that a thread of the poller delivers. While the descriptor stays armed,
  /// both threads may receive the same event, and the handler for the one may have read everything
  /// before the other one comes here. So a report counts by itself only if its wait began after the
  /// last answer; otherwise the descriptor is looked at.
  func confirmed(_ readiness: Readiness, on thread: ThreadContext) -> Readiness {
    guard asked.mode == .level, let turns = arming.turns, !poller.hasWaited(since: turns, thread)
    else { return readiness }
    return ReadinessSet.now(
      descriptor, readiness.intersection([.readable, .writable, .readHangUp]))
  }

  /// Ends the reports of a descriptor that stays armed, but for what an entry waits for.
  func disarm(_ after: inout DeferredActions) {
    arming.pause = Arming.longPause
    arming.answers = 0
    askForAll(&after)
    if asked.mode == .level { ask(.none, anew: true, &after) }
  }

  /// Registers the descriptor in the poller's next set, with what it is asked for.
  func setWasReplaced(on thread: ThreadContext) {
    var after = DeferredActions()
    lock.withLock {
      guard !isOver, kind == .polled, arming.isInFirstSet, let left = registration else { return }
      // If the number stands for another file by now, the old set shows it.
      if ReadinessSet.remove(knownSet, descriptor) != 0 { return lose(&after) }
      poller.unregister(left)
      registration = nil
      arming.isInFirstSet = false
      asked = .none
      let (wanted, ended) = interests()
      ask(wanted.isEmpty && !ended.isEmpty ? .edges(ended) : .once(wanted), anew: true, &after)
    }
    conclude(after, on: thread)
  }

  /// Asks the kernel for what the waiting entries want; if none waits, for edges of what has ended.
  func askForAll(
    _ after: inout DeferredActions, _ how: (mode: ReadinessSet.Mode, anew: Bool) = (.once, false)
  ) {
    if kind == .alwaysReady {
      notify([.readable, .writable], &after)
      return
    }
    let (wanted, ended) = interests()
    if !wanted.isEmpty {
      return ask(Request(interest: wanted, mode: how.mode), anew: how.anew, &after)
    }
    if !ended.isEmpty { ask(.edges(ended), anew: how.anew, &after) }
  }

  /// What the waiting entries want, and what those want that have ended.
  func interests() -> (waiting: Readiness, ended: Readiness) {
    var (waiting, ended): (Readiness, Readiness) = ([], [])
    forEachEntry { entry in
      switch entry.stage {
      case .waiting: waiting.formUnion(entry.interest)
      case .ended: ended.formUnion(entry.interest)
      case .notified, .lost, .left: break
      }
    }
    return (waiting, ended)
  }

  func ask(_ request: Request, anew: Bool, _ after: inout DeferredActions) {
    if kind == .lost || (asked == request && !anew) { return }
    // A registration is in a set, which stays unless the program closes it (Poller+Loss) or it is
    // replaced, and then this is called; so do its threads, or the retries that make them.
    let isNew = registration == nil
    if isNew {
      let prepared = poller.prepare()
      guard prepared >= 0 else { return after.rarely { $0.shortage = -prepared } }
    }
    let own = (asked == .none ? registration : renewedKey()) ?? register()
    let set = knownSet
    let (interest, mode) = (request.interest, request.mode)
    var error =
      isNew
      ? ReadinessSet.add(set, descriptor, interest, mode, key: own.key)
      : ReadinessSet.change(set, descriptor, interest, mode, key: own.key)
    // An earlier source left the descriptor in the set. Or it was closed early while another
    // descriptor kept the file open, so the file is still in the set, and now has this number
    // again.
    if error == EEXIST {
      error = ReadinessSet.change(set, descriptor, interest, mode, key: own.key)
    }
    if isNew && error != 0 { poller.unregister(own) }
    switch error {
    case 0:
      registration = own
      asked = request
    case EPERM where isNew:
      kind = .alwaysReady
      notify([.readable, .writable], &after)
    // EINVAL, ELOOP: the number now stands for the set itself, or for a set that contains it.
    // EPERM: it stands for a file that is always ready; the kernel checks that before it searches
    // the set.
    case EBADF, ENOENT, EPERM, EINVAL, ELOOP: lose(&after)
    default: after.rarely { $0.shortage = error }
    }
  }

  /// Whether the kernel still refuses the descriptor. The entries that are here may listen to a
  /// file that is gone; if the kernel takes the descriptor now, its number stands for another file.
  func isStillAlwaysReady() -> Bool {
    let set = poller.set.load(ordering: .acquiring)
    if entries.isEmpty || set < 0 { return true }
    let probe = poller.register(self).registration
    defer { poller.unregister(probe) }
    switch ReadinessSet.add(set, descriptor, [], .once, key: probe.key) {
    case 0:
      _ = ReadinessSet.remove(set, descriptor)
      return false
    // An earlier source left it in the set, so the kernel takes it.
    case EEXIST: return false
    default: return true
    }
  }
}
