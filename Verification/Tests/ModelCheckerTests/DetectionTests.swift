import ModelChecker
import Testing

@Suite("A failure", .serialized)
struct DetectionTests {
  @Test func `is a data race, reported with both locations and threads`() {
    let (message, isReplayed) = failure { scene in
      let plain = PlainValue()
      scene.thread("writer") { plain.value = 1 }
      scene.thread("reader") { _ = plain.value }
    }
    #expect(message.contains("Data race"))
    #expect(message.contains("writer") && message.contains("reader"))
    #expect(message.contains("Scenes.swift") || message.contains("DetectionTests.swift"))
    #expect(isReplayed)
  }

  @Test func `is a race that a release and an acquisition would mend`() {
    for ordering in [AtomicStoreOrdering.relaxed, .releasing] {
      let found = outcome(options { $0.isWeak = true }) { scene in
        let (plain, word) = (PlainValue(), Word())
        scene.thread {
          plain.value = 1
          word.value.store(1, ordering: ordering)
        }
        scene.thread { if word.value.load(ordering: .acquiring) == 1 { _ = plain.value } }
      }
      #expect((found.failure != nil) == (ordering.isRelaxed))
    }
  }

  @Test func `is an atomic used before it was published`() {
    let (message, isReplayed) = failure { scene in
      let box = Box<Word?>(nil)
      let flag = Word()
      scene.thread("maker") {
        box.value = Word()
        flag.value.store(1, ordering: .relaxed)
      }
      scene.thread("user") {
        if flag.value.load(ordering: .acquiring) == 1 {
          box.value?.value.store(1, ordering: .relaxed)
        }
      }
    }
    #expect(message.contains("made at") && message.contains("by maker"))
    #expect(isReplayed)
  }

  /// Only the end of the word distinguishes the two orders: both steps before it only read.
  @Test func `is a use after the end, also where the steps alone commute`() {
    let (message, isReplayed) = failure { scene in
      let word = Word()
      let mortal = Box<Word?>(word)
      let signaller = Unmanaged.passUnretained(word)
      scene.thread("signaller") {
        signaller._withUnsafeGuaranteedRef { $0.value.store(1, ordering: .releasing) }
        _ = signaller._withUnsafeGuaranteedRef { $0.value.load(ordering: .relaxed) }
      }
      scene.thread("waiter") {
        let isSet = signaller._withUnsafeGuaranteedRef { $0.value.load(ordering: .acquiring) == 1 }
        if isSet { mortal.value = nil }
      }
    }
    #expect(message.contains("Use after free"))
    #expect(isReplayed)
  }

  @Test func `is a leak`() {
    let (message, _) = failure { scene in
      let word = Word()
      scene.thread { _ = Unmanaged.passRetained(word) }
    }
    #expect(message.contains("Leak: 1 atomic"))
    #expect(outcome { _ in Checker.count(made: 1) }.failure?.message.contains("Leak") == true)
  }

  @Test func `is a deadlock, reported with each sleeping thread and its location`() {
    let (message, isReplayed) = failure { scene in
      let word = Word()
      scene.thread("sleeper") { _ = word.sleep() }
      scene.thread("other") { word.value.store(0, ordering: .relaxed) }
    }
    #expect(message.contains("Deadlock") && message.contains("sleeper sleeps at Scenes.swift"))
    #expect(!message.contains("other sleeps"))
    #expect(isReplayed)
  }

  @Test func `is a lost wake-up`() {
    // The waker wakes first and changes the word afterwards, so the sleeper can miss both.
    let (message, isReplayed) = failure { scene in
      let word = Word()
      scene.thread("sleeper") { _ = word.sleep() }
      scene.thread("waker") {
        word.wake()
        word.value.store(1, ordering: .relaxed)
      }
    }
    #expect(message.contains("that wake-up was lost"))
    #expect(isReplayed)
    let well = outcome { scene in
      let word = Word()
      scene.thread("sleeper") { _ = word.sleep() }
      scene.thread("waker") {
        word.value.store(1, ordering: .relaxed)
        word.wake()
      }
    }
    #expect(well.failure == nil && well.isComplete)
  }

  @Test func `is a livelock`() {
    let (message, isReplayed) = failure(options { $0.maxSteps = 100 }) { scene in
      let word = Word()
      scene.thread { while word.value.load(ordering: .relaxed) == 0 {} }
    }
    #expect(message.contains("Livelock: 100 steps"))
    #expect(isReplayed)
  }

  @Test func `is a trap`() {
    for body in [
      { _ = opaque([1, 2][opaque(2)]) }, { _ = opaque(opaque(Int.max) + opaque(1)) },
      { _ = opaque(opaque(nil as Int?)!) },
    ] as [@Sendable () -> Void] {
      let (message, isReplayed) = failure(options { $0.findsLeaks = false }) { scene in
        scene.thread(nil, body)
      }
      #expect(message.contains("stopped by signal"))
      #expect(isReplayed)
    }
  }

  @Test func `is an overflow of the stack, and deep calls are none`() {
    let (message, isReplayed) = failure { scene in
      scene.thread { _ = recurse(10_000_000) }
    }
    #expect(message.contains("stopped by signal 11"))
    #expect(isReplayed)
    #expect(outcome { scene in scene.thread { _ = recurse(500) } }.failure == nil)
  }

  @Test func `is an expectation that fails in a thread, on the stage and at the end`() {
    #expect(
      failure { scene in scene.thread { Checker.expect(false, "in a thread") } }.message
        .contains("in a thread"))
    #expect(failure { _ in Checker.expect(false, "on the stage") }.message.contains("on the stage"))
    #expect(
      failure { scene in scene.finally { Checker.expect(false, "at the end") } }.message
        .contains("at the end"))
  }

  @Test func `is reported when the scene sleeps or has too many threads`() {
    #expect(failure { _ in _ = Word().sleep() }.message.contains("stage of a model cannot sleep"))
    #expect(
      failure { scene in for _ in 0..<8 { scene.thread {} } }.message.contains("at most 7 threads"))
    #expect(
      failure { _ in
        let word = Word()
        for _ in 0..<70_000 { word.value.store(1, ordering: .relaxed) }
      }.message.contains("more than"))
  }

  @Test func `is reported when the program takes another course`() {
    let count = Box(0)
    let found = outcome { scene in
      let word = Word()
      count.value += 1
      scene.thread {
        for _ in 0..<count.value % 3 { word.value.wrappingAdd(1, ordering: .relaxed) }
      }
      scene.thread { word.value.wrappingAdd(1, ordering: .relaxed) }
    }
    #expect(found.failure?.message.contains("another course") == true)
  }

  @Test func `leaves the checker as it was`() {
    for _ in 0..<50 {
      #expect(failure { scene in scene.thread { _ = Word().sleep() } }.message.contains("Deadlock"))
      #expect(Litmus.table[0].outcomes(isWeak: true) == Litmus.table[0].allowed(isWeak: true))
    }
  }
}

extension AtomicStoreOrdering {
  fileprivate var isRelaxed: Bool { "\(self)" == "\(AtomicStoreOrdering.relaxed)" }
}
