// Groups, semaphores, work items and queue-specific data.

import Metrics

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

let groupWorkloads: [Workload] = [
  Workload("group/enter-leave") { count in
    let group = DispatchGroup()
    let time = elapsed {
      for _ in 0..<count {
        group.enter()
        group.leave()
      }
    }
    expect(group.wait(timeout: .now()) == .success, "the group is not empty")
    return Sample(time, per: count)
  },
  // In batches of a thousand, so that each batch includes a wait but the items dominate.
  Workload("group/async-wait", .fixed(100_000)) { count in
    let queue = DispatchQueue.global()
    let group = DispatchGroup()
    let arrivals = Arrivals()
    let batches = max(1, count / 1_000)
    let time = elapsed {
      for batch in 1...batches {
        for _ in 0..<1_000 { queue.async(group: group) { arrivals.arrive() } }
        group.wait()
        expect(arrivals.count == batch * 1_000, "wait() returned early")
      }
    }
    return Sample(time, per: batches * 1_000)
  },
]

let semaphoreWorkloads: [Workload] = [
  Workload("semaphore/wait-signal") { count in
    let semaphore = DispatchSemaphore(value: 1)
    let time = elapsed {
      for _ in 0..<count {
        semaphore.wait()
        semaphore.signal()
      }
    }
    expect(semaphore.wait(timeout: .now()) == .success, "the value was lost")
    expect(semaphore.wait(timeout: .now()) == .timedOut, "the value grew")
    semaphore.signal()
    return Sample(time, per: count)
  },
  // One operation is a round trip between two threads.
  Workload("semaphore/ping-pong") { count in
    let ping = DispatchSemaphore(value: 0)
    let pong = DispatchSemaphore(value: 0)
    let tally = Tally()
    let time = together(2) { thread in
      for _ in 0..<count {
        if thread == 0 {
          tally.value &+= 1
          ping.signal()
          pong.wait()
        } else {
          ping.wait()
          tally.value &+= 1
          pong.signal()
        }
      }
    }
    expect(tally.value == 2 * count, "\(tally.value) of \(2 * count)")
    return Sample(time, per: count)
  },
]

let workItemWorkloads: [Workload] = [
  Workload("work-item/create-perform") { count in
    let tally = Tally()
    let time = elapsed {
      for _ in 0..<count { DispatchWorkItem { tally.value &+= 1 }.perform() }
    }
    expect(tally.value == count, "\(tally.value) of \(count)")
    return Sample(time, per: count)
  },
  Workload("work-item/async-wait") { count in
    let queue = DispatchQueue(label: "bench.work-item")
    let tally = Tally()
    let time = elapsed {
      for _ in 0..<count {
        let item = DispatchWorkItem { tally.value &+= 1 }
        queue.async(execute: item)
        item.wait()
      }
    }
    expect(tally.value == count, "\(tally.value) of \(count)")
    return Sample(time, per: count)
  },
]

let specificWorkloads: [Workload] = [1, 5].map(readSpecific)

/// Sets the value on the lowest of `depth` queues and reads it from an item of the topmost.
private func readSpecific(depth: Int) -> Workload {
  Workload("specific/\(depth)") { count in
    let key = DispatchSpecificKey<Int>()
    let bottom = DispatchQueue(label: "bench.specific.0")
    bottom.setSpecific(key: key, value: 7)
    var top = bottom
    for level in 1..<max(1, depth) {
      top = DispatchQueue(label: "bench.specific.\(level)", target: top)
    }
    var sum = 0
    let time = top.sync {
      elapsed { for _ in 0..<count { sum &+= DispatchQueue.getSpecific(key: key) ?? 0 } }
    }
    expect(sum == 7 * count, "\(sum) of \(7 * count)")
    return Sample(time, per: count)
  }
}
