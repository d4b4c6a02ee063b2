// Purpose: priority inversions made on purpose. A queue holds background work while utility work
// keeps every processor busy. Then an urgent item needs the queue, by `async` or by `sync`. The
// scene measures how long the item waits.

import TourKit

#if GRAND_CENTRAL
  import GrandCentral
#else
  import Dispatch
#endif

final class InversionScene: Sendable {
  private static let itemsAhead = 4
  private static let itemMilliseconds = 5

  private let pieces: FilePieces

  init(_ pieces: FilePieces) { self.pieces = pieces }

  func play(into report: inout SceneReport) {
    // The duration of the background work without any load.
    play("alone", submitAsynchronously, into: &report)
    let load = EndlessScan(pieces, at: .utility)
    play("async", submitAsynchronously, into: &report)
    play("sync", waitSynchronously, into: &report)
    report.counts["load-changed"] = load.end().changed
  }

  private func play(
    _ name: String, _ hurry: (InvertedQueue) -> Void, into report: inout SceneReport
  ) {
    var times: [UInt64] = []
    var (inOrder, changed, disguised) = (0, 0, 0)
    for _ in 0..<Scene.rounds {
      let inverted = InvertedQueue()
      for number in 0..<Self.itemsAhead {
        inverted.queue.async(qos: .background) { [pieces] in
          let part = pieces.scan(from: number, processorMilliseconds: Self.itemMilliseconds)
          inverted.ran(number, changed: part.changed)
        }
      }
      hurry(inverted)
      inverted.isReached.wait()
      let seen = inverted.seen
      times.append(seen.nanoseconds)
      if seen.order.elementsEqual(0...Self.itemsAhead) { inOrder += 1 }
      changed += seen.changed
      disguised += seen.disguised
    }
    report.times[name] = times
    report.counts["\(name)-in-order"] = inOrder
    report.counts["\(name)-changed"] = changed
    report.counts["\(name)-disguised"] = disguised
  }

  private func submitAsynchronously(_ inverted: InvertedQueue) {
    let calledAt = Machine.nanoseconds
    inverted.queue.async(qos: .userInitiated) {
      inverted.reached(Self.itemsAhead, after: Machine.nanoseconds - calledAt)
    }
  }

  private func waitSynchronously(_ inverted: InvertedQueue) {
    DispatchQueue.global(qos: .userInitiated).async {
      let calledAt = Machine.nanoseconds
      inverted.queue.sync {
        inverted.reached(Self.itemsAhead, after: Machine.nanoseconds - calledAt)
      }
    }
  }
}

/// The queue that the urgent work needs, and the observations of its items.
// SAFETY: `seen` is only touched by items of `queue`, and by the waiter after the last of them.
private final class InvertedQueue: @unchecked Sendable {
  struct Seen {
    var order: [Int] = []
    var changed = 0
    /// The number of background items that saw a class above background.
    var disguised = 0
    var nanoseconds: UInt64 = 0
  }

  let queue = DispatchQueue(label: "tour.inverted")
  let isReached = DispatchSemaphore(value: 0)
  private(set) var seen = Seen()

  /// Records the end of background item `number`.
  func ran(_ number: Int, changed: Int) {
    seen.order.append(number)
    seen.changed += changed
    #if GRAND_CENTRAL
      // By the last item, the urgent work waits. It boosts the thread, but not the item's class.
      if DispatchQoS.QoSClass.current != .background { seen.disguised += 1 }
    #endif
  }

  func reached(_ number: Int, after nanoseconds: UInt64) {
    seen.order.append(number)
    seen.nanoseconds = nanoseconds
    isReached.signal()
  }
}
