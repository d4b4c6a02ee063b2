// Purpose: prints a chapter's lines, and counts its failed checks.

import Synchronization
import TourKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The lines of a chapter. Any thread may print a line; only the main thread makes checks.
// SAFETY: `failures` is only touched by the main thread, which runs the chapter.
public final class ChapterReport: @unchecked Sendable {
  let screen: Screen
  private(set) var failures = 0
  // relaxed: no other memory is read on account of the flag.
  private let isMuted = Atomic(false)

  public init(screen: Screen) {
    self.screen = screen
  }

  func say(_ line: String) {
    put("  \(line)\n")
  }

  /// Prints a line about an event when the event happens.
  func tell(_ line: String) {
    put(screen.dim("    \(line)") + "\n")
  }

  private func put(_ text: String) {
    if !isMuted.load(ordering: .relaxed) { Machine.say(text) }
  }

  /// Prints nothing from now on, because the process is about to exit early.
  func mute() { isMuted.store(true, ordering: .relaxed) }

  /// Blocks for ever if the report is muted: the thread that muted it ends the process. The main
  /// thread calls this at its end.
  func waitIfMuted() {
    while isMuted.load(ordering: .relaxed) { pause() }
  }

  /// Prints whether `claim` held. If it did not, prints `otherwise`, which describes what was seen.
  func check(_ held: Bool, _ claim: String, otherwise: @autoclosure () -> String) {
    if held { return say("\(screen.tick) \(claim)") }
    failures += 1
    say(screen.red("not so: ") + "\(claim): \(otherwise())")
  }
}
