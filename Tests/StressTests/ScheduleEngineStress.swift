// Parts that the public interface does not show: a test's own pool, and one-time initialisation.
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("The engine's parts under hard schedules", .serialized) struct ScheduleEngineStress {
  @Test(arguments: Schedule.Shape.allCases)
  func `workers park, leave and come back while work trickles in`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "pool")
    defer { schedule.end() }
    _ = Runtime.shared
    // Workers stay idle for 50 µs only, so exits and wake-ups often coincide.
    let pool = Kept.shared.keep(
      Pool(
        Pool.Configuration(
          width: 3, readWidth: nil, softThreads: 8, maxThreads: 8,
          keepAliveNanoseconds: 50_000, searchRounds: 2)))
    let each = schedule.share(of: 3000)
    let ran = Counter()
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let band = Band.allCases.randomElement(using: &random)!
        let isSleeper = random.next() % 32 == 0
        pool.submit(random.next() % 2 == 0 ? .items : .lanes, band) {
          schedule.step(thread << 16 | number)
          if isSleeper {
            Blocking.announced(currentThread()) { schedule.step(number) }
          }
          ran.add()
        }
        schedule.step(&random)
        // From time to time all workers become idle.
        if random.next() % 256 == 0 { sleepMilliseconds(1) }
      }
    }
    #expect(ended)
    #expect(ran.waitForValue(schedule.threads * each), "\(ran.value)")
    #expect(
      eventually {
        let seen = pool.state.load(ordering: .sequentiallyConsistent)
        return seen.active == 0 && seen.searching == 0 && seen.threads == seen.idle
      })
    #expect(!pool.hasWork())
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `two engines run side by side`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "engines")
    defer { schedule.end() }
    let runtimes = (0..<2).map { _ in
      Kept.shared.keep(
        Runtime(
          pool: Pool(
            Pool.Configuration(width: 2, readWidth: nil, softThreads: 6, maxThreads: 6))))
    }
    let queues = runtimes.map { DispatchQueue(label: "schedule.own", target: $0.root(.default)) }
    let counts = [Unguarded(0), Unguarded(0)]
    let each = schedule.share(of: 3000)
    let done = Latch(schedule.threads * each)
    let ended = schedule.run { thread, random in
      for number in 0..<each {
        let first = Int(random.next() % 2)
        schedule.step(&random)
        // From the workers of one pool to those of the other.
        queues[first].async {
          counts[first].value += 1
          schedule.step(thread << 16 | number)
          queues[1 - first].async {
            counts[1 - first].value += 1
            done.open()
          }
        }
      }
    }
    #expect(ended && done.wait())
    let sum = queues[0].sync { counts[0].value } + queues[1].sync { counts[1].value }
    #expect(sum == 2 * schedule.threads * each)
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `what happens once has ended before any caller returns`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "once")
    defer { schedule.end() }
    let words = (0..<stressed(150)).map { _ in OnceCell() }
    let wrong = Counter()
    let ended = schedule.run { _, random in
      for (number, cell) in words.enumerated() {
        schedule.step(&random)
        cell.once.run {
          schedule.step(number)
          cell.value.value += 1
        }
        if cell.value.value != 1 { wrong.add() }
      }
    }
    #expect(ended)
    #expect(wrong.value == 0)
  }
}

private final class OnceCell: Sendable {
  let once = Once()
  let value = Unguarded(0)
}

/// Keeps pools, which live as long as the process, where the leak checker sees them.
private final class Kept: Sendable {
  static let shared = Kept()
  private let values = Log<any Sendable>()

  func keep<Value: Sendable>(_ value: Value) -> Value {
    values.append(value)
    return value
  }
}

extension Pool {
  fileprivate func submit(_ kind: WorkKind, _ band: Band, _ work: @escaping @Sendable () -> Void) {
    let thread = currentThread()
    let node = NodeCache.take(thread)
    node.putClosure(work)
    node.entry = WorkNode.closureEntry
    node.traits = WorkTraits(qos: PackedQoS(band: band))
    submit(node, kind, band: band, from: thread)
  }
}
