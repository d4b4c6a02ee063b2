// Rules of the modelled machine on which models of the engine rely, each in its smallest form.
import ModelChecker
import Testing

@Suite("The modelled machine", .serialized)
struct RulesTests {
  private func check(isWeak: Bool, _ body: @escaping @Sendable (Scene) -> Void) -> Outcome {
    var options = Options()
    options.isWeak = isWeak
    return Model("rule", body).check(options)
  }

  @Test func `lets a thread start another before its own first step`() {
    let outcome = check(isWeak: false) { scene in
      let word = Word()
      for _ in 0..<2 {
        scene.thread {
          Checker.spawn("child") {
            Checker.spawn("grandchild") { word.count.wrappingAdd(1, ordering: .relaxed) }
            word.count.wrappingAdd(1, ordering: .relaxed)
          }
          word.count.wrappingAdd(1, ordering: .relaxed)
        }
      }
      scene.finally {
        Checker.expect(word.count.load(ordering: .relaxed) == 6, "an addition was lost")
      }
    }
    #expect(outcome.failure == nil)
    #expect(outcome.isComplete)
    // The 6 additions to one word may run in any order, whichever thread started which: 6! orders.
    #expect(outcome.executions == 720)
  }

  @Test func `does not release what comes before an atomic is made`() {
    let outcome = check(isWeak: true) { scene in
      let slot = Slot()
      scene.thread("maker") {
        let word = Word()
        word.plain = 1
        slot.object = word
        slot.isFull.store(true, ordering: .relaxed)
      }
      scene.thread("finder") {
        guard slot.isFull.load(ordering: .relaxed), let word = slot.object else { return }
        _ = word.count.load(ordering: .acquiring)
        Checker.expect(word.plain == 1, "the object is not made")
      }
    }
    #expect(outcome.failure?.message.hasPrefix("Data race") == true)
  }

  private final class Word {
    let count = Atomic<Int>(0)
    @Cell var plain = 0
  }

  private final class Slot {
    let isFull = Atomic<Bool>(false)
    var object: Word?
  }
}
