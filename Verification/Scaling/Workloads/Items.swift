// Room: Scaling/Items. Workloads of concurrent items, groups and timers.

extension Workload {
  static let fanOut = Workload(
    name: "fan-out", summary: "one outside thread submits all items to a global queue",
    producers: .one
  ) { bench, count in
    bench.expect(bench.cores * count) {
      bench.thread {
        for _ in 0..<bench.cores * count { bench.global.async { bench.item() } }
      }
    }
  }

  static let wideFanOut = Workload(
    name: "wide fan-out", summary: "a quarter of the cores submits to one global queue",
    producers: .quarter
  ) { bench, count in
    let threads = max(1, bench.cores / 4)
    let each = bench.cores * count / threads
    bench.expect(threads * each) {
      for _ in 0..<threads {
        bench.thread { for _ in 0..<each { bench.global.async { bench.item() } } }
      }
    }
  }

  static let tree = Workload(
    name: "tree", summary: "a binary tree of items on a global queue; each submits its children"
  ) { bench, count in
    let total = bench.cores * count
    bench.expect(total) { bench.global.async { Workload.grow(total, on: bench) } }
  }

  private static func grow(_ size: Int, on bench: Bench) {
    let left = (size - 1) / 2
    let right = size - 1 - left
    if left > 0 { bench.global.async { grow(left, on: bench) } }
    if right > 0 { bench.global.async { grow(right, on: bench) } }
    bench.item()
  }

  static let bursts = Workload(
    name: "bursts", summary: "items of 20 µs, one for each core, come when all workers sleep"
  ) { bench, count in
    for _ in 0..<max(1, count / 50) {
      bench.expect(bench.cores) {
        for _ in 0..<bench.cores { bench.global.async { bench.item(more: 20_000) } }
      }
      Machine.current.compute(nanoseconds: 200_000)
    }
  }

  static let backlog = Workload(
    name: "backlog", summary: "all workers are busy until the last item is in the injector",
    producers: .one
  ) { bench, count in
    let total = bench.cores * count
    nonisolated(unsafe) var isOpen = false
    bench.expect(total + bench.cores) {
      for _ in 0..<bench.cores {
        bench.global.async {
          while !isOpen { Machine.current.compute(nanoseconds: 1000) }
          bench.item()
        }
      }
      bench.thread {
        for _ in 0..<total { bench.global.async { bench.item() } }
        isOpen = true
      }
    }
  }

  static let groups = Workload(
    name: "groups", summary: "each core submits items of a group of its own, eight at a time"
  ) { bench, count in
    bench.expect(bench.cores * count) {
      for _ in 0..<bench.cores { Rounds(bench, left: count).next() }
    }
  }

  private final class Rounds: @unchecked Sendable {
    let bench: Bench
    let group = DispatchGroup()
    var left: Int
    init(_ bench: Bench, left: Int) { (self.bench, self.left) = (bench, left) }

    func next() {
      let size = min(8, left)
      if size == 0 { return }
      left -= size
      for _ in 0..<size { bench.global.async(group: group) { self.bench.item() } }
      group.notify(queue: bench.global) { self.next() }
    }
  }

  static let timers = Workload(
    name: "timers", summary: "each core arms a timer a second ahead, again and again"
  ) { bench, count in
    bench.expect(bench.cores * count) {
      for number in 0..<bench.cores {
        let queue = bench.queue(number)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler {}
        timer.activate()
        Arming(bench, queue, timer, left: count).next()
      }
    }
  }

  private final class Arming: @unchecked Sendable {
    let bench: Bench
    let queue: DispatchQueue
    let timer: DispatchSourceTimer
    var left: Int
    init(_ bench: Bench, _ queue: DispatchQueue, _ timer: DispatchSourceTimer, left: Int) {
      (self.bench, self.queue, self.timer, self.left) = (bench, queue, timer, left)
    }
    func next() {
      if left == 0 { return timer.cancel() }
      left -= 1
      queue.async {
        let later = DispatchTime.now().uptimeNanoseconds + 1_000_000_000
        self.timer.schedule(deadline: DispatchTime(uptimeNanoseconds: later))
        self.next()
        self.bench.item()
      }
    }
  }
}
