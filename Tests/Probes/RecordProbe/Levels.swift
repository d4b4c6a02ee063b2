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

/// Submits items from an item and runs them, all on one worker. Returns the processor time of one
/// item, in nanoseconds; `nil` if another thread ran the last one.
private func measureItems(on queue: DispatchQueue) -> Double? {
  let count = 2000
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var cost: Double?
  DispatchQueue.global().async {
    let thread = pthread_self()
    let begin = processorNanoseconds()
    for _ in 1..<count { queue.async {} }
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
/// Start with GRANDCENTRAL_WIDTH=1.
func levels(rounds: Int) throws {
  let queue = DispatchQueue(label: "measured")
  _ = measureItems(on: queue)
  let board = try BoardFile.open(process: Int(getpid()), forWriting: true)
  for _ in 0..<rounds {
    let costs = try [EventLevel.board, .sampled, .items, .origins].map { level in
      var lease = Lease(board)
      if level != .board { try lease.begin(level) }
      let cost = measureItems(on: queue)
      try lease.end()
      return cost
    }
    if costs.contains(where: { $0 == nil }) { continue }
    print(costs.map { "\($0 ?? 0)" }.joined(separator: " "))
  }
}
