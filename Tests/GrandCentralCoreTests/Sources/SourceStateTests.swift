import Testing

@testable import GrandCentralCore

@Suite("The state word of a source") struct SourceStateTests {
  static let all = (UInt32(0)..<1 << 6).map(SourceState.init).filter(\.isValid)

  @Test func `has no replacement without an adopted handler`() {
    #expect(Self.all.count == 48)
    #expect(!SourceState(rawValue: SourceState.replaced).isValid)
    #expect(!SourceState(rawValue: 1 << 6).isValid)
  }

  @Test(arguments: all) func `stays valid through every transition`(state: SourceState) {
    let next = [
      state.starting()?.next, state.cancelling()?.next, state.registering()?.next,
      state.registered(), state.afterFork(), state.signalled()?.next, state.beginningEvent()?.next,
      state.adopting(hasHandler: true), state.adopting(hasHandler: false), state.replacing(),
    ]
    for case let next? in next { #expect(next.isValid, "\(state) → \(next)") }
  }

  @Test(arguments: all) func `starts once`(state: SourceState) {
    guard let (next, outcome) = state.starting() else {
      #expect(state.isStarted)
      return
    }
    #expect(!state.isStarted && next.isStarted && next.starting() == nil)
    #expect(next.rawValue == state.rawValue | SourceState.started)
    let expected: SourceState.Start =
      state.isCancelled
      ? .isOver
      : state.mayRegister ? .registers(sends: state.isQueued) : .monitors(sends: state.isQueued)
    #expect(outcome == expected)
  }

  @Test(arguments: all) func `is cancelled once`(state: SourceState) {
    guard let (next, wasStarted) = state.cancelling() else {
      #expect(state.isCancelled)
      return
    }
    #expect(!state.isCancelled && wasStarted == state.isStarted && next.cancelling() == nil)
    #expect(next.rawValue == state.rawValue | SourceState.cancelled)
  }

  @Test(arguments: all) func `sends one node for events, between start and cancellation`(
    state: SourceState
  ) {
    guard let (next, sends) = state.signalled() else {
      Issue.record("a signal was refused")
      return
    }
    #expect(next.rawValue == state.rawValue | SourceState.queued)
    #expect(sends == (state.isStarted && !state.isCancelled && !state.isQueued))
    #expect(next.signalled()?.outcome == false)
  }

  @Test(arguments: all) func `runs an event with the lane's handler only if nothing else is known`(
    state: SourceState
  ) {
    guard let (next, event) = state.beginningEvent() else {
      Issue.record("an event was refused")
      return
    }
    #expect(next.rawValue == state.rawValue & ~SourceState.queued)
    let isPlain = state.isAdopted && !state.isReplaced && !state.mayRegister
    #expect(event == (state.isCancelled ? .stops : isPlain ? .runs : .runsAfterLook))
  }

  @Test(arguments: all) func `changes one bit with a registration handler`(state: SourceState) {
    #expect(state.registering()?.next.mayRegister == true)
    #expect(state.registering()?.outcome == state.isStarted)
    #expect(state.registered()?.rawValue == state.rawValue & ~SourceState.registers)
    #expect(state.afterFork()?.rawValue == state.rawValue & ~SourceState.queued)
  }

  @Test(arguments: all) func `keeps a replacement until the lane adopts it`(state: SourceState) {
    let handlerBits = SourceState.adopted | SourceState.replaced
    #expect((state.replacing() == nil) == !state.isAdopted)
    if let marked = state.replacing() { #expect(marked.isReplaced && marked.isAdopted) }
    for hasHandler in [true, false] {
      guard let next = state.adopting(hasHandler: hasHandler) else {
        Issue.record("an adoption was refused")
        return
      }
      #expect(next.isAdopted == hasHandler && !next.isReplaced)
      #expect(next.rawValue & ~handlerBits == state.rawValue & ~handlerBits)
    }
  }
}
