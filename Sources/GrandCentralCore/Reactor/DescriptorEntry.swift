// Room: Reactor/DescriptorEntry. The interest of one source in a descriptor, and its word.
//   31…16 seen  the readiness it was notified of          3 sure  see below          2…0 stage
//   left ─join→ waiting ─notify→ notified ─answer→ waiting        notified ─look again→ notified
//   notified ─answer, at the end→ ended ─notify, of something new→ notified
//   ended ─renew→ waiting       its source was resumed or has a new handler, or its error is over
//   ended ─a regular file grows→ notified
//   waiting, notified, ended ─lose→ lost        any ─leave→ left
// The lock of its SharedDescriptor orders all transitions but one: a listener that has looked again
// exchanges `seen` by itself, because a notified entry belongs to its listener. The listener reads
// the word without the lock too. So an event takes the lock twice: to notify, and to answer.
// sure: the kernel has reported it, and no other entry of the descriptor can have been notified
// since, so what was reported is still there. Another entry that joins clears the bit.
// Invariant: seen = 0 and not sure, unless notified. An entry that has not left is in the list of
// its SharedDescriptor, unless a fork has lost it.

struct DescriptorInterest: StateWord {
  enum Stage: UInt32 { case left, waiting, notified, ended, lost }

  let rawValue: UInt32

  private static let sure: UInt32 = 1 << 3

  static var left: DescriptorInterest { DescriptorInterest(.left) }

  init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ stage: Stage) { rawValue = stage.rawValue }

  private init(notifiedOf seen: Readiness, isSure: Bool) {
    // All that epoll(7) reports fits: its higher bits only ask.
    rawValue = seen.rawValue << 16 | (isSure ? Self.sure : 0) | Stage.notified.rawValue
  }

  /// `lost` stands for the values that `isValid` refuses too.
  var stage: Stage { Stage(rawValue: rawValue & 7) ?? .lost }
  var seen: Readiness { Readiness(rawValue: rawValue >> 16) }
  var isSure: Bool { rawValue & Self.sure != 0 }

  var isValid: Bool {
    rawValue & 7 <= Stage.lost.rawValue && rawValue >> 4 & 0xfff == 0
      && (stage == .notified || rawValue >> 3 == 0)
  }
}

extension DescriptorInterest {
  func joined() -> DescriptorInterest? { DescriptorInterest(.waiting) }

  /// Notifies the listener. `nil`: there is nothing new for an entry with this interest.
  /// `hasBytes`: bytes can be read, whatever else has happened.
  func notified(
    of readiness: Readiness, interest: Readiness, isSure: Bool, isAlwaysReady: Bool,
    hasBytes: Bool = false
  ) -> DescriptorInterest? {
    let unasked: Readiness = [.error, .hangUp]
    let isNew =
      switch stage {
      case .waiting: !readiness.isDisjoint(with: interest.union(unasked))
      // The source knows of the hang-up. It does not know that a new peer has connected, which may
      // have gone by now and left bytes.
      case .ended:
        !isAlwaysReady && !readiness.isDisjoint(with: interest.subtracting(.readHangUp))
          && (hasBytes || readiness.isDisjoint(with: unasked.union(.readHangUp)))
      case .notified, .lost, .left: false
      }
    return isNew ? DescriptorInterest(notifiedOf: readiness, isSure: isSure) : nil
  }

  /// The listener has looked at the descriptor. `nil`: the entry was lost or has left meanwhile.
  func lookedAgain(seeing readiness: Readiness) -> DescriptorInterest? {
    stage == .notified ? DescriptorInterest(notifiedOf: readiness, isSure: isSure) : nil
  }

  /// Another entry may take what was reported. `nil`: the entry was not sure.
  func doubted() -> DescriptorInterest? {
    isSure ? DescriptorInterest(notifiedOf: seen, isSure: false) : nil
  }

  /// The listener has dealt with the notification. `nil`: the entry was lost or has left meanwhile.
  func answered(hasEnded: Bool) -> DescriptorInterest? {
    stage == .notified ? DescriptorInterest(hasEnded ? .ended : .waiting) : nil
  }

  /// What has ended is to be reported again if it still holds. `nil`: it has not ended.
  func renewed() -> DescriptorInterest? {
    stage == .ended ? DescriptorInterest(.waiting) : nil
  }

  /// A regular file has bytes after the end that the listener has handled. `nil`: the entry is
  /// notified already, or was lost or has left meanwhile.
  func grown() -> DescriptorInterest? {
    stage == .ended ? DescriptorInterest(notifiedOf: .readable, isSure: false) : nil
  }

  func lost() -> DescriptorInterest? { DescriptorInterest(.lost) }

  func leaving() -> DescriptorInterest? { DescriptorInterest(.left) }
}

final class DescriptorEntry: @unchecked Sendable {
  enum Direction { case read, write }

  let direction: Direction
  let descriptor: Int32
  /// The label in messages.
  private let queueLabel: String
  /// The source, not retained. The source leaves before it ends, under the lock. So its memory is
  /// valid while the lock is held, and `tryRetain` says whether the source is still alive. Set
  /// once, before another thread can reach the entry.
  @Cell var listener: Unmanaged<Lane>?
  let word = Atomic<DescriptorInterest>(.left)
  /// The number of looks by its listener since the last that was refused for being one too many.
  /// Used by the listener of a notified entry.
  @Cell var looks = 0
  /// How many errors in a row were followed by another one at once, and when the first was. Used by
  /// the listener of a notified entry.
  @Cell private var errors = (count: 0, since: UInt64(0))
  /// Whether the source was resumed since its handler began with an end. Set and read under the
  /// lock.
  // relaxed: cleared without the lock, by the handler's thread. A resume() before the handler began
  // is ordered by the lane; one beside that moment may count as before or after it.
  let wasResumed = Atomic<Bool>(false)

  static var maxLooks: Int { 16 }
  /// The coarse clock ticks each 1 to 10 ms, so a change of it is mostly more than this.
  private static var errorNanoseconds: UInt64 { 2_000_000 }

  init(_ direction: Direction, of descriptor: Int32, queueLabel: String) {
    self.direction = direction
    self.descriptor = descriptor
    self.queueLabel = queueLabel
  }

  /// Notes an event without an error.
  func noteNoError() { errors.count = 0 }

  /// Notes that an error follows one that the listener has dealt with. Returns whether there are
  /// too many within a few milliseconds, as where no call takes the error.
  func hasTooManyErrors() -> Bool {
    let now = Clock.coarseNanoseconds()
    if now - errors.since > Self.errorNanoseconds { errors = (0, now) }
    errors.count += 1
    return errors.count > Self.maxLooks
  }

  /// Names the source in messages.
  var description: String {
    "\(direction) source of descriptor \(descriptor) on queue '\(queueLabel)'"
  }

  /// The readiness to ask the kernel for.
  var interest: Readiness {
    direction == .read ? [.readable, .readHangUp] : .writable
  }

  /// The stage, for a thread that holds the lock.
  // relaxed: the lock orders the changes; a listener that looks again leaves the stage.
  var stage: DescriptorInterest.Stage { word.load(ordering: .relaxed).stage }

  /// What the listener was notified of and has not answered. Without the lock.
  // acquiring: pairs with the transition that notified it, so the listener sees what it did before
  // it joined.
  var notification: (seen: Readiness, isSure: Bool)? {
    let now = word.load(ordering: .acquiring)
    return now.stage == .notified ? (now.seen, now.isSure) : nil
  }
}
