// A thread that takes work of a higher class while it runs beside others: contract row P6.
import CFaults
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread that is raised later") struct RaisedLaterTests {
  /// The slice and disk priority of the calling thread.
  private static var settings: [Int64] {
    var noted = faults_treatment()
    guard faults_treatment_of(0, &noted) == 0 else { return [] }
    return [Int64(noted.io_priority), Int64(noted.slice_nanoseconds)]
  }

  /// Calls `body` on a thread of `watcher`'s in class default, which has run beside others.
  private func play(
    _ watcher: Watcher,
    _ body: @escaping @Sendable (ThreadContext, _ high: [Int64], _ plain: [Int64]) -> Void
  ) {
    watcher.play { thread in
      ThreadEffects.apply(.userInteractive, on: thread)
      let high = Self.settings
      ThreadEffects.apply(.default, on: thread)
      let plain = Self.settings
      #expect(high != plain)
      thread.shared.mayRiseLater = true
      body(thread, high, plain)
    }
  }

  @Test func `has its settings when the monitor finds it there twice`() {
    let watcher = Watcher()
    play(watcher) { thread, high, plain in
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(Self.settings == plain && watcher.requests.value == 1)
      #expect(ThreadEffects.raiseIfDue(thread, isDue: false) && Self.settings == plain)
      #expect(!ThreadEffects.raiseIfDue(thread, isDue: true) && Self.settings == high)
      #expect(ThreadEffects.isInEffect(.userInteractive, on: thread))
      #expect(!ThreadEffects.raiseIfDue(thread, isDue: true), "nothing is left to do")
    }
  }

  @Test func `has none to undo after a short item`() {
    play(Watcher()) { thread, _, plain in
      ThreadEffects.apply(.userInteractive, on: thread)
      ThreadEffects.apply(.default, on: thread)
      #expect(ThreadEffects.isInEffect(.default, on: thread) && Self.settings == plain)
      #expect(!ThreadEffects.raiseIfDue(thread, isDue: true) && Self.settings == plain)
    }
  }

  @Test func `rests in class default`() {
    play(Watcher()) { thread, _, plain in
      ThreadEffects.apply(.userInteractive, on: thread)
      ThreadEffects.rest(thread)
      #expect(ThreadEffects.isInEffect(.default, on: thread) && Self.settings == plain)
      #expect(!ThreadEffects.raiseIfDue(thread, isDue: true) && Self.settings == plain)
    }
  }

  @Test func `is not lowered later any more`() {
    play(Watcher()) { thread, _, plain in
      // Until it has kept the settings of default.
      spin {
        ThreadEffects.apply(.background, on: thread)
        let isKept = ThreadEffects.isKept(thread)
        if !isKept { ThreadEffects.apply(.default, on: thread) }
        return isKept
      }
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(!ThreadEffects.lowerIfDue(thread, at: .max) && Self.settings == plain)
      #expect(ThreadEffects.raiseIfDue(thread, isDue: false))
    }
  }

  @Test func `is raised at once by another thread`() {
    play(Watcher()) { thread, high, _ in
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(ThreadEffects.help(thread, to: .userInitiated) && Self.settings == high)
      #expect(!ThreadEffects.help(thread, to: .userInteractive), "it is there")
    }
  }

  @Test(arguments: [Band.background, .utility])
  func `is raised at once from a lower class`(_ band: Band) {
    play(Watcher()) { thread, high, _ in
      ThreadEffects.apply(band, on: thread)
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(Self.settings == high)
    }
  }

  @Test func `is raised at once where there is no monitor`() {
    play(Watcher(isThere: false)) { thread, high, _ in
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(Self.settings == high && !ThreadEffects.raiseIfDue(thread, isDue: true))
    }
  }

  @Test func `is raised at once for the first item after a sleep, or where others do not compute`()
  {
    play(Watcher()) { thread, high, _ in
      thread.shared.mayRiseLater = false
      ThreadEffects.apply(.userInteractive, on: thread)
      #expect(Self.settings == high)
    }
  }
}
