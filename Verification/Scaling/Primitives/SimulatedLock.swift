// Room: Primitives/Lock, the simulation's side. The protocol of the engine's lock, with the site of
// its caller: the counts then say which lock it was, and how long it was held. It is one word, like
// the real one, so the objects that have locks keep their layout.

public struct Lock: ~Copyable, @unchecked Sendable {
  private let word = Atomic<UInt32>(0)

  public init() {}

  public borrowing func withLock<Result: ~Copyable>(
    file: StaticString = #fileID, line: UInt32 = #line, _ body: () throws -> Result
  ) rethrows -> Result {
    lock(file: file, line: line)
    defer { unlock(file: file, line: line) }
    return try body()
  }

  public borrowing func lock(file: StaticString = #fileID, line: UInt32 = #line) {
    let (won, _) = word.compareExchange(
      expected: 0, desired: 1, ordering: .acquiring, file: file, line: line)
    if !won { lockSlowly(file, line) }
    Machine.current.noteTaken(word.address, Site(file, line))
  }

  public borrowing func tryLock(file: StaticString = #fileID, line: UInt32 = #line) -> Bool {
    guard word.load(ordering: .relaxed, file: file, line: line) == 0 else { return false }
    let (won, _) = word.compareExchange(
      expected: 0, desired: 1, ordering: .acquiring, file: file, line: line)
    if won { Machine.current.noteTaken(word.address, Site(file, line)) }
    return won
  }

  private borrowing func lockSlowly(_ file: StaticString, _ line: UInt32) {
    for _ in 0..<64 {
      spinHint()
      guard word.load(ordering: .relaxed, file: file, line: line) == 0 else { continue }
      let (won, _) = word.compareExchange(
        expected: 0, desired: 1, ordering: .acquiring, file: file, line: line)
      if won { return }
    }
    while word.exchange(2, ordering: .acquiring, file: file, line: line) != 0 {
      _ = futexWaitPlainly(word, while: 2)
    }
  }

  public borrowing func unlock(file: StaticString = #fileID, line: UInt32 = #line) {
    Machine.current.noteReleased(word.address)
    if word.exchange(0, ordering: .releasing, file: file, line: line) == 2 { futexWake(word) }
  }

  borrowing func lockPlainly() { lock() }
  borrowing func unlockPlainly() { unlock() }
}
