// Room: ThreadPolicy/BriefStays. Whether a thread that would be lowered keeps its settings for a
// moment instead. Each change costs up to three system calls, some microseconds. A thread that
// alternates between classes at short items would spend most of its time on them, and so would the
// urgent items of the queues that it serves. So a thread that has soon returned from the lower
// class many times is expected to return soon again. If it does not, it is lowered at its next
// boundary or, inside an item, by the pool's monitor, which looks once a millisecond.
// A stay also ends where the thread finds no other work and rests. Threads that wait for each
// other's items of two classes so changed their settings for each item, thousands of times a
// second. The kernel (measured: Linux 6.18) loses count then: beside another program it left a
// thread of the higher class without a CPU for half a second.
// Pure: the caller passes the time, in monotonic nanoseconds.

struct BriefStays: Equatable, Sendable {
  /// A stay in a lower class that ends within this time is brief. A hundred times what two changes
  /// of class take, so longer stays spend a hundredth of their time on them. What a lower class can
  /// take from other programs in one is small: they wait for a slice, of milliseconds, anyway. In
  /// sum it can be much, but only on a CPU that no other thread wants: beside one, the stays get
  /// longer and are no longer brief.
  static var longestNanoseconds: UInt64 { 200_000 }
  /// The same for a stay that ends in a rest. Less, since the next may end in a rest too, and a
  /// worker that is woken for one long item at a time must be lowered for each.
  static var restNanoseconds: UInt64 { 100_000 }
  /// With so many brief stays the next is expected to be brief. Many, so that the items of a
  /// program that seldom changes class have their settings from their beginning; they cost a
  /// fraction of a millisecond.
  static var needed: UInt32 { 64 }
  /// The count ends here, and a stay that is not brief takes this much of it: a kernel that runs
  /// other threads meanwhile makes some stays long by chance, and two in a row mean more.
  static var maxCount: UInt32 { 96 }
  static var lessForLong: UInt32 { 32 }

  /// When the thread left the class in place for a lower one; 0: it is in no lower class.
  var leftAt: UInt64 = 0
  /// The brief stays so far, less some for each that was not.
  var count: UInt32 = 0

  /// Whether the thread keeps its settings though its class is lower now.
  func keepsSettings(at now: UInt64) -> Bool { count >= Self.needed && isBrief(at: now) }

  /// Whether a stay that ends now has been brief.
  func isBrief(at now: UInt64) -> Bool { now &- leftAt < Self.longestNanoseconds }

  /// The thread leaves the class in place for a lower one. A stay that led to that class ends.
  mutating func left(at now: UInt64) {
    if leftAt != 0 && !isBrief(at: now) { countLong() }
    leftAt = now
  }

  /// The thread is about to sleep or to search, which ends a stay without a rise.
  mutating func rested(at now: UInt64) {
    guard leftAt != 0 else { return }
    if now &- leftAt < Self.restNanoseconds { countBrief() } else { countLong() }
    leftAt = 0
  }

  /// The thread rises from the lower class to the one that it had left, or above.
  mutating func rose(at now: UInt64) {
    // No stay began since the last one ended.
    guard leftAt != 0 else { return }
    if isBrief(at: now) { countBrief() } else { countLong() }
    leftAt = 0
  }

  private mutating func countBrief() { count = min(Self.maxCount, count + 1) }
  private mutating func countLong() { count -= min(count, Self.lessForLong) }
}
