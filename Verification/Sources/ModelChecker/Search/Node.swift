// Room: ModelChecker/Node. One step of the current schedule, and the alternatives that remain to be
// tried.

/// A set of threads.
typealias ThreadSet = UInt8

struct Node {
  /// Threads that could move here.
  var enabled: ThreadSet = 0
  /// Those of them that sleep and would time out.
  var dozing: ThreadSet = 0
  /// Threads that must be tried, threads that have been tried, and threads whose steps are
  /// redundant here.
  var backtrack: ThreadSet = 0
  var done: ThreadSet = 0
  var sleep: ThreadSet = 0
  /// The thread that moved, and its chosen outcome.
  var chosen: UInt8 = 0
  var choice: UInt16 = 0
  var choices: UInt16 = 1
  /// Switches away from a thread that could continue, up to here.
  var preemptions: UInt16 = 0

  // The step, after it was made.
  var kind = Step.Kind.local
  var location: UnsafeMutablePointer<Location>?
  var clock = VectorClock.zero

  /// Threads that would be interrupted if another thread moved.
  var ready: ThreadSet { enabled & ~dozing }
}

extension ThreadSet {
  @inline(__always) static func one(_ thread: Int) -> ThreadSet { 1 << ThreadSet(thread) }
  @inline(__always) func contains(thread: Int) -> Bool { self & .one(thread) != 0 }
  /// The member with the lowest number.
  @inline(__always) var first: Int { trailingZeroBitCount }
}
