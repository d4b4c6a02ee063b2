// Items of different classes on queues that wait for each other: every boost ends, no item is lost,
// and no item runs twice.
// Shows contract row G5.
import GrandCentral
import GrandCentralPrimitives
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("Classes under hard schedules", .serialized) struct OverrideStress {
  private static let classes: [DispatchQoS] = [
    .background, .utility, .default, .userInitiated, .userInteractive,
  ]

  /// A tree of serial queues and one concurrent queue; some have a QoS of their own.
  private func tree() -> [DispatchQueue] {
    let bottom = DispatchQueue(label: "override.bottom")
    let own = DispatchQueue(label: "override.own", qos: .utility, target: bottom)
    let plain = DispatchQueue(label: "override.plain", target: bottom)
    let wide = DispatchQueue(label: "override.wide", attributes: .concurrent, target: plain)
    return [bottom, own, plain, wide, DispatchQueue(label: "override.top", target: own)]
  }

  @Test(arguments: Schedule.Shape.allCases)
  func `boosts end`(_ shape: Schedule.Shape) {
    let schedule = Schedule(shape, for: "overrides")
    defer { schedule.end() }
    let queues = tree()
    let each = schedule.share(of: 6000)
    let runs = Counter()
    let tooLow = Counter()
    let expected = Counter()
    let priorities = Log<Band>()
    let ended = schedule.run { number, random in
      for step in 0..<each {
        let queue = queues[Int(random.next() % UInt64(queues.count))]
        let qos = Self.classes[Int(random.next() % 5)]
        let item: @Sendable () -> Void = {
          let thread = currentThread()
          // Boosted or not, an item never runs below its own class.
          if EffectivePriority.of(thread) < PackedQoS(rawValue: thread.pointee.qos).rank {
            tooLow.add()
          }
          schedule.step(number << 16 | step)
          runs.add()
        }
        schedule.step(&random)
        expected.add()
        switch random.next() % 16 {
        case 0, 1: queue.sync(execute: item)
        case 2: queue.async(qos: qos, flags: [.barrier, .enforceQoS], execute: item)
        case 3:
          let work = DispatchWorkItem(qos: qos, block: item)
          queue.async(execute: work)
          work.wait()
        case 4:
          let work = DispatchWorkItem(qos: qos, block: item)
          queue.async(execute: work)
          _ = work.wait(timeout: .now() + .microseconds(50))
        case 5:
          queue.suspend()
          queue.async(qos: qos, execute: item)
          queue.resume()
        case 6:
          // `sync` is called from an item, so that a thread of that class waits.
          DispatchQueue.global(qos: qos.qosClass).async { queue.sync(execute: item) }
        case 7: queue.asyncAndWait(execute: DispatchWorkItem(qos: qos, block: item))
        default: queue.async(qos: qos, execute: item)
        }
      }
      // The thread runs no item, so no boost may remain on it.
      priorities.append(EffectivePriority.of(currentThread()))
    }
    #expect(ended && runs.waitForValue(expected.value))
    #expect(tooLow.value == 0)
    for queue in queues { expectAtRest(queue) }
    #expect(priorities.all == Array(repeating: .default, count: schedule.threads))
  }

  /// Waits until the queue is at rest: leftover nodes run, and holders leave, after their items.
  private func expectAtRest(_ queue: DispatchQueue) {
    #expect(
      eventually { queue.state.load(ordering: .relaxed).rawValue & ~LaneState.targeted == 0 },
      "\(queue.label): \(String(queue.state.load(ordering: .relaxed).rawValue, radix: 16))")
    #expect(
      eventually { queue.drainRequests.load(ordering: .relaxed).rawValue << 32 == 0 },
      "\(queue.label): \(String(queue.drainRequests.load(ordering: .relaxed).rawValue, radix: 16))")
  }
}
