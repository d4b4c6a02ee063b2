// Room: Pool/RecentHighest. The highest of the numbers that the looks of the monitor found lately.

struct RecentHighest: Equatable {
  /// A number is remembered for one window at least, and less than two if the looks continue.
  let window: UInt64
  /// The highest numbers of this window and of the one before.
  private var current = 0
  private var earlier = 0
  /// When this window ends, in monotonic nanoseconds.
  private var end: UInt64 = 0

  init(window nanoseconds: UInt64) { window = nanoseconds }

  var value: Int { max(current, earlier) }

  mutating func note(_ number: Int, at now: UInt64) {
    if now >= end {
      earlier = now < end + window ? current : 0
      (current, end) = (0, now + window)
    }
    current = max(current, number)
  }
}
