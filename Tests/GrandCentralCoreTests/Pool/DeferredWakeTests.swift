// When a worker takes the urgent work of its own items instead of waking another worker for it.
import Testing

@testable import GrandCentralCore

@Suite("A deferred wake-up") struct DeferredWakeTests {
  private var wake = DeferredWake()
  private var now: UInt64 = 1_000_000

  /// An item that submits urgent work and ends after `nanoseconds`. Returns whether it deferred.
  private mutating func run(for nanoseconds: UInt64) -> Bool {
    let defers = wake.defers(at: now)
    #expect(wake.isPending)
    now += nanoseconds
    wake.itemEnded(at: now)
    #expect(!wake.isPending)
    now += 1000
    return defers
  }

  private mutating func learn() {
    for _ in 0..<DeferredWake.needed { #expect(!run(for: 500)) }
    #expect(run(for: 500))
  }

  @Test mutating func `comes after items that ended soon`() {
    learn()
    for _ in 0..<1000 { #expect(run(for: DeferredWake.soonNanoseconds - 1)) }
  }

  @Test mutating func `is over with the first item that lasts`() {
    learn()
    #expect(run(for: DeferredWake.soonNanoseconds))
    #expect(!run(for: 500))
    learn()
  }

  @Test mutating func `is over within an item that submits for long`() {
    learn()
    #expect(wake.defers(at: now))
    #expect(wake.defers(at: now + DeferredWake.soonNanoseconds - 1))
    #expect(!wake.defers(at: now + DeferredWake.soonNanoseconds))
    wake.itemEnded(at: now + DeferredWake.soonNanoseconds + 500)
    #expect(!run(for: 500))
  }
}
