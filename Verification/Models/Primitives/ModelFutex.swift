// Room: Primitives/Futex, the models' side. Sleeps and wake-ups in the checker's futexes.

public enum FutexResult: Sendable, Equatable {
  case recheck
  case timedOut
}

private func wait(
  _ word: Word, mask: UInt64, _ expected: UInt32, _ deadline: Deadline?, _ file: StaticString,
  _ line: UInt32
) -> FutexResult {
  let nanoseconds: UInt64? =
    switch deadline {
    case nil: nil
    case .monotonic(let time), .wall(let time): time
    }
  let isWoken = Checker.futexWait(
    word, mask: mask, while: UInt64(expected), until: nanoseconds, file: file, line: line)
  return isWoken ? .recheck : .timedOut
}

public func futexWait<Value>(
  _ word: borrowing Atomic<Value>, while expected: UInt32, until deadline: Deadline? = nil,
  file: StaticString = #fileID, line: UInt32 = #line
) -> FutexResult where Value: AtomicRepresentable {
  wait(word.modelWord, mask: 0xffff_ffff, expected, deadline, file, line)
}

public func futexWaitPlainly(
  _ word: borrowing Atomic<UInt32>, while expected: UInt32, file: StaticString = #fileID,
  line: UInt32 = #line
) -> FutexResult {
  wait(word.modelWord, mask: 0xffff_ffff, expected, nil, file, line)
}

public func futexWait<Value>(
  lowHalfOf word: borrowing Atomic<Value>, while expected: UInt32,
  until deadline: Deadline? = nil, file: StaticString = #fileID, line: UInt32 = #line
) -> FutexResult where Value: AtomicRepresentable {
  wait(word.modelWord, mask: 0xffff_ffff, expected, deadline, file, line)
}

public func futexWake<Value>(
  _ word: borrowing Atomic<Value>, count: Int32 = 1, file: StaticString = #fileID,
  line: UInt32 = #line
) where Value: AtomicRepresentable {
  Checker.futexWake(word.modelWord, count: Int(count), file: file, line: line)
}

public func futexWake<Value>(
  lowHalfOf word: borrowing Atomic<Value>, count: Int32 = 1, file: StaticString = #fileID,
  line: UInt32 = #line
) where Value: AtomicRepresentable {
  Checker.futexWake(word.modelWord, count: Int(count), file: file, line: line)
}
