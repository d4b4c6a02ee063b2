// Litmus tests: small programs whose possible outcomes are known from the memory model.
import ModelChecker
import Testing

/// Three words, and the registers into which the threads of a litmus test read.
final class Bench: @unchecked Sendable {
  let x = Atomic<Int>(0)
  let y = Atomic<Int>(0)
  let z = Atomic<Int>(0)
  var registers: [Int]
  init(_ count: Int) { registers = Array(repeating: 0, count: count) }
}

typealias LitmusThread = @Sendable (Bench) -> Void

struct Litmus: Sendable, CustomTestStringConvertible {
  let name: String
  /// The possible values of each register. With `showsLast`, the final values of x and y follow as
  /// two more registers.
  let domains: [[Int]]
  /// The outcomes that are forbidden if every load returns the latest value, and if it need not.
  let strongForbids: Set<[Int]>
  let weakForbids: Set<[Int]>
  let showsLast: Bool
  let threads: [LitmusThread]

  var testDescription: String { name }

  init(
    _ name: String, domains: [[Int]], strong: Set<[Int]>, weak: Set<[Int]>,
    showsLast: Bool = false, _ threads: LitmusThread...
  ) {
    self.name = name
    self.domains = domains
    strongForbids = strong
    weakForbids = weak
    self.showsLast = showsLast
    self.threads = threads
  }

  private var universe: Set<[Int]> {
    var all: Set<[Int]> = [[]]
    for domain in domains {
      all = Set(all.flatMap { known in domain.map { known + [$0] } })
    }
    return all
  }

  func allowed(isWeak: Bool) -> Set<[Int]> {
    universe.subtracting(isWeak ? weakForbids : strongForbids)
  }

  func outcomes(isWeak: Bool, _ strategy: Strategy = .exhaustive) -> Set<[Int]> {
    let found = Box<Set<[Int]>>([])
    let model = Model(name) { scene in
      let bench = Bench(domains.count - (showsLast ? 2 : 0))
      for thread in threads { scene.thread { thread(bench) } }
      scene.finally {
        let last = [bench.x.load(ordering: .relaxed), bench.y.load(ordering: .relaxed)]
        found.value.insert(bench.registers + (showsLast ? last : []))
      }
    }
    var options = Options()
    options.isWeak = isWeak
    options.strategy = strategy
    let outcome = model.check(options)
    if let failure = outcome.failure { found.value.insert([failure.message.count, -99]) }
    return found.value
  }
}

/// A value that an execution leaves for the test.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
