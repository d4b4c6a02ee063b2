// Timer sources and `asyncAfter`: the cost of arming and cancelling, lateness, and wake-ups of the
// process. Rows that libuv has too are in WorkloadsLibuv under the same names.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let timerWorkloads: [Workload] = [
  armAndCancel("timers/100k/in-order", shuffled: false, armedTimer),
  armAndCancel("timers/100k/shuffled", shuffled: true, armedTimer),
  // The handler's captures are released on the queue.
  armAndCancel("timers/100k/capturing", shuffled: false) { queue, deadline in
    capturingTimer(on: queue, deadline, Tally())
  },
  // Reschedules one live timer repeatedly.
  Workload("timers/re-arm") { count in
    let queue = DispatchQueue(label: "bench.timers")
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let deadlines = deadlines(after: farTimeouts(256))
    timer.schedule(deadline: deadlines[0])
    timer.setEventHandler { fail("a timer that was due in a minute fired") }
    activateAndWait(timer)
    let time = elapsed {
      for index in 0..<count { timer.schedule(deadline: deadlines[index & 255]) }
      queue.sync {}
    }
    cancelAndWait(timer)
    return Sample(time, per: count)
  },
  lateness,
  wakeUps,
  firing,
  later,
]

private func deadlines(after timeouts: [UInt64]) -> [DispatchTime] {
  let start = DispatchTime.now().uptimeNanoseconds
  return timeouts.map { DispatchTime(uptimeNanoseconds: start + $0 * 1_000_000) }
}

/// Returns when the timer is armed.
private func activateAndWait(_ timer: any DispatchSourceTimer) {
  let armed = Signal()
  timer.setRegistrationHandler { armed.post() }
  timer.activate()
  armed.wait()
}

/// Returns when the timer's cancel handler runs.
private func cancelAndWait(_ timer: any DispatchSourceTimer) {
  let cancelled = Signal()
  timer.setCancelHandler { cancelled.post() }
  timer.cancel()
  cancelled.wait()
}

// MARK: Armed and cancelled

/// Creates and arms all timers, cancels all, and releases all. Both engines arm on their own
/// threads and in order, so the handlers of one more timer show when all timers before it are done.
private func armAndCancel(
  _ name: String, shuffled: Bool,
  _ armedTimer: @escaping @Sendable (DispatchQueue, DispatchTime) -> any DispatchSourceTimer
) -> Workload {
  let rows = [name, "\(name)/arm", "\(name)/cancel"].map { Workload.Row($0) }
  return Workload(name, rows: rows, .exact(100_000), .shared) { count in
    let queue = DispatchQueue(label: "bench.timers")
    let order = order(of: count, shuffled: shuffled)
    let deadlines = deadlines(after: farTimeouts(count))
    var timers: [(any DispatchSourceTimer)?] = Array(repeating: nil, count: count)
    let last = DispatchSource.makeTimerSource(queue: queue)
    last.schedule(deadline: deadlines[0])
    let start = now()
    for index in 0..<count {
      timers[index] = armedTimer(queue, deadlines[index])
    }
    activateAndWait(last)
    let armed = now()
    for index in order {
      timers[index]?.cancel()
      timers[index] = nil
    }
    cancelAndWait(last)
    let end = now()
    let times = [end - start, armed - start, end - armed]
    return Sample(end - start, figures: times.map { Double($0) / Double(count) })
  }
}

private func armedTimer(
  on queue: DispatchQueue, _ deadline: DispatchTime
) -> any DispatchSourceTimer {
  let timer = DispatchSource.makeTimerSource(queue: queue)
  timer.setEventHandler { fail("a timer that was due in a minute fired") }
  timer.schedule(deadline: deadline)
  timer.activate()
  return timer
}

private func capturingTimer(
  on queue: DispatchQueue, _ deadline: DispatchTime, _ tally: Tally
) -> any DispatchSourceTimer {
  let timer = DispatchSource.makeTimerSource(queue: queue)
  timer.setEventHandler { tally.value += 1 }
  timer.schedule(deadline: deadline)
  timer.activate()
  return timer
}

// MARK: Lateness

/// Written on the timer's queue, and read after its last event.
private final class Lateness: @unchecked Sendable {
  @exclusivity(unchecked) var delays: [Double] = []
  let first: UInt64
  let ended = Signal()

  init(from first: UInt64) { self.first = first }

  /// Records a delay for every time the timer was due, even if one event stands for several.
  func note(_ times: UInt, until count: Int) {
    let now = now()
    for _ in 0..<times where delays.count < count {
      let due = first + UInt64(delays.count) * 1_000_000
      expect(now >= due, "fired \(due &- now) ns too early")
      delays.append(Double(now - due))
      if delays.count == count { ended.post() }
    }
  }
}

/// From the due time to the handler's first instruction, each millisecond.
private let lateness = Workload(
  "timers/1ms",
  rows: [Workload.Row("timers/1ms/late/median"), Workload.Row("timers/1ms/late/p99")],
  .fixed(400), .shared
) { count in
  let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "bench.timers"))
  let start = DispatchTime.now() + .milliseconds(5)
  let lateness = Lateness(from: start.uptimeNanoseconds)
  timer.setEventHandler { lateness.note(timer.data, until: count) }
  timer.schedule(deadline: start, repeating: .milliseconds(1))
  let time = elapsed {
    timer.activate()
    lateness.ended.wait()
  }
  cancelAndWait(timer)
  // The handler retains the timer.
  timer.setEventHandler(handler: nil)
  let delay = Distribution(lateness.delays)
  return Sample(time, figures: [delay.median, delay.quantile(0.99)])
}

// MARK: Wake-ups

