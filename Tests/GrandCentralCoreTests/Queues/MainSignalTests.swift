import Testing

@testable import GrandCentralCore

@Suite("The signal of the main queue") struct MainSignalTests {
  private static let all = (UInt32(0)..<8).map(MainSignal.init(rawValue:))

  @Test func `stays set until it is taken`() {
    for signal in Self.all {
      let (announced, _) = signal.announced()
      let (called, _) = signal.called()
      #expect(announced.hasWork && called.hasWork == signal.hasWork)
      #expect(announced.called().0 == called.announced().0)
      #expect(signal.taken() == (.empty, signal.hasWork))
      #expect([announced, called].allSatisfy { $0.isValid && $0 != .empty && $0 != .asleep })
    }
  }

  @Test func `wakes the main thread if it sleeps, and only then`() {
    for signal in Self.all {
      let isAsleep = signal.rawValue & MainSignal.asleep.rawValue != 0
      #expect(signal.announced().wakes == isAsleep && signal.called().wakes == isAsleep)
      #expect(signal.announced().0.announced().wakes == isAsleep)
    }
  }

  @Test func `lets the main thread sleep when no work came`() {
    for signal in Self.all {
      #expect(signal.fellAsleep() == (signal == .empty ? .asleep : nil))
    }
    #expect(!MainSignal(rawValue: 8).isValid)
  }
}
