// Room: Events/SharedDescriptor. One descriptor that sources listen to: any number of them, for either direction.
// The kernel takes a descriptor into a set only once, so they share a registration. It tells once what is asked for,
// and then is silent until it is asked anew; it is asked for what those want that are waiting. So a source that is
// suspended, or whose handler takes its time, costs no wake-ups, and what is left unread is told again.
// Once the other side has hung up, the kernel would tell that for ever. A source hears it once; then it has ended, and
// is watched by edges, in case that somebody comes back, as to a FIFO.
// When the last source leaves, the kernel is not asked to forget the descriptor: that is a system call as expensive as
// all else that a short-lived source costs, and the program mostly closes the descriptor next, which removes it from the
// set. A registration that stays is armed for one event at most, whose key is out of date by then, so it is dropped. The
// next source of the descriptor takes the registration over (EEXIST). Edges would come again and again, so they are
// removed; and so is every descriptor while early closes are reported, since only the kernel knows of them.
// Kinds of descriptor that the kernel does not take, because they are always ready (epoll_ctl(2), EPERM), are told of
// by us: at once, and again after each answer.
// A descriptor that is closed before its sources are cancelled shows when it is asked for next: the kernel no longer
// knows it, or knows another file by its number. Its sources hear no more; a report says so on
// request. What listens to the number from then on has a SharedDescriptor of its own.

final class SharedDescriptor: ReadinessReceiver, Lacking, @unchecked Sendable {
  enum Kind { case polled, alwaysReady, lost }
  /// What the kernel was last asked for.
  private enum Asked: Equatable {
    case nothing
    case once(Readiness)
    case edges(Readiness)
  }

  let descriptor: Int32
  private let table: DescriptorTable
  private let lock = Lock()
  /// Guarded by the lock.
  @Cell private(set) var entries: [DescriptorEntry] = []
  @Cell private var kind = Kind.polled
  @Cell private var registration: Registration?
  @Cell private var asked = Asked.nothing
  /// Its last entry has left: whoever comes now makes another one.
  @Cell private var isOver = false

  private var poller: Poller { table.poller }

  init(_ descriptor: Int32, in table: DescriptorTable) {
    self.descriptor = descriptor
    self.table = table
  }

  // MARK: Entries

  /// `entry` waits from now on. Any thread. False: nobody may join any more.
  func join(_ entry: DescriptorEntry, on thread: ThreadContext) -> Bool {
    var after = Aftermath()
    let hasJoined = lock.withLock {
      if isOver || kind == .lost { return false }
      if kind == .alwaysReady && !isStillAlwaysReady() {
        after = lose()
        return false
      }
      entry.state = .waiting
      guard registration != nil else {
        entries.append(entry)
        after = askForAll()
        return true
      }
      // Whoever is here already may listen to a file that is gone. Only asking shows it.
      after = ask(.once(wanted().union(entry.interest)), anew: true)
      if kind == .lost { return false }
      entries.append(entry)
      return true
    }
    conclude(after, on: thread)
    return hasJoined
  }

  /// `entry` is told nothing any more. Any thread, any number of times.
  func leave(_ entry: DescriptorEntry) {
    var after = Aftermath()
    let isLast = lock.withLock {
      guard let place = entries.firstIndex(where: { $0 === entry }) else { return false }
      entries.remove(at: place)
      guard entries.isEmpty else { return false }
      isOver = true
      guard kind == .polled, registration != nil, mustBeRemoved else { return true }
      let error = ReadinessSet.remove(poller.set.load(ordering: .acquiring), descriptor)
      if error != 0 { after.lost = [entry.description] }
      return true
    }
    guard isLast else { return }
    // Nobody writes it any more.
    if let registration { poller.unregister(registration) }
    table.forget(self)
    conclude(after, on: currentThread())
  }

  /// With the lock held. Whether the kernel must forget a descriptor that has no listener any more: see the header.
  private var mustBeRemoved: Bool {
    if case .edges = asked { return true }
    return ReportKind.descriptorClosedEarly.isPrinted
  }

  /// What `entry` was told and has not answered. `isSure`: by the kernel, and nobody else was told with it who may have
  /// read what there was.
  func told(_ entry: DescriptorEntry) -> (seen: Readiness, isSure: Bool)? {
    lock.withLock {
      entry.state == .told ? (entry.seen, kind == .polled && entries.count == 1) : nil
    }
  }

  /// For an entry that was told: it has been dealt with.
  func answer(_ entry: DescriptorEntry, _ answer: Answer, on thread: ThreadContext) {
    if answer == .mayBeReady, entry.state == .told, let readiness = look(again: entry) {
      // Told anew, and by nobody else: a told entry is its listener's.
      entry.seen = readiness
      // SAFETY: it is on its listener's behalf that this is called.
      entry.listener?._withUnsafeGuaranteedRef { $0.eventCame(on: thread) }
      return
    }
    let after = lock.withLock {
      guard entry.state == .told else { return Aftermath() }
      entry.state = answer == .hasEnded ? .ended : .waiting
      return askForAll()
    }
    conclude(after, on: thread)
  }

  enum Answer {
    case waits
    /// There was room, and most often there still is: it is worth to look before the kernel is asked.
    case mayBeReady
    /// There is no more to come, as far as can be told.
    case hasEnded
  }

