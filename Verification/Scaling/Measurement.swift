// Room: Scaling/Measurement. One run of a workload, and its output as lines of fields.
import CGrandCentralLinux

struct Measurement {
  let workload: Workload
  let cores: Int
  let work: UInt64
  let count: Int

  init(_ workload: Workload, cores: Int, work: UInt64, count: Int) {
    (self.workload, self.cores, self.work, self.count) = (workload, cores, work, count)
  }

  func run() {
    let machine = Machine(cores: cores)
    let context = SimulatedThreads.makeContext()
    context.assumingMemoryBound(to: gc_thread.self).pointee.tid = SimulatedThreads.firstID
    Machine.current = machine
    Machine.tag = context
    let width = max(1, cores - workload.producers.count(of: cores))
    let bench = Bench(cores: cores, width: width, work: work)
    let problem = machine.run(tag: context) {
      // First without counting, until the threads and the memory are there.
      workload.run(bench, max(8, count / 8))
      machine.counts.reset()
      let begin = machine.now
      let before = bench.items
      workload.run(bench, count)
      report(machine, begin: begin, items: bench.items - before)
    }
    if let problem { stopProcess("scaling: \(workload.name) on \(cores) cores: \(problem)") }
  }

  private func report(_ machine: Machine, begin: UInt64, items: Int) {
    let counts = machine.counts
    print("run", items, machine.now - begin, counts.wakes, separator: "\t")
    for (site, count) in counts.sites {
      print(
        "site", "\(site.file):\(site.line)", count.loads, count.stores, count.updates,
        count.failures, count.transfers, count.queued, separator: "\t")
    }
    for (site, longest) in counts.longestHolds {
      print("lock", "\(site.file):\(site.line)", longest, separator: "\t")
    }
  }
}
