// Closures that are not Sendable: contract row Q24.
import GrandCentral
import Testing

@Suite("asyncUnsafe") struct AsyncUnsafeTests {
  @Test func `takes closures that are not Sendable`() {
    let queue = DispatchQueue(label: "darwin.unsafe")
    var count = 0
    queue.asyncUnsafe { count += 1 }
    queue.asyncUnsafe(flags: .barrier) { count += 1 }
    let total = queue.sync { count }
    #expect(total == 2)
  }
}