/// A thousand timers of one second, evenly spread, each with a leeway of 100 ms. If there are fewer
/// wake-ups than timers, the engine has used the leeway to combine them.
private let wakeUps = Workload(
  "timers/leeway", rows: [Workload.Row("timers/leeway/wake-ups", unit: "per s")],
  .exact(1_000), .child
) { count in
  let queue = DispatchQueue(label: "bench.timers")
  let fired = Tally()
  let start = DispatchTime.now() + .milliseconds(100)
  let timers = (0..<count).map { index in
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { fired.value &+= 1 }
    timer.schedule(
      deadline: start + .microseconds(index * 1_000_000 / count), repeating: .seconds(1),
      leeway: .milliseconds(100))
    timer.activate()
    return timer
  }
  // Wait until each has fired once.
  sleep(microseconds: 1_200_000)
  let before = (queue.sync { fired.value }, sleeps(), now())
  sleep(microseconds: 2_000_000)
  let asleep = sleeps() - before.1
  let time = now() - before.2
  let events = queue.sync { fired.value } - before.0
  // Two events per timer, except for those that the leeway moves past either end.
  expect(abs(events - 2 * count) <= count / 2, "\(events) events")
  for timer in timers { timer.cancel() }
  return Sample(time, figures: [Double(asleep) * 1e9 / Double(time)])
}

// MARK: Many that come due

/// Each item writes its own element.
private final class Later: @unchecked Sendable {
  let due: [UInt64]
  let ranAt: UnsafeMutablePointer<UInt64>
  let countdown: Countdown

  /// `count` random times within one second, which begins in `lead` milliseconds.
  init(_ count: Int, lead: UInt64) {
    var random = Random(seed: 3)
    let start = DispatchTime.now().uptimeNanoseconds + lead * 1_000_000
    due = (0..<count).map { _ in start + UInt64.random(in: 0..<1_000_000_000, using: &random) }
    ranAt = .allocate(capacity: count)
    ranAt.initialize(repeating: 0, count: count)
    countdown = Countdown(count)
  }

  deinit { ranAt.deallocate() }

  func run(_ index: Int) {
    ranAt[index] = now()
    countdown.arrive()
  }

  func deadline(_ index: Int) -> DispatchTime { DispatchTime(uptimeNanoseconds: due[index]) }

  /// The delays, in microseconds.
  var delays: Distribution {
    Distribution(
      due.indices.map { index in
        expect(ranAt[index] >= due[index], "one ran before its deadline")
        return Double(ranAt[index] - due[index]) / 1e3
      })
  }

  static func rows(_ name: String) -> [Workload.Row] {
    [
      Workload.Row("\(name)/cpu", unit: "ms"), Workload.Row("\(name)/late/median", unit: "µs"),
      Workload.Row("\(name)/late/p99", unit: "µs"),
    ]
  }

  /// Waits for all items.
  func sample(from start: UInt64, processorTime before: UInt64) -> Sample {
    countdown.wait()
    let used = processorTime() - before
    let delays = delays
    return Sample(
      now() - start, figures: [Double(used) / 1e6, delays.median, delays.quantile(0.99)])
  }
}

/// Processor time from the first call on, because the wall-clock time is fixed. The lateness shows
/// what the engine traded for it.
private let later = Workload("after/100k", rows: Later.rows("after/100k"), .exact(100_000), .child)
{ count in
  let queue = DispatchQueue(label: "bench.later")
  // Late enough that all items are submitted before the first is due.
  let later = Later(count, lead: 500)
  let (start, before) = (now(), processorTime())
  for index in 0..<count {
    queue.asyncAfter(deadline: later.deadline(index)) { later.run(index) }
  }
  return later.sample(from: start, processorTime: before)
}

/// The same with armed timers without leeway, which the engine may not combine.
private let firing = Workload(
  "timers/firing", rows: Later.rows("timers/firing"), .exact(100_000), .child
) { count in
  let queue = DispatchQueue(label: "bench.timers")
  let later = Later(count, lead: 2_000)
  let timers = (0..<count).map { index in
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { later.run(index) }
    timer.schedule(deadline: later.deadline(index))
    timer.activate()
    return timer
  }
  let last = DispatchSource.makeTimerSource(queue: queue)
  last.schedule(deadline: .distantFuture)
  activateAndWait(last)
  let sample = later.sample(from: now(), processorTime: processorTime())
  for timer in timers { timer.cancel() }
  return sample
}

// MARK: Memory

let timerMemoryWorkloads: [Workload] = [
  memory("memory/armed-timer", count: 100_000) { count in
    let queue = DispatchQueue(label: "bench.timers")
    let tally = Tally()
    let deadlines = deadlines(after: farTimeouts(count))
    let last = DispatchSource.makeTimerSource(queue: queue)
    last.schedule(deadline: deadlines[0])
    var timers: [(any DispatchSourceTimer)?] = Array(repeating: nil, count: count)
    let bytes = bytesEach(of: count) {
      for index in 0..<count {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { tally.value &+= 1 }
        timer.schedule(deadline: deadlines[index])
        timer.activate()
        timers[index] = timer
      }
      activateAndWait(last)
    }
    expect(queue.sync { tally.value } == 0, "a timer that was due in a minute fired")
    expect(timers.allSatisfy { $0 != nil }, "a timer is missing")
    return bytes
  },
  memory("memory/pending-after", count: 100_000) { count in
    let queue = DispatchQueue(label: "bench.later")
    let tally = Tally()
    let deadlines = deadlines(after: farTimeouts(count))
    let bytes = bytesEach(of: count) {
      for index in 0..<count { queue.asyncAfter(deadline: deadlines[index]) { tally.value &+= 1 } }
    }
    expect(queue.sync { tally.value } == 0, "an item that was due in a minute ran")
    return bytes
  },
]
