// Small random programs over the checker's atomics, to compare what two searches find.
import ModelChecker

/// A straight-line program for each thread.
struct RandomProgram: Sendable, CustomStringConvertible {
  enum Operation: Sendable {
    case load(Int, AtomicLoadOrdering)
    case store(Int, Int, AtomicStoreOrdering)
    case add(Int, AtomicUpdateOrdering)
    case exchange(Int, Int, AtomicUpdateOrdering)
    case compareExchange(Int, Int, Int, AtomicUpdateOrdering, isWeak: Bool)
    /// Sleeps while the word is 0, with a deadline or without one. Only where somebody wakes.
    case sleep(Int, hasDeadline: Bool)
    case wake(Int, all: Bool)
  }

  let words: Int
  let threads: [[Operation]]

  init(seed: UInt64, isSleepy: Bool = false) {
    var random = SplitMix(state: seed)
    words = Int.random(in: 1...3, using: &random)
    let count = Int.random(in: 2...3, using: &random)
    let longest = count == 2 ? 4 : 3
    var threads: [[Operation]] = []
    for _ in 0..<count {
      var operations: [Operation] = []
      for _ in 0..<Int.random(in: 1...longest, using: &random) {
        operations.append(
          Self.operation(words: words, isSleepy: isSleepy, &random))
      }
      threads.append(operations)
    }
    self.threads = threads
  }

  private static func operation(words: Int, isSleepy: Bool, _ random: inout SplitMix) -> Operation {
    let word = Int.random(in: 0..<words, using: &random)
    let value = Int.random(in: 1...2, using: &random)
    let loads: [AtomicLoadOrdering] = [.relaxed, .acquiring, .sequentiallyConsistent]
    let stores: [AtomicStoreOrdering] = [.relaxed, .releasing, .sequentiallyConsistent]
    let updates: [AtomicUpdateOrdering] = [
      .relaxed, .acquiring, .releasing, .acquiringAndReleasing, .sequentiallyConsistent,
    ]
    let update = updates[Int.random(in: 0..<5, using: &random)]
    switch Int.random(in: 0..<(isSleepy ? 10 : 7), using: &random) {
    case 0, 1: return .load(word, loads[Int.random(in: 0..<3, using: &random)])
    case 2, 3: return .store(word, value, stores[Int.random(in: 0..<3, using: &random)])
    case 4: return .add(word, update)
    case 5: return .exchange(word, value, update)
    case 6:
      return .compareExchange(
        word, Int.random(in: 0...2, using: &random), value, update,
        isWeak: Bool.random(using: &random))
    case 7, 8: return .wake(word, all: Bool.random(using: &random))
    default: return .sleep(word, hasDeadline: Bool.random(using: &random))
    }
  }

  var description: String { threads.map { "\($0)" }.joined(separator: "\n") }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}

/// What executions of a program led to.
final class Outcomes: @unchecked Sendable {
  private(set) var all: Set<[Int]> = []
  func insert(_ outcome: [Int]) { all.insert(outcome) }
}

/// What the threads of one execution read.
final class Reads {
  var values: [[Int]]
  let words: [WordBox]
  init(threads: Int, words: Int) {
    values = Array(repeating: [], count: threads)
    self.words = (0..<words).map { _ in WordBox(0) }
  }
}

final class WordBox {
  let word: Atomic<Int>
  init(_ value: Int) { word = Atomic(value) }
}

extension RandomProgram {
  /// Every outcome that a search finds: what each thread read, and the last values. An execution that
  /// cannot end counts as one outcome.
  func outcomes(_ options: Options) -> (Set<[Int]>, Outcome) {
    let outcomes = Outcomes()
    let model = Model("random program") { scene in
      let reads = Reads(threads: threads.count, words: words)
      for (number, operations) in threads.enumerated() {
        scene.thread {
          for operation in operations { perform(operation, reads, number) }
          reads.values[number].append(-1)
        }
      }
      scene.finally {
        let last = reads.words.map { $0.word.load(ordering: .relaxed) }
        outcomes.insert(reads.values.flatMap { $0 } + last)
      }
    }
    let outcome = model.check(options)
    return (outcomes.all, outcome)
  }

  private func perform(_ operation: Operation, _ reads: Reads, _ thread: Int) {
    switch operation {
    case .load(let word, let ordering):
      reads.values[thread].append(reads.words[word].word.load(ordering: ordering))
    case .store(let word, let value, let ordering):
      reads.words[word].word.store(value, ordering: ordering)
    case .add(let word, let ordering):
      reads.values[thread].append(
        reads.words[word].word.wrappingAdd(1, ordering: ordering).oldValue)
    case .exchange(let word, let value, let ordering):
      reads.values[thread].append(reads.words[word].word.exchange(value, ordering: ordering))
    case .compareExchange(let word, let expected, let desired, let ordering, let isWeak):
      let (exchanged, original) =
        isWeak
        ? reads.words[word].word.weakCompareExchange(
          expected: expected, desired: desired, ordering: ordering)
        : reads.words[word].word.compareExchange(
          expected: expected, desired: desired, ordering: ordering)
      reads.values[thread].append(original * 2 + (exchanged ? 1 : 0))
    case .sleep(let word, let hasDeadline):
      let woken = Checker.futexWait(
        reads.words[word].word.modelWord, mask: .max, while: 0,
        until: hasDeadline ? Checker.nanoseconds + 5 : nil)
      reads.values[thread].append(woken ? 101 : 100)
    case .wake(let word, let all):
      Checker.futexWake(reads.words[word].word.modelWord, count: all ? .max : 1)
    }
  }
}
