// Room: Coordination/GroupState. The word that says how many are inside a group, and who cares.
//   63…32 members │ 31…2 generation │ 1 notifications are registered │ 0 threads wait
//   enter  members + 1          leave  members - 1
//   watch  sets a flag; with the first flag, one phantom member comes in
//   claim  phantom alone inside → nobody, no flags, generation + 1; the claimer wakes and notifies
//   left   leave and claim in one exchange, for a caller that must not touch the group afterwards
//
// The phantom is why enter and leave are single adds. Without it, the leave that takes the count to
// zero and the clearing of the flags would be two steps, and an enter between them would be
// clobbered or its own watchers told too early. With it, the last real leave only makes a claim
// possible, and the claim is one exchange on the whole word: whoever enters before it simply
// belongs to the same generation.
// Linearisation: an enter that comes between a last leave and its claim overlaps that leave, so it
// counts as having come first.
// Invariant: flags = 0 ⇔ no phantom. Flags and generation change only in watch and claim.
// A generation ends only if somebody watches, and wakes whoever waits for it, so no watcher sleeps
// through the 2^30 of them that would bring its own number back.

@usableFromInline
struct GroupState: Hashable, Sendable {
  @usableFromInline let rawValue: UInt64
  @inlinable init(rawValue: UInt64) { self.rawValue = rawValue }

  @usableFromInline static var oneMember: UInt64 { 1 << 32 }
  static let waiters: UInt64 = 1
  static let notifications: UInt64 = 2
  @usableFromInline static var flags: UInt64 { 3 }
}

extension GroupState {
  /// Those inside, the phantom included.
  @inlinable var members: UInt64 { rawValue >> 32 }
  @inlinable var isWatched: Bool { rawValue & Self.flags != 0 }
  var hasWaiters: Bool { rawValue & Self.waiters != 0 }
  var hasNotifications: Bool { rawValue & Self.notifications != 0 }
  var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue) >> 2 }
  /// What threads sleep on.
  var lowHalf: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// Whether nobody is inside but perhaps the phantom.
  var isEmpty: Bool { members == (isWatched ? 1 : 0) }

  /// Of the word before an enter: whether one more fits. The top bit is the reserve in which
  /// simultaneous enters find each other out.
  @inlinable var hasRoom: Bool { Int64(bitPattern: rawValue) >= 0 }

  /// A leave and, if it is the last one, the claim, in one step. `nil`: nothing was entered.
  func left() -> (state: GroupState, isClaimed: Bool)? {
    if isEmpty { return nil }
    let after = GroupState(rawValue: rawValue - Self.oneMember)
    if let claimed = after.claimed() { return (claimed, true) }
    return (after, false)
  }

  /// Of the word before a leave: whether there is nothing more to do.
  @inlinable var leavesQuietly: Bool { members > 2 || (members > 0 && !isWatched) }

  /// What a leave that was not quiet means.
  enum Departure { case quiet, mayBeLast, unbalanced }

  /// Of the word before a leave.
  var departure: Departure {
    if isEmpty { return .unbalanced }
    return isWatched && members == 2 ? .mayBeLast : .quiet
  }

  /// Somebody cares when the group empties. `nil` if it is empty.
  func watched(by flag: UInt64) -> GroupState? {
    if isEmpty { return nil }
    return GroupState(rawValue: (isWatched ? rawValue : rawValue + Self.oneMember) | flag)
  }

  /// The generation's end. `nil` unless the phantom is alone.
  func claimed() -> GroupState? {
    guard isWatched && members == 1 else { return nil }
    // The generation wraps within its bits: the low half has no member bits to carry into.
    return GroupState(rawValue: UInt64((lowHalf & ~UInt32(Self.flags)) &+ 4))
  }
}
