// When what a source's handler captures is released.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The end of a source's handler") struct SourceHandlerTests {
  private final class Token: Sendable {
    let released: Number
    init(_ released: Number) { self.released = released }
    deinit { released.add() }
  }

  /// Makes a timer source, which never fires, and sets its handler by `set`; then cancels it while
  /// the thread holds the queue. Returns how many tokens of the handler are released by then.
  private func releasedAtCancel(
    _ released: Number, _ set: (DispatchSource, Token) -> Void
  ) -> Int {
    let queue = DispatchQueue(label: "test.handlers")
    let source = DispatchSource.makeTimerSource(queue: queue)._source
    set(source, Token(released))
    source.activate()
    let now = queue.sync {
      source.cancel()
      return released.now
    }
    #expect(eventually { released.now == 1 })
    return now
  }

  @Test func `waits for the queue, since the program's code may run`() {
    #expect(releasedAtCancel(Number()) { $0.setEventHandler { [token = $1] in _ = token } } == 0)
  }

  @Test func `comes at once if a release runs no code of the program`() {
    let released = releasedAtCancel(Number()) { source, token in
      source.setHandler(.event, toInert: { _ = token })
    }
    #expect(released == 1)
  }

  @Test func `calls an inert handler like another`() {
    let queue = DispatchQueue(label: "test.handlers")
    let source = DispatchSource.makeUserDataAddSource(queue: queue)
    let calls = Latch()
    source._source.setHandler(.event, toInert: { calls.open() })
    source.activate()
    source.add(data: 1)
    #expect(calls.wait())
    source.cancel()
  }
}
