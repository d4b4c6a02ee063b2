// Room: Time/TimeLimit. The meaning of a point in time for a thread that is about to sleep.
//   00… uptime │ 10… uptime with sleep, whose 0 is now │ 11… wall clock, negated
//   0 now │ ~0 for ever │ ~1 now
// The clock is read only where the answer depends on it.

/// How long a wait may last.
enum TimeLimit: Equatable, Sendable {
  /// The wait polls once.
  case now
  /// The wait ends at this time, which may be in the past.
  case at(Deadline)
  case forever
}

extension TimeLimit {
  /// Reads a word of the C API, of any clock.
  init(word: dispatch_time_t) {
    switch word {
    case DispatchTime.forever: self = .forever
    case 0, ~1: self = .now
    default:
      switch word >> 62 {
      case 0b11: self = .at(.wall(nanoseconds: 0 &- word))
      // Only in the C API. Converted now to the clock that stands still while the machine sleeps: a
      // later sleep of the machine delays the deadline by its length.
      case 0b10:
        let bootTime = word & (1 << 62 - 1)
        let uptime = Clock.monotonicNanoseconds()
        let (asleep, isEarlier) = Clock.bootNanoseconds().subtractingReportingOverflow(uptime)
        let (start, hasPassed) = bootTime.subtractingReportingOverflow(isEarlier ? 0 : asleep)
        self = bootTime == 0 || hasPassed ? .now : .at(.monotonic(nanoseconds: start))
      default: self = .at(.monotonic(nanoseconds: word & (1 << 62 - 1)))
      }
    }
  }

  /// The deadline for `futexWait`; `nil` for `.forever`.
  var deadline: Deadline? {
    switch self {
    // A time in the past. A wait that must not block may still reach the futex call: another thread
    // may take the permit that it saw before it registers.
    case .now: .monotonic(nanoseconds: 0)
    case .at(let deadline): deadline
    case .forever: nil
    }
  }

  /// Whether no time is left. Reads a clock only for `.at`.
  var hasPassed: Bool {
    switch self {
    case .now: true
    case .forever: false
    case .at(.monotonic(let nanoseconds)): Clock.monotonicNanoseconds() >= nanoseconds
    case .at(.wall(let nanoseconds)): Clock.wallNanoseconds() >= nanoseconds
    }
  }
}

extension DispatchTime {
  var limit: TimeLimit { TimeLimit(word: rawValue) }
}

extension DispatchWallTime {
  var limit: TimeLimit { TimeLimit(word: rawValue) }
}
