// What no engine can take less than: closures that one thread makes and another calls, and the
// wake-up of a thread. These rows use neither engine.

import Glibc
import Metrics

let floorWorkloads: [Workload] = [closures, wakeUp]

private let closures = Workload("floor/closure/two-word", .fixed(200_000)) { count in
  let list = ClosureList(length: count)
  let tally = Tally()
  let time = together(2) { thread in
    if thread == 1 { return list.runAll() }
    for index in 0..<count { list.append { tally.value &+= index } }
  }
  let sum = count * (count - 1) / 2
  expect(tally.value == sum, "\(tally.value), not \(sum)")
  return Sample(time, per: count)
}

/// The delay from the call that wakes a sleeping thread to what the thread does next.
private let wakeUp = Workload(
  "floor/wake", rows: [Workload.Row("floor/wake/median")], .fixed(200), .shared
) { count in
  let (asked, woken) = (Signal(), Signal())
  let record = Tally()
  let sleeper = startThread {
    for _ in 0..<count {
      asked.wait()
      record.value = Int(now())
      woken.post()
    }
  }
  var delays: [Double] = []
  delays.reserveCapacity(count)
  let start = now()
  for _ in 0..<count {
    // As long as in the rows of the engines.
    sleep(microseconds: 200)
    let askedAt = now()
    asked.post()
    woken.wait()
    delays.append(Double(record.value - Int(askedAt)))
  }
  let time = now() - start
  pthread_join(sleeper, nil)
  return Sample(time, figures: [Distribution(delays).median])
}
