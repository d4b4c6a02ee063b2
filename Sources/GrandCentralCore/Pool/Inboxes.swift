// Room: Pool/Inboxes. The memory of an injector: words that different threads write are on
// different cache lines.

/// The further inboxes of an injector, each on cache lines of its own.
struct Inboxes {
  let count: Int
  private let start: UnsafeMutableRawPointer?
  /// Two cache lines: processors fetch lines in pairs.
  private static var stride: Int { 128 }

  init(count: Int) {
    self.count = count
    guard count > 0 else {
      start = nil
      return
    }
    start = .allocate(byteCount: count * Self.stride, alignment: Self.stride)
    for number in 0..<count { self[number].initialize(to: Atomic(.empty)) }
  }

  func deallocate() {
    for number in 0..<count { self[number].deinitialize(count: 1) }
    start?.deallocate()
  }

  subscript(number: Int) -> UnsafeMutablePointer<Atomic<CountedList>> {
    // SAFETY: there is memory if `count` is not 0.
    (start.unsafelyUnwrapped + number * Self.stride)
      .assumingMemoryBound(to: Atomic<CountedList>.self)
  }
}

/// Keeps what precedes it and what follows on different cache lines. Two lines: processors fetch
/// them in pairs.
struct LineGap {
  private typealias Eighth = (UInt64, UInt64)
  private let bytes: (Eighth, Eighth, Eighth, Eighth, Eighth, Eighth, Eighth, Eighth) = (
    (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)
  )
}
