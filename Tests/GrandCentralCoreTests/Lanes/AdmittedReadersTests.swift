// When a queued sync() reader is granted, observed at the moments when the lane's owner sends the
// items behind it to a root that runs nothing by itself.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A reader in line") struct AdmittedReadersTests {
  /// Queues a reader between one item and `items` others. Returns, for each item in order, whether
  /// the reader had been granted when the lane's owner sent the item.
  private func grantedAtSubmissions(items: Int) -> [Bool] {
    let root = CapturingRoot()
    let queue = DispatchQueue(label: "test.readers", attributes: .concurrent, target: root)
    let context = Box<UInt>(0)
    let granted = Log<Bool>()
    let reader = Box<TestThread?>(nil)
    let isOver = Latch()
    @Sendable func note() {
      guard let thread = ThreadContext(bitPattern: context.value) else { return }
      granted.append(Parker.isGranted(thread))
      root.atNextSubmission(note)
    }
    queue.sync(flags: .barrier) {
      // Because work is queued, the reader queues behind it instead of sleeping on the word.
      queue.async {}
      let first = queue.state.load(ordering: .relaxed).pending
      reader.value = TestThread("reader") {
        context.value = UInt(bitPattern: currentThread())
        queue.sync {}
        // A thread that ends gives its context to another one.
        _ = isOver.wait()
      }
      let isInLine = eventually { queue.state.load(ordering: .relaxed).pending != first }
      #expect(isInLine)
      for _ in 0..<items { queue.async {} }
      root.atNextSubmission(note)
    }
    isOver.open()
    #expect(reader.value?.join() == true)
    root.runAll()
    #expect(queue.state.load(ordering: .relaxed) == LaneState(0))
    return granted.all
  }

  @Test func `is not admitted before the owner has released the lane`() {
    #expect(grantedAtSubmissions(items: 3) == [false, false, false, false])
  }

  @Test func `is admitted while the owner is still busy with many items behind it`() {
    let granted = grantedAtSubmissions(items: 3 * Tuning.maxServedBeforeGrant)
    #expect(granted.first == false && granted.last == true)
    // The owner sends items in groups, and grants between two of them.
    let served = Tuning.maxServedBeforeGrant..<Tuning.maxServedBeforeGrant + Tuning.maxCountedAtOnce
    #expect(granted.firstIndex(of: true).map(served.contains) == true)
  }
}
