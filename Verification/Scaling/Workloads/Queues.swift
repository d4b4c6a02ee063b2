// Room: Scaling/Queues. Workloads of serial queues.

extension Workload {
  /// Each queue keeps eight items, as an actor or a connection with some requests in flight does.
  static let chains = Workload(
    name: "chains", summary: "a serial queue for each core; its items submit the next ones to it"
  ) { bench, count in
    let queues = (0..<bench.cores).map { bench.queue($0) }
    bench.expect(bench.cores * count) {
      for queue in queues {
        let chain = Chain(bench, queue, left: count)
        for _ in 0..<min(8, count) { chain.submit() }
      }
    }
  }

  private final class Chain: @unchecked Sendable {
    let bench: Bench
    let queue: DispatchQueue
    var left: Int
    init(_ bench: Bench, _ queue: DispatchQueue, left: Int) {
      (self.bench, self.queue, self.left) = (bench, queue, left)
    }
    func submit() {
      if left == 0 { return }
      left -= 1
      queue.async {
        self.submit()
        self.bench.item()
      }
    }
  }

  static let producers = Workload(
    name: "producers", summary: "half of the cores submit, each to a serial queue of its own",
    producers: .half
  ) { bench, count in
    let threads = max(1, bench.cores / 2)
    let each = bench.cores * count / threads
    bench.expect(threads * each) {
      for number in 0..<threads {
        let queue = bench.queue(number)
        bench.thread { for _ in 0..<each { queue.async { bench.item() } } }
      }
    }
  }

  static let sharedQueue = Workload(
    name: "one queue", summary: "half of the cores submit to one serial queue",
    producers: .half
  ) { bench, count in
    let threads = max(1, bench.cores / 2)
    let each = bench.cores * count / threads
    let queue = bench.queue()
    bench.expect(threads * each) {
      for _ in 0..<threads {
        bench.thread { for _ in 0..<each { queue.async { bench.item() } } }
      }
    }
  }

  static let pairs = Workload(
    name: "pairs", summary: "pairs of serial queues, one for two cores, pass an item to and fro"
  ) { bench, count in
    let pairs = max(1, bench.cores / 2)
    let each = bench.cores * count / pairs
    bench.expect(pairs * each) {
      for number in 0..<pairs {
        Ball(bench, bench.queue(2 * number), bench.queue(2 * number + 1), left: each).pass()
      }
    }
  }

  private final class Ball: @unchecked Sendable {
    let bench: Bench
    let queues: [DispatchQueue]
    var left: Int
    init(_ bench: Bench, _ one: DispatchQueue, _ other: DispatchQueue, left: Int) {
      (self.bench, self.queues, self.left) = (bench, [one, other], left)
    }
    func pass() {
      if left == 0 { return }
      left -= 1
      queues[left % 2].async {
        self.pass()
        self.bench.item()
      }
    }
  }

  static let syncs = Workload(
    name: "sync", summary: "each core calls sync on a queue of its own", producers: .allButOne
  ) { bench, count in
    let threads = max(1, bench.cores - 1)
    let each = bench.cores * count / threads
    bench.expect(threads * each) {
      for number in 0..<threads {
        let queue = bench.queue(number)
        bench.thread { for _ in 0..<each { queue.sync { bench.item() } } }
      }
    }
  }
}
