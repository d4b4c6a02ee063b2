// Room: Time/DispatchTimeoutResult. How a wait with a deadline ended.

/// How a wait with a deadline ended.
@frozen
public enum DispatchTimeoutResult: Hashable, Sendable {
  /// What was waited for came to pass.
  case success
  /// The deadline came first.
  case timedOut
}
