// Room: Pool/WaitClock. Measures how long the oldest node of a FIFO queue has waited, by two
// counters: nodes that came, and nodes that went. Nodes carry no time stamp, because reading a
// clock costs as much as a submission.

struct WaitClock {
  /// The newest node when the measurement began. When it has gone, the measurement begins anew.
  private var newest: UInt32 = 0
  private var waited: UInt64 = 0
  private var isWaiting = false

  /// Takes one look, `elapsed` nanoseconds after the last one. Returns how long the oldest node has
  /// waited; `nil`: none waits. While a node waits for a time T, some look returns at least T/2.
  mutating func look(came: UInt32, went: UInt32, elapsed: UInt64) -> UInt64? {
    guard came != went else {
      isWaiting = false
      return nil
    }
    if isWaiting && Int32(bitPattern: newest &- went) > 0 {
      waited += elapsed
    } else {
      isWaiting = true
      newest = came
      waited = elapsed
    }
    return waited
  }
}
