// Threads that wait while a one-time initialisation runs. The test puts each thread into the
// intended state, so the case does not depend on chance.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("An operation in progress") struct OnceWaitTests {
  @Test(arguments: [0, 100])
  func `makes all other callers sleep until it is done`(spinLimit: Int) throws {
    let word = SharedBox(Atomic<UInt64>(0))
    let hasBegun = Latch()
    let mayEnd = Latch()
    let value = Unguarded(0)
    let runner = TestThread("once.runner") {
      Once.run(word.value, spinLimit: spinLimit) {
        hasBegun.open()
        _ = mayEnd.wait()
        value.value = 42
      }
    }
    #expect(hasBegun.wait())
    let seen = Log<Int>()
    let sleepers = (0..<3).map { number in
      TestThread("once-\(spinLimit)-\(number)") {
        Once.run(word.value, spinLimit: spinLimit) { value.value = -1 }
        seen.append(value.value)
      }
    }
    #expect(eventually { OnceState(rawValue: word.value.load(ordering: .relaxed)).hasWaiters })
    let asleep = eventually {
      processThreads().filter {
        $0.name.hasPrefix("once-\(spinLimit)-") && Process.threadState(UInt32($0.id)) == "S"
      }.count == 3
    }
    #expect(asleep)
    #expect(seen.count == 0)
    mayEnd.open()
    #expect(runner.join())
    #expect(sleepers.allSatisfy { $0.join() })
    #expect(seen.all == [42, 42, 42])
    #expect(word.value.load(ordering: .relaxed) == .max)
  }
}
