// Room: Pool/WaitClock. How long the oldest has waited of what comes and goes in order, by two
// counters alone: how many came, and how many went. Nodes carry no time, since reading a clock
// costs as much as a submission.

struct WaitClock {
  /// The newest of those whose time is taken. When it has gone, the time begins anew.
  private var newest: UInt32 = 0
  private var waited: UInt64 = 0
  private var isWaiting = false

  /// One look, `elapsed` after the last one. Returns how long the oldest has waited, at least half
  /// of the true time;
  /// `nil`: there is none.
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
