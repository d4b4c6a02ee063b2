// Room: Reactor/Reactor. What one runtime waits for: descriptors and times.
// Sources and `asyncAfter` use it. What only one kind of source watches is in Sources/Watchers.

final class Reactor: @unchecked Sendable {
  let poller: Poller
  /// One for two CPUs.
  let timerShards: [TimerShard]
  /// The first shard: the timers that wait for each other, and delayed work. Unmanaged, as is what
  /// nextTimerShard() returns: making a timer counts no references of the shards.
  let sharedTimers: Unmanaged<TimerShard>
  let monotonic: Timers
  let wall: Timers
  /// The number of timer sources that threads outside the pool have made, if there are several
  /// shards.
  private let timerSources = Atomic<UInt32>(0)
  let descriptors: DescriptorTable

  /// `shards`: the number of timer shards; a parameter for the models.
  init(pool: Pool, shards: Int? = nil) {
    let poller = Poller(pool: pool)
    let first = TimerShard(poller: poller)
    let count = shards ?? min(16, pool.configuration.width / 2)
    timerShards = [first] + (1..<max(1, count)).map { _ in TimerShard(poller: poller) }
    self.poller = poller
    sharedTimers = Unmanaged.passUnretained(first)
    monotonic = first.monotonic
    wall = first.wall
    descriptors = DescriptorTable(poller: poller)
  }

  /// Chooses the home of a new timer source. A worker that makes a timer for each request always
  /// gets the same one, whose lock then mostly stays with its core. The timers that a program makes
  /// elsewhere, from the main thread for instance, are spread over all shards.
  func nextTimerShard() -> Unmanaged<TimerShard> {
    let count = timerShards.count
    if count == 1 { return sharedTimers }
    let thread = currentThread()
    let number =
      // relaxed: any shard will do.
      thread.pointee.worker != nil
      ? thread.pointee.tid : timerSources.wrappingAdd(1, ordering: .relaxed).newValue
    // Thread ids, as the golden ratio scatters them: they may be at equal distances.
    let scattered = UInt64(number &* 0x9e37_79b9) &* UInt64(count) >> 32
    return Unmanaged.passUnretained(timerShards[Int(scattered)])
  }
}
