// Room: Reactor/SharedDescriptor. One descriptor, and its sources for reading and writing.
// The kernel takes a descriptor into a set only once, so all its sources share a registration. The
// kernel reports once, and is then silent until it is asked again; it is asked for what the waiting
// sources want. So a source that is suspended, or whose handler is slow, causes no wake-ups, and
// data that was left unread is reported again. Where handlers return at once, the descriptor stays
// armed instead: see SharedDescriptor+Requests.
// After a hang-up or an error, the kernel would report it for ever. A source is notified of it
// once. Then the source has ended, and is watched edge-triggered, in case a new peer connects, as
// to a FIFO. A program may not have dealt with it: a source that it suspends and resumes is
// notified again. An error may be over: a call that returns it clears it, so it is looked for when
// a handler has returned.
// When the last source leaves, the descriptor stays in the kernel's set. Removing it takes a system
// call, as expensive as everything else that a short-lived source costs, and most programs close
// the descriptor next, which removes it. A registration that stays is armed for at most one event,
// whose key is out of date by then, so the poller drops it. The next source of the descriptor takes
// the registration over (EEXIST). There are two exceptions. Registrations for more than one event
// are removed, because they would report again and again. While early closes are reported, every
// descriptor is removed, because only the kernel knows whether it was closed.
// The kernel refuses descriptors that are always ready (epoll_ctl(2), EPERM). Their sources are
// notified from here: at once, and again after each answer.
// A descriptor that is closed before its sources are cancelled shows at the next request: the
// kernel does not know it any more, or knows another file by its number. Its sources get no more
// events, and a report says so on request. Sources that listen to the number from then on share
// another instance.

final class SharedDescriptor: ReadinessReceiver, ResourceRetry, @unchecked Sendable {
  enum Kind { case polled, alwaysReady, lost }

  let descriptor: Int32
  let table: DescriptorTable
  let lock = Lock()
  /// Guarded by the lock.
  @Cell var entries: [DescriptorEntry] = [] {
    didSet { only = entries.count == 1 ? Unmanaged.passUnretained(entries[0]) : nil }
  }
  /// The entry of a descriptor that has one, as most have: a look at it counts no references. The
  /// list keeps it alive. Guarded by the lock.
  @Cell private var only: Unmanaged<DescriptorEntry>?
  @Cell var kind = Kind.polled
  @Cell var registration: Registration?
  /// The last request; none once a request for one event was reported.
  @Cell var asked = Request.none
  /// How the descriptor is armed: see SharedDescriptor+Requests.
  @Cell var arming = Arming()
  /// The last entry has left; the next source needs a new instance.
  @Cell var isOver = false

  var poller: Poller { table.poller }

  init(_ descriptor: Int32, in table: DescriptorTable) {
    self.descriptor = descriptor
    self.table = table
  }

  // MARK: Entries

  /// Adds an entry, which waits from now on. Any thread. False: no entry may join any more.
  func join(_ entry: DescriptorEntry, on thread: ThreadContext) -> Bool {
    var after = DeferredActions()
    let hasJoined = lock.withLock {
      if isOver || kind == .lost { return false }
      if kind == .alwaysReady && !isStillAlwaysReady() {
        lose(&after)
        return false
      }
      guard registration != nil else {
        add(entry)
        askForAll(&after)
        return true
      }
      // The entries that are here may listen to a file that is gone. Only a request to the kernel
      // shows that.
      ask(.once(interests().waiting.union(entry.interest)), anew: true, &after)
      if kind == .lost { return false }
      add(entry)
      return true
    }
    conclude(after, on: thread)
    return hasJoined
  }

  /// Removes an entry, and ends all notifications except one that a thread is about to make. Any
  /// thread, any number of times.
  func leave(_ entry: DescriptorEntry) {
    var after = DeferredActions()
    let isLast = lock.withLock {
      guard let place = entries.firstIndex(where: { $0 === entry }) else { return false }
      entries.remove(at: place)
      entry.word.transition(to: { $0.leaving() })
      guard entries.isEmpty else { return false }
      isOver = true
      // What the kernel reports from now on finds no receiver. The caller has another reference.
      if let registration { poller.unregister(registration) }
      guard kind == .polled, registration != nil, mustBeRemoved else { return true }
      let error = ReadinessSet.remove(knownSet, descriptor)
      if error != 0 { after.rarely { $0.lost = [entry.description] } }
      return true
    }
    guard isLast else { return }
    table.forget(self)
    conclude(after, on: currentThread())
  }

