// Room: Reactor/Poller+Orphans. Descriptors that stay armed and cannot be disarmed any more.
// The kernel knows a descriptor by its number and its file. If the program closes the number before
// it cancels the sources, while another process or another number has the file open, the file stays
// in the set, and epoll_ctl(2) cannot reach it: an orphan. One that was armed for one event is
// silent after it. One that stays armed (SharedDescriptor+Requests) would end each wait at once,
// for ever. So if an event without a receiver comes in many waits in a row, all other descriptors
// move to a new set. From then on no descriptor stays armed, since a program that leaves one orphan
// leaves more. So this happens once in a process; the first set stays open, as a thread may be
// about to wait in it.

/// What the poller knows of orphans. Guarded by its lock.
struct Orphans {
  /// Whether the set was replaced.
  var haveReplacedSet = false
  /// The key of an event without a receiver, and in how many waits in a row it has come.
  private var suspect: UInt64 = 0
  private var waits = 0

  /// The number of such waits that say nothing. A registration for one event that stays in the set
  /// after its source causes one; an orphan that is ready ends every wait.
  private static var tolerated: Int { scaled(64, inModels: 1) }

  /// Notes the keys of one wait's events without a receiver. Returns whether there is an orphan.
  mutating func note(_ unmatched: UnmatchedEvents) -> Bool {
    if haveReplacedSet || unmatched.first == nil {
      waits = 0
    } else if unmatched.haveSuspect {
      waits += 1
    } else {
      (suspect, waits) = (unmatched.first ?? 0, 1)
    }
    return waits > Self.tolerated
  }

  /// The events without a receiver of one wait.
  struct UnmatchedEvents {
    private(set) var first: UInt64?
    private(set) var haveSuspect = false
    private let suspect: UInt64

    init(of orphans: Orphans) { suspect = orphans.suspect }

    mutating func append(_ key: UInt64) {
      if first == nil { first = key }
      if key == suspect { haveSuspect = true }
    }
  }
}

extension ReadinessReceiver {
  func setWasReplaced(on thread: ThreadContext) {}
}

extension Poller {
  /// Moves everything but orphans to a new set. If the system refuses it, sleeps for a while, as
  /// the orphan would end each wait until then; its next events try again. No lock is held.
  func replaceSet(on thread: ThreadContext) {
    enum Outcome {
      case notNeeded, refused
      case replaced(wakeDescriptor: Int32, receivers: [any ReadinessReceiver])
    }
    let outcome = lock.withLock { () -> Outcome in
      if orphans.haveReplacedSet || set.load(ordering: .relaxed) < 0 { return .notNeeded }
      guard let made = makeNextSet() else { return .refused }
      orphans.haveReplacedSet = true
      set.store(made, ordering: .releasing)
      return .replaced(
        wakeDescriptor: wakeDescriptor,
        receivers: table.slots.compactMap { $0.watched == nil ? $0.receiver : nil })
    }
    switch outcome {
    case .notNeeded: break
    case .refused: sleep(nanoseconds: UInt64(Self.retryMilliseconds) * 1_000_000)
    case .replaced(let wakeDescriptor, let receivers):
      mayStayArmed.store(false, ordering: .relaxed)
      // The other thread waits in the first set.
      EventFD.signal(wakeDescriptor)
      for receiver in receivers { receiver.setWasReplaced(on: thread) }
    }
  }

  /// Makes a set that knows the wake-up descriptor, and those of receivers that have one for
  /// themselves. `nil`: the system refuses it. Lock held.
  private func makeNextSet() -> Int32? {
    let made = ReadinessSet.make()
    if made < 0 { return nil }
    var isRefused =
      ReadinessSet.add(made, wakeDescriptor, .readable, .edge, key: Self.wakeKey) != 0
    for (slot, entry) in table.slots.enumerated() where entry.receiver != nil && !isRefused {
      guard let watched = entry.watched else { continue }
      let error = watched.add(to: made, Registration(slot: slot, generation: entry.generation))
      // No other can come: a receiver withdraws its descriptor before it closes it.
      isRefused = [ENOMEM, ENOSPC].contains(error)
    }
    guard isRefused else { return made }
    close(made)
    return nil
  }
}
