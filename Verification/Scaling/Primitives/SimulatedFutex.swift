// Room: Primitives/Futex, the simulation's side.

public enum FutexResult: Sendable, Equatable {
  case recheck
  case timedOut
}

private func sleep(
  on address: UnsafeMutableRawPointer, while expected: UInt32, until deadline: Deadline?
) -> FutexResult {
  let time: UInt64? =
    switch deadline {
    case nil: nil
    case .monotonic(let time), .wall(let time): time
    }
  let isWoken = Machine.current.sleep(
    on: address, until: time.map { $0 > 1_000_000_000 ? $0 - 1_000_000_000 : 0 }
  ) { address.load(as: UInt32.self) == expected }
  return isWoken ? .recheck : .timedOut
}

public func futexWait<Value>(
  _ word: borrowing Atomic<Value>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult where Value: AtomicRepresentable {
  sleep(on: word.address, while: expected, until: deadline)
}

public func futexWaitPlainly(
  _ word: borrowing Atomic<UInt32>, while expected: UInt32
) -> FutexResult {
  sleep(on: word.address, while: expected, until: nil)
}

// The low half comes first: only little-endian machines simulate.
public func futexWait<Value>(
  lowHalfOf word: borrowing Atomic<Value>, while expected: UInt32, until deadline: Deadline? = nil
) -> FutexResult where Value: AtomicRepresentable {
  sleep(on: word.address, while: expected, until: deadline)
}

public func futexWake<Value>(_ word: borrowing Atomic<Value>, count: Int32 = 1)
where Value: AtomicRepresentable {
  Machine.current.wake(word.address, count: Int(count))
}

public func futexWake<Value>(lowHalfOf word: borrowing Atomic<Value>, count: Int32 = 1)
where Value: AtomicRepresentable {
  Machine.current.wake(word.address, count: Int(count))
}
