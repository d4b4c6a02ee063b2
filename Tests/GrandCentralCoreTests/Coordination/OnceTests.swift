// `once`: contract row G3.
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Something that happens once") struct OnceTests {
  @Test func `moves from fresh through running to done`() throws {
    let running = try #require(OnceState.fresh.begun(by: 77))
    #expect(running.runner == 77 && !running.hasWaiters)
    #expect(running.begun(by: 78) == nil)
    let awaited = try #require(running.awaited())
    #expect(awaited.runner == 77 && awaited.hasWaiters)
    #expect(awaited.awaited() == awaited)
    #expect(OnceState.fresh.awaited() == nil)
    #expect(OnceState.done.awaited() == nil)
    #expect(OnceState.done.begun(by: 1) == nil)
    #expect(OnceState.done.rawValue == .max)
    #expect(OnceState.fresh.rawValue == 0)
    #expect(OnceState.done.runner == 0)
  }

  @Test(arguments: [0, 100])
  func `happens once, before any caller returns`(spinLimit: Int) {
    for _ in 0..<200 {
      let word = SharedBox(Atomic<UInt64>(0))
      let cell = UnsafeCell()
      let haveEnded = onThreads(4) { _ in
        Once.run(word.value, spinLimit: spinLimit) {
          for _ in 0..<50 { spinHint() }
          cell.value += 1
        }
        #expect(cell.value == 1)
      }
      #expect(haveEnded)
      #expect(word.value.load(ordering: .relaxed) == .max)
    }
  }

  @Test func `runs nothing the second time`() {
    let once = Once()
    var count = 0
    once.run { count += 1 }
    once.run { count += 1 }
    #expect(count == 1)
  }

  @Test func `recursion stops the process with a message`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let once = SharedBox(Once())
      once.value.run { once.value.run {} }
    }
    #expect(says(result, "BUG IN CLIENT OF GRAND CENTRAL: Recursion in dispatch_once"))
  }
}
