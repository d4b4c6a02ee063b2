// When a worker takes the urgent work of its own items instead of waking another worker for it.
import Testing

@testable import GrandCentralCore

/// A worker's items, each of which submits urgent work.
private final class Items {
  private var wake = DeferredWake()
  private var now: UInt64 = 1_000_000

  /// Runs an item that ends `nanoseconds` after its first submission, and submits again at `later`
  /// times. Returns for each submission whether the wake-up was deferred.
  func run(for nanoseconds: UInt64, later: [UInt64] = []) -> [Bool] {
    var deferred = [wake.defers(at: now)]
    for time in later { deferred.append(wake.defers(at: now + time)) }
    #expect(wake.isPending)
    now += nanoseconds
    wake.itemEnded(at: now)
    #expect(!wake.isPending)
    now += 1000
    return deferred
  }

  func learn() {
    for _ in 0..<DeferredWake.needed { #expect(run(for: 500) == [false]) }
    #expect(run(for: 500) == [true])
  }
}

@Suite("A deferred wake-up") struct DeferredWakeTests {
  private let items = Items()
  private let soon = DeferredWake.soonNanoseconds

  @Test func `comes after items that ended soon`() {
    items.learn()
    for _ in 0..<1000 { #expect(items.run(for: soon - 1) == [true]) }
  }

  @Test func `is over with the first item that lasts`() {
    items.learn()
    #expect(items.run(for: soon) == [true])
    #expect(items.run(for: 500) == [false])
  }

  @Test func `is over within an item that submits for long`() {
    items.learn()
    #expect(items.run(for: soon + 500, later: [soon - 1, soon]) == [true, true, false])
    #expect(items.run(for: 500) == [false])
    for _ in 1..<DeferredWake.needed { _ = items.run(for: 500) }
    #expect(items.run(for: 500) == [true])
  }
}