  /// What the entry is ready for now. Not for ever: only the kernel's set knows whether the descriptor still stands
  /// for the same file.
  private func look(again entry: DescriptorEntry) -> Readiness? {
    guard entry.looks < DescriptorEntry.mostLooks else {
      entry.looks = 0
      return nil
    }
    entry.looks += 1
    let readiness = ReadinessSet.now(descriptor, entry.interest)
    return readiness.isDisjoint(with: entry.interest) ? nil : readiness
  }

  // MARK: With the lock held

  /// What is to be done once the lock is free.
  private struct Aftermath {
    /// Retained.
    var told: [Unmanaged<Lane>] = []
    var lost: [String] = []
    var shortage: Int32 = 0

    mutating func join(_ other: Aftermath) {
      told += other.told
      lost += other.lost
      if other.shortage != 0 { shortage = other.shortage }
    }
  }

  /// Asks the kernel for what those want that are waiting; or watches for edges, if some have ended.
  private func askForAll() -> Aftermath {
    if kind == .alwaysReady { return tell([.readable, .writable]) }
    let wanted = wanted()
    if !wanted.isEmpty { return ask(.once(wanted), anew: false) }
    let ended = entries.filter { $0.state == .ended }.reduce(into: Readiness()) {
      $0.formUnion($1.interest)
    }
    return ended.isEmpty ? Aftermath() : ask(.edges(ended), anew: false)
  }

  private func wanted() -> Readiness {
    entries.reduce(into: []) { if $1.state == .waiting { $0.formUnion($1.interest) } }
  }

  private func ask(_ wanted: Asked, anew: Bool) -> Aftermath {
    var after = Aftermath()
    if kind == .lost || (asked == wanted && !anew) { return after }
    let set = poller.prepare()
    guard set >= 0 else {
      after.shortage = -set
      return after
    }
    let (interest, mode): (Readiness, ReadinessSet.Mode) =
      switch wanted {
      case .nothing: ([], .once)
      case .once(let readiness): (readiness, .once)
      case .edges(let readiness): (readiness, .edge)
      }
    let isNew = registration == nil
    let own = registration ?? poller.register(self)
    var error =
      isNew
      ? ReadinessSet.add(set, descriptor, interest, mode, key: own.key)
      : ReadinessSet.change(set, descriptor, interest, mode, key: own.key)
    // Its number was closed early, and the file lived on by another one, is in the set still, and has come back.
    if error == EEXIST {
      error = ReadinessSet.change(set, descriptor, interest, mode, key: own.key)
    }
    if isNew && error != 0 { poller.unregister(own) }
    switch error {
    case 0:
      registration = own
      asked = wanted
    case EPERM where isNew:
      kind = .alwaysReady
      return tell([.readable, .writable])
    // EINVAL, ELOOP: its number has become that of the set itself, or of one that the set is in. EPERM: that of a file
    // that is always ready; the kernel looks at that before it looks who is in the set.
    case EBADF, ENOENT, EPERM, EINVAL, ELOOP: return lose()
    default: after.shortage = error
    }
    return after
  }

  /// Whoever was here first may listen to a file that is gone. The kernel takes what can be polled into the set.
  private func isStillAlwaysReady() -> Bool {
    let set = poller.set.load(ordering: .acquiring)
    if entries.isEmpty || set < 0 { return true }
    let probe = poller.register(self)
    defer { poller.unregister(probe) }
    switch ReadinessSet.add(set, descriptor, [], .once, key: probe.key) {
    case 0:
      _ = ReadinessSet.remove(set, descriptor)
      return false
    // Left there by an earlier source, so the kernel takes it.
    case EEXIST: return false
    default: return true
    }
  }

  private func lose() -> Aftermath {
    var after = Aftermath()
    kind = .lost
    for entry in entries {
      entry.state = .lost
      after.lost.append(entry.description)
    }
    return after
  }

  private func tell(_ readiness: Readiness) -> Aftermath {
    var after = Aftermath()
    for entry in entries where entry.cares(for: readiness, isAlwaysReady: kind == .alwaysReady) {
      entry.state = .told
      entry.seen = readiness
      if let listener = entry.listener, listener.tryRetain() { after.told.append(listener) }
    }
    return after
  }

  // MARK: Outside of it

  private func conclude(_ after: Aftermath, on thread: ThreadContext) {
    for description in after.lost { table.reportLoss(of: description) }
    for listener in after.told {
      // SAFETY: tell() has retained it.
      listener._withUnsafeGuaranteedRef { $0.eventCame(on: thread) }
      listener.release()
    }
    if after.shortage != 0 { poller.lack(self, error: after.shortage) }
  }

  /// Its sources hear no more; whoever wants to listen to the descriptor makes another.
  func afterFork() {
    lock.withLock {
      kind = .lost
      isOver = true
      registration = nil
      for entry in entries { entry.state = .lost }
      entries = []
    }
  }

  func becameReady(_ readiness: Readiness, on thread: ThreadContext) {
    let after = lock.withLock {
      if case .once = asked { asked = .nothing }
      var after = tell(readiness)
      after.join(askForAll())
      return after
    }
    conclude(after, on: thread)
  }

  func tryAgain(on thread: ThreadContext) -> Bool {
    var after = lock.withLock { askForAll() }
    let isDone = after.shortage == 0
    after.shortage = 0
    conclude(after, on: thread)
    return isDone
  }
}
