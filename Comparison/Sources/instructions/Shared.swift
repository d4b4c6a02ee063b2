// What the rows share.
import Glibc
import GrandCentral

/// What items write. One item at a time uses it.
final class Counter: @unchecked Sendable {
  var value = 0

  /// Not inlined, because the compiler would compute the sum of a loop without running it.
  @inline(never) func add(_ number: Int) { value &+= number }
}

func serial() -> DispatchQueue { DispatchQueue(label: "serial") }
func concurrent() -> DispatchQueue { DispatchQueue(label: "concurrent", attributes: .concurrent) }

/// Two threads wait for each other in read(2), because such a wait runs no code of the engine.
final class Pipe: Sendable {
  private let ends: (read: Int32, write: Int32)

  init() {
    var made: [Int32] = [0, 0]
    if pipe(&made) != 0 { abort() }
    ends = (made[0], made[1])
  }

  deinit {
    close(ends.read)
    close(ends.write)
  }

  var readEnd: Int32 { ends.read }

  func put() {
    var byte: UInt8 = 0
    if write(ends.write, &byte, 1) != 1 { abort() }
  }

  func get() {
    var byte: UInt8 = 0
    if read(ends.read, &byte, 1) != 1 { abort() }
  }
}

/// Submits items while the first item of `queue` waits, then has one worker drain them.
func drained(_ queue: DispatchQueue, _ submit: () -> Void) {
  let (finished, gate) = (Pipe(), Pipe())
  queue.async(flags: .barrier) {
    finished.put()
    gate.get()
  }
  finished.get()
  submit()
  queue.async(flags: .barrier) { finished.put() }
  gate.put()
  finished.get()
}

/// Items that submit the next one.
final class Chain: @unchecked Sendable {
  let queues: [DispatchQueue]
  let finished = Pipe()
  var left: Int

  init(_ queues: [DispatchQueue], _ count: Int) {
    self.queues = queues
    left = count
  }

  func run() {
    queues[0].async { self.hop() }
    finished.get()
  }

  private func hop() {
    left -= 1
    if left < 0 { return finished.put() }
    queues[left % queues.count].async { self.hop() }
  }
}

/// An hour from the first use. A fixed time of the clock would have passed where the machine runs
/// for longer, and a timer for it would fire.
private let hour = (DispatchTime.now() + 3600).uptimeNanoseconds

func hours(_ number: Int) -> DispatchTime {
  DispatchTime(uptimeNanoseconds: hour + UInt64(number) * 1_000_000_000)
}

let key = DispatchSpecificKey<Int>()

/// An actor on a queue of its own.
actor Tally {
  private let queue = DispatchSerialQueue(label: "tally")
  private var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func add() { count += 1 }
}
