import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A nested loop") struct LoneStartTests {
  @Test func `runs short iterations alone, in batches that grow`() {
    #expect(LoneStart.batch(after: 1, remaining: 1_000, spent: 20) == 15)
    #expect(LoneStart.batch(after: 16, remaining: 1_000, spent: 100) == 240)
    #expect(LoneStart.batch(after: 16, remaining: 84, spent: 100) == 84)
  }

  @Test func `asks for help when its time is over`() {
    #expect(LoneStart.batch(after: 1, remaining: 2, spent: LoneStart.nanoseconds) == 0)
    #expect(LoneStart.batch(after: 100, remaining: 1_000, spent: .max) == 0)
  }

  @Test func `runs its last iteration itself`() {
    #expect(LoneStart.batch(after: 1, remaining: 1, spent: .max) == 1)
  }

  @Test func `plans no more iterations than its time allows`() {
    let half = LoneStart.nanoseconds / 2
    #expect(LoneStart.batch(after: 1, remaining: 1_000, spent: half) == 1)
    #expect(LoneStart.batch(after: 5, remaining: 1_000, spent: half) == 5)
    #expect(LoneStart.batch(after: 1, remaining: 1_000, spent: LoneStart.nanoseconds - 1) == 1)
  }

  @Test(arguments: [1, 7, 1 << 20, 1 << 40, Int.max - 2])
  func `plans at least one iteration and no more than remain`(_ ran: Int) {
    let remaining = Int.max - ran
    for spent in [0, 1, 25, LoneStart.nanoseconds - 1] as [UInt64] {
      let batch = LoneStart.batch(after: ran, remaining: remaining, spent: spent)
      #expect(batch >= 1 && batch <= remaining)
    }
  }

  @Test func `runs each iteration once, alone and with help`() {
    let tally = Tally(64 * 200)
    DispatchQueue.concurrentPerform(iterations: 64) { outer in
      DispatchQueue.concurrentPerform(iterations: 200) { inner in
        // Every fourth loop is long.
        if outer % 4 == 0 { spin(nanoseconds: 1_000) }
        tally.add(200 * outer + inner)
      }
    }
    #expect(tally.exceptions.isEmpty)
  }

  @Test(.enabled(if: Runtime.shared.pool.width.load(ordering: .relaxed) > 1, "needs two CPUs"))
  func `has help after a long iteration`() {
    let arrived = [Latch(), Latch()]
    let met = Log<Bool>()
    DispatchQueue.concurrentPerform(iterations: 64) { outer in
      guard outer == 0 else { return }
      DispatchQueue.concurrentPerform(iterations: 3) { inner in
        if inner == 0 { return spin(nanoseconds: 4 * LoneStart.nanoseconds) }
        arrived[inner - 1].open()
        met.append(arrived[2 - inner].wait())
      }
    }
    #expect(met.all == [true, true])
  }

  @Test func `starts alone only inside a loop that uses the width`() {
    let thread = currentThread()
    #expect(!LoneStart.isDue(on: thread))
    let log = Log<Bool>()
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      log.append(LoneStart.isDue(on: currentThread()))
    }
    #expect(log.all == Array(repeating: true, count: 64))
    #expect(!LoneStart.isDue(on: thread))
  }
}

private func spin(nanoseconds: UInt64) {
  let begin = Clock.monotonicNanoseconds()
  while Clock.monotonicNanoseconds() - begin < nanoseconds {}
}
