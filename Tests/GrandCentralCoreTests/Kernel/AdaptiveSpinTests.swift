import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread that polls before it sleeps") struct AdaptiveSpinTests {
  /// The number of `waits` that look before they sleep, if every look fails.
  private func looking(_ waits: Int, _ spin: borrowing AdaptiveSpin) -> Int {
    var looking = 0
    for _ in 0..<waits {
      var hasLooked = false
      let found = spin.look(atMost: 3) {
        hasLooked = true
        return false
      }
      #expect(!found)
      if hasLooked { looking += 1 }
    }
    return looking
  }

  @Test func `polls ever less often while polls fail`() {
    let spin = AdaptiveSpin()
    // A look follows after 1, 3, 7, 15, 31, 63, 63 … waits without one.
    #expect(looking(1 + 1 + 1 + 3 + 1 + 7, spin) == 3)
    #expect(looking(1 + 15 + 1 + 31 + 1 + 63, spin) == 3)
    #expect(looking(10 * 64, spin) == 10)
  }

  @Test func `polls each time after a poll has succeeded`() {
    let spin = AdaptiveSpin()
    _ = looking(1 + 1, spin)
    for _ in 0..<10 {
      var looks = 0
      let found = spin.look(atMost: 3) {
        looks += 1
        return looks == 2
      }
      #expect(found && looks == 2)
      #expect(spin.history == .none)
    }
  }

  @Test func `never polls on one CPU`() {
    let spin = AdaptiveSpin()
    #expect(!spin.look(atMost: 0) { true })
    #expect(spin.history == .none)
  }

  @Test func `keeps its estimate in a semaphore`() {
    // The pools of other tests also write `Spin.isAlone`, so a wait may not look.
    #expect(
      eventually {
        guard Spin.times(5) > 0 else { return true }
        let semaphore = DispatchSemaphore(value: 0, spinLimit: 5)
        for _ in 0..<3 {
          // A wait whose time has passed before it begins does not look.
          let result = semaphore.wait(timeout: .now().advanced(by: .milliseconds(100)))
          guard result == .timedOut else { return false }
        }
        // The three waits looked, slept at once, and looked.
        return semaphore.spin.history.toSkip == 3
      })
  }
}