  /// Whether the kernel must forget a descriptor without entries: see the header. Lock held.
  private var mustBeRemoved: Bool {
    if asked.mode != .once { return true }
    return ReportKind.descriptorClosedEarly.isPrinted
  }

  /// Answers a notification: the listener has dealt with it.
  func answer(_ entry: DescriptorEntry, _ answer: Answer, on thread: ThreadContext) {
    if answer == .mayBeReady, entry.notification != nil, let readiness = look(again: entry),
      entry.word.transition(to: { $0.lookedAgain(seeing: readiness) })
    {
      // SAFETY: the listener is alive, because this is called on its behalf.
      entry.listener?._withUnsafeGuaranteedRef { $0.eventCame(on: thread) }
      return
    }
    let mayHaveEnded = answer == .hasEnded || answer == .hasHungUp && isStillEnded(entry)
    var after = DeferredActions()
    lock.withLock {
      let hasEnded = mayHaveEnded && !entry.wasResumed.load(ordering: .relaxed)
      let isAnswered = entry.word.transition(to: { $0.answered(hasEnded: hasEnded) })
      guard isAnswered else { return }
      renewEnded(beside: entry)
      askForAll(&after, nextRequest(on: thread))
    }
    conclude(after, on: thread)
  }

  /// Reports again to a source that has ended, if it is being resumed or has a new handler, and the
  /// end still holds. Called before the source may run, or with the handler in place. Any thread.
  func resume(_ entry: DescriptorEntry, on thread: ThreadContext) {
    var after = DeferredActions()
    lock.withLock {
      entry.wasResumed.store(true, ordering: .relaxed)
      if entry.word.transition(to: { $0.renewed() }) { askForAll(&after) }
    }
    conclude(after, on: thread)
  }

  enum Answer {
    case waits
    /// There was room, and most often there still is: poll the descriptor before asking the
    /// kernel's set.
    case mayBeReady
    /// There was a hang-up or an error: nothing more is expected unless it is over.
    case hasHungUp
    /// Nothing more is expected.
    case hasEnded
  }

  /// Whether an end that the listener has dealt with still holds. A call that returns a socket's
  /// error ends it, and the next one may have come since; so it counts as over, but for many in a
  /// few milliseconds.
  @inline(never)
  private func isStillEnded(_ entry: DescriptorEntry) -> Bool {
    let now = ReadinessSet.now(descriptor, entry.interest)
    if now.isDisjoint(with: .ends) { return false }
    return !now.isDisjoint(with: [.readHangUp, .hangUp]) || !DescriptorSpace.isSocket(descriptor)
      || entry.hasTooManyErrors()
  }

  /// Returns what the entry is ready for now, at most a few times in a row: only the kernel's set
  /// knows whether the descriptor still stands for the same file.
  @inline(never)
  private func look(again entry: DescriptorEntry) -> Readiness? {
    guard entry.looks < DescriptorEntry.maxLooks else {
      entry.looks = 0
      return nil
    }
    entry.looks += 1
    let readiness = ReadinessSet.now(descriptor, entry.interest)
    return readiness.isDisjoint(with: entry.interest) ? nil : readiness
  }

  // MARK: With the lock held

  /// The actions to take once the lock is free. Most often there is one, or none.
  struct DeferredActions {
    /// The first lane to notify, retained.
    var notified: Unmanaged<Lane>?
    var rare: RareActions?

    mutating func notify(_ lane: Unmanaged<Lane>) {
      if notified == nil { notified = lane } else { rarely { $0.alsoNotified.append(lane) } }
    }

    /// Notes an action that is not the first notification.
    @inline(never)
    mutating func rarely(_ note: (RareActions) -> Void) {
      let noted = rare ?? RareActions()
      note(noted)
      rare = noted
    }
  }

  final class RareActions {
    /// More lanes to notify, retained.
    var alsoNotified: [Unmanaged<Lane>] = []
    var lost: [String] = []
    var shortage: Int32 = 0
  }

  /// Calls `body` with each entry.
  @inline(__always)
  func forEachEntry(_ body: (DescriptorEntry) -> Void) {
    // SAFETY: the list keeps it alive, and stays as it is while the lock is held.
    if let only { return only._withUnsafeGuaranteedRef(body) }
    for entry in entries { body(entry) }
  }

