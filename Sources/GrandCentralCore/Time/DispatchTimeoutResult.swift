// Room: Time/DispatchTimeoutResult. The result of a wait with a deadline.

/// The result of a wait with a deadline.
///
/// - Source: Apple, Dispatch, `DispatchTimeoutResult`.
@frozen
public enum DispatchTimeoutResult: Hashable, Sendable {
  /// The wait ended because its condition became true.
  case success
  /// The deadline came first.
  case timedOut
}
