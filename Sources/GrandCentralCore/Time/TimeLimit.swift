// Room: Time/TimeLimit. What a point in time means to a thread that is about to sleep.
//   00…  uptime   10…  uptime with sleep, whose 0 is now   11…  wall clock, negated   0, ~0, ~1: now, for ever, now
// The clock is read only where the answer depends on it.

/// How long a wait may last.
enum TimeLimit: Equatable, Sendable {
  /// Not at all: the wait may only look.
  case now
  /// Until then, which may have passed.
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
      // C's alone. Told by the clock that stands still while the machine sleeps, from here on: a sleep that
      // comes later makes it late by its length.
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

  /// For `futexWait`: `nil` for ever.
  var deadline: Deadline? {
    switch self {
    // Long ago. A waiter that must not wait may yet come to sleep, when what it saw was taken by
    // another before it was registered.
    case .now: .monotonic(nanoseconds: 0)
    case .at(let deadline): deadline
    case .forever: nil
    }
  }

  /// Whether there is no time left. Reads a clock only for `.at`.
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
