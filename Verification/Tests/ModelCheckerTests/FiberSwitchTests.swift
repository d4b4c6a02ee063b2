import FiberTests
import Testing

@Suite("A switch of fibers", .serialized)
struct FiberSwitchTests {
  private func words(_ failure: UnsafePointer<CChar>?) -> String? {
    failure.map { String(cString: $0) }
  }

  @Test func `keeps registers, integers and doubles`() {
    #expect(words(gc_test_registers()) == nil)
  }

  @Test func `restarts as often as requested`() { #expect(words(gc_test_many()) == nil) }

  @Test func `keeps the calls of a deep stack`() { #expect(words(gc_test_depth()) == nil) }
}
