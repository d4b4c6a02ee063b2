// Room: ModelSelfTest/Rehearsal. Runs a random program on the checker's threads and collects the
// outcomes that a search finds. An outcome is what each thread read and the final values; in a
// deadlock, what the threads had read until then; or a data race. All orders of commuting steps
// agree on whether there is a race, but not on how it appears.
package import ModelChecker

/// The outcomes, each with the fewest preemptions that led to it.
package typealias Outcomes = [[Int]: Int]

/// The words that all programs share. An execution that cannot end leaks what its threads hold, so
/// the words outlive all executions. They begin each execution with their initial values.
private struct Words: @unchecked Sendable {
  let words = [WordBox(), WordBox(), WordBox()]
  let plain = Shadow()
}

private final class WordBox {
  let word = Atomic<Int>(0)
}

/// One thread of the program. It outlives executions, so one that cannot end leaks nothing.
private final class Player {
  let program: RandomProgram
  let operations: [RandomProgram.Operation]
  let words: Words
  var late: Player?
  var seen: [Int] = []

  init(_ program: RandomProgram, _ number: Int, _ words: Words) {
    self.program = program
    self.words = words
    operations = program.threads[number]
    seen.reserveCapacity(8)
  }

  func play() {
    for operation in operations { perform(operation) }
    seen.append(-1)
  }

  private func perform(_ operation: RandomProgram.Operation) {
    let words = words.words
    switch operation {
    case .load(let word, let ordering): seen.append(words[word].word.load(ordering: ordering))
    case .store(let word, let value, let ordering):
      words[word].word.store(value, ordering: ordering)
    case .add(let word, let ordering):
      seen.append(words[word].word.wrappingAdd(1, ordering: ordering).oldValue)
    case .exchange(let word, let value, let ordering):
      seen.append(words[word].word.exchange(value, ordering: ordering))
    case .compareExchange(let word, let expected, let desired, let success, let failure, true):
      let (exchanged, original) = words[word].word.weakCompareExchange(
        expected: expected, desired: desired, successOrdering: success, failureOrdering: failure)
      seen.append(original * 2 + (exchanged ? 1 : 0))
    case .compareExchange(let word, let expected, let desired, let success, let failure, false):
      let (exchanged, original) = words[word].word.compareExchange(
        expected: expected, desired: desired, successOrdering: success, failureOrdering: failure)
      seen.append(original * 2 + (exchanged ? 1 : 0))
    default: performOther(operation)
    }
  }

  private func performOther(_ operation: RandomProgram.Operation) {
    switch operation {
    case .sleep(let word, let nanoseconds):
      let woken = Checker.futexWait(
        words.words[word].word.modelWord, mask: .max, while: 0,
        until: nanoseconds.map { Checker.nanoseconds + $0 })
      seen.append(woken ? 101 : 100)
    case .wake(let word, let all):
      Checker.futexWake(words.words[word].word.modelWord, count: all ? .max : 1)
    case .readClock: seen.append(200 + Int(Checker.nanoseconds % 1_000_000))
    case .mayBeRefused: seen.append(Checker.mayRefuse() ? 301 : 300)
    case .readPlain: words.plain.read(Site("plain", 1))
    case .writePlain: words.plain.write(Site("plain", 2))
    case .start:
      if let late { Checker.spawn("late", late.play) }
    default: break
    }
  }
}

/// A program that can run many times.
final class Rehearsal: @unchecked Sendable {
  // One check runs at a time.
  nonisolated(unsafe) private static var words: Words?

  static let race = [-9]

  let program: RandomProgram
  private var players: [Player] = []
  private var last: [Int] = []
  private(set) var outcomes: Outcomes = [:]

  init(_ program: RandomProgram) { self.program = program }

  /// Sets the scene. Makes the players here, because atomics can be made only while a check runs.
  func set(_ scene: Scene) {
    if players.isEmpty {
      let words = Self.words ?? Words()
      Self.words = words
      players = program.threads.indices.map { Player(program, $0, words) }
      for player in players where program.lateThreads > 0 { player.late = players.last }
    }
    last.removeAll(keepingCapacity: true)
    for player in players { player.seen.removeAll(keepingCapacity: true) }
    for player in players.dropLast(program.lateThreads) { scene.thread(nil, player.play) }
    scene.finally { [unowned(unsafe) self] in
      guard let words = Self.words else { return }
      for index in 0..<program.words {
        last.append(words.words[index].word.load(ordering: .relaxed))
      }
    }
  }

  func note(_ ending: Ending) {
    var outcome = last
    if let failure = ending.failure, failure.hasPrefix("Data race") {
      outcome = Self.race
    } else {
      if ending.failure != nil { outcome.append(-8) }
      for player in players { outcome += player.seen }
    }
    outcomes[outcome] = min(outcomes[outcome] ?? .max, ending.preemptions)
  }
}

extension RandomProgram {
  /// Returns every outcome that a search finds.
  package func outcomes(_ strategy: Strategy, maxExecutions: Int = .max) -> (Outcomes, Outcome) {
    let rehearsal = Rehearsal(self)
    var options = Options()
    options.strategy = strategy
    options.isWeak = features.contains(.isWeak)
    options.timeOuts = features.contains(.timesOut) ? 1 : 0
    options.spuriousWakes = features.contains(.wakesForNothing) ? 1 : 0
    options.spuriousFailures = features.contains(.failsForNothing) ? 1 : 0
    options.refusals = features.contains(.isRefused) ? 1 : 0
    options.findsLeaks = false
    options.maxExecutions = maxExecutions
    options.onEnd = { [unowned(unsafe) rehearsal] in rehearsal.note($0) }
    let outcome = Model("random program") { [unowned(unsafe) rehearsal] in rehearsal.set($0) }
      .check(options)
    return (rehearsal.outcomes, outcome)
  }
}
