// Room: Coordination/GroupState. The word of a group: its members, its generation, its watchers.
//   63…32 members │ 31…2 generation │ 1 notifications are registered │ 0 threads wait
//   enter  members + 1          leave  members - 1
//   watch  sets a flag; the first flag adds one phantom member
//   claim  only the phantom is inside → no members, no flags, generation + 1; the claiming thread
//          submits the notifications and wakes the waiters
//   left   leave and claim in one exchange, for a caller that must not touch the group afterwards
//
// The phantom makes enter and leave single adds. Without it, the leave that brings the count to
// zero and the clearing of the flags are two steps: an enter between them is overwritten, or its
// own watchers are notified too early. With it, the last real leave only makes a claim possible,
// and the claim is one exchange of the whole word: a member that enters before the claim belongs to
// the same generation.
// Linearisation: the claim is the end of the last leave, which has not returned before. A thread
// that enters, waits or registers between the two overlaps the leave, and counts as having come
// first: a wait ends after the claim, and a notification belongs to the generation.
// Invariant: flags = 0 ⇔ no phantom. Flags and generation change only in watch and claim.
// A generation ends only while it is watched, and its end wakes all its waiters. So no waiter
// sleeps through the 2^30 generations after which its own number returns.

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
  /// The number of members, the phantom included.
  @inlinable var members: UInt64 { rawValue >> 32 }
  @inlinable var isWatched: Bool { rawValue & Self.flags != 0 }
  var hasWaiters: Bool { rawValue & Self.waiters != 0 }
  var hasNotifications: Bool { rawValue & Self.notifications != 0 }
  var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue) >> 2 }
  /// The half of the word that threads sleep on.
  var lowHalf: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

  /// Whether no generation is under way: there is no member, and no phantom whose last leave is
  /// about to claim.
  var hasEnded: Bool { members == 0 }

  /// Whether the group has no member, except perhaps the phantom.
  var isEmpty: Bool { members == (isWatched ? 1 : 0) }

  /// Of the word before an enter: whether one more member fits. The top bit is a reserve: it counts
  /// simultaneous enters beyond the limit, so each of them is detected.
  @inlinable var hasRoom: Bool { Int64(bitPattern: rawValue) >= 0 }

  /// Leaves, and claims if the leave is the last, in one step. `nil` if the group has no member.
  func left() -> (state: GroupState, isClaimed: Bool)? {
    if isEmpty { return nil }
    let after = GroupState(rawValue: rawValue - Self.oneMember)
    if let claimed = after.claimed() { return (claimed, true) }
    return (after, false)
  }

  /// Of the word before a leave: whether nothing more needs to be done.
  @inlinable var leavesQuietly: Bool { members > 2 || (members > 0 && !isWatched) }

  /// The meaning of a leave that was not quiet.
  enum Departure { case quiet, mayBeLast, unbalanced }

  /// Of the word before a leave.
  var departure: Departure {
    if isEmpty { return .unbalanced }
    return isWatched && members == 2 ? .mayBeLast : .quiet
  }

  /// Sets a watcher's flag. `nil` if no generation is under way.
  func watched(by flag: UInt64) -> GroupState? {
    if hasEnded { return nil }
    return GroupState(rawValue: (isWatched ? rawValue : rawValue + Self.oneMember) | flag)
  }

  /// Ends the generation. `nil` unless the phantom is alone.
  func claimed() -> GroupState? {
    guard isWatched && members == 1 else { return nil }
    // The generation wraps within its bits: the low half cannot carry into the members.
    return GroupState(rawValue: UInt64((lowHalf & ~UInt32(Self.flags)) &+ 4))
  }
}
