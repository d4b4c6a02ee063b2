// Room: Primitives/Futex. Sleep while a word holds a value; wake whoever sleeps on it. futex(2).
// A sleep may end for no reason, so every caller re-reads its word in a loop. A wake may name memory
// that has since become something else: it then wakes nobody, or a sleeper that goes back to sleep.
import CLinux

public enum FutexResult: Sendable, Equatable {
  /// Woken, interrupted, or the word had already changed: read it again.
  case recheck
  case timedOut
}

/// Sleeps while `word` holds `expected`, until `deadline` at the longest.
public func futexWait(
  _ word: borrowing Atomic<UInt32>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult {
  withUnsafePointer(to: word) { address in
    futexWait(address: UnsafeRawPointer(address), while: expected, until: deadline)
  }
}

/// Sleeps while the low half of `word` holds `expected`.
// Inlinable, and so is the wake below: not specialised they would look the word's type up, which takes time and, the
// first time, a lock of the Swift runtime.
@inlinable
public func futexWait<Word>(
  lowHalfOf word: borrowing Atomic<Word>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult where Word.AtomicRepresentation == UInt64.AtomicRepresentation {
  withUnsafePointer(to: word) { address in
    futexWait(address: lowHalf(UnsafeRawPointer(address)), while: expected, until: deadline)
  }
}

/// Wakes up to `count` threads that sleep on `word`.
public func futexWake(_ word: borrowing Atomic<UInt32>, count: Int32 = 1) {
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

/// For a lock: no vigil is kept by a thread that may hold another one.
func futexWaitPlainly(_ word: borrowing Atomic<UInt32>, while expected: UInt32) -> FutexResult {
  withUnsafePointer(to: word) {
    sleep(address: UnsafeRawPointer($0), while: expected, until: nil)
  }
}

@usableFromInline
func futexWait(
  address: UnsafeRawPointer, while expected: UInt32, until deadline: Deadline?
) -> FutexResult {
  guard Vigil.isKept, deadline.map({ $0.isFurther(than: Vigil.periodNanoseconds) }) ?? true else {
    return sleep(address: address, while: expected, until: deadline)
  }
  let turn = Deadline.monotonic(
    nanoseconds: Clock.monotonicNanoseconds() + Vigil.periodNanoseconds)
  if sleep(address: address, while: expected, until: turn) == .timedOut { Vigil.attend() }
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
