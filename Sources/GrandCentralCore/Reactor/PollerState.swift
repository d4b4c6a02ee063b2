// Room: Reactor/PollerState. How many threads the poller has, and how many of them wait.
//   31…16 present  threads in the wait, or back in it within a bounded time: on their way, or
//                  standing by
//    1, 0 threads  which of the two threads exist or are being made
//   start   the lowest free number        refuse  frees it, when the system makes no thread, and
//                                                 says whether there is none now
//   enter   present + 1                   leave   present - 1, and says whether it was the last
// Invariant: present ≤ threads ≤ 2.

struct PollerState: StateWord {
  let rawValue: UInt32

  private static let onePresent: UInt32 = 1 << 16

  static var empty: PollerState { PollerState(rawValue: 0) }
  private static let allThreads: UInt32 = 0b11

  var threads: UInt32 { UInt32((rawValue & Self.allThreads).nonzeroBitCount) }
  var present: UInt32 { rawValue >> 16 }
  var isFull: Bool { rawValue & Self.allThreads == Self.allThreads }

  var isValid: Bool { present <= threads && rawValue & 0xffff <= Self.allThreads }

  /// A thread is to be made. Returns its number. `nil`: there are enough.
  func starting() -> (next: PollerState, outcome: UInt32)? {
    if isFull { return nil }
    let number: UInt32 = rawValue & 1 == 0 ? 0 : 1
    return (PollerState(rawValue: rawValue | 1 << number), number)
  }

  /// The thread of that number could not be made. Returns whether there is no thread: another one
  /// may exist, or be in the making, with its own number.
  func refused(_ number: UInt32) -> (next: PollerState, outcome: Bool)? {
    let next = PollerState(rawValue: rawValue & ~(1 << number))
    return (next, next.threads == 0)
  }

  /// A thread is about to wait.
  func entering() -> PollerState? { PollerState(rawValue: rawValue + Self.onePresent) }

  /// A thread has left the wait, to run what has come. Returns whether no other one is present.
  func leaving() -> (next: PollerState, outcome: Bool)? {
    let next = PollerState(rawValue: rawValue - Self.onePresent)
    return (next, next.present == 0)
  }
}
