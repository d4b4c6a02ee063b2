// Room: IO/IOLimits. The limits of a channel: how much data each handler call receives, and when
// calls are due.
// Each operation keeps the limits that its channel had at its submission.

struct IOLimits: Equatable, Sendable {
  /// The size of one system call in bytes, and the default of the low-water mark.
  static var piece: Int { 1 << 20 }

  /// Invariant: 1 ≤ low ≤ high.
  private(set) var low = IOLimits.piece
  private(set) var high = Int.max
  /// 0 means never.
  private(set) var intervalNanoseconds: Int64 = 0
  private(set) var isStrict = false

  /// Sets the high-water mark; the low-water mark gives way.
  mutating func setHigh(_ bytes: Int) {
    high = Self.count(bytes)
    low = min(low, high)
  }

  mutating func setLow(_ bytes: Int) {
    low = Self.count(bytes)
    high = max(low, high)
  }

  mutating func setInterval(_ interval: DispatchTimeInterval, isStrict: Bool) {
    let nanoseconds = interval.saturatedNanoseconds
    intervalNanoseconds = nanoseconds == .max ? 0 : max(0, nanoseconds)
    self.isStrict = isStrict
  }

  /// Limits for an operation that delivers everything in one call at its end.
  static var unlimited: IOLimits {
    var limits = IOLimits()
    limits.setLow(.max)
    return limits
  }

  /// Converts a length; C passes SIZE_MAX as -1.
  static func length(_ bytes: Int) -> Int { bytes < 0 ? .max : bytes }
  private static func count(_ bytes: Int) -> Int { max(1, length(bytes)) }
}

/// A first-in, first-out list in an array; popFirst() takes amortised constant time.
struct FrontList<Element> {
  private var elements: [Element?] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var first: Element? { isEmpty ? nil : elements[start] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func prepend(_ element: Element) {
    if start == 0 {
      elements.insert(element, at: 0)
    } else {
      start -= 1
      elements[start] = element
    }
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let first = elements[start].take()
    start += 1
    if start == elements.count {
      elements.removeAll(keepingCapacity: start <= 64)
      start = 0
    } else if start >= 64 && start * 2 >= elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return first
  }

  /// Removes and returns the elements that satisfy `isTaken`, in order.
  mutating func take(where isTaken: (Element) -> Bool) -> [Element] {
    let all = elements[start...].compactMap { $0 }
    let taken = all.filter(isTaken)
    if !taken.isEmpty {
      elements = all.filter { !isTaken($0) }
      start = 0
    }
    return taken
  }
}
