// Room: Models/Tally. What models count with.

/// Counts things that several threads do, without ordering anything.
final class Tally: @unchecked Sendable {
  private let word = Atomic<Int>(0)

  func one() { word.wrappingAdd(1, ordering: .relaxed) }
  func oneLess() { word.wrappingSubtract(1, ordering: .relaxed) }
  var count: Int { word.load(ordering: .relaxed) }
}

/// Plain memory whose every access must be ordered with every write.
final class Plain: @unchecked Sendable {
  @Cell var value = 0
}

/// What threads did, in the order of the schedule. No part of the modelled memory: it neither costs
/// a step nor orders anything.
final class Journal {
  private(set) var entries: [Int] = []

  func add(_ entry: Int) { entries.append(entry) }
}

/// Something that must be gone at the end of its execution, for what holds no atomics.
final class Counted {
  init() { Checker.count(made: 1) }
  deinit { Checker.count(made: -1) }
}

/// A deadline that is still to come.
var soon: UInt64 { Checker.nanoseconds + 1_000_000 }
/// A number that threads change with whatever ordering they say.
final class Number {
  let word = Atomic<Int>(0)
}
