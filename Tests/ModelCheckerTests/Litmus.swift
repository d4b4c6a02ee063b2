// Small programs whose outcomes are known from the memory model, run in every way.
import ModelChecker
import Testing

/// Three words and the registers that the threads of a litmus test read into.
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
  /// The values that each register may have at all; the last values of x and y count as registers
  /// after those of the threads where `showsLast` says so.
  let domains: [[Int]]
  /// What is left out when every load returns the latest value, and when it need not.
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

/// Something that an execution leaves for the test.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