  /// Adds an entry to the list. What the others were notified of may be gone when they look.
  private func add(_ entry: DescriptorEntry) {
    for other in entries { other.word.transition(to: { $0.doubted() }) }
    entry.word.transition(to: { $0.joined() })
    entries.append(entry)
  }

  func lose(_ after: inout DeferredActions) {
    kind = .lost
    // What stays in the set finds no receiver. The caller has another reference.
    if let registration { poller.unregister(registration) }
    for entry in entries {
      entry.word.transition(to: { $0.lost() })
      after.rarely { $0.lost.append(entry.description) }
    }
  }

  /// Notifies the entries. Returns whether there was news for any, and for every one of them.
  @discardableResult
  func notify(
    _ readiness: Readiness, _ after: inout DeferredActions
  ) -> (any: Bool, all: Bool) {
    var news = (any: false, all: true)
    let (isAlone, isAlwaysReady) = (only != nil, kind == .alwaysReady)
    forEachEntry { entry in
      let isNew = entry.word.transition(to: {
        $0.notified(
          of: readiness, interest: entry.interest, isSure: isAlone && !isAlwaysReady,
          isAlwaysReady: isAlwaysReady, hasBytes: hasBytes(entry, readiness))
      })
      if isNew, let listener = entry.listener, listener.tryRetain() { after.notify(listener) }
      news = (news.any || isNew, news.all && isNew)
    }
    return news
  }

  /// Lets the others wait again that have ended, if what ended them is over: it was one error for
  /// all of them, and the answering listener may have taken it.
  private func renewEnded(beside answered: DescriptorEntry) {
    if only != nil || kind != .polled { return }
    for entry in entries where entry !== answered && entry.stage == .ended {
      if ReadinessSet.now(descriptor, entry.interest).isDisjoint(with: .ends) {
        entry.word.transition(to: { $0.renewed() })
      }
    }
  }

  /// Whether an entry that has ended may read bytes although the kernel still reports a hang-up:
  /// the peer that left them has come and gone since.
  private func hasBytes(_ entry: DescriptorEntry, _ readiness: Readiness) -> Bool {
    entry.stage == .ended && entry.direction == .read && readiness.contains(.readable)
      && DescriptorSpace.readable(descriptor) ?? 0 > 0
  }

  // MARK: With the lock free

  @inline(__always)
  func conclude(_ after: DeferredActions, on thread: ThreadContext) {
    if let rare = after.rare { return conclude(after.notified, rare, on: thread) }
    if let listener = after.notified { tell(listener, on: thread) }
  }

  @inline(never)
  private func conclude(
    _ notified: Unmanaged<Lane>?, _ rare: RareActions, on thread: ThreadContext
  ) {
    for description in rare.lost { table.reportLoss(of: description) }
    if let notified { tell(notified, on: thread) }
    for listener in rare.alsoNotified { tell(listener, on: thread) }
    if rare.shortage != 0 { poller.lack(self, error: rare.shortage) }
  }

  /// Notifies a listener that the caller has retained under the lock, and releases it.
  func tell(_ listener: Unmanaged<Lane>, on thread: ThreadContext) {
    // SAFETY: the caller has retained it.
    listener._withUnsafeGuaranteedRef { $0.eventCame(on: thread) }
    listener.release()
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    engineFault("A descriptor's report has no key.")
  }

  func becameReady(_ readiness: Readiness, as reported: Registration, on thread: ThreadContext) {
    var after = DeferredActions()
    lock.withLock {
      // Otherwise it was under way when the last entry left, or when another request followed,
      // which reports what still holds.
      guard !isOver, reported == registration else { return }
      let stayedArmed = asked.mode == .level
      if asked.mode == .once { asked = .none }
      let readiness = confirmed(readiness, on: thread)
      let news = readiness.isEmpty ? (any: false, all: false) : notify(readiness, &after)
      if stayedArmed {
        if !news.any && !readiness.isEmpty { disarm(&after) }
      } else if !news.all {
        // If there was news for all, nothing is wanted until one of them answers.
        askForAll(&after)
      }
    }
    conclude(after, on: thread)
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    var after = DeferredActions()
    lock.withLock { askForAll(&after) }
    let isDone = after.rare?.shortage ?? 0 == 0
    after.rare?.shortage = 0
    conclude(after, on: thread)
    return isDone
  }
}
