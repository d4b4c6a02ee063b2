import Testing

@testable import GrandCentralCore

@Suite("The signal of the main queue") struct MainSignalTests {
  private static let all = (UInt32(0)..<32).map(MainSignal.init(rawValue:)).filter(\.isValid)
  /// The signals of a main thread that lives.
  private static let living = all.filter { $0.rawValue & MainSignal.mainEnded.rawValue == 0 }

  @Test func `stays set until it is taken`() {
    for signal in Self.living {
      let (announced, _) = signal.announced()
      let (called, _) = signal.called()
      #expect(announced.hasWork && called.hasWork == signal.hasWork)
      #expect(announced.called().0 == called.announced().0)
      #expect(signal.taken() == (.empty, signal.hasWork))
      #expect([announced, called].allSatisfy { $0.isValid && $0 != .empty && $0 != .asleep })
    }
  }

  @Test func `wakes the main thread if it sleeps, and only then`() {
    for signal in Self.living {
      let isAsleep = signal.rawValue & MainSignal.asleep.rawValue != 0
      let need: MainSignal.Need = isAsleep ? .wakeMain : .nothing
      #expect(signal.announced().1 == need && signal.called().wakes == isAsleep)
      #expect(signal.announced().0.announced().1 == need)
    }
  }

  @Test func `lets the main thread sleep when no work came`() {
    for signal in Self.all {
      #expect(signal.fellAsleep() == (signal == .empty ? .asleep : nil))
    }
  }

  @Test func `passes each activation to one thread after the end of the main thread`() {
    #expect(Self.living.count == 8 && Self.all.count == 10)
    for signal in Self.all {
      let (ended, hadWork) = signal.ended()
      #expect(ended == .mainEnded && hadWork == signal.hasWork)
      #expect(ended.announced() == (ended, .sendWorker) && !ended.hasWork)
      let (called, wakes) = ended.called()
      #expect(called.isValid && !wakes && called.announced() == (called, .sendWorker))
      // A destructor of the main thread may still look.
      #expect(called.taken() == (ended, false) && ended.taken() == (ended, false))
    }
  }
}
