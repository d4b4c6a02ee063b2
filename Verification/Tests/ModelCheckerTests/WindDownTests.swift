// Daemons that sleep when all other threads have finished.
import ModelChecker
import Testing

@Suite("A daemon that is left asleep", .serialized)
struct WindDownTests {
  private final class Word {
    let word = Atomic<UInt32>(0)
  }

  private final class Held {
    init() { Checker.count(made: 1) }
    deinit { Checker.count(made: -1) }
  }

  private func outcome(until deadline: UInt64?) -> Outcome {
    Model("a daemon holds something and sleeps") { scene in
      let word = Word()
      scene.thread("daemon", isDaemon: true) {
        let held = Held()
        withExtendedLifetime(held) {
          while Checker.futexWait(
            word.word.modelWord, mask: 0xffff_ffff, while: 0, until: deadline)
          {}
        }
      }
      scene.thread("other") { word.word.store(0, ordering: .relaxed) }
    }.check()
  }

  @Test func `comes to its end by its deadline`() {
    let outcome = outcome(until: .max)
    #expect(outcome.failure == nil)
    #expect(outcome.isComplete)
  }

  @Test func `leaks what it holds without one`() {
    #expect(outcome(until: nil).failure?.message.hasPrefix("Leak") == true)
  }
}
