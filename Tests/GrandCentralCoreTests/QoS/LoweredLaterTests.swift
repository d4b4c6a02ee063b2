import CFaults
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("A thread that is lowered later") struct LoweredLaterTests {
  /// The policy and disk priority of the calling thread.
  private static var settings: [Int32] {
    var noted = faults_treatment()
    guard faults_treatment_of(0, &noted) == 0 else { return [] }
    return [noted.policy, noted.io_priority, noted.nice]
  }

  private static var slack: Int64 {
    var noted = faults_treatment()
    return faults_treatment_of(0, &noted) == 0 ? noted.timer_slack_nanoseconds : -1
  }

  /// Calls `body` on a thread of `watcher`'s with its settings at user-initiated and at background.
  private func play(
    _ watcher: Watcher,
    _ body: @escaping @Sendable (ThreadContext, _ high: [Int32], _ low: [Int32]) -> Void
  ) {
    watcher.play { thread in
      ThreadEffects.apply(.background, on: thread)
      let low = Self.settings
      ThreadEffects.apply(.userInitiated, on: thread)
      body(thread, Self.settings, low)
    }
  }

  /// Alternates between the classes until the thread keeps the settings of the higher one. Beside
  /// other programs a stay is now and then not brief.
  private static func alternate(_ thread: ThreadContext) {
    spin {
      ThreadEffects.apply(.userInitiated, on: thread)
      ThreadEffects.apply(.background, on: thread)
      return thread.classInPlace == UInt32(Band.userInitiated.rawValue)
    }
  }

  /// A time at which no stay so far is brief.
  private static var later: UInt64 { Clock.monotonicNanoseconds() + 1_000_000_000 }

  @Test func `has its settings at once until many stays were brief`() {
    play(Watcher()) { thread, high, low in
      // It has risen once before.
      for _ in 1..<BriefStays.needed {
        ThreadEffects.apply(.userInitiated, on: thread)
        #expect(Self.settings == high)
        ThreadEffects.apply(.background, on: thread)
        #expect(Self.settings == low)
      }
    }
  }

  @Test func `keeps them until the monitor finds that it stays`() {
    let watcher = Watcher()
    play(watcher) { thread, high, low in
      Self.alternate(thread)
      #expect(Self.settings == high && watcher.requests.value > 0)
      #expect(!ThreadEffects.isInEffect(.background, on: thread) && !ThreadEffects.isLow(thread))
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later), "it is lowered now")
      #expect(Self.settings == low && ThreadEffects.isLow(thread))
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later), "nothing is left to do")
      ThreadEffects.apply(.userInitiated, on: thread)
      #expect(Self.settings == high)
    }
  }

  @Test func `is left alone while its stay is brief, and lowered at a boundary after that`() {
    play(Watcher()) { thread, high, low in
      Self.alternate(thread)
      let left = thread.shared.effectsLock.withLock { thread.shared.leftAt }
      #expect(ThreadEffects.lowerIfDue(thread, at: left))
      #expect(Self.settings == high)
      spin {
        ThreadEffects.apply(.background, on: thread)
        return Self.settings == low
      }
      #expect(ThreadEffects.isInEffect(.background, on: thread))
    }
  }

  @Test func `needs no system call to rise again`() {
    play(Watcher()) { thread, high, _ in
      Self.alternate(thread)
      ThreadEffects.apply(.userInitiated, on: thread)
      #expect(Self.settings == high && ThreadEffects.isInEffect(.userInitiated, on: thread))
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later) && Self.settings == high)
    }
  }

  @Test(arguments: [Band.utility, .default, .userInitiated])
  func `has the settings that another thread asks for until its next boundary`(_ band: Band) {
    play(Watcher()) { thread, high, low in
      ThreadEffects.apply(band, on: thread)
      let asked = Self.settings
      Self.alternate(thread)
      #expect(ThreadEffects.help(thread, to: band))
      #expect(!ThreadEffects.help(thread, to: band), "it has been helped")
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later), "help lasts until the boundary")
      #expect(Self.settings == asked)
      spin {
        ThreadEffects.apply(.background, on: thread)
        return Self.settings == low
      }
    }
  }

  @Test func `keeps its settings while it rises in part`() {
    play(Watcher()) { thread, _, _ in
      Self.alternate(thread)
      for _ in 0..<4 {
        ThreadEffects.apply(.default, on: thread)
        let begin = thread.shared.leftAt
        let isKept = thread.classInPlace == UInt32(Band.userInitiated.rawValue)
        // The system may stop the test.
        let isBrief = Clock.monotonicNanoseconds() - begin < BriefStays.longestNanoseconds
        #expect(isKept || !isBrief)
        ThreadEffects.apply(.background, on: thread)
      }
    }
  }

  @Test func `rests in the class whose settings it has`() {
    play(Watcher()) { thread, high, _ in
      Self.alternate(thread)
      ThreadEffects.rest(thread)
      #expect(ThreadEffects.isInEffect(.userInitiated, on: thread) && Self.settings == high)
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later) && Self.settings == high)
    }
  }

  @Test func `has its timer slack after its next boundary`() {
    play(Watcher()) { thread, _, _ in
      guard EffectControls.shared.has(.slack) else { return }
      ThreadEffects.apply(.background, on: thread)
      let slack = Self.slack
      Self.alternate(thread)
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later) && Self.slack != slack)
      ThreadEffects.apply(.background, on: thread)
      #expect(Self.slack == slack && ThreadEffects.isInEffect(.background, on: thread))
    }
  }

  @Test func `is lowered for every long item where it rests in between`() {
    play(Watcher()) { thread, _, low in
      ThreadEffects.rest(thread)
      for _ in 0..<2 * BriefStays.maxCount {
        ThreadEffects.apply(.background, on: thread)
        #expect(Self.settings == low)
        let begin = Clock.monotonicNanoseconds()
        spin { Clock.monotonicNanoseconds() - begin >= BriefStays.restNanoseconds }
        ThreadEffects.rest(thread)
      }
    }
  }

  @Test func `keeps its settings for brief items where it rests in between`() {
    play(Watcher()) { thread, _, low in
      ThreadEffects.rest(thread)
      // Beside other programs an item is now and then not brief.
      let hasKept = eventually {
        for _ in 0...BriefStays.needed {
          ThreadEffects.rest(thread)
          ThreadEffects.apply(.background, on: thread)
        }
        return thread.classInPlace == UInt32(Band.default.rawValue)
      }
      #expect(hasKept)
      #expect(!ThreadEffects.lowerIfDue(thread, at: Self.later) && Self.settings == low)
      ThreadEffects.rest(thread)
    }
  }

  @Test func `is low where it was raised and not where it has kept its settings`() {
    play(Watcher()) { thread, _, _ in
      ThreadEffects.apply(.background, on: thread)
      #expect(ThreadEffects.help(thread, to: .userInitiated) && ThreadEffects.isLow(thread))
      ThreadEffects.apply(.userInitiated, on: thread)
      #expect(!ThreadEffects.isLow(thread))
    }
  }

  @Test func `makes threads without the settings that it has kept`() {
    play(Watcher()) { thread, high, _ in
      ThreadEffects.apply(.default, on: thread)
      let plain = Self.settings
      Self.alternate(thread)
      ThreadEffects.withoutEffect(on: thread) { #expect(Self.settings == plain) }
      ThreadEffects.apply(.userInitiated, on: thread)
      #expect(Self.settings == high)
    }
  }

  @Test func `is lowered at once where no monitor could do it`() {
    let watcher = Watcher(isThere: false)
    play(watcher) { thread, high, low in
      for _ in 0..<1000 {
        ThreadEffects.apply(.userInitiated, on: thread)
        #expect(Self.settings == high)
        ThreadEffects.apply(.background, on: thread)
        #expect(Self.settings == low)
      }
    }
  }
}
