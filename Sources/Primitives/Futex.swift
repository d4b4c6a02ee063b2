// Room: Primitives/Futex. Sleeps while a word holds a value, and wakes the threads that sleep on
// it. futex(2).
// A wake-up may be spurious, so every caller reads its word again in a loop. A wake call may name
// memory that has been reused: it then wakes no thread, or one that goes back to sleep.
import CGrandCentralLinux

public enum FutexResult: Sendable, Equatable {
  /// The thread was woken or interrupted, or the word had changed: read it again.
  case recheck
  /// The deadline has passed.
  case timedOut
}

/// Sleeps while `word` holds `expected`, until `deadline` at the latest.
// Inlinable, like the functions below: unspecialised code looks up the type of the word, which
// takes time and, the first time, a lock of the Swift runtime.
@inlinable
public func futexWait<Word>(
  _ word: borrowing Atomic<Word>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult where Word.AtomicRepresentation == UInt32.AtomicRepresentation {
  withUnsafePointer(to: word) { address in
    futexWait(address: UnsafeRawPointer(address), while: expected, until: deadline)
  }
}

/// Sleeps while the low half of `word` holds `expected`, until `deadline` at the latest.
@inlinable
public func futexWait<Word>(
  lowHalfOf word: borrowing Atomic<Word>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult where Word.AtomicRepresentation == UInt64.AtomicRepresentation {
  withUnsafePointer(to: word) { address in
    futexWait(address: lowHalf(UnsafeRawPointer(address)), while: expected, until: deadline)
  }
}

/// Wakes up to `count` threads that sleep on `word`.
@inlinable
public func futexWake<Word>(_ word: borrowing Atomic<Word>, count: Int32 = 1)
where Word.AtomicRepresentation == UInt32.AtomicRepresentation {
  withUnsafePointer(to: word) { gc_futex_wake(UnsafeRawPointer($0), count) }
}

/// Wakes up to `count` threads that sleep on the low half of `word`.
@inlinable
public func futexWake<Word>(lowHalfOf word: borrowing Atomic<Word>, count: Int32 = 1)
where Word.AtomicRepresentation == UInt64.AtomicRepresentation {
  withUnsafePointer(to: word) { gc_futex_wake(lowHalf(UnsafeRawPointer($0)), count) }
}

@inlinable
func lowHalf(_ address: UnsafeRawPointer) -> UnsafeRawPointer {
  #if _endian(little)
    address
  #else
    address + 4
  #endif
}

/// Sleeps for a lock. Never runs retriers, because the thread may hold another lock.
func futexWaitPlainly(_ word: borrowing Atomic<UInt32>, while expected: UInt32) -> FutexResult {
  withUnsafePointer(to: word) {
    sleep(address: UnsafeRawPointer($0), while: expected, until: nil)
  }
}

@usableFromInline
func futexWait(
  address: UnsafeRawPointer, while expected: UInt32, until deadline: Deadline?
) -> FutexResult {
  guard ThreadlessRetry.hasRetriers,
    deadline.map({ $0.isFurther(than: ThreadlessRetry.periodNanoseconds) }) ?? true
  else {
    return sleep(address: address, while: expected, until: deadline)
  }
  let turn = Deadline.monotonic(
    nanoseconds: Clock.monotonicNanoseconds() + ThreadlessRetry.periodNanoseconds)
  if sleep(address: address, while: expected, until: turn) == .timedOut { ThreadlessRetry.retry() }
  return .recheck
}

private func sleep(
  address: UnsafeRawPointer, while expected: UInt32, until deadline: Deadline?
) -> FutexResult {
  let error: Int32
  switch deadline {
  case nil:
    error = gc_futex_wait(address, expected, nil, false)
  case .monotonic(let nanoseconds):
    var when = timespec(nanoseconds: nanoseconds)
    error = gc_futex_wait(address, expected, &when, false)
  case .wall(let nanoseconds):
    var when = timespec(nanoseconds: nanoseconds)
    error = gc_futex_wait(address, expected, &when, true)
  }
  switch error {
  case 0, EAGAIN, EINTR: return .recheck
  case ETIMEDOUT: return .timedOut
  // EINVAL and EFAULT would mean that the engine passed a bad word or time: futex(2), ERRORS.
  default: fatalError("BUG IN GRAND CENTRAL: futex(2) wait returned errno \(error).")
  }
}

extension Deadline {
  fileprivate func isFurther(than nanoseconds: UInt64) -> Bool {
    switch self {
    case .monotonic(let deadline): deadline > Clock.monotonicNanoseconds() + nanoseconds
    case .wall(let deadline): deadline > Clock.wallNanoseconds() + nanoseconds
    }
  }
}

extension timespec {
  fileprivate init(nanoseconds: UInt64) {
    self.init(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
