// Room: ModelChecker/Node. One step of the schedule at work, and what is left to be tried in its place.

/// A set of threads.
typealias ThreadSet = UInt8

struct Node {
  /// Threads that could have moved here.
  var enabled: ThreadSet = 0
  /// Those of them that sleep and would time out.
  var dozing: ThreadSet = 0
  /// Those that must be tried, those that have been, and those whose steps lead nowhere new from here.
  var backtrack: ThreadSet = 0
  var done: ThreadSet = 0
  var sleep: ThreadSet = 0
  /// Who moved, and which of its possible outcomes it had.
  var chosen: UInt8 = 0
  var choice: UInt16 = 0
  var choices: UInt16 = 1
  /// Switches away from a thread that could have gone on, up to here.
  var preemptions: UInt16 = 0

  // The step, once it was made.
  var kind = Step.Kind.local
  var location: UnsafeMutablePointer<Location>?
  var clock = VectorClock.zero

  /// Those who would be interrupted if another thread moved.
  var ready: ThreadSet { enabled & ~dozing }
}

extension ThreadSet {
  @inline(__always) static func one(_ thread: Int) -> ThreadSet { 1 << ThreadSet(thread) }
  @inline(__always) func contains(thread: Int) -> Bool { self & .one(thread) != 0 }
  /// The member with the lowest number.
  @inline(__always) var first: Int { trailingZeroBitCount }
}
