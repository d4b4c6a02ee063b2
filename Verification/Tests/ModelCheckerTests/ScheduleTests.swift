import ModelChecker
import Testing

@Suite("What a search tries", .serialized)
struct ScheduleTests {
  @Test(arguments: ["", "1", "1x3.2:1.1:2x4", "7:65535"])
  func `is written as text and read again`(text: String) {
    #expect(Schedule(text)?.description == text)
  }

  @Test(arguments: [
    "x", ":", ".", "1.", "8", "1x", "1x0", "1x-1", "1:", "1:70000", "1x2x3", "1x99999999999", "a",
  ])
  func `is no schedule`(text: String) {
    #expect(Schedule(text) == nil)
  }

  @Test func `includes every way a sleep can end`() {
    let ends = Box<Set<[Int]>>([])
    let found = outcome(options { $0.timeOuts = 1 }) { scene in
      let word = Word()
      let values = Box([0, 0])
      scene.thread { values.value[0] = word.sleep(until: Checker.nanoseconds + 5) ? 1 : 2 }
      scene.thread { word.wake() }
      scene.thread { values.value[1] = Int(Checker.nanoseconds % 1000) }
      scene.finally { ends.value.insert(values.value) }
    }
    #expect(found.isComplete)
    // Woken; or timed out, with the clock read before or after.
    #expect(ends.value == [[1, 0], [2, 0], [2, 5]])
  }

  @Test func `includes spurious wake-ups, refusals and spurious failures of exchanges`() {
    let seen = Box<Set<[Bool]>>([])
    let found = outcome(
      options {
        $0.spuriousWakes = 1
        $0.refusals = 1
        $0.spuriousFailures = 1
      }
    ) { scene in
      let (word, other) = (Word(), Word())
      let values = Box<[Bool]>([])
      scene.thread {
        let isRefused = Checker.mayRefuse()
        _ = word.sleep()
        let fails = !other.value.weakCompareExchange(expected: 0, desired: 1, ordering: .relaxed)
          .exchanged
        values.value = [isRefused, word.value.load(ordering: .relaxed) == 0, fails]
      }
      scene.thread {
        word.value.store(1, ordering: .relaxed)
        word.wake()
      }
      scene.finally { seen.value.insert(values.value) }
    }
    #expect(found.isComplete && found.failure == nil)
    #expect(seen.value.count == 8)
  }

  @Test func `includes a daemon's deadline when no other thread can move`() {
    let found = outcome { scene in
      let (word, timer) = (Word(), Word())
      scene.thread("waiter") { _ = word.sleep() }
      scene.thread("timer", isDaemon: true) {
        _ = timer.sleep(until: Checker.nanoseconds + 100)
        Checker.expect(Checker.nanoseconds % 1000 == 100, "the clock has moved")
        word.value.store(1, ordering: .relaxed)
        word.wake()
      }
    }
    #expect(found.failure == nil)
  }

  @Test func `includes threads that are started before the starter's first step`() {
    let ends = Box<Set<[Int]>>([])
    let found = outcome { scene in
      let word = Word()
      let values = Box([9, 9, 9])
      for place in 0..<2 {
        scene.thread {
          if place == 0 {
            Checker.spawn("late") {
              values.value[2] = word.value.wrappingAdd(1, ordering: .relaxed).oldValue
            }
          }
          values.value[place] = word.value.wrappingAdd(1, ordering: .relaxed).oldValue
        }
      }
      scene.finally { ends.value.insert(values.value) }
    }
    #expect(found.failure == nil && found.isComplete)
    #expect(ends.value.count == 6)
  }

  /// When the threads begin, the stage's clock covers everything that the stage did.
  @Test func `begins after the whole scene is set`() {
    let found = outcome { scene in
      let plain = PlainValue()
      scene.thread { plain.value += 1 }
      plain.value = 5
    }
    #expect(found.failure == nil)
  }
}
