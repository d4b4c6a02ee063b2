// What an item costs at each level of recording. The levels alternate in one process, so that load
// of the machine falls on all of them alike.
import Glibc
import GrandCentral
import GrandCentralCore
import GrandCentralInside

private func processorNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Work of about a nanosecond a turn.
@inline(never)
private func work(turns: Int) {
  var value = UInt64(turns)
  for _ in 0..<turns { value = value ^ value << 13 ^ value >> 7 }
  if value == 1 { print(value) }
}

/// How many turns take some microseconds.
private func turns(ofMicroseconds microseconds: Int) -> Int {
  let tried = 1_000_000
  let shortest = (0..<20).map { _ in
    let begin = processorNanoseconds()
    work(turns: tried)
    return processorNanoseconds() - begin
  }.min()
  return microseconds * 1000 * tried / Int(shortest ?? 1)
}

/// Submits items from an item and runs them, all on one worker. Returns the processor time of one
/// item, in nanoseconds; `nil` if another thread ran the last one.
private func measureItems(on queue: DispatchQueue, turns: Int) -> Double? {
  let count = turns == 0 ? 2000 : 200
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var cost: Double?
  DispatchQueue.global().async {
    let thread = pthread_self()
    let begin = processorNanoseconds()
    for _ in 1..<count {
      // Not one closure: what captures a number allocates memory.
      if turns == 0 { queue.async {} } else { queue.async { work(turns: turns) } }
    }
    queue.async {
      let end = processorNanoseconds()
      if pthread_equal(pthread_self(), thread) != 0 { cost = Double(end - begin) / Double(count) }
      done.signal()
    }
  }
  done.wait()
  return cost
}

/// Prints a line for each round: nanoseconds of an item, without a recording and at each level.
/// An item works for some microseconds. Start with GRANDCENTRAL_WIDTH=1.
func levels(rounds: Int, microseconds: Int) throws {
  let queue = DispatchQueue(label: "measured")
  let turns = microseconds == 0 ? 0 : turns(ofMicroseconds: microseconds)
  _ = measureItems(on: queue, turns: turns)
  let board = try BoardFile.open(process: Int(getpid()), forWriting: true)
  board.prepareEvents()
  for _ in 0..<rounds {
    let costs = try [EventLevel.board, .sampled, .items, .origins].map { level in
      var lease = Lease(board)
      if level != .board { try lease.begin(level) }
      let cost = measureItems(on: queue, turns: turns)
      try lease.end()
      return cost
    }
    if costs.contains(where: { $0 == nil }) { continue }
    print(costs.map { "\($0 ?? 0)" }.joined(separator: " "))
  }
}
