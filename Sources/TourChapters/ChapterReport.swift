// Purpose: what a chapter prints, and how many of its checks failed.

import Synchronization
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lines of a chapter. Any thread may say something; checks are the main thread's.
// SAFETY: `failures` is only touched by the main thread, which walks through the chapter.
public final class ChapterReport: @unchecked Sendable {
  let screen: Screen
  private(set) var failures = 0
  // relaxed: nothing is read on its account.
  private let isMuted = Atomic(false)

  public init(screen: Screen) {
    self.screen = screen
  }

  func say(_ line: String) {
    put("  \(line)\n")
  }

  /// Something that happened, as it happens.
  func tell(_ line: String) {
    put(screen.dim("    \(line)") + "\n")
  }

  private func put(_ text: String) {
    if !isMuted.load(ordering: .relaxed) { Machine.say(text) }
  }

  /// The process is about to leave in the middle: nothing more is said.
  func mute() { isMuted.store(true, ordering: .relaxed) }

  /// For the main thread at its end: whoever has muted the report ends the process.
  func waitIfMuted() {
    while isMuted.load(ordering: .relaxed) { pause() }
  }

  /// Says whether `claim` held, and if not, what was seen instead.
  func check(_ held: Bool, _ claim: String, otherwise: @autoclosure () -> String) {
    if held { return say("\(screen.tick) \(claim)") }
    failures += 1
    say(screen.red("not so: ") + "\(claim): \(otherwise())")
  }
}
