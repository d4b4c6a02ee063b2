// The machine is tested by programs whose result is known: counters that bend or do not, threads
// that sleep, and runs that must be alike.
import CoreSimulator
import Testing

/// Runs `body` for each of `threads` threads on as many cores, and returns the machine. The first
/// thread waits for all others.
private func simulate(
  threads: Int, cores: Int? = nil, _ body: @escaping (_ number: Int) -> Void
) -> (machine: Machine, nanoseconds: UInt64, problem: String?) {
  let machine = Machine(cores: cores ?? threads + 1)
  var left = threads
  let gate = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
  defer { gate.deallocate() }
  var nanoseconds: UInt64 = 0
  let problem = machine.run(tag: nil) {
    let begin = machine.now
    for number in 0..<threads {
      machine.spawn(tag: nil, isFree: true) {
        body(number)
        left -= 1
        if left == 0 { machine.wake(gate, count: 1) }
      }
    }
    while left > 0 { _ = machine.sleep(on: gate, until: nil) { left > 0 } }
    nanoseconds = machine.now - begin
  }
  return (machine, nanoseconds, problem)
}

/// Words on cache lines of their own, for at most 64 threads.
private final class Words {
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 64, alignment: 64)
  init() { for number in 0..<64 { at(number).initialize(to: Atomic(0)) } }
  deinit { memory.deallocate() }
  func at(_ number: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    (memory + 64 * number).assumingMemoryBound(to: Atomic<Int>.self)
  }
}

private let rounds = 500

/// Adds to a word for each of `shards` groups of threads. Returns additions per microsecond.
private func rate(threads: Int, shards: Int) -> Double {
  let words = Words()
  let (_, nanoseconds, problem) = simulate(threads: threads) { number in
    for _ in 0..<rounds {
      words.at(number % shards).pointee.wrappingAdd(1, ordering: .relaxed)
      Machine.current.compute(nanoseconds: 200)
    }
  }
  #expect(problem == nil)
  let total = (0..<shards).reduce(0) { $0 + words.at($1).pointee.load(ordering: .relaxed) }
  #expect(total == threads * rounds)
  return Double(1000 * total) / Double(nanoseconds)
}

/// One machine at a time, so one test at a time.
@Suite("The simulated machine", .serialized) struct MachineTests {
  @Test func `a counter that all cores share bends`() {
    let (two, sixteen) = (rate(threads: 2, shards: 1), rate(threads: 16, shards: 1))
    #expect(sixteen < 5 * two)
    // A line moves once for each addition, and a move takes 80 ns.
    #expect(sixteen < 1000 / 80)
  }

  @Test func `a counter for each core does not bend`() {
    let (two, sixteen) = (rate(threads: 2, shards: 2), rate(threads: 16, shards: 16))
    #expect(sixteen > 7 * two)
  }

  @Test func `words on one cache line bend as one word does`() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    defer { memory.deallocate() }
    let words = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 16)
    for number in 0..<16 { (words + number).initialize(to: Atomic(0)) }
    let (machine, _, _) = simulate(threads: 8) { number in
      for _ in 0..<100 {
        words[number].wrappingAdd(1, ordering: .relaxed)
        Machine.current.compute(nanoseconds: 50)
      }
    }
    let count = machine.counts.sites.values.first { $0.updates == 800 }
    #expect((count?.transfers ?? 0) > 700)
  }

  @Test func `a line that is only read moves to each core once`() {
    let words = Words()
    let (machine, _, _) = simulate(threads: 8) { _ in
      for _ in 0..<100 { _ = words.at(0).pointee.load(ordering: .relaxed) }
    }
    let count = machine.counts.sites.values.first { $0.loads == 800 }
    #expect(count?.transfers == 7)
  }

  @Test func `a look and an exchange need one move if the line is fetched for writing`() {
    let words = Words()
    let (machine, _, _) = simulate(threads: 8) { _ in
      for _ in 0..<100 {
        let word = words.at(0)
        Machine.current.access(UnsafeRawPointer(word), .store, Site("fetch", 1))
        let seen = word.pointee.load(ordering: .relaxed)
        _ = word.pointee.compareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
      }
    }
    // A thread that fetches the line again while it may keep it just so long loses it between.
    #expect(words.at(0).pointee.load(ordering: .relaxed) > 790, "an exchange seldom fails")
    let exchanges = machine.counts.sites.values.first { $0.updates == 800 }
    #expect(exchanges.map { $0.transfers < 10 } == true)
  }

  @Test func `a failed exchange counts as one`() {
    let words = Words()
    let (machine, _, _) = simulate(threads: 1) { _ in
      let (won, seen) = words.at(0).pointee.compareExchange(
        expected: 1, desired: 2, ordering: .relaxed)
      #expect(!won && seen == 0)
    }
    #expect(machine.counts.sites.values.contains { $0.failures == 1 && $0.updates == 1 })
  }

  @Test func `two runs are alike`() {
    func run() -> UInt64 {
      let words = Words()
      return simulate(threads: 12, cores: 5) { number in
        for round in 0..<200 {
          words.at(round % 3).pointee.wrappingAdd(number, ordering: .relaxed)
        }
      }.nanoseconds
    }
    #expect(run() == run())
  }

  // MARK: Threads

  @Test func `more threads than cores share the cores`() {
    let (machine, nanoseconds, problem) = simulate(threads: 6, cores: 2) { _ in
      for _ in 0..<100 { Machine.current.compute(nanoseconds: 100_000) }
    }
    #expect(problem == nil)
    // 60 ms of work on two cores, and the changes between threads.
    #expect(nanoseconds >= 30_000_000 && nanoseconds < 31_000_000)
    #expect(machine.cores == 2)
  }

  @Test func `a sleep ends with a wake-up`() {
    let words = Words()
    let (machine, _, problem) = simulate(threads: 2) { number in
      if number == 0 {
        let isWoken = Machine.current.sleep(on: words.at(0).pointee.address, until: nil) {
          words.at(0).pointee.load(ordering: .relaxed) == 0
        }
        #expect(isWoken && words.at(0).pointee.load(ordering: .relaxed) == 1)
      } else {
        Machine.current.compute(nanoseconds: 50_000)
        words.at(0).pointee.store(1, ordering: .relaxed)
        Machine.current.wake(words.at(0).pointee.address, count: 1)
      }
    }
    #expect(problem == nil)
    #expect(machine.counts.wakes >= 1)
  }

  @Test func `a sleep ends at its deadline`() {
    let words = Words()
    let (_, nanoseconds, problem) = simulate(threads: 1) { _ in
      let end = Machine.current.now + 1_000_000
      #expect(!Machine.current.sleep(on: words.at(0).pointee.address, until: end) { true })
      #expect(Machine.current.now >= end)
    }
    #expect(problem == nil)
    #expect(nanoseconds >= 1_000_000)
  }

  @Test func `a program in which nothing can happen any more is reported`() {
    let words = Words()
    let (_, _, problem) = simulate(threads: 1) { _ in
      _ = Machine.current.sleep(on: words.at(0).pointee.address, until: nil) { true }
    }
    #expect(problem != nil)
  }

  @Test func `how long a lock was held is kept`() {
    let words = Words()
    let (machine, _, _) = simulate(threads: 1) { _ in
      Machine.current.noteTaken(words.at(0).pointee.address, Site("a lock", 1))
      Machine.current.compute(nanoseconds: 4_000)
      Machine.current.noteReleased(words.at(0).pointee.address)
    }
    #expect(machine.counts.longestHolds.values.contains(4_000))
  }
}
