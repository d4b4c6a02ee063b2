// Room: Models/Tally. Counters and values of the models.

/// A counter that several threads increment, without ordering anything.
final class Tally: @unchecked Sendable {
  private let word = Atomic<Int>(0)

  func one() { word.wrappingAdd(1, ordering: .relaxed) }
  func oneLess() { word.wrappingSubtract(1, ordering: .relaxed) }
  var count: Int { word.load(ordering: .relaxed) }
}

/// Plain memory. Every access must be ordered with every write.
final class Plain: @unchecked Sendable {
  @Cell var value = 0
}

/// A list of what threads did, in the order of the schedule. It is not part of the modelled memory:
/// an entry costs no step and orders nothing.
final class Journal {
  private(set) var entries: [Int] = []

  func add(_ entry: Int) { entries.append(entry) }
}

/// An object that must be freed at the end of its execution, for owners without atomics.
final class Counted {
  init() { Checker.count(made: 1) }
  deinit { Checker.count(made: -1) }
}

/// A deadline in the future: 1 ms from now.
var soon: UInt64 { Checker.nanoseconds + 1_000_000 }
/// A number that threads change with any ordering.
final class Number: @unchecked Sendable {
  let word = Atomic<Int>(0)
}
