// Room: ModelSelfTest/RandomProgram. Small random programs over the checker's atomics, for
// comparing two searches. Each thread is a sequence of operations without branches. What it reads
// is its part of the outcome.
package import ModelChecker

package struct RandomProgram: Sendable, CustomStringConvertible {
  package enum Operation: Sendable {
    case load(Int, AtomicLoadOrdering)
    case store(Int, Int, AtomicStoreOrdering)
    case add(Int, AtomicUpdateOrdering)
    case exchange(Int, Int, AtomicUpdateOrdering)
    case compareExchange(
      Int, Int, Int, AtomicUpdateOrdering, AtomicLoadOrdering, isWeak: Bool)
    /// Sleeps while the word is 0, until a wake-up or for at most `nanoseconds`.
    case sleep(Int, nanoseconds: UInt64?)
    case wake(Int, all: Bool)
    case readClock
    case mayBeRefused
    case readPlain
    case writePlain
    /// Starts a late thread.
    case start(Int)
  }

  /// The kinds of operations in a program, and what may fail in it.
  package struct Features: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let isWeak = Features(rawValue: 1)
    package static let isSleepy = Features(rawValue: 2)
    package static let isPlain = Features(rawValue: 4)
    package static let startsLate = Features(rawValue: 8)
    package static let timesOut = Features(rawValue: 16)
    package static let wakesForNothing = Features(rawValue: 32)
    package static let failsForNothing = Features(rawValue: 64)
    package static let isRefused = Features(rawValue: 128)
  }

  package let seed: UInt64
  package let features: Features
  package let words: Int
  /// The threads of the scene, followed by the threads that others start.
  package let threads: [[Operation]]
  package let lateThreads: Int

  package init(seed: UInt64) {
    var random = SplitMix(state: seed)
    self.seed = seed
    var features = Features(rawValue: Int.random(in: 0..<256, using: &random))
    // Plain accesses are rare: a race ends an execution early, and most programs would have one.
    if Int.random(in: 0..<4, using: &random) > 0 { features.remove(.isPlain) }
    self.features = features
    words = Int.random(in: 1...3, using: &random)
    let count = Int.random(in: 2...3, using: &random)
    lateThreads = features.contains(.startsLate) ? 1 : 0
    let longest = count + lateThreads == 2 ? 4 : count + lateThreads == 3 ? 3 : 2
    var threads: [[Operation]] = []
    for _ in 0..<count + lateThreads {
      var operations: [Operation] = []
      for _ in 0..<Int.random(in: 1...longest, using: &random) {
        operations.append(Self.operation(words: words, features, &random))
      }
      threads.append(operations)
    }
    if lateThreads > 0 {
      let starter = Int.random(in: 0..<count, using: &random)
      let place = Int.random(in: 0...threads[starter].count, using: &random)
      threads[starter].insert(.start(count), at: place)
    }
    self.threads = threads
  }

  private static func operation(
    words: Int, _ features: Features, _ random: inout SplitMix
  ) -> Operation {
    let word = Int.random(in: 0..<words, using: &random)
    let value = Int.random(in: 1...2, using: &random)
    let load = [AtomicLoadOrdering.relaxed, .acquiring, .sequentiallyConsistent].randomElement(
      using: &random)!
    let store = [AtomicStoreOrdering.relaxed, .releasing, .sequentiallyConsistent]
      .randomElement(using: &random)!
    let updates: [AtomicUpdateOrdering] = [
      .relaxed, .acquiring, .releasing, .acquiringAndReleasing, .sequentiallyConsistent,
    ]
    let update = updates.randomElement(using: &random)!
    if features.contains(.isPlain) && Int.random(in: 0..<4, using: &random) == 0 {
      return Bool.random(using: &random) ? .readPlain : .writePlain
    }
    if features.contains(.isRefused) && Int.random(in: 0..<8, using: &random) == 0 {
      return .mayBeRefused
    }
    switch Int.random(in: 0..<(features.contains(.isSleepy) ? 11 : 7), using: &random) {
    case 0, 1: return .load(word, load)
    case 2, 3: return .store(word, value, store)
    case 4: return .add(word, update)
    case 5: return .exchange(word, value, update)
    case 6:
      return .compareExchange(
        word, Int.random(in: 0...2, using: &random), value, update, load,
        isWeak: Bool.random(using: &random))
    case 7, 8: return .wake(word, all: Bool.random(using: &random))
    case 9: return Bool.random(using: &random) ? .readClock : .sleep(word, nanoseconds: nil)
    default:
      let deadline = Int.random(in: 0..<3, using: &random)
      return .sleep(word, nanoseconds: deadline == 0 ? nil : UInt64(deadline * 5))
    }
  }

  package var description: String {
    "seed \(seed), features \(features.rawValue)\n"
      + threads.map { "  " + $0.map(Self.words).joined(separator: ", ") }.joined(separator: "\n")
  }
}

extension RandomProgram {
  private static func words(_ operation: Operation) -> String {
    "\(operation)".split(separator: "ModelSelfTest.RandomProgram.Operation.").joined()
      .split(separator: "ModelChecker.").joined()
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
