// Purpose: what a chapter prints, and how many of its checks failed.

import TourKit

/// Lines of a chapter. Any thread may say something; checks are the main thread's.
// SAFETY: `failures` is only touched by the main thread, which walks through the chapter.
public final class ChapterReport: @unchecked Sendable {
  let screen: Screen
  private(set) var failures = 0

  public init(screen: Screen) {
    self.screen = screen
  }

  func say(_ line: String) {
    Machine.say("  \(line)\n")
  }

  /// Something that happened, as it happens.
  func tell(_ line: String) {
    Machine.say(screen.dim("    \(line)") + "\n")
  }

  /// Says whether `claim` held, and if not, what was seen instead.
  func check(_ held: Bool, _ claim: String, otherwise: @autoclosure () -> String) {
    if held { return say("\(screen.tick) \(claim)") }
    failures += 1
    say(screen.red("not so: ") + "\(claim): \(otherwise())")
  }
}
