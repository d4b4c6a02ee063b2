// What an analysis finds, in words.

/// Something that hangs, in words.
package struct Finding: Sendable, Equatable {
  package enum Kind: String, Sendable {
    case deadlock = "deadlock"
    case explosion = "thread-explosion"
    case forgottenResume = "forgotten-resume"
    case suspectedDeadlock = "suspected-deadlock"
    case stuckQueue = "stuck-queue"
    case forgottenLeave = "forgotten-leave"
  }
  package let kind: Kind
  /// The threads or the queue: what two findings of one hang have in common.
  package let subject: String
  /// What two findings of one hang, and no others, have in common.
  package var key: String { "\(kind.rawValue) \(subject)" }
  package let headline: String
  package let details: [String]
  /// Whether one of its waits is still shorter than `stuckAfter`. A dump shows a deadlock at once,
  /// because it does not end by itself unless a wait has a limit.
  package var isYoung = false
}
